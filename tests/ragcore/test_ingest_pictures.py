"""A picture is described by a model between reading and cutting; a description that fails is tried again."""

import importlib.util
import pathlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from ragcore.chunking import ChunkOptions
from ragcore.errors import ModelBadOutput, ModelUnreachable
from ragcore.ingest import Failed, Indexed, IngestOptions, Underway, ingest, pipeline_of
from ragcore.ingest.pictures import LABEL, Pictures
from ragcore.library import Library
from ragcore.models.describer import ModelDescriber
from ragcore.parsing import ParseOptions
from ragcore.prompts import render
from ragcore.stores.model_results import ModelResults
from ragcore.tokens import offline_tokenizer
from ragcore.types import Image, Message, Section, SourceDocument, Usage
from tests.fakes.libraries import opened
from tests.ragcore.parsing.makers import lines, pdf
from tests.ragcore.parsing.pictures import white_png, written

PIPELINE = IngestOptions(parse=ParseOptions(ocr=False), describe="model-1")
IMAGE = Image(media_type="image/png", data="AAAA")


class Describer:
    """Says the same of every picture, unless it is told to fail."""

    name = "model-1"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.error: Exception | None = None
        self.says = "A red valve on a pipe."

    async def describe(self, image: Image, *, title: str, beside: str) -> str:
        self.asked.append((title, beside))
        if self.error is not None:
            raise self.error
        return self.says


@pytest.fixture
async def library(tmp_path: pathlib.Path) -> AsyncIterator[Library]:
    async with opened(tmp_path / "data") as library:
        library.describer = Describer()
        yield library


async def index(library: Library, options: IngestOptions, **contents: bytes) -> list[Indexed | Failed]:
    async def documents() -> AsyncIterator[SourceDocument]:
        for name, content in contents.items():
            yield SourceDocument(id=f"s:{name}", source="s", content=content, name=f"{name}.png", version="1")

    events = [event async for event in ingest(library, "kb", documents(), options)]
    return [event for event in events if isinstance(event, Indexed | Failed) and not isinstance(event, Underway)]


async def texts(library: Library, name: str) -> list[str]:
    return [chunk.text for chunk in await library.registry.chunks_of([f"s:{name}"])]


def describer_of(library: Library) -> Describer:
    assert isinstance(library.describer, Describer)
    return library.describer


async def is_due(library: Library, name: str) -> bool:
    pipeline = pipeline_of(PIPELINE, tokenizer=offline_tokenizer().name)
    known = await library.registry.known_versions("s", knowledge_base="kb", pipeline_of=lambda *_: pipeline)
    return f"s:{name}" not in known


async def test_a_description_is_searched_and_says_what_it_is(library: Library) -> None:
    (told,) = await index(library, PIPELINE, valve=white_png())
    assert isinstance(told, Indexed)
    assert told.change == "added"
    assert await texts(library, "valve") == [f"{LABEL}: A red valve on a pipe."]
    assert describer_of(library).asked == [("Valve", "")]
    assert not await is_due(library, "valve")
    (told,) = await index(library, PIPELINE, valve=white_png())
    assert told.change == "unchanged"
    assert len(describer_of(library).asked) == 1


async def test_what_cannot_be_described_and_has_no_words_is_named_and_tried_again(library: Library) -> None:
    describer_of(library).error = ModelUnreachable("no route to host")
    first, second = await index(library, PIPELINE, a=white_png(), b=white_png(9, 9))
    assert isinstance(first, Failed)
    assert isinstance(second, Failed)
    assert "OCR read no words in it, and it was not described" in first.reason
    assert "vision_model" in first.mend
    assert len(describer_of(library).asked) == 1, "a model out of reach is not asked for each picture"
    describer_of(library).error = None
    found = await index(library, PIPELINE, a=white_png(), b=white_png(9, 9))
    assert [told.change for told in found if isinstance(told, Indexed)] == ["added", "added"]


@pytest.mark.skipif(importlib.util.find_spec("rapidocr") is None, reason='the extra "ocr" is not installed')
async def test_words_stay_searchable_while_the_description_fails_and_comes_later(library: Library) -> None:
    options = replace(PIPELINE, parse=ParseOptions())
    picture = written([(30, 30, "Turn the red handle left")])
    describer_of(library).error = ModelBadOutput("refused", raw="")
    (told,) = await index(library, options, a=picture)
    assert isinstance(told, Indexed)
    assert told.warnings[0].startswith("a picture was not described: ")
    assert await texts(library, "a") == ["Turn the red handle left"]
    assert describer_of(library).asked == [("A", "Turn the red handle left")]
    (told,) = await index(library, options, a=picture)
    assert isinstance(told, Indexed)
    assert told.change == "unchanged"
    assert await texts(library, "a") == ["Turn the red handle left"]
    assert await is_due(library, "a")
    describer_of(library).error = None
    (told,) = await index(library, replace(options, chunk=ChunkOptions(method="picture")), a=picture)
    assert isinstance(told, Indexed)
    assert told.change == "changed"
    assert await texts(library, "a") == [f"{LABEL}: A red valve on a pipe.\n\nTurn the red handle left"]


