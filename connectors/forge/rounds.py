"""One source of several repositories: each is read in its turn, and one that can't be holds up none of the others."""

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import TypeVar

from connectors.base import Change, Checkpoint, Estimate, Failure, SourceDocument, Tombstone
from ragcore.errors import SourceAuthError, SourceError, SourceGone, SourceRateLimited, SourceUnreachable

Step = SourceDocument | Tombstone | Failure | Estimate | None
"""What reading a repository yields; None: all before it is complete."""

_IN_A_ROW = 10
"""Turns that may end in a fault of the forge one after the other before none is begun any more."""

K = TypeVar("K")


async def in_turn(
    turns: Iterable[K], steps: Callable[[K], AsyncGenerator[Step, None]], cursor: Callable[[], str]
) -> AsyncGenerator[Change, None]:
    """Yield the changes of all repositories; raises at the end what kept one of them from being read.

    After one that has told nothing the cursor isn't written: of hundreds that takes longer than to ask them.

    Args:
        turns: Which repositories, or parts of them.
        steps: Reads one of them.
        cursor: Tells what is remembered by now.
    """
    refused, expected, row = list[SourceError](), 0, 0
    for turn in turns:
        is_told = False
        try:
            async with aclosing(steps(turn)) as stream:
                async for step in stream:
                    is_told = True
                    if isinstance(step, Estimate):
                        expected += step.documents
                        yield Estimate(documents=expected)
                    else:
                        yield Checkpoint(cursor=cursor()) if step is None else step
            row = 0
        except (SourceGone, SourceAuthError) as error:
            refused.append(error)
        except (SourceRateLimited, SourceUnreachable):
            raise
        except SourceError as error:
            # A forge may fail for one repository for ever; when it does for all of them, it is down.
            refused.append(error)
            row += 1
            if row == _IN_A_ROW:
                raise
        # Either is a sign of life to whoever waits for one.
        yield Checkpoint(cursor=cursor()) if is_told else Estimate(documents=expected)
    yield Checkpoint(cursor=cursor())
    if refused:
        raise refused[0]
