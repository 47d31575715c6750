"""Tags of a tag set as the engineer who sets them up sees them: from a csv to the order of what is found."""

import pathlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bots.app.options import with_tagged_by
from bots.requests import Search, Sync
from bots.settings import load_settings
from bots.turn.options import turn_options
from ragcore.reports import EnrichReport
from ragcore.types import Chunk, ConversationKey
from tests.bots.handbook import opened, told
from tests.fakes.openai_server import OpenAIServer, Reply
from tests.fakes.platform import asked

SETTINGS = """
[knowledge_bases.shop]
tags_from = ["labels"]
topn_tags = 2
[knowledge_bases.labels]
chunking = "tag"
[[sources]]
name = "shop"
type = "files"
path = "shop"
[[sources]]
name = "labels"
type = "files"
path = "labels"
"""
LLM = '[llm]\nbase_url = "{url}"\nmodel = "fake"\n'
LABELS = """text,tags
The parcel came with a broken lid.,"damage, returns"
My vase was broken when I opened the parcel.,damage
The glass in the parcel was in pieces.,damage
How do I send the shoes back to you?,returns
Can I pay by invoice?,payment
The credit card was charged twice.,payment
"""
BROKEN = "If your parcel arrives broken, send us a photo of it and of the broken goods."
OFFICE = "The office is closed between Christmas and New Year."


@pytest.fixture
async def model() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer(lambda request: Reply(text='```json\n{"Payment": 2, "Christmas": 9}')) as server:
        yield server


@pytest.fixture
def home(tmp_path: pathlib.Path) -> pathlib.Path:
    for name in ("shop", "labels"):
        (tmp_path / name).mkdir()
    (tmp_path / "labels" / "labels.csv").write_text(LABELS, encoding="utf-8")
    (tmp_path / "shop" / "broken.md").write_text(f"# Broken goods\n\n{BROKEN}\n", encoding="utf-8")
    (tmp_path / "shop" / "office.md").write_text(f"# Office\n\n{OFFICE}\n", encoding="utf-8")
    return tmp_path


async def test_chunks_are_tagged_from_a_csv_and_by_a_model(home: pathlib.Path, model: OpenAIServer) -> None:
    (home / "citebot.toml").write_text(SETTINGS + LLM.format(url=model.base_url), encoding="utf-8")
    async with opened(home) as (operations, settings):
        *_, before = await told(operations, Sync(enrich=True, dry_run=True))
        assert isinstance(before, EnrichReport)
        assert (before.knowledge_base, before.documents, before.usage.calls, before.chunks) == ("shop", 2, 0, 2)
        assert before.most_tag_calls == 2, "which of them resemble a row is not known yet"
        assert not model.requests
        *_, report = await told(operations, Sync(enrich=True))
        assert isinstance(report, EnrichReport)
        assert (report.knowledge_base, report.documents, report.usage.calls, report.failed) == ("shop", 2, 1, ())
        assert report.usage.calls <= before.most_tag_calls
        assert report.most_tag_calls == 0
        *_, before = await told(operations, Sync(enrich=True, dry_run=True))
        assert isinstance(before, EnrichReport)
        assert (before.documents, before.usage.calls, before.most_tag_calls) == (0, 0, 0)
        tags = {
            chunk.text.splitlines()[-1]: chunk.tag_scores
            for chunk in await searched(operations, "broken parcel office")
        }
        assert tags[BROKEN][0][0] == "damage"
        assert tags[OFFICE] == (("payment", 2),)
        assert "closed between Christmas" in model.requests[0].texts[-1]
        # Another row of the tag set: what it is about needs no model, and nothing is asked again.
        with (home / "labels" / "labels.csv").open("a", encoding="utf-8") as file:
            file.write("Is the office closed at Christmas and New Year?,payment\n")
        *_, report = await told(operations, Sync(sources=("labels",), enrich=True))
        assert isinstance(report, EnrichReport)
        assert (report.knowledge_base, report.documents, report.usage.calls) == ("shop", 2, 0)
        tags = {chunk.text.splitlines()[-1]: chunk.tag_scores for chunk in await searched(operations, "office")}
        assert tags[OFFICE][0][1] > 2
        assert with_tagged_by(settings, ["labels"]) == ["labels", "shop"]


