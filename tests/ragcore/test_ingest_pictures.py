"""A picture is described by a model between reading and cutting; a description that fails is tried again.

Over 400 lines: each way in which a model, a picture or a reader may fail is led through the same small library.
"""

import asyncio
import contextlib
import importlib.util
import io
import pathlib
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime

import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from ragcore.chunking import ChunkOptions
from ragcore.enrich.asking import AT_ONCE, Asker, Spent
from ragcore.enrich.describing import ATTEMPTS, TASK, Foreseen, ModelDescriber, description_of
from ragcore.errors import ModelBadOutput, ModelContextTooLong, ModelError, ModelRefused, ModelUnreachable
from ragcore.ingest import Asked, Change, Failed, Indexed, IngestOptions, Underway, events, ingest, pipeline_of
from ragcore.ingest.foreseeing import ForeseenReading
from ragcore.ingest.pictures import LABEL, Pictures, beside
from ragcore.ingest.spool import Spool
from ragcore.library import Library
from ragcore.parsing import ParseOptions
from ragcore.prompts import Prompts, render
from ragcore.stores.lacking import HowRead, how_read
from ragcore.stores.model_results import ModelResults
from ragcore.stores.rows import Document, document_record, upsert
from ragcore.stores.schema import documents
from ragcore.tokens import offline_tokenizer
from ragcore.types import Image, Location, Message, Section, SourceDocument, Usage
from tests.fakes.libraries import opened
from tests.ragcore.parsing.makers import lines, pdf
from tests.ragcore.parsing.pictures import white_png
from tests.soak import scaled

PIPELINE = IngestOptions(parse=ParseOptions(ocr=False), describe="model-1")
needs_ocr = pytest.mark.skipif(importlib.util.find_spec("rapidocr") is None, reason='the extra "ocr" is not installed')
CAPTIONS = ("Figure 1: The harbour of Brightwater.", "Figure 2: The lighthouse of Brightwater.")
IMAGE = Image(media_type="image/png", data="AAAA")


class Describer:
    """Says the same of every picture, unless it is told to fail."""

    name = "model-1"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.error: Exception | None = None
        self.fails: set[str] = set()
        self.says: str | None = "A red valve on a pipe."
        self.spent = Spent()
        self.most_together = self.together = 0
        self.seconds = 0.0
        self.released: list[str] = []

    def apart(self) -> "Describer":
        self.spent = Spent()
        return self

    async def describe(self, image: Image, *, title: str, beside: str, owner: str = "") -> str | None:
        self.asked.append((title, beside))
        self.together += 1
        self.most_together = max(self.most_together, self.together)
        await asyncio.sleep(self.seconds)
        self.together -= 1
        if self.error is not None and (not self.fails or beside in self.fails):
            raise self.error
        self.spent.usage += Usage(calls=1, prompt_tokens=100, completion_tokens=10)
        return self.says

    async def foresee(self, image: Image, *, title: str, beside: str) -> Foreseen | None:
        return Foreseen(key=f"{title} {beside} {image.data}", prompt_tokens=100)

    async def release(self, owner: str, before: datetime) -> None:
        self.released.append(owner)


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


async def figures() -> AsyncIterator[SourceDocument]:
    """Yield a PDF with two figures, each with its caption."""
    pages = [lines([text], top=85) for text in CAPTIONS]
    yield SourceDocument(id="s:a.pdf", source="s", content=pdf(pages, image=True), name="a.pdf", version="1")


async def index_figures(library: Library, options: IngestOptions = PIPELINE) -> list[Indexed]:
    return [event async for event in ingest(library, "kb", figures(), options) if isinstance(event, Indexed)]


async def make_due(library: Library, name: str) -> None:
    """Let the time come at which what a document lacks is tried again."""
    document = await library.registry.document(f"s:{name}")
    assert document is not None
    pipeline = str(replace(how_read(document.pipeline), until=1_000_000_000))
    past = update(documents).where(documents.c.id == document.id).values(pipeline=pipeline)
    async with library.database.begin() as connection:
        await connection.execute(past)


async def texts(library: Library, name: str) -> list[str]:
    return [chunk.text for chunk in await library.registry.chunks_of([f"s:{name}"])]


