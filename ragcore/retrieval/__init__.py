"""Questions in, relevant chunks out: query analysis, two legs, fusion, and the relevance gate."""

from ragcore.retrieval.options import RetrievalOptions
from ragcore.retrieval.retriever import Retrieved, Retriever

__all__ = ["RetrievalOptions", "Retrieved", "Retriever"]
