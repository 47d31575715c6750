"""Blocking iterators, gathered page by page in threads."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import TypeVar

from connectors.threads import in_thread

T = TypeVar("T")


async def in_pages(items: Iterator[T], size: int) -> AsyncIterator[list[T]]:
    """Yield what a blocking iterator yields, in pages of at most ``size``, each gathered in a thread."""
    while page := await in_thread(lambda: list(islice(items, size))):
        yield page
