"""Chunks get tags from similar rows without a model, the rest from one; a changed tag set asks what it changes."""

import pathlib

import pytest

from ragcore.chunking import ChunkOptions
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import enrich, estimate
from ragcore.errors import ConfigError
from ragcore.ingest import IngestOptions, ingest
from ragcore.library import Library
from ragcore.reports import EnrichReport
from ragcore.tagging.sets import TagSets
from ragcore.types import SourceDocument
from tests.fakes.chatting import SayingModel
from tests.fakes.embedding import WordsEmbedder
from tests.fakes.libraries import fill, opened
from tests.ragcore.enrich.test_enrich import asker

ROWS = {
    "The parcel came with a broken lid.": "damage, Returns",
    "The vase was broken when the parcel was opened.": "damage",
    "How do I send a parcel back to you?": "Returns",
    "The credit card was charged twice for an invoice.": "payment",
}
TEXTS = {
    "parcels": "# Parcels\n\nA parcel that came broken is replaced.\n\n# Roof\n\nThe cellar is damp in autumn.",
    "travel": "# Hotels\n\nA hotel may cost 120 euros a night.",
}
TAGS = EnrichOptions(tags_from=("labels",))


async def fill_tags(library: Library, rows: dict[str, str]) -> None:
    async def one():  # type: ignore[no-untyped-def]
        table = "text,tags\n" + "".join(f'"{text}","{tags}"\n' for text, tags in rows.items())
        yield SourceDocument(
            id="t:labels.csv", source="t", content=table.encode(), name="labels.csv", version=str(hash(table))
        )

    async for _ in ingest(library, "labels", one(), IngestOptions(chunk=ChunkOptions(method="tag"))):
        pass


async def run(library: Library, model: SayingModel | None, options: EnrichOptions = TAGS) -> EnrichReport:
    *_, report = [event async for event in enrich(library, "kb", options, asker(library, model) if model else None)]
    assert isinstance(report, EnrichReport)
    return report


async def scores(library: Library) -> dict[str, tuple[tuple[str, int], ...]]:
    found = await library.registry.chunks_of(["s:parcels", "s:travel"])
    return {chunk.text.splitlines()[-1]: chunk.tag_scores for chunk in found}


BROKEN, DAMP, HOTEL = (
    "A parcel that came broken is replaced.",
    "The cellar is damp in autumn.",
    "A hotel may cost 120 euros a night.",
)


async def test_similar_rows_tag_without_a_model_and_a_model_the_rest(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordsEmbedder()) as library:
        await fill(library, TEXTS)
        await fill_tags(library, ROWS)
        model = SayingModel(lambda rules, text: '{"payment": 6, "weather": 9}' if "hotel" in text else "{}")
        told = await estimate(library, "kb", TAGS, asker(library, model))
        assert (told.usage.calls, model.asked) == (2, [])
        report = await run(library, model)
        assert (report.documents, report.usage.calls, report.failed) == (2, 2, ())
        found = await scores(library)
        assert {tag for tag, _ in found[BROKEN]} == {"damage", "Returns"}
        assert (found[HOTEL], found[DAMP]) == ((("payment", 6),), ())
        rules = model.asked[0][0]
        assert rules.index("- Returns") < rules.index("- damage") < rules.index("- payment")
        assert (await run(library, model)).documents == 0
        assert len((await TagSets(library).of(("labels",))).rows) == 4


async def test_without_a_model_the_first_way_alone(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordsEmbedder()) as library:
        await fill(library, TEXTS)
        await fill_tags(library, ROWS)
        report = await run(library, None)
        assert (report.documents, report.usage.calls, report.failed, report.error) == (2, 0, (), "")
        found = await scores(library)
        assert (found[BROKEN] != (), found[HOTEL], found[DAMP]) == (True, (), ())
        assert (await run(library, None)).documents == 0
        # Keywords that a model named before stay while there is none; one that is set up is asked for the rest.
        both = EnrichOptions(auto_keywords=1, tags_from=("labels",))
        named = SayingModel(lambda rules, text: "{}" if "You tag" in rules else text.split()[-1])
        assert (await run(library, named, both)).usage.calls == 3 + 2
        await fill_tags(library, ROWS | {"A night in a hotel": "travel"})
        assert (await run(library, None, both)).documents == 2
        assert (await scores(library))[HOTEL] == (("travel", 10),)
        chunks = await library.registry.chunks_of(["s:travel"])
        assert [chunk.keywords for chunk in chunks] == [("night",)]