def describer_of(library: Library) -> Describer:
    assert isinstance(library.describer, Describer)
    return library.describer


async def is_due(library: Library, name: str, options: IngestOptions = PIPELINE) -> bool:
    pipeline = pipeline_of(options, tokenizer=offline_tokenizer().name)
    known = await library.registry.known_versions(
        "s", knowledge_base="kb", pipeline_of=lambda *_: pipeline, readers=options.readers
    )
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


async def test_each_page_of_a_scan_is_described_where_ocr_reads_nothing(library: Library) -> None:
    options = IngestOptions(describe="model-1", chunk=ChunkOptions(method="picture"))
    (told,) = await index(library, options, minutes=pdf([[], []], image=True))
    assert isinstance(told, Indexed)
    assert not told.warnings
    chunks = await library.registry.chunks_of(["s:minutes"])
    assert [(chunk.text, chunk.location.page) for chunk in chunks] == [
        (f"{LABEL}: A red valve on a pipe.", page) for page in (1, 2)
    ]
    assert describer_of(library).asked == [("Minutes", "")] * 2
    assert not await is_due(library, "minutes", options)


def test_a_page_that_is_shown_whole_is_told_with_its_own_words_alone() -> None:
    texts = ["Before", "7", "", "Behind"]
    sections = [
        Section(text=text, location=Location(page=page)) for text, page in zip(texts, (1, 2, 2, 3), strict=True)
    ]
    assert beside(sections, 2) == "7"
    assert beside([replace(section, location=Location()) for section in sections], 2) == "7\n\nBehind"


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


@pytest.mark.soak
async def test_words_are_searchable_while_the_model_is_away_and_it_is_asked_again_after_a_while(
    library: Library,
) -> None:
    describer = describer_of(library)
    describer.error = ModelUnreachable("no route to host")
    (told,) = await index_figures(library)
    assert told.warnings[0].startswith("a picture was not described: ")
    assert await texts(library, "a.pdf") == list(CAPTIONS)
    assert len(describer.asked) == 2
    for _ in range(2):
        (told,) = await index_figures(library)
        assert (told.change, told.warnings) == ("unchanged", ())
    assert len(describer.asked) == 2
    assert not await is_due(library, "a.pdf")
    for attempt in (2, 3):
        await make_due(library, "a.pdf")
        assert await is_due(library, "a.pdf")
        (told,) = await index_figures(library)
        assert (told.change, len(told.warnings)) == ("unchanged", 1)
        assert not await is_due(library, "a.pdf")
        document = await library.registry.document("s:a.pdf")
        assert document is not None
        assert how_read(document.pipeline).attempts == attempt
        assert len(describer.asked) == 2 * attempt
        assert len(document.pipeline) <= 64 >= len(document.hash), "what its columns take"
    describer.error = None
    await make_due(library, "a.pdf")
    (told,) = await index_figures(library)
    assert (told.change, told.warnings) == ("changed", ())
    assert [text.startswith(LABEL) for text in await texts(library, "a.pdf")] == [False, True, False, True]
    assert not await is_due(library, "a.pdf")
    document = await library.registry.document("s:a.pdf")
    assert document is not None
    assert how_read(document.pipeline).attempts == 0


@pytest.mark.soak
async def test_of_several_figures_those_that_were_described_are_found_while_others_wait(library: Library) -> None:
    describer = describer_of(library)
    describer.error = ModelUnreachable("no route to host")
    for waiting, change in (
        ({*CAPTIONS}, "added"),
        ({CAPTIONS[1]}, "changed"),
        ({CAPTIONS[1]}, "unchanged"),
        ({"none"}, "changed"),
    ):
        describer.fails = waiting
        (told,) = await index_figures(library)
        assert told.change == change
        found = [text for text in await texts(library, "a.pdf") if text.startswith(LABEL)]
        assert len(found) == 2 - len(waiting & {*CAPTIONS})
        if change != "changed" or waiting == {CAPTIONS[1]}:
            await make_due(library, "a.pdf")


