"""What stands beside the pictures of passages."""

from collections.abc import Iterable

from bots.pictures import Picture
from bots.platform import View
from bots.rendering.tree import Document, Paragraph, Text


def captions(pictures: Iterable[Picture]) -> View:
    """Return the captions, a line each, to be written in a platform's own markup."""
    blocks = tuple(Paragraph(children=(Text(text=one.caption),)) for one in pictures)
    return View(document=Document(blocks=blocks), reference="")
