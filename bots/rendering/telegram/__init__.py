"""A view as Telegram takes it: HTML, an inline keyboard, rich messages where the server has them. No I/O, no SDK."""

from bots.rendering.telegram.messages import (
    TelegramButton,
    TelegramMessage,
    render_telegram,
    render_telegram_partial,
    render_telegram_quotes,
    telegram_keyboard,
    telegram_reasons,
)
from bots.rendering.telegram.rich import TelegramRich

__all__ = [
    "TelegramButton",
    "TelegramMessage",
    "TelegramRich",
    "render_telegram",
    "render_telegram_partial",
    "render_telegram_quotes",
    "telegram_keyboard",
    "telegram_reasons",
]
