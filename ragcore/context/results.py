"""Shorten what tools gave, so that all of it fits beside a question. Pure."""

from collections.abc import Sequence

from ragcore.context.cutting import cut_middle
from ragcore.tokens import Tokenizer


def shortened(results: Sequence[str], room: int, tokenizer: Tokenizer) -> list[str]:
    """Return the results in at most so many tokens together: short ones whole, of the others each the same share."""
    sizes = [tokenizer.count(one) for one in results]
    if sum(sizes) <= room:
        return list(results)
    share, left = 0, max(0, room)
    for number, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - number)
        if size > share:
            break
        left -= size
    cut = (
        cut_middle(one, 0, share, tokenizer) if size > share else one for one, size in zip(results, sizes, strict=True)
    )
    return list(cut)
