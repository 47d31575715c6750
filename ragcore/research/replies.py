"""What a model writes as JSON for a step of a research. Mending takes up to seconds: call these in a thread."""

from collections.abc import Mapping
from typing import Any

from ragcore.errors import ModelBadOutput
from ragcore.json_replies import value_of

HEAD = 1_200
"""Characters of a long reply that are read where the whole is no JSON, as of a list that its length limit cut: so many
can be mended while somebody waits, and hold all that is looked at."""


def said_in(reply: str) -> Any:
    """Return what a reply says as JSON; of a long one that is none, what its beginning says.

    Raises:
        ModelBadOutput: It holds no JSON.
    """
    try:
        return value_of(reply, waited_for=True)
    except ModelBadOutput:
        if len(reply) <= HEAD:
            raise
    return value_of(reply[:HEAD], waited_for=True)


def listed_in(reply: str, key: str = "") -> list[Any]:
    """Return the list that a reply is, or that it holds in an object, best under ``key``.

    Raises:
        ModelBadOutput: It holds none.
    """
    said = said_in(reply)
    if isinstance(said, Mapping):
        best = said.get(key)
        said = best if isinstance(best, list) else next((one for one in said.values() if isinstance(one, list)), [said])
    if not isinstance(said, list):
        raise ModelBadOutput("it is no list", raw=reply)
    return said
