"""Answers without a model: the sentences of the retrieved chunks that answer best, each with its citation."""

from ragcore.extractive.options import ExtractOptions
from ragcore.extractive.selection import Extract, extract

__all__ = ["Extract", "ExtractOptions", "extract"]
