"""The documents that a request names."""

from collections.abc import Callable, Sequence

from bots.access import Audience
from ragcore.errors import ConfigError
from ragcore.stores.registry import Registry
from ragcore.stores.rows import is_open

Allowed = Callable[[Audience], Sequence[str]]
"""Returns the knowledge bases that an audience may read."""


async def check_named(registry: Registry, ids: Sequence[str], audience: Audience, allowed_to: Allowed) -> None:
    """Refuse a document that is not there: an empty answer would look as if it said nothing of the matter.

    What the audience may not read is not there for it: the refusal must not tell that it is.

    Raises:
        ConfigError: One of them is not there.
    """
    known = await registry.documents(ids) if ids else {}
    allowed = allowed_to(audience)
    there = {
        one.id
        for one in known.values()
        if not one.deleted and (audience is None or (one.knowledge_base in allowed and is_open(one.readers, audience)))
    }
    missing = [name for name in ids if name not in there]
    if missing:
        raise ConfigError(f"there is no document {missing[0]!r}; `citebot search` shows the ids of documents")
