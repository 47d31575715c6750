"""Blocking iterators, gathered page by page in threads."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


async def in_pages(items: Iterator[T], size: int) -> AsyncIterator[list[T]]:
    """Yield what a blocking iterator yields, in pages of at most ``size``, each gathered in a thread."""
    while page := await asyncio.to_thread(lambda: list(islice(items, size))):
        yield page