async def test_a_changed_tag_set_asks_only_where_the_prompt_differs(tmp_path: pathlib.Path) -> None:
    model = SayingModel(lambda rules, text: '{"payment": 3}')
    async with opened(tmp_path, WordsEmbedder()) as library:
        await fill(library, TEXTS)
        await fill_tags(library, ROWS)
        assert (await run(library, model)).usage.calls == 2
        # The same rows, read again: nothing is due.
        await fill_tags(library, ROWS | {})
        assert (await run(library, model)).documents == 0
        # Another row about something else, with tags that are there: all are compared again, and none is asked about.
        more = ROWS | {"An invoice lacks its number.": "payment"}
        await fill_tags(library, more)
        again = await run(library, model)
        assert (again.documents, again.usage.calls, again.cached) == (2, 0, 2)
        # A row about hotels: one chunk needs no model any more. A new tag changes the list, and so the question.
        await fill_tags(library, more | {"A hotel for the night": "travel"})
        other = await run(library, model)
        assert (other.documents, other.usage.calls) == (2, 1)
        assert (await scores(library))[HOTEL] == (("travel", 10),)
        # The setting goes, and so do the tags.
        assert (await run(library, model, EnrichOptions())).documents == 2
        assert not any((await scores(library)).values())


async def test_an_empty_tag_set_asks_nothing_until_it_is_filled(tmp_path: pathlib.Path) -> None:
    model = SayingModel(lambda rules, text: '{"payment": 3}')
    async with opened(tmp_path, WordsEmbedder()) as library:
        await fill(library, TEXTS)
        report = await run(library, model)
        assert (report.documents, report.usage.calls, report.failed) == (2, 0, ())
        await fill_tags(library, ROWS)
        assert (await run(library, model)).usage.calls == 2


async def test_a_model_is_shown_two_rows_or_a_made_up_example(tmp_path: pathlib.Path) -> None:
    model = SayingModel(lambda rules, text: "{}")
    async with opened(tmp_path, WordsEmbedder()) as library:
        long = "The broken window of the office, the lift, the cellar, the roof and the gate need a repair in autumn. "
        await fill(library, {"parcels": f"# Repairs\n\n{long * 2}", "zoo": "# Zoo\n\nElephants sleep standing."})
        await fill_tags(library, ROWS)
        await run(library, model)
        rules = {text.splitlines()[0]: said for said, text in model.asked}
        (repairs,), (zoo,) = ([said for head, said in rules.items() if word in head] for word in ("Repair", "Zoo"))
        assert repairs.count('": 10}') == 2
        assert '{"damage": 10, "Returns": 10}' in repairs
        assert zoo.count('": 10}') == 1
        assert "made up" in zoo
        assert not any(text in zoo for text in ROWS)


@pytest.mark.parametrize("reply", ["I can't.", '{"Schaden": 9}'])
async def test_a_bad_reply_leaves_the_chunk_without_tags_and_named(tmp_path: pathlib.Path, reply: str) -> None:
    async with opened(tmp_path, WordsEmbedder()) as library:
        await fill(library, {"travel": TEXTS["travel"]})
        await fill_tags(library, ROWS)
        report = await run(library, SayingModel(lambda rules, text: reply))
        assert [(one.document_id, one.chunks) for one in report.failed] == [("s:travel", 1)]
        assert report.failed[0].reason.startswith("tags_from (1 chunk): ")
        assert (await scores(library))[HOTEL] == ()
        assert len(await library.registry.chunks_of(["s:travel"])) == 1


async def test_the_prompt_given_back_is_no_answer(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path, WordsEmbedder()) as library:
        await fill(library, {"travel": TEXTS["travel"]})
        await fill_tags(library, ROWS)
        report = await run(library, SayingModel(lambda rules, text: f"{rules}\n{text}"))
        assert [one.document_id for one in report.failed] == ["s:travel"]


def test_the_number_of_tags_has_its_limits() -> None:
    for wrong in (0, 11):
        with pytest.raises(ConfigError, match="topn_tags"):
            EnrichOptions(tags_from=("labels",), topn_tags=wrong)