@pytest.mark.soak
async def test_a_model_that_describes_nothing_is_believed_until_another_one_is_named(library: Library) -> None:
    describer = describer_of(library)
    describer.says = None
    (told,) = await index_figures(library)
    assert (told.change, len(told.warnings)) == ("added", 1)
    assert "pictures that the model did not describe: 2" in told.warnings[0]
    assert not await is_due(library, "a.pdf")
    (told,) = await index_figures(library)
    assert told.change == "unchanged"
    assert len(describer.asked) == 2
    describer.says = "A valve."
    (told,) = await index_figures(library, replace(PIPELINE, describe="model-2"))
    assert (told.change, told.warnings, len(describer.asked)) == ("changed", (), 4)


async def test_a_picture_without_words_that_no_model_describes_is_named_with_a_mend(library: Library) -> None:
    describer_of(library).says = None
    (told,) = await index(library, PIPELINE, a=white_png())
    assert isinstance(told, Failed)
    assert "the model gave no description" in told.reason
    assert "another model" in told.mend


async def test_a_figure_keeps_its_text_beside_its_description_or_alone() -> None:
    describer = Describer()
    sections = (Section(text="Figure 1: a valve", image=IMAGE), Section(text="Some text."))
    found = await Pictures(describer).described(sections, "Manual")
    assert [section.text for section in found.sections] == [
        "Figure 1: a valve",
        f"{LABEL}: A red valve on a pipe.",
        "Some text.",
    ]
    assert (found.failure, found.without, found.descriptions) == ("", 0, ("A red valve on a pipe.",))
    assert describer.asked == [("Manual", "Figure 1: a valve")]
    describer.error = ModelContextTooLong("too many tokens")
    found = await Pictures(describer).described(sections, "Manual")
    assert [section.text for section in found.sections] == ["Figure 1: a valve", "Some text."]
    assert found.failure
    found = await Pictures(None).described(sections, "Manual")
    assert ([section.image for section in found.sections], found.failure) == ([None, None], "")


async def test_several_are_asked_for_together_and_one_that_is_down_is_left_alone() -> None:
    describer = Describer()
    sections = tuple(Section(text=f"Figure {n}", image=IMAGE) for n in range(40))
    found = await Pictures(describer).described(sections, "Manual")
    assert [section.text for section in found.sections[::2]] == [section.text for section in sections]
    assert 1 < describer.most_together <= AT_ONCE
    describer.asked.clear()
    describer.error = ModelUnreachable("no route to host")
    assert (await Pictures(describer).described(sections, "Manual")).failure
    assert len(describer.asked) <= AT_ONCE


async def test_pictures_that_are_documents_are_described_side_by_side_and_told_in_their_order(library: Library) -> None:
    describer_of(library).seconds = 0.1
    contents = {f"p{number:02}": white_png(number + 8, 8) for number in range(10)}
    found = await index(library, PIPELINE, **contents)
    assert [told.document_id for told in found] == [f"s:{name}" for name in contents]
    assert all(isinstance(told, Indexed) for told in found)
    assert 1 < describer_of(library).most_together <= AT_ONCE


async def test_what_the_model_was_asked_for_is_told_at_the_end(library: Library) -> None:
    events = [event async for event in ingest(library, "kb", figures(), PIPELINE)]
    assert events[-1] == Asked(usage=Usage(calls=2, prompt_tokens=200, completion_tokens=20))
    events = [event async for event in ingest(library, "kb", figures(), PIPELINE)]
    assert not any(isinstance(event, Asked) for event in events)


async def test_what_it_would_take_is_told_before(library: Library) -> None:
    foreseen = ForeseenReading(library, "kb", PIPELINE)
    contents = {"b.png": white_png(), "c.pdf": b"%PDF-1.4 broken", "d.md": b"# Text"}
    others = [SourceDocument(id=f"s:{name}", source="s", content=c, name=name) for name, c in contents.items()]
    shown = [source async for source in figures()]
    async with aclosing(foreseen):
        for source in (*shown, *shown, *others):
            await foreseen.add(source, Indexed(document_id=source.id, change=Change.CHANGED))
        left = SourceDocument(id="s:e.png", source="s", content=white_png(9, 9), name="e.png")
        await foreseen.add(left, Indexed(document_id=left.id, change=Change.UNCHANGED))
    assert (foreseen.usage.calls, foreseen.usage.prompt_tokens) == (3, 300)
    assert not describer_of(library).asked


