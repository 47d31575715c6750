"""The real files of the public data: phrases found, formats told, and nothing but ParseError when they are broken."""

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragcore.errors import ParseError
from ragcore.parsing import parse
from ragcore.parsing.media import Media, hinted
from ragcore.types import Section
from tests.conftest import BENCH
from tests.soak import scaled

DOCUMENTS = BENCH / "documents"
FILINGS = BENCH / "financebench-dev"
NAMES = [
    "x.md",
    "x.html",
    "x.csv",
    "x.json",
    "x.jsonl",
    "x.eml",
    "x.ipynb",
    "x.rst",
    "x.py",
    "x.pdf",
    "x.docx",
    "x.epub",
    "",
]
SECONDS = 20
LACKING = "the public data sets are not beside this checkout (../shared/bench)"


def entries() -> list[dict[str, object]]:
    manifest = DOCUMENTS / "manifest.jsonl"
    return [json.loads(line) for line in manifest.read_text("utf-8").splitlines()] if manifest.is_file() else []


def cases() -> list[object]:
    """Return each file's entry, or one that says why there is none."""
    return [*entries()] or [pytest.param({}, marks=pytest.mark.skip(reason=LACKING), id="none")]


def bare(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("entry", cases(), ids=lambda entry: str(entry["file"]))
def test_every_phrase_is_found_and_the_format_is_told_without_the_name(entry: dict[str, object]) -> None:
    content = (DOCUMENTS / str(entry["file"])).read_bytes()
    parsed = parse(content, name=str(entry["file"]))
    text = bare("\n".join(section.text for section in parsed.sections))
    assert [phrase for phrase in list(entry["phrases"]) if bare(phrase) not in text] == []  # type: ignore[call-overload]
    assert [phrase for phrase in list(entry.get("absent", [])) if bare(phrase) in text] == []  # type: ignore[call-overload]
    assert parsed.media_type == hinted(str(entry["file"]), "")
    told = parse(content, name="")
    assert told.media_type == parsed.media_type or parsed.media_type in (Media.CSV, Media.MARKDOWN)


@pytest.mark.parametrize("entry", cases(), ids=lambda entry: str(entry["file"]))
def test_tables_begin_with_their_header_and_places_make_sense(entry: dict[str, object]) -> None:
    parsed = parse((DOCUMENTS / str(entry["file"])).read_bytes(), name=str(entry["file"]))
    for section in parsed.sections:
        assert section.text.startswith(section.header)
        assert parsed.title not in section.heading_path[:1]
        check_place(section)


def check_place(section: Section) -> None:
    place = section.location
    body = section.text[len(section.header) :].count("\n") + 1
    if place.first_row:
        assert place.last_row - place.first_row + 1 == body
    if place.first_line and place.last_line > place.first_line:
        assert place.last_line - place.first_line + 1 == body


@pytest.fixture(scope="module")
def originals() -> list[bytes]:
    files = [DOCUMENTS / str(entry["file"]) for entry in entries()]
    if not files:
        pytest.skip(LACKING)
    return [file.read_bytes() for file in files]


def parse_or_refuse(content: bytes, name: str) -> None:
    start = time.monotonic()
    refused = refusal(content, name)
    assert time.monotonic() - start < SECONDS
    if refused is not None:
        assert "\n" not in refused.reason + refused.mend
        assert refused.reason
        assert refused.mend


def refusal(content: bytes, name: str) -> ParseError | None:
    try:
        parse(content, name=name)
    except ParseError as error:
        return error
    return None


@settings(max_examples=scaled(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_broken_file_under_any_name_is_parsed_or_refused_in_one_line(
    originals: list[bytes], data: st.DataObject
) -> None:
    content = bytearray(data.draw(st.sampled_from(originals)))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    flips = data.draw(st.lists(st.tuples(st.integers(0, max(0, len(content) - 1)), st.integers(0, 255)), max_size=30))
    for at, value in flips if content else []:
        content[at] = value
    parse_or_refuse(bytes(content), data.draw(st.sampled_from(NAMES)))


@given(content=st.binary(max_size=600), name=st.sampled_from(NAMES))
def test_random_bytes_are_parsed_or_refused_in_one_line(content: bytes, name: str) -> None:
    parse_or_refuse(content, name)


@given(text=st.text(max_size=400), name=st.sampled_from(NAMES))
def test_random_text_is_parsed_or_refused_in_one_line(text: str, name: str) -> None:
    parse_or_refuse(text.encode("utf-8", errors="replace"), name)


def test_gold_evidence_of_filings_stands_on_its_page() -> None:
    queries = FILINGS / "queries.jsonl"
    if not queries.is_file():
        pytest.skip(LACKING)
    name = "PEPSICO_2023_8K_dated-2023-05-05.pdf"
    golds = [
        gold
        for line in queries.read_text("utf-8").splitlines()
        if (query := json.loads(line))["document"] == name
        for gold in query["evidence"]
    ]
    parsed = parse((FILINGS / "documents" / name).read_bytes(), name=name)
    for gold in golds:
        page = "".join(section.text for section in parsed.sections if section.location.page == gold["page"])
        letters = [word for word in gold["text"].split() if word.isalpha()]
        assert sum(word in page for word in letters) >= 0.95 * len(letters)