async def test_without_a_model_similar_rows_are_enough(home: pathlib.Path) -> None:
    (home / "citebot.toml").write_text(SETTINGS, encoding="utf-8")
    async with opened(home) as (operations, _):
        *_, report = await told(operations, Sync(enrich=True))
        assert isinstance(report, EnrichReport)
        assert (report.documents, report.usage.calls, report.error) == (2, 0, "")
        tags = {
            chunk.text.splitlines()[-1]: chunk.tag_scores
            for chunk in await searched(operations, "broken parcel office")
        }
        assert tags[BROKEN][0][0] == "damage"
        assert tags[OFFICE] == ()


async def test_of_relevant_chunks_those_with_the_tags_of_the_question_come_earlier(home: pathlib.Path) -> None:
    """Of two notes the one that says a little more of what is asked for comes second: it is about payments."""
    (home / "shop" / "office.md").unlink()
    (home / "shop" / "broken.md").unlink()
    notes = {
        "pay": "In a case of this form say which credit card or invoice.",
        "lid": "The lid in the parcel, the glass in pieces.",
    }
    for name, more in notes.items():
        (home / "shop" / f"{name}.md").write_text(f"# Desk\n\nThe form lies at the desk. {more}\n", encoding="utf-8")
    (home / "citebot.toml").write_text(SETTINGS, encoding="utf-8")
    async with opened(home) as (operations, _):
        await told(operations, Sync(enrich=True))
        query = "Which form lies at the desk? This is a case of a broken vase."
        (found,) = await told(operations, Search(query=query, knowledge_bases=("shop",)))
        first, second = found.chunks  # type: ignore[union-attr]
        scores = [(one.chunk.document_id, one.score, one.chunk.tag_scores) for one in (first, second)]
        assert first.score < second.score, scores
        assert (first.chunk.document_id, first.chunk.tag_scores[0][0]) == ("shop:lid.md", "damage")
        assert (second.chunk.document_id, second.chunk.tag_scores[0][0]) == ("shop:pay.md", "payment")


async def searched(operations, query: str) -> list[Chunk]:  # type: ignore[no-untyped-def]
    (found,) = await told(operations, Search(query=query, knowledge_bases=("shop",)))
    return [scored.chunk for scored in found.chunks]  # type: ignore[union-attr]


async def test_a_tag_set_is_searched_by_its_name_alone(home: pathlib.Path) -> None:
    own = SETTINGS.replace('tags_from = ["labels"]', 'readers = ["*"]\ntags_from = ["labels"]')
    own = own.replace('chunking = "tag"', 'chunking = "tag"\nreaders = ["*"]')
    (home / "citebot.toml").write_text(
        f'{own}[[channels]]\nid = "discord:1/9"\nknowledge_bases = ["labels"]\n', encoding="utf-8"
    )
    async with opened(home) as (operations, _):
        await told(operations, Sync(enrich=True))
        for named, expected in (((), {"shop"}), (("labels",), {"labels"}), (("shop", "labels"), {"shop", "labels"})):
            request = Search(query="my parcel arrived broken", knowledge_bases=named, limit=9)
            (found,) = await told(operations, request)
            assert {one.chunk.knowledge_base for one in found.chunks} == expected  # type: ignore[union-attr]
    options = turn_options(load_settings(home / "citebot.toml"))
    asking = asked("Why?")
    everybody = frozenset({"*"})
    assert options.readable_in(asking, everybody) == ("shop",)
    assert options.readable_in(replace(asking, knowledge_bases=("labels",)), everybody) == ("labels",)
    there = ConversationKey(platform="discord", workspace="1", channel="9")
    assert options.readable_in(replace(asking, conversation=there), everybody) == ("labels",)
