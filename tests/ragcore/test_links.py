import time
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.links import _INLINE_MARKUP, allowed_urls, deep_link, place
from ragcore.types import Chunk, Location, SectionKind


def chunk(**changes: object) -> Chunk:
    values: dict[str, object] = {
        "id": "g-0", "document_id": "s:a", "knowledge_base": "kb", "ordinal": 0, "text": "Five days may be carried over.",
        "title": "Leave", "token_count": 7, "url": "https://wiki.example/leave",
    }  # fmt: skip
    return Chunk(**{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "link", "words"),
    [
        ({"media_type": "application/pdf", "location": Location(page=5)}, "#page=5", "p. 5"),
        ({"media_type": "text/markdown", "heading_path": ("Leave", "Carry-over"), "location": Location(anchor="carry-over", first_line=4)},
         "#carry-over", "Leave › Carry-over"),
        ({"media_type": "text/x-python", "kind": SectionKind.CODE, "location": Location(first_line=4, last_line=9)}, "#L4-L9", "lines 4-9"),
        ({"media_type": "text/plain", "location": Location(first_line=4, last_line=4)}, "#L4", "line 4"),
        ({"location": Location(sheet="Meters", first_row=2, last_row=5)}, "", "Meters, rows 2-5"),
        ({"location": Location(slide=3), "heading_path": ("Plan",)}, "", "slide 3, Plan"),
        ({"media_type": "text/markdown", "location": Location(anchor="假期 ü")}, "#%E5%81%87%E6%9C%9F%20%C3%BC", ""),
    ],
)  # fmt: skip
def test_a_link_is_as_deep_as_the_format_allows(changes: dict[str, object], link: str, words: str) -> None:
    assert deep_link(chunk(**changes)) == "https://wiki.example/leave" + link
    assert place(chunk(**changes)) == words


def test_lines_of_a_text_on_this_machine_are_no_part_of_its_address() -> None:
    text = chunk(url="file:///a/notes.txt", media_type="text/plain", location=Location(first_line=4, last_line=9))
    assert deep_link(text) == "file:///a/notes.txt"


def test_the_place_is_narrowed_to_the_passage() -> None:
    table = chunk(
        text="| Code | Action |\n| --- | --- |\n| E-104 | Dry it |\n| E-417 | Switch off |\n", kind=SectionKind.TABLE,
        location=Location(first_row=6, last_row=7),
    )  # fmt: skip
    assert place(table, "| E-417 | Switch off |") == "row 7"
    assert place(table, "| E-104 | Dry it |\n| E-417 | Switch off |") == "rows 6-7"
    assert place(table, "not there") == place(table) == "rows 6-7"
    code = chunk(text="a = 1\nb = 2\nc = 3\n", kind=SectionKind.CODE, location=Location(first_line=10, last_line=12))
    assert deep_link(code, "b = 2").endswith("#L11")
    assert place(code, "b = 2\nc = 3") == "lines 11-12"


def test_html_points_at_the_passage_itself() -> None:
    page = chunk(media_type="text/html", location=Location(anchor="carry"))
    assert (
        deep_link(page, "Five days, at most.") == "https://wiki.example/leave#carry:~:text=Five%20days%2C%20at%20most."
    )
    long = "The first words of a long passage which goes on for quite a while until it well-nigh ends."
    assert deep_link(page, long).endswith(
        "#carry:~:text=The%20first%20words%20of%20a,while%20until%20it%20well%2Dnigh%20ends."
    )
    assert deep_link(page, "").endswith("/leave#carry")


def test_an_address_with_a_fragment_of_its_own_stays() -> None:
    own = "https://chat.example/c/1#message-7"
    assert deep_link(chunk(url=own, media_type="application/pdf", location=Location(page=2))) == own
    assert deep_link(chunk(url="")) == ""


@given(st.text(max_size=300))
def test_a_text_fragment_holds_no_bare_syntax(passage: str) -> None:
    fragment = deep_link(chunk(media_type="text/html"), passage).partition("#:~:text=")[2]
    assert fragment.count(",") <= 1
    assert not set(fragment) & set("-& \n#")
    assert all(unquote(part).strip() == unquote(part) for part in fragment.split(","))


def test_only_known_addresses_become_links() -> None:
    text = "See https://wiki.example/a?b=1, https://evil.example/x and (https://WIKI.example/c)."
    urls = allowed_urls([chunk(text=text)], frozenset({"wiki.example"}))
    assert urls == {"https://wiki.example/leave", "https://wiki.example/a?b=1", "https://WIKI.example/c"}
    assert allowed_urls([chunk(text="http://[bad")], frozenset({"wiki.example"})) == {"https://wiki.example/leave"}


@pytest.mark.parametrize("unit", ["#[", "[a](", "[", "_", "*_"])
def test_a_line_of_brackets_takes_no_time(unit: str) -> None:
    began = time.thread_time()
    _INLINE_MARKUP.sub(r"\1", unit * (30_000 // len(unit)))
    assert time.thread_time() - began < 1.0
