"""Modals that show the cited passages, and pictures of these that only whoever opened the modal sees.

A picture is uploaded without being shared anywhere: a file of the bot's own, which an image block of its modal may show
(https://docs.slack.dev/reference/block-kit/composition-objects/slack-file-object). It is deleted when the modal is
closed, which Slack tells with ``private_metadata``, so that any process of the bot can do it.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bots.pictures import Picture
from bots.rendering.slack import SlackModal, with_pictures
from bots.slack.calling import Calls
from ragcore.errors import PlatformError, PlatformRefused

log = logging.getLogger(__name__)

CALLBACK = "citebot_passages"
_UNREADY = "invalid_blocks"
TRIES, WAIT_SECONDS = 6, 1.0
"""Slack looks at an uploaded file in the background, and takes no block that shows it before that is done: "a few
moments" (https://github.com/slackapi/slack-github-action/issues/413), seen to be a second or two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A modal that shows passages, and who reads it."""

    view: str
    modal: SlackModal
    readers: frozenset[str]


class Modals:
    """The modals of one bot."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def open(self, trigger: str, modal: SlackModal) -> str:
        """Show a modal to whoever pressed; return its id."""
        said = await self._calls.do(self._calls.client.views_open(trigger_id=trigger, view=_view(modal)))
        return str((said.get("view") or {}).get("id") or "")

    async def change(self, view: str, modal: SlackModal, files: Iterable[str] = ()) -> None:
        """Show something else in a modal; ``files`` go when it is closed."""
        await self._calls.do(self._calls.client.views_update(view_id=view, view=_view(modal, files)))

    async def illustrate(self, opened: Opened, pictures: tuple[Picture, ...]) -> None:
        """Add pictures to a modal; where that fails it stays as it is, and that is nobody's business but the log's."""
        files: dict[str, Picture] = {}
        try:
            for picture in pictures:
                files[await self._calls.upload(picture)] = picture
            if files:
                await self._show(opened, files)
        except PlatformError as error:
            log.info("passages are shown without pictures: %s", error)
            await self._delete(files)

    async def _show(self, opened: Opened, files: Mapping[str, Picture]) -> None:
        modal = with_pictures(opened.modal, files)
        for left in reversed(range(TRIES)):
            try:
                await self.change(opened.view, modal, files)
            except PlatformRefused as error:
                if str(error) != _UNREADY or not left:
                    raise
            else:
                return
            await asyncio.sleep(WAIT_SECONDS)

    async def closed(self, view: Mapping[str, Any]) -> None:
        """Delete the pictures of a modal that was closed."""
        await self._delete(str(view.get("private_metadata") or "").split())

    async def _delete(self, files: Iterable[str]) -> None:
        for file in files:
            await self._calls.quietly(self._calls.client.files_delete(file=file))


def _view(modal: SlackModal, files: Iterable[str] = ()) -> dict[str, Any]:
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "notify_on_close": True,
        "private_metadata": " ".join(files),
        "title": {"type": "plain_text", "text": modal.title},
        "blocks": list(modal.blocks),
    }
