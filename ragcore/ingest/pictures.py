"""The pictures of documents in words, by a model that reads pictures: between reading a document and cutting it."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ragcore.enrich.asking import AT_ONCE, FATAL, Spent, together
from ragcore.enrich.describing import Describer
from ragcore.errors import CitebotError, ModelUnreachable
from ragcore.types import Section, SectionKind

LABEL = "Description by a model"
"""How what a model says that a picture shows begins: it is no words of the document."""

_MOST_BEFORE = 500
"""Characters before a picture without a caption that a model is given with it."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """Sections of text alone, those of ``descriptions`` among them.

    ``failure`` is why one is still to be had, "" where none is; ``without`` counts the pictures of which the model
    gives none.
    """

    sections: tuple[Section, ...]
    descriptions: tuple[str, ...] = ()
    failure: str = ""
    without: int = 0


@dataclass(frozen=True, slots=True)
class _Undescribed:
    """Why a picture has no description now; "" where the model gives none."""

    why: str = ""


def beside(sections: Sequence[Section], at: int) -> str:
    """Return what is known of the picture of a section: the section's text, else what stands before and behind it.

    Of a page that is shown whole, this is its own text alone.
    """
    if sections[at].text.strip():
        return sections[at].text
    page = sections[at].location.page
    before, behind = (
        [section.text for section in some if not page or section.location.page == page]
        for some in (sections[max(0, at - 1) : at], sections[at + 1 :])
    )
    return "\n\n".join(text for text in (*(text[-_MOST_BEFORE:] for text in before), *behind) if text.strip())


class Pictures:
    """Describes the pictures of the documents of one ingest; a model out of reach is not asked again in it."""

    def __init__(self, describer: Describer | None) -> None:
        """Describe none without a ``describer``."""
        self._describer = describer.apart() if describer is not None else None
        self._places = asyncio.Semaphore(AT_ONCE)
        self._down = ""

    @property
    def are_wanted(self) -> bool:
        """Tell whether any is described."""
        return self._describer is not None

    @property
    def spent(self) -> Spent:
        """Return what was asked of the model."""
        return self._describer.spent if self._describer is not None else Spent()

    async def settled(self, document_id: str, before: datetime) -> None:
        """Note that a document was read whole, and has no other pictures than those described since this time."""
        if self._describer is not None:
            await self._describer.release(document_id, before)

    async def described(self, sections: Sequence[Section], title: str, document_id: str = "") -> Described:
        """Return the sections with a section for each description behind the one that its picture stands in."""
        if not any(section.image for section in sections):
            return Described(sections=tuple(sections))
        pictured = [at for at, section in enumerate(sections) if section.image is not None] if self._describer else []
        told = await together([self._told(sections[at], title, beside(sections, at), document_id) for at in pictured])
        texts = dict(zip(pictured, told, strict=True))
        found: list[Section] = []
        for at, section in enumerate(sections):
            if section.text.strip():
                found.append(replace(section, image=None))
            match texts.get(at):
                case str(text):
                    description = f"{LABEL}: {text}"
                    found.append(
                        replace(section, text=description, header="", lines=(), kind=SectionKind.TEXT, image=None)
                    )
        failed = [one.why for one in told if isinstance(one, _Undescribed)]
        return Described(
            sections=tuple(found),
            descriptions=tuple(one for one in told if isinstance(one, str)),
            failure=next(filter(None, failed), ""),
            without=failed.count(""),
        )

    async def _told(self, section: Section, title: str, known: str, document_id: str) -> str | _Undescribed:
        """Return the words for the picture of a section, or why there are none."""
        assert self._describer is not None
        assert section.image is not None
        async with self._places:
            try:
                if self._down:
                    raise ModelUnreachable(self._down)
                text = await self._describer.describe(section.image, title=title, beside=known, owner=document_id)
            except FATAL as error:
                self._down = str(error)
                log.info("a picture of %r was not described: %s", title, error)
                return _Undescribed(error.user_message)
            except CitebotError as error:
                log.info("a picture of %r was not described: %s", title, error)
                return _Undescribed(error.user_message)
        return _Undescribed() if text is None else text
