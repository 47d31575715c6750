"""Batches of things that are read together, and so held in memory at once."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batches(
    items: Iterable[T], size: Callable[[T], int], *, most_bytes: int, most: int | None = None
) -> Iterator[list[T]]:
    """Yield items in their order, as many at a time as may be held together: at least one, whatever its size.

    Args:
        items: What is to be read.
        size: Tells how many bytes an item is reckoned with.
        most_bytes: How many bytes the items of a batch may have together.
        most: How many items there may be in a batch; None: any number.
    """
    batch, held = list[T](), 0
    for item in items:
        expected = size(item)
        if batch and (len(batch) == most or held + expected > most_bytes):
            yield batch
            batch, held = [], 0
        batch.append(item)
        held += expected
    if batch:
        yield batch
