"""What a model writes where it was asked which of some pairs of names mean the same thing. Pure."""

from collections.abc import Mapping

from ragcore.errors import ModelBadOutput
from ragcore.json_replies import value_of, whole_number


def same_of(reply: str, count: int) -> frozenset[int]:
    """Return the numbers of the pairs, from 1 to ``count``, that a reply says mean the same thing.

    Raises:
        ModelBadOutput: It holds no list of numbers, an unfinished one, or one of other pairs than were asked about.
    """
    said = value_of(reply)
    if isinstance(said, Mapping):
        said = said.get("same")
    # Of half a list the last number may be half a number.
    if not isinstance(said, list) or "]" not in reply:
        raise ModelBadOutput("it is no list of pairs", raw=reply)
    numbers = [whole_number(one) for one in said]
    if any(number is None or not 1 <= number <= count for number in numbers):
        raise ModelBadOutput("it names what is no pair", raw=reply)
    return frozenset(number for number in numbers if number is not None)
