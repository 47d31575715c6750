"""The gallery: answers as Markdown, and what each platform shows of them, in files for a reader to look at.

``python -m tests.bots.rendering.test_gallery`` writes them anew; what changes is to be read before it is committed.
"""

import pathlib
import re
from datetime import UTC, datetime

import pytest

from bots.platform import Button, View
from bots.rendering.discord import render_discord
from bots.rendering.parse import parse_answer
from bots.rendering.slack import render_slack
from bots.rendering.telegram import TelegramMessage, render_telegram
from bots.rendering.tree import Document
from ragcore.types import Answer, Citation, Support
from tests.bots.rendering.readers import discord, slack_blocks, telegram, telegram_rich
from tests.bots.rendering.readers.telegram_sent import as_sent

GALLERY = pathlib.Path(__file__).parent / "gallery"
CASES = sorted(path.stem for path in GALLERY.glob("*.md"))
ALLOWED = "https://wiki.example/handbook/travel"
_NOTE = re.compile(r"^<!-- (.*) -->\n", re.MULTILINE)

# Title, place, address, day of the last change: the id in ``[ID:n]`` is the place in this list.
SOURCES: tuple[tuple[str, str, str, str], ...] = (
    ("Leave policy", "page 2", "https://wiki.example/leave.pdf#page=2", "2026-03-14"),
    ("Handbook", "Travel", "https://wiki.example/handbook/travel#costs", "2025-11-02"),
    ("prices.xlsx", "sheet Meters, rows 3–9", "", "2026-01-20"),
    ("年假制度", "第 3 节", "https://wiki.example/文档/年假#结转", "2026-02-01"),
    ("دليل الموظف", "صفحة 4", "https://wiki.example/ar/guide#page=4", ""),
    ("notes.md", "lines 10–14", "file:///srv/docs/notes.md#L10", "2024-07-09"),
    ("<!channel> *pwned* [x](https://evil.example) @everyone", "", "https://wiki.example/q?a=1&b=<2>|3", ""),
    (
        "A title so long that nobody would read it to its end, which is why a list of sources cuts it where it grows "
        "beyond a line or two",
        "section 12.4.1",
        "https://wiki.example/long#:~:text=" + "%E5%B9%B4%E5%81%87" * 60,
        "2026-05-05",
    ),
)


def view_of(source: str) -> View:
    """Return the view of one answer: its citations numbered by first use."""
    text = _NOTE.sub("", source, count=1).strip()
    ids = list(dict.fromkeys(int(found) for found in re.findall(r"\[ID:(\d)\]", text)))
    citations = tuple(
        Citation(
            number=number,
            id=identifier,
            chunk_id=f"c{identifier}",
            document_id=f"docs:{SOURCES[identifier][0]}",
            title=SOURCES[identifier][0],
            url=SOURCES[identifier][2],
            location=SOURCES[identifier][1],
            quote="",
            updated_at=_changed(SOURCES[identifier][3]),
        )
        for number, identifier in enumerate(ids, 1)
    )
    answer = Answer(
        question="?",
        raw_text=text,
        support=Support.CITED,
        citations=citations,
        allowed_urls=frozenset({ALLOWED}),
    )
    buttons = (Button.FEEDBACK, *((Button.QUOTES,) if citations else ()))
    return View(document=parse_answer(answer), reference="89abcdef", buttons=buttons)


def _changed(day: str) -> datetime | None:
    return datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None


def _parts(pages: list[str]) -> str:
    if len(pages) == 1:
        return pages[0].rstrip() + "\n"
    return "".join(
        f"════ message {number} of {len(pages)} ════\n{page.rstrip()}\n" for number, page in enumerate(pages, 1)
    )


def shown_on_slack(view: View) -> str:
    pages = []
    for message in render_slack(view):
        slack_blocks.check_message(message.text, message.blocks)
        pages.append(slack_blocks.read_blocks(message.blocks).page)
    return _parts(pages)


def shown_on_discord(view: View) -> str:
    pages = []
    for message in render_discord(view):
        rows = "\n".join(" ".join(f"[{button.label or button.emoji}]" for button in row) for row in message.rows)
        pages.append(f"{discord.read(message.content).page}\n{rows}")
    return _parts(pages)


def shown_on_telegram(view: View, *, rich: bool = False) -> str:
    pages = []
    for message in render_telegram(view, rich=rich):
        rows = "\n".join(" ".join(f"[{button.text}]" for button in row) for row in message.keyboard)
        pages.append(f"{_telegram_page(message)}\n{rows}")
    return _parts(pages)


def _telegram_page(message: TelegramMessage) -> str:
    if message.rich is None:
        return telegram.read(message.html).page
    return telegram_rich.read(as_sent(message.rich)).page


def shown_on_new_telegram(view: View) -> str:
    """Return what a server with rich messages shows; nothing where it sends no such message."""
    is_rich = any(message.rich is not None for message in render_telegram(view, rich=True))
    return shown_on_telegram(view, rich=True) if is_rich else ""


PLATFORMS = {
    "slack": shown_on_slack,
    "discord": shown_on_discord,
    "telegram": shown_on_telegram,
    "telegram-rich": shown_on_new_telegram,
}


def visible(page: str) -> str:
    """Return the page with marks that nobody could see spelt out."""
    names = {"\u2060": "⁀", "\u200b": "⁀", "\u200f": "‹rlm›", "\u2066": "‹lri›", "\u2069": "‹pdi›"}
    return "".join(names.get(character, character) for character in page)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("case", CASES)
def test_the_gallery_is_what_is_shown(case: str, platform: str) -> None:
    view = view_of((GALLERY / f"{case}.md").read_text("utf-8"))
    file = GALLERY / f"{case}.{platform}.txt"
    expected = file.read_text("utf-8") if file.exists() else ""
    assert visible(PLATFORMS[platform](view)) == expected, (
        "python -m tests.bots.rendering.test_gallery, and read the diff"
    )


def test_there_are_thirty_answers_and_none_is_empty() -> None:
    assert len(CASES) >= 30
    assert all(view_of((GALLERY / f"{case}.md").read_text("utf-8")).document != Document(blocks=()) for case in CASES)


def main() -> None:
    for case in CASES:
        view = view_of((GALLERY / f"{case}.md").read_text("utf-8"))
        for platform, shown in PLATFORMS.items():
            file = GALLERY / f"{case}.{platform}.txt"
            if page := visible(shown(view)):
                file.write_text(page, "utf-8")
            else:
                file.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
