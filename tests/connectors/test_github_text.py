"""The text of a thread: whatever people write, each part begins where its link says, as a paragraph of its own."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from connectors.forge.stamps import Stamp
from connectors.forge.state import FilesMemory, digest
from connectors.forge.text import Part, closed, thread
from connectors.github.state import Memory, Page, RepositoryMemory, ThreadsMemory

AT = datetime(2026, 1, 2, tzinfo=UTC)
PIECES = st.sampled_from(
    ["```", "```py", "~~~~", "   ```", "`````", "    ```", "<!--", "-->", "<pre>", "</pre>", "<script>", "<?php", "?>",
     "<![CDATA[", "]]>", "<!X", "<details>", "> quote", "- item", "  ```", "\t```", "# Head", "text", "", "===", "---", "| a | b |",
     "*a", "\r", "\x00", "\u2028", "<!-- x -->", "<!--x", "``` `", "<STYLE>"]
)  # fmt: skip
BODIES = st.lists(PIECES, max_size=8).map("\n".join)


@given(st.lists(BODIES, min_size=1, max_size=4))
def test_each_part_begins_at_its_link(bodies):
    parts = [Part(author=f"a{number}", at=AT, url=f"u{number}", body=body) for number, body in enumerate(bodies)]
    made = thread("Issue #1.", parts)
    text = made.content.decode()
    lines = text.split("\n")
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    paragraphs = {
        token.map[0]: tokens[index + 1].content
        for index, token in enumerate(tokens)
        if token.type == "paragraph_open" and token.level == 0
    }
    assert [link.url for link in made.permalinks] == [part.url for part in parts]
    assert made.permalinks[0].line == 1
    for number, link in enumerate(made.permalinks):
        begin = link.line if number else 3
        assert lines[begin - 1] == f"**a{number}**, 2026-01-02:"
        assert paragraphs.get(begin - 1) == lines[begin - 1], text


@given(BODIES)
def test_nothing_that_was_written_is_lost(body):
    kept = closed(body)
    told = body.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").strip("\n").split("\n")
    assert kept[: len(told)] == told
    assert len(kept) <= len(told) + 1


@given(
    st.datetimes(timezones=st.just(UTC)),
    st.none() | st.integers(0, 5_000),
    st.none() | st.datetimes(timezones=st.just(UTC)),
)
def test_a_stamp_comes_back_from_its_version(updated, comments, newest):
    stamp = Stamp.of(salt="abc", updated=updated, comments=comments).with_newest(newest)
    assert Stamp.from_version(stamp.version) == stamp
    assert stamp.tells_of(Stamp.of(salt="abc", updated=updated, comments=comments))
    assert not stamp.tells_of(Stamp.of(salt="xyz", updated=updated, comments=comments))
    assert newest is None or stamp.has(newest)


@given(
    st.dictionaries(
        st.text(max_size=9),
        st.builds(
            RepositoryMemory,
            etag=st.text(max_size=9),
            files=st.builds(FilesMemory, etag=st.text(max_size=9), commit=st.text(max_size=9)),
            threads=st.builds(
                ThreadsMemory,
                time=st.none() | st.text(max_size=9),
                etags=st.dictionaries(st.text(max_size=9), st.text(max_size=9)),
                pages=st.lists(st.builds(Page, etag=st.text(max_size=9), numbers=st.lists(st.integers()))),
            ),
        ),
    )
)
def test_what_is_remembered_comes_back_from_its_cursor(repositories):
    memory = Memory(basis="b", repositories=repositories)
    assert Memory.from_cursor(memory.to_cursor(), "b") == memory
    assert Memory.from_cursor(memory.to_cursor(), "other settings").repositories == {}


@given(st.text())
def test_a_cursor_of_another_kind_remembers_nothing(text):
    assert Memory.from_cursor(text, "b").repositories == {}


def test_a_digest_tells_sets_of_files_apart_and_knows_no_order():
    assert digest([("a", "1"), ("b", "2")]) == digest([("b", "2"), ("a", "1")])
    assert len({digest([]), digest([("a", "1")]), digest([("a", "2")]), digest([("a", "1"), ("b", "2")])}) == 4
