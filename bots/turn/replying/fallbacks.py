"""The forms in which one reply can be sent: what a platform refuses in one of them, it may take in the next."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from bots.platform import View
from bots.rendering.markdown import plain_document
from bots.rendering.plain import plain_pieces
from bots.turn.beside import beside

T = TypeVar("T")


async def rendered(render: Callable[[View], T], view: View) -> T:
    """Return a view as the platform takes it; a long one is written in a thread."""
    return await beside("".join(plain_pieces(view.document.blocks)), lambda: render(view))


def plain(view: View) -> View:
    """Return a view as plain text, without buttons."""
    document = plain_document(view.document)
    return View(document=document, reference=view.reference, language=view.language, simple=True, page=view.page)


def forms(view: View) -> Iterator[View]:
    """Yield the whole reply as it is, then to be rendered in an older form, and at last without any form."""
    yield view
    yield replace(view, simple=True)
    yield plain(view)
