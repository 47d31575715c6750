"""The pictures of documents in words, by a model that reads pictures: between reading a document and cutting it."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from ragcore.errors import CitebotError, ModelAuthError, ModelRateLimited, ModelUnreachable
from ragcore.models.describer import Describer
from ragcore.types import Image, Section, SectionKind

LABEL = "Description by a model"
"""How what a model says that a picture shows begins: it is no words of the document."""

log = logging.getLogger(__name__)


class Pictures:
    """Describes the pictures of the documents of one ingest; a model out of reach is not asked again in it."""

    def __init__(self, describer: Describer | None) -> None:
        """Describe none without a ``describer``."""
        self._describer = describer
        self._down = ""

    async def described(self, sections: Sequence[Section], title: str) -> tuple[tuple[Section, ...], str]:
        """Return sections of text alone, with a section for each description, and why there is one too few, "" else."""
        if not any(section.image for section in sections):
            return tuple(sections), ""
        words = "\n\n".join(section.text for section in sections if section.text)
        found: list[Section] = []
        failure = ""
        for section in sections:
            if section.text.strip():
                found.append(replace(section, image=None))
            if section.image is None or self._describer is None:
                continue
            try:
                text = await self._describe(section.image, title, section.text or words)
            except CitebotError as error:
                failure = error.user_message
                log.info("a picture of %r was not described: %s", title, error)
            else:
                told = f"{LABEL}: {text}"
                found.append(replace(section, text=told, header="", lines=(), kind=SectionKind.TEXT, image=None))
        return tuple(found), failure

    async def _describe(self, image: Image, title: str, beside: str) -> str:
        assert self._describer is not None
        if self._down:
            raise ModelUnreachable(self._down)
        try:
            return await self._describer.describe(image, title=title, beside=beside)
        except (ModelUnreachable, ModelAuthError, ModelRateLimited) as error:
            self._down = str(error)
            raise
