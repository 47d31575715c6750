"""What a model reads out of a document can be filtered by, after what its source tells of it."""

import json
import pathlib
from dataclasses import replace

import pytest

from ragcore.chunking import ChunkOptions
from ragcore.enrich.asking import MOST_ATTEMPTS
from ragcore.enrich.metadata import BEGINNING, HEADINGS
from ragcore.enrich.options import EnrichOptions, MetadataField
from ragcore.enrich.passing import estimate, fingerprint
from ragcore.enrich.steps import document_steps_of
from ragcore.errors import ConfigError
from ragcore.filter_grammar import parse_filter
from ragcore.ingest import IngestOptions, ingest
from ragcore.library import Library
from ragcore.stores.document_values import DocumentValues
from ragcore.stores.rows import Document
from ragcore.tokens import offline_tokenizer
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import each, fill, opened
from tests.ragcore.enrich.test_contents import asker, run

FIELDS = (
    MetadataField(name="year", description="the year it is about", type="number"),
    MetadataField(name="department", description="the one that wrote it"),
)
BOTH = EnrichOptions(metadata=FIELDS)
TEXTS = {
    "plan": "# Plan for 2025\n\nWritten by Sales.\n\n## Aims\n\nSell more than before.",
    "note": "# Note\n\nLunch is at noon.",
}
LONG = "# Long\n\n" + "\n\n".join(
    f"## Heading {n} of many\n\nMatter {n} weighs {n} kilos, give or take." for n in range(300)
)


def say(rules: str, material: str) -> str:
    """Fill in what stands there, as a good model would, with a field that nobody asked for."""
    found: dict[str, object] = {"mood": "good"}
    found |= {"year": 2025} if "2025" in material else {"year": None}
    found |= {"department": "Sales"} if "Sales" in material else {}
    return json.dumps(found)


async def document(library: Library, name: str) -> Document:
    found = await library.registry.document(f"s:{name}")
    assert found is not None
    return found


async def met(library: Library, text: str) -> set[str]:
    found = await DocumentValues(library.database).matching("kb", [parse_filter(text)])
    return {name for name in TEXTS if (await document(library, name)).generation in found.generations}


async def test_documents_are_filtered_by_what_a_model_read(tmp_path: pathlib.Path) -> None:
    model = SayingModel(say)
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        before = await estimate(library, "kb", BOTH, asker(library, model))
        report = await run(library, model, BOTH)
        assert (report.documents, report.failed, report.usage.calls) == (2, (), 2)
        assert before.usage.calls == 2
        assert (await document(library, "plan")).extracted == {"year": "2025", "department": "Sales"}
        assert (await document(library, "note")).extracted == {}
        assert await met(library, "year >= 2025 and department = sales") == {"plan"}
        assert (await run(library, model, BOTH)).documents == 0
        less = await run(library, model, EnrichOptions(metadata=FIELDS[:1]))
        assert (less.documents, less.usage.calls) == (2, 2)
        assert (await document(library, "plan")).extracted == {"year": "2025"}
        assert (await run(library, model, EnrichOptions())).documents == 2
        assert (await document(library, "plan")).extracted == {}
        assert await met(library, "year >= 2025") == set()


async def test_what_was_read_of_a_document_counts_until_its_new_version_is_read(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await run(library, SayingModel(say), BOTH)
        await fill(library, {"plan": f"{TEXTS['plan']}\n\nOne line more."})
        assert await met(library, "year = 2025") == {"plan"}
        assert (await run(library, SayingModel(say), EnrichOptions())).documents == 2
        assert await met(library, "year = 2025") == set()


async def test_what_the_source_tells_counts_before(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        told = [replace(one, metadata={"Department": "Legal"}) async for one in each(TEXTS)]

        async def listed():  # type: ignore[no-untyped-def]
            for one in told:
                yield one

        assert [event async for event in ingest(library, "kb", listed())]
        await run(library, SayingModel(say), BOTH)
        assert (await document(library, "plan")).extracted["department"] == "Sales"
        assert await met(library, "department = sales") == set()
        assert await met(library, "department = legal and year = 2025") == {"plan"}


@pytest.mark.soak
async def test_rubbish_leaves_what_was_read_before_and_is_asked_a_few_times(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await run(library, SayingModel(say), BOTH)
        other = (replace(FIELDS[0], description="the year of it"), FIELDS[1])
        rubbish = SayingModel(lambda rules, material: "No." if "Sales" in material else say(rules, material))
        for _ in range(1, MOST_ATTEMPTS):
            report = await run(library, rubbish, EnrichOptions(metadata=other))
            assert [(one.document_id, one.chunks) for one in report.failed] == [("s:plan", 0)]
            assert report.failed[0].reason.startswith("metadata: ")
            assert await met(library, "year = 2025") == {"plan"}
        last = await run(library, rubbish, EnrichOptions(metadata=other))
        assert last.failed == ()
        assert (await document(library, "plan")).extracted == {}


async def test_of_a_long_document_the_beginning_and_some_headings_are_shown(tmp_path: pathlib.Path) -> None:
    model = SayingModel(say)
    async with opened(tmp_path) as library:
        await fill(library, {"long": LONG}, IngestOptions(chunk=ChunkOptions(chunk_tokens=64)))
        await run(library, model, BOTH)
        ((rules, material),) = model.asked
        assert "- year (number): the year it is about\n- department (text)" in rules
        assert offline_tokenizer().count(material) < BEGINNING + HEADINGS + 50
        assert material.startswith("Title: Long\n\nFile: long.md\n\nHeadings:\nHeading 0 of many\nHeading 1 of many\n")
        assert "Heading 20 of many" in material
        assert "Matter 20 weighs" in material
        assert "299" not in material


async def test_a_change_of_the_schema_is_another_fingerprint(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        asking = asker(library, SayingModel(say))
        schemas = [(), FIELDS, FIELDS[:1], (replace(FIELDS[0], type="text"), FIELDS[1])]
        steps = [document_steps_of(EnrichOptions(metadata=one), library) for one in schemas]
        assert len({fingerprint((), one, asking) for one in steps}) == len(schemas)


def test_more_fields_than_a_model_fills_in_are_refused() -> None:
    with pytest.raises(ConfigError, match="at most 24"):
        EnrichOptions(metadata=tuple(MetadataField(name=str(n), description="it") for n in range(25)))
