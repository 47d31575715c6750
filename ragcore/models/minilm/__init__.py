"""The embedded embedder: all-MiniLM-L6-v2, on this machine, without a key or a network."""

from ragcore.models.minilm.embedder import MiniLMEmbedder

__all__ = ["MiniLMEmbedder"]
