"""The line beneath an answer that tells how many passages each document gave, on every platform."""

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as with_cases
from hypothesis import strategies as st

from bots.counting import DocumentCount
from bots.given import MAX_TITLE, MOST_CITED, MOST_OTHERS, with_given
from bots.platform import View
from bots.rendering.discord import render_discord
from bots.rendering.parse import parse_answer
from bots.rendering.slack import render_slack
from bots.rendering.telegram import render_telegram
from bots.rendering.tree import Document
from bots.words.captions import LANGUAGES, caption
from ragcore.types import Answer, Citation, Support
from tests.bots.rendering.documents import HOSTILE
from tests.bots.rendering.readers import discord, slack_blocks, telegram, telegram_rich
from tests.bots.rendering.readers.shown import Shown
from tests.bots.rendering.readers.telegram_sent import as_sent
from tests.soak import scaled

_letters = st.characters(exclude_characters="×", exclude_categories=["Cs"])
_titles = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(_letters, max_size=30)), max_size=3).map(" ".join)
_documents = st.lists(st.tuples(_titles, st.integers(1, 99), st.integers(0, 3)), min_size=1, max_size=30)
"""Documents with their title, how many passages they gave, and how often they are cited."""
_bodies = st.sampled_from([1, 30, 400, 1_950, 3_900, 11_900]).map("x ".__mul__)


def answer_over(documents: list[tuple[str, int, int]], body: str = "") -> tuple[Answer, list[DocumentCount]]:
    """Return an answer that cites the documents, each so often, and what they gave."""
    cited = [(at, title) for at, (title, _, times) in enumerate(documents) for _ in range(times)]
    citations = tuple(
        Citation(number=n, id=n, chunk_id=f"c{n}", document_id=f"kb:{at}", title=title, url="", location="", quote="")
        for n, (at, title) in enumerate(cited, 1)
    )
    text = body + "".join(f"It is so [ID:{one.id}]. " for one in citations)
    answer = Answer(question="?", raw_text=text or "So.", support=Support.CITED, citations=citations)
    given = [DocumentCount(document_id=f"kb:{n}", title=t, url="", chunks=c) for n, (t, c, _) in enumerate(documents)]
    return answer, given


def shown(documents: list[tuple[str, int, int]], language: str = "en", body: str = "") -> Document:
    answer, given = answer_over(documents, body)
    return with_given(parse_answer(answer), answer.citations, given, language)


@settings(max_examples=scaled(60))
@with_cases(documents=_documents, language=st.sampled_from([*LANGUAGES, "xx"]))
def test_the_counts_are_those_of_the_passages_and_each_document_counts_once(
    documents: list[tuple[str, int, int]], language: str
) -> None:
    (line,) = shown(documents, language).notes
    assert "\n" not in line
    head, _, told = line.partition(": ")
    assert head == caption("passages_read", language)
    # The titles may hold anything: what is told of a document ends in its count.
    counts = [int(count) for count in re.findall(r" × (\d+)(?= · |$)", told)]
    assert sum(counts) == sum(count for _, count, _ in documents)
    cited = [count for _, count, times in documents if times][:MOST_CITED]
    assert counts[: len(cited)] == cited
    assert len(counts) <= min(len(documents), MOST_CITED + MOST_OTHERS + 1)
    assert len(line) <= 30 + MOST_CITED * 25 + (MOST_OTHERS + 1) * (MAX_TITLE + 10)


@pytest.mark.parametrize("platform", ["slack", "discord", "telegram", "rich"])
@settings(max_examples=scaled(15), suppress_health_check=[HealthCheck.too_slow])
@with_cases(documents=_documents, body=_bodies)
def test_it_stands_once_at_the_end_within_every_limit_and_calls_nobody(
    platform: str, documents: list[tuple[str, int, int]], body: str
) -> None:
    parts = read(platform, View(document=shown(documents, body=body), reference="89abcdef"))
    told = [part.plain.count(f"{caption('passages_read')}: ") for part in parts]
    assert told == [0] * (len(parts) - 1) + [1]
    assert not any(part.pings or part.links for part in parts), "nothing in it leads anywhere"


def read(platform: str, view: View) -> list[Shown]:
    """Return what a reader sees of each part; what the platform would refuse fails here."""
    if platform == "slack":
        messages = render_slack(view)
        for message in messages:
            slack_blocks.check_message(message.text, message.blocks)
        return [slack_blocks.read_blocks(message.blocks) for message in messages]
    if platform == "discord":
        return [discord.read(message.content) for message in render_discord(view)]
    return [
        telegram.read(message.html) if message.rich is None else telegram_rich.read(as_sent(message.rich))
        for message in render_telegram(view, rich=platform == "rich")
    ]


def test_who_looks_sees_the_cited_by_their_numbers_and_the_others_by_name() -> None:
    documents = [("Leave", 3, 2), ("Remote work", 2, 0), ("Travel", 1, 1), ("Leave", 1, 0)]
    assert shown(documents).notes == ("Passages read: [1][2] × 3 · [3] × 1 · Remote work × 2 · Leave × 1",)
    assert shown(documents, "zh").notes == ("已读段落: [1][2] × 3 · [3] × 1 · Remote work × 2 · Leave × 1",)
    many = [("Leave", 2, 1), *((f"Policy {number}", 1, 0) for number in range(5)), ("", 4, 0)]
    told = "Passages read: [1] × 2 · Policy 0 × 1 · Policy 1 × 1 · Policy 2 × 1 · others × 6"
    assert shown(many).notes == (told,)


def test_a_citation_that_is_not_listed_is_no_number_to_look_up() -> None:
    answer, given = answer_over([("Leave", 2, 1)])
    unmarked = parse_answer(replace(answer, raw_text="It is so."))
    (line,) = with_given(unmarked, answer.citations, given, "en").notes
    assert line == "Passages read: Leave × 2"


@pytest.mark.parametrize("notes", [(), ("No model is set up.",)])
def test_without_passages_nothing_is_told(notes: tuple[str, ...]) -> None:
    document = Document(blocks=(), notes=notes)
    assert with_given(document, (), (), "en") == document
