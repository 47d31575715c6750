"""The state of the derived indexes, for answers that must say what they went without, and for ``doctor``."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum


class IndexState(StrEnum):
    """What can be expected of an index."""

    WELL = "well"
    DAMAGED = "damaged"
    """Dead, missing or behind; it waits to be built anew."""
    REBUILDING = "rebuilding"
    """Being built anew; searches go without it until then."""
    MISMATCHED = "mismatched"
    """Made with another embedder; ``sync --full`` builds it anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHealth:
    """One index: the vectors of a knowledge base, or the keywords of all (``knowledge_base`` empty).

    ``done`` and ``total`` count chunks while it is rebuilding; ``reason`` is one line for the operator.
    """

    index: str
    knowledge_base: str = ""
    state: IndexState = IndexState.WELL
    reason: str = ""
    done: int = 0
    total: int = 0


class Health:
    """What is known of every index that is not well; whoever finds one reports it here."""

    def __init__(self) -> None:
        """Start with everything well."""
        self._ill: dict[tuple[str, str], IndexHealth] = {}

    def report(self, health: IndexHealth) -> None:
        """Note the state of an index; well forgets what was noted."""
        key = (health.index, health.knowledge_base)
        if health.state is IndexState.WELL:
            self._ill.pop(key, None)
        else:
            self._ill[key] = health

    def progress(self, index: str, knowledge_base: str, *, done: int) -> None:
        """Note how far a rebuilding index is."""
        key = (index, knowledge_base)
        if key in self._ill:
            self._ill[key] = replace(self._ill[key], done=done)

    def of(self, index: str, knowledge_base: str = "") -> IndexHealth:
        """Return the state of one index."""
        return self._ill.get((index, knowledge_base), IndexHealth(index=index, knowledge_base=knowledge_base))

    def __iter__(self) -> Iterator[IndexHealth]:
        """Go through all that are not well."""
        return iter(list(self._ill.values()))