@pytest.mark.parametrize("reads", [True, False])
async def test_what_only_ocr_reads_is_foreseen_without_chunks(
    reads: bool, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragcore.ingest.foreseeing.has_ocr", lambda: reads)
    told: dict[str, int] = {}

    async def tell(document: Document, chunks: Spool) -> None:
        told[document.id] = len(chunks)

    foreseen = ForeseenReading(library, "kb", IngestOptions(), tell)
    scan = io.BytesIO()
    PIL.Image.new("RGB", (60, 40), "white").save(scan, "PDF")
    contents = {
        "a.png": white_png(),
        "b.pdf": scan.getvalue(),
        "c.md": b"# Text",
        "d.docx": b"PK\x03\x04 broken",
        "e": white_png(),
    }
    async with aclosing(foreseen):
        for name, content in contents.items():
            source = SourceDocument(id=f"s:{name}", source="s", content=content, name=name)
            await foreseen.add(source, Indexed(document_id=source.id, change=Change.ADDED))
    wordless = {"s:a.png": 0, "s:b.pdf": 0, "s:e": 0} if reads else {}
    assert told == {"s:c.md": 1, **wordless}


@pytest.mark.soak
async def test_another_model_makes_those_documents_due_alone_that_show_pictures(library: Library) -> None:
    off, other = replace(PIPELINE, describe=""), replace(PIPELINE, describe="model-2")
    plain = pdf([lines(["Nothing is shown here, only told."])])
    assert pipeline_of(off, tokenizer="t") == pipeline_of(other, tokenizer="t")

    async def read(options: IngestOptions) -> list[str]:
        async def sources() -> AsyncIterator[SourceDocument]:
            async for source in figures():
                yield replace(source, id="s:shown", name="")  # a picture is known by what it is, not by its name
            yield SourceDocument(id="s:told", source="s", content=plain, name="told.pdf", version="1")

        found = [one async for one in ingest(library, "kb", sources(), options) if isinstance(one, Indexed)]
        assert not await is_due(library, "shown", options)
        assert not await is_due(library, "told", options)
        return [event.change for event in found]

    assert await read(off) == ["added", "added"]
    assert await texts(library, "shown") == list(CAPTIONS)
    for options in (PIPELINE, other, off):
        assert await is_due(library, "shown", options)
        assert not await is_due(library, "told", options)
        assert await read(options) == ["changed", "unchanged"]
        assert len(await texts(library, "shown")) == (4 if options.describe else 2)


async def test_ocr_that_is_installed_later_makes_those_documents_due_alone_that_lacked_it(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = replace(PIPELINE, parse=ParseOptions())
    live = {"lacks": True, "has": False}
    async with library.database.begin() as connection:
        for name, lacks in live.items():
            row = Document(
                id=f"s:{name}",
                knowledge_base="kb",
                source="s",
                version="1",
                pipeline=str(
                    HowRead(pipeline=pipeline_of(options, tokenizer=offline_tokenizer().name), lacks_ocr=lacks)
                ),
            )
            await upsert(connection, documents, [document_record(row)])
    monkeypatch.setattr(events, "has_ocr", lambda: False)
    assert [await is_due(library, name, options) for name in live] == [False, False]
    monkeypatch.setattr(events, "has_ocr", lambda: True)
    assert [await is_due(library, name, options) for name in live] == [True, False]


class Model:
    """A chat model that writes what it is told to."""

    name = "vision"
    context_window = 8_000
    max_tokens = 500

    def __init__(self) -> None:
        self.asked: list[Sequence[Message]] = []
        self.writes: str | ModelError = " A valve. "

    async def complete(self, messages: Sequence[Message], *, task: str) -> tuple[str, Usage]:
        assert task == "vision"
        self.asked.append(messages)
        if isinstance(self.writes, ModelError):
            raise self.writes
        return self.writes, Usage(calls=1)


def asking(library: Library, model: Model, identity: str = "m") -> ModelDescriber:
    return ModelDescriber(
        Asker(
            model=model,  # type: ignore[arg-type]
            identity=identity,
            results=ModelResults(library.database),
            prompts=Prompts(),
            tokenizer=offline_tokenizer(),
            task=TASK,
            attempts=ATTEMPTS,
        )
    )


async def test_a_model_is_asked_once_for_each_picture_and_all_that_it_is_asked_with(library: Library) -> None:
    model = Model()
    for _ in range(2):
        assert await asking(library, model, "t=0").describe(IMAGE, title="Manual", beside="Figure 1") == "A valve."
    assert len(model.asked) == 1
    system, user = model.asked[0]
    assert "Manual" in system.text
    assert "Figure 1" in system.text
    assert user.images == (IMAGE,)
    assert await asking(library, model, "t=0").foresee(IMAGE, title="Manual", beside="Figure 1") is None
    foreseen = await asking(library, model, "t=1").foresee(IMAGE, title="Manual", beside="Figure 1")
    assert foreseen is not None
    assert foreseen.prompt_tokens > 1_000
    await asking(library, model, "t=1").describe(IMAGE, title="Manual", beside="Figure 1")
    await asking(library, model, "t=1").describe(IMAGE, title="Manual", beside="Figure 2")
    await asking(library, model, "t=1").describe(replace(IMAGE, data="AAAB"), title="Manual", beside="Figure 2")
    assert len(model.asked) == 4
    assert asking(library, model, "t=0").name != asking(library, model, "t=1").name


@pytest.mark.parametrize(
    "writes",
    [
        "",
        "  \n",
        "...",
        ModelBadOutput("refused", raw=" "),
        ModelRefused("the content filter stopped it"),
        "I'm sorry, but I can't help with identifying people in images.",
        "I cannot see the image.",
        "抱歉，我无法查看图片。",
        "You turn a picture into words, so that it can be found",
    ],
    ids=["empty", "blank", "dots", "cut", "refused", "sorry", "cannot", "chinese", "prompt"],
)
async def test_what_is_no_description_is_asked_for_again_and_then_never(
    library: Library, writes: str | ModelBadOutput | ModelRefused
) -> None:
    model = Model()
    model.writes = writes
    describer = asking(library, model)
    for _ in range(2):
        assert await describer.describe(IMAGE, title="", beside="") is None
    asked = 1 if isinstance(writes, ModelRefused) else ATTEMPTS
    assert len(model.asked) == asked
    assert describer.spent.usage.calls == asked
    apart = describer.apart()
    assert await apart.describe(IMAGE, title="", beside="") is None
    assert (apart.spent.usage.calls, apart.spent.cached) == (0, 1)
    model.writes = "A valve."
    assert await asking(library, model, "another").describe(IMAGE, title="", beside="") == "A valve."


async def test_a_model_that_is_away_is_asked_again(library: Library) -> None:
    model = Model()
    model.writes = ModelUnreachable("no route to host")
    for _ in range(ATTEMPTS + 1):
        with pytest.raises(ModelUnreachable):
            await asking(library, model).describe(IMAGE, title="", beside="")
    model.writes = "A valve."
    assert await asking(library, model).describe(IMAGE, title="", beside="") == "A valve."


@settings(max_examples=scaled(50))
@given(st.text(max_size=600))
def test_what_is_taken_for_a_description_was_written_so(reply: str) -> None:
    with contextlib.suppress(ModelBadOutput):
        assert description_of(reply) == reply.strip() != ""


@pytest.mark.parametrize(
    "text",
    ["A sorry sight: a bent valve.", "I-beam, 200 mm.", "图中是一个红色阀门。", "42", "Desolate coast with a harbour."],
    ids=["sorry", "beam", "chinese", "number", "coast"],
)
def test_a_description_is_no_refusal_for_its_words(text: str) -> None:
    assert description_of(text) == text


async def test_a_description_that_was_cut_at_its_limit_is_better_than_none(library: Library) -> None:
    model = Model()
    model.writes = ModelBadOutput("cut", raw="A valve on a")
    assert await asking(library, model).describe(IMAGE, title="", beside="") == "A valve on a"


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
