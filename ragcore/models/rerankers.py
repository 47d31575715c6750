"""What every reranker does: it reads a question with some texts, and tells which of them answer it best.

The clients: ragcore/models/http_reranker.py for ``/rerank`` endpoints, ragcore/models/listwise.py for a chat model.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ragcore.errors import ModelBadOutput
from ragcore.types import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranked:
    """What a reranker made of some texts.

    ``order`` holds their indexes, best first, each at most once; texts that it leaves out follow in the order in which
    they were given. ``scores`` is the relevance of texts by index, 0..1, and empty where only an order was told.

    Raises:
        ModelBadOutput: An index comes twice or is below 0, or a score is not a number from 0 to 1.
    """

    order: tuple[int, ...]
    scores: Mapping[int, float] = field(default_factory=dict)
    usage: Usage = Usage()

    def __post_init__(self) -> None:
        """Refuse what is no order of texts."""
        if len(set(self.order)) != len(self.order) or min(self.order, default=0) < 0:
            raise ModelBadOutput("the reranker named a text twice, or one that there is not", raw=str(self.order)[:200])
        if not all(math.isfinite(score) and 0.0 <= score <= 1.0 for score in self.scores.values()):
            raise ModelBadOutput("the reranker gave a score that is not from 0 to 1", raw=str(self.scores)[:200])


class Reranker(Protocol):
    """Puts texts in the order of their relevance to a question."""

    @property
    def name(self) -> str:
        """Return what it is called in messages to the operator."""
        ...

    @property
    def calls(self) -> int:
        """Return how many calls of the language model one order takes: 0 where another model tells it."""
        ...

    async def rerank(self, query: str, texts: Sequence[str]) -> Reranked:
        """Return the order of the texts, and their scores where there are some; raise ModelError."""
        ...
