"""What was found on the web is marked so in every list of sources, with its host, and does nothing but be read."""

import io
import re

from rich.console import Console

from bots.platform import View
from bots.rendering.discord import render_discord
from bots.rendering.markdown import to_markdown
from bots.rendering.parse import parse_answer
from bots.rendering.slack import render_slack
from bots.rendering.telegram import render_telegram
from bots.rendering.terminal import document_terminal
from bots.turn.quotes import _passage
from ragcore.on_web import WEB
from ragcore.types import Answer, Citation, Support
from tests.bots.rendering.readers import telegram

URL = "https://news.example/leave#days"


def answer(title: str = "Leave", url: str = URL) -> Answer:
    def citation(number: int, document_id: str, url: str) -> Citation:
        return Citation(
            number=number, id=number - 1, chunk_id=f"c-{number}", document_id=document_id, title=title, url=url,
            location="Days", quote="",
        )  # fmt: skip

    return Answer(
        question="?",
        raw_text="Five days [ID:0]. Or six [ID:1].",
        support=Support.CITED,
        citations=(citation(1, "wiki:leave", "https://wiki.example/leave"), citation(2, f"{WEB}:{url}", url)),
    )


def shown(it: Answer) -> dict[str, str]:
    """Return what each platform is sent."""
    document = parse_answer(it)
    view = View(document=document, reference="89abcdef")
    out = io.StringIO()
    Console(file=out, width=200).print(document_terminal(document))
    return {
        "slack": str([message.blocks for message in render_slack(view)]),
        "discord": str(render_discord(view)),
        "telegram": "".join(message.html for message in render_telegram(view)),
        "terminal": out.getvalue(),
        "markdown": to_markdown(it),
    }


def test_a_page_of_the_web_is_marked_with_its_host_on_every_platform() -> None:
    for platform, sent in shown(answer()).items():
        said = sent.replace("\\u200b", "").translate(dict.fromkeys(map(ord, "\u2060\u200b\\`")))
        assert said.count("web: ") == 1, platform
        assert re.search(r"web: (<code>)?news\.example", said), platform


def test_its_quotes_are_marked_too() -> None:
    document, page = (str(_passage(one, "")) for one in answer().citations)
    assert "web: news.example" in page
    assert "web: " not in document


def test_a_document_is_not() -> None:
    (document, page) = parse_answer(answer()).sources
    assert (document.web, page.web) == ("", "news.example")
    assert document.remarks == ()


def test_a_hostile_title_pings_nobody_and_leads_nowhere_else() -> None:
    evil = "<!channel> @everyone [x](https://evil.example/) <a href='https://evil.example/'>y</a>"
    sent = shown(answer(title=evil))
    assert "<!channel>" not in sent["slack"]
    assert "](https://evil.example/" not in sent["markdown"]
    for message in render_telegram(View(document=parse_answer(answer(title=evil)), reference="89abcdef")):
        found = telegram.read(message.html)
        assert found.pings == []
        assert not any("evil.example" in url for _, url in found.links)
