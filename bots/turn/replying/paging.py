"""Replies that stay one message, of which a page at a time is shown."""

from dataclasses import replace

from bots.platform import Button, R, View
from bots.retrying import until_kept
from bots.turn.claims.whole import Whole
from bots.turn.commands import sentence
from bots.turn.replying.fallbacks import rendered
from bots.turn.replying.means import Means
from bots.words.sentences import word
from ragcore.errors import StoreError


async def paged(means: Means[R], whole: Whole) -> tuple[View, View | None]:
    """Return what is sent of a reply, and what instead of it once nobody can tell whether it was taken, if so.

    What its asker can go on to is kept with the claim first. Raises ClaimLost: nothing is to be sent.
    """
    manner, view = means.platform.manner(means.claim.incoming), whole.view
    is_long = manner.paged and len(await rendered(means.platform.render, view)) > 1
    if is_long or manner.doubtful:
        await until_kept(lambda: means.claims.keep(means.claim, whole), StoreError)
    in_doubt = View(
        document=sentence(word("unsure", view.language)),
        reference=view.reference,
        buttons=(Button.SHOW,),
        language=view.language,
    )
    return (replace(view, page=0) if is_long else view), (in_doubt if manner.doubtful else None)
