"""Answers without a model: the sentences of the retrieved chunks that answer best, each with its citation."""

from ragcore.extractive.selection import ExtractOptions, extract

__all__ = ["ExtractOptions", "extract"]