async def test_a_failed_description_of_a_figure_leaves_its_text_and_the_document_due(library: Library) -> None:
    describer = Describer()
    sections = (Section(text="Figure 1: a valve", image=IMAGE), Section(text="Some text."))
    found, failure = await Pictures(describer).described(sections, "Manual")
    assert [section.text for section in found] == [
        "Figure 1: a valve",
        f"{LABEL}: A red valve on a pipe.",
        "Some text.",
    ]
    assert failure == ""
    assert describer.asked == [("Manual", "Figure 1: a valve")]
    describer.error = ModelBadOutput("empty", raw="")
    found, failure = await Pictures(describer).described(sections, "Manual")
    assert [section.text for section in found] == ["Figure 1: a valve", "Some text."]
    assert failure
    found, failure = await Pictures(None).described(sections, "Manual")
    assert ([section.image for section in found], failure) == ([None, None], "")


def test_a_describer_touches_the_pipeline_of_what_may_show_pictures_alone() -> None:
    others = IngestOptions(describe="model-2")
    for name in ("a.png", "b.JPG", "c.tiff", "d.pdf"):
        assert others.for_document(f"s:{name}", name) != IngestOptions().for_document(f"s:{name}", name)
    for name in ("a.md", "b.docx", ""):
        assert others.for_document("s:x", name) == IngestOptions()
    assert pipeline_of(others, tokenizer="t") != pipeline_of(IngestOptions(), tokenizer="t")


class Model:
    """A chat model that writes what it is told to."""

    name = "vision"
    context_window = 8_000
    max_tokens = 500

    def __init__(self) -> None:
        self.asked: list[Sequence[Message]] = []
        self.writes: str | ModelBadOutput = " A valve. "

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        assert task == "vision"
        self.asked.append(messages)
        if isinstance(self.writes, ModelBadOutput):
            raise self.writes
        return self.writes, Usage(calls=1)


async def test_a_model_is_asked_once_for_each_picture_and_all_that_it_is_asked_with(library: Library) -> None:
    model, results = Model(), ModelResults(library.database)

    def describer(identity: str) -> ModelDescriber:
        return ModelDescriber(model, identity, offline_tokenizer(), results)  # type: ignore[arg-type]

    for _ in range(2):
        assert await describer("vision t=0").describe(IMAGE, title="Manual", beside="Figure 1") == "A valve."
    assert len(model.asked) == 1
    system, user = model.asked[0]
    assert "Manual" in system.text
    assert "Figure 1" in system.text
    assert user.images == (IMAGE,)
    await describer("vision t=1").describe(IMAGE, title="Manual", beside="Figure 1")
    await describer("vision t=1").describe(IMAGE, title="Manual", beside="Figure 2")
    await describer("vision t=1").describe(replace(IMAGE, data="AAAB"), title="Manual", beside="Figure 2")
    assert len(model.asked) == 4
    assert describer("vision t=0").name != describer("vision t=1").name


@pytest.mark.parametrize("writes", ["", "  \n", ModelBadOutput("refused", raw=" ")])
async def test_no_words_are_an_error_and_not_kept(library: Library, writes: str | ModelBadOutput) -> None:
    model = Model()
    model.writes = writes
    describer = ModelDescriber(model, "m", offline_tokenizer(), ModelResults(library.database))  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(ModelBadOutput):
            await describer.describe(IMAGE, title="", beside="")
    assert len(model.asked) == 2


async def test_a_description_that_was_cut_at_its_limit_is_better_than_none(library: Library) -> None:
    model = Model()
    model.writes = ModelBadOutput("cut", raw="A valve on a")
    describer = ModelDescriber(model, "m", offline_tokenizer(), ModelResults(library.database))  # type: ignore[arg-type]
    assert await describer.describe(IMAGE, title="", beside="") == "A valve on a"


def test_the_template_speaks_of_words_only_where_there_are_some() -> None:
    assert "below" not in render("describe_document_picture", title="", beside="")
    assert render("describe_document_picture", title="T", beside="Figure 1").endswith("Figure 1")


async def test_a_figure_of_a_pdf_is_described_under_its_caption_and_keeps_its_place(library: Library) -> None:
    page = [*lines(["Some text before the figure."]), *lines(["Figure 3: The harbour of Brightwater."], top=85)]

    async def documents() -> AsyncIterator[SourceDocument]:
        yield SourceDocument(id="s:a.pdf", source="s", content=pdf([page], image=True), name="a.pdf", version="1")

    (told,) = [event async for event in ingest(library, "kb", documents(), PIPELINE) if isinstance(event, Indexed)]
    assert told.change == "added"
    before, caption, described = await library.registry.chunks_of(["s:a.pdf"])
    assert (before.text, caption.text) == (page[0].text, page[1].text)
    assert described.text == f"{LABEL}: A red valve on a pipe."
    assert described.location == caption.location
    assert len(described.location.boxes) == 2
    assert [beside for _, beside in describer_of(library).asked] == [caption.text]
