"""A rich message as aiogram sends it."""

from typing import Any

from aiogram.types import InputRichMessage

from bots.rendering.telegram.rich import TelegramRich
from bots.telegram.calling import rich_content


def as_sent(rich: TelegramRich) -> dict[str, Any]:
    """Return the JSON that goes out, which holds nothing that the library's own types do not know."""
    sent = rich_content(rich).model_dump(mode="json", exclude_none=True, warnings=False)
    assert InputRichMessage.model_validate(sent).model_dump(mode="json", exclude_none=True) == sent
    return sent
