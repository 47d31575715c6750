"""``--pictures``: the passages of an answer or a search as pictures in a folder."""

import base64
import re
from collections.abc import Sequence
from pathlib import Path

import typer

from bots.cli.output import say
from bots.rendering.clean import clean_line
from bots.requests import Show, Shown
from bots.service import Backend

_TITLE_CHARACTERS = 40
_NO_NAME = re.compile(r"\W+")

Passage = tuple[int, str, str]
"""The number that the reader sees, the chunk's id, and the document's title."""


def picture_folder(folder: Path | None) -> Path | None:
    """Make the folder, before anything is asked; one that can't be made is wrong use."""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise typer.BadParameter(f"{folder} can't be made: {reason}", param_hint="--pictures") from error
    return folder


async def draw(gateway: Backend, passages: Sequence[Passage], audience: frozenset[str] | None = None) -> list[Shown]:
    """Return a picture of each passage, each chunk once, or why there is none."""
    ids = tuple(dict.fromkeys(chunk_id for _, chunk_id, _ in passages))
    shown = gateway.run(Show(chunks=ids, audience=audience)) if ids else None
    return [event async for event in shown if isinstance(event, Shown)] if shown else []


def write_pictures(shown: Sequence[Shown], passages: Sequence[Passage], folder: Path) -> None:
    """Write what was drawn, and say where, or why there is no picture."""
    of_chunk = {chunk_id: (number, title) for number, chunk_id, title in reversed(passages)}
    for one in sorted(shown, key=lambda one: of_chunk[one.chunk_id][0]):
        number, title = of_chunk[one.chunk_id]
        if one.image is None:
            say(f"{number}. no picture: {clean_line(one.reason)}")
            continue
        path = folder / f"{number}-{_part_of_name(title)}-p{one.pages[0]}.png"
        try:
            path.write_bytes(base64.b64decode(one.image.data))
        except OSError as error:
            reason = error.strerror or str(error)
            raise typer.BadParameter(f"{path} can't be written: {reason}", param_hint="--pictures") from error
        say(f"{number}. {path}")


def _part_of_name(title: str) -> str:
    return _NO_NAME.sub("-", title.casefold())[:_TITLE_CHARACTERS].strip("-") or "passage"
