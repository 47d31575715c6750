"""The forms in which one reply can be sent: what a platform refuses in one of them, it may take in the next."""

from collections.abc import Iterator
from dataclasses import replace

from bots.platform import Platform, R, View
from bots.rendering.markdown import plain_document


def plain(view: View) -> View:
    """Return a view as plain text, without buttons."""
    document = plain_document(view.document)
    return View(document=document, reference=view.reference, language=view.language, simple=True, page=view.page)


def forms(platform: Platform[R], view: View) -> Iterator[tuple[R, ...]]:
    """Yield the whole reply in its best form, in an older one if the platform has it, and at last as plain text."""
    best = platform.render(view)
    yield best
    simple = platform.render(replace(view, simple=True))
    if simple != best:
        yield simple
    yield platform.render(plain(view))
