"""What a user may set about retrieval, with the defaults that measured best."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragcore.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOptions:
    """Settings of the section ``[answer]`` that retrieval reads.

    ``top_k``: how many candidates each leg brings. ``top_n``: how many chunks come out at most.
    ``similarity_threshold``: the relevance, 0..1, below which a chunk is not given out; 0 lets everything through.
    ``vector_similarity_weight``: the share of the dense leg in the score, 0..1, where that leg knows the language at
    hand; where it does not, its share shrinks by itself (see ``ragcore.retrieval.scoring``).
    ``synonyms``: a text file, one group of words a line, separated by commas.
    ``collapse``: chunks of the same text, up to small differences, are given out once; False to measure what that does.
    ``ranking``: what orders the chunks that passed: their relevance (``fused``), or ``similarity`` (see
    ``ragcore.retrieval.similarity``). A reranker, where there is one, reads the first ``rerank_candidates`` of them; it
    is waited for ``rerank_seconds``, and what it scores below ``rerank_threshold``, 0..1, is dropped; 0 drops nothing.

    Raises:
        ConfigError: A value is out of its range.
    """

    top_k: int = 50
    top_n: int = 8
    similarity_threshold: float = 0.18
    vector_similarity_weight: float = 0.45
    synonyms: Path | None = None
    collapse: bool = True
    ranking: Literal["fused", "similarity"] = "fused"
    rerank_candidates: int = 24
    rerank_seconds: float = 1.5
    rerank_threshold: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        if self.top_k < 1 or self.top_n < 1:
            raise ConfigError(f"top_k and top_n must be at least 1, not {self.top_k} and {self.top_n}")
        if self.rerank_candidates < 1 or not 0.0 < self.rerank_seconds < float("inf"):
            raise ConfigError("rerank.candidates must be at least 1, and rerank.timeout above 0")
        for name, value in (
            ("similarity_threshold", self.similarity_threshold),
            ("vector_similarity_weight", self.vector_similarity_weight),
            ("rerank_threshold", self.rerank_threshold),
        ):
            if not 0.0 <= value <= 1.0:
                raise ConfigError(f"{name} is {value}, and must be from 0 to 1")
