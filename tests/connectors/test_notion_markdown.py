"""Every type of block as Markdown: what is written, where each is found, and that no word is lost."""

import time
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.notion.properties import properties_of, text_of
from connectors.notion.replies import Block, Page
from connectors.notion.rich import Span, markdown, one_line
from connectors.notion.writing import Node, Writer
from ragcore.parsing import parse
from tests.connectors.notions import Runs
from tests.connectors.notions import text_of as written
from tests.servers.notion import NotionServer, block, spans
from tests.soak import scaled

PAGE = "https://www.notion.so/P-" + "0" * 32
OTHER = "598337872cf94fdf8782e53db20768a5"
FILE = {
    "type": "file",
    "file": {"url": "https://s3.example/a/My%20plan.pdf?X-Amz-Signature=secret", "expiry_time": "x"},
}
OUTSIDE = {"type": "external", "external": {"url": "https://x.example/plan.pdf"}}


def row(*cells):
    return block("table_row", None, cells=[spans(cell) for cell in cells])


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        ([block("heading_1", "A"), block("heading_2", "B"), block("heading_3", "C"), block("heading_4", "D")], "## A\n\n### B\n\n#### C\n\n##### D"),
        ([block("heading_2", "Q", block("paragraph", "in it"), is_toggleable=True)], "### Q\n\nin it"),
        ([block("paragraph", "a\nb"), block("paragraph", ""), block("paragraph", "c", block("paragraph", "d"))], "a\nb\n\nc\n\nd"),
        ([block("paragraph", "# no heading\n   four blanks\n---")], "\\# no heading\nfour blanks\n\\---"),
        ([block("bulleted_list_item", "a", block("bulleted_list_item", "b", block("bulleted_list_item", "c"))), block("bulleted_list_item", "d\ne")], "- a\n  - b\n    - c\n- d\n  e"),
        ([block("numbered_list_item", "a", list_start_index=9), block("numbered_list_item", "b", block("paragraph", "c")), block("paragraph", "x"), block("numbered_list_item", "d")], "9. a\n10. b\n\n    c\n\nx\n\n1. d"),
        ([block("to_do", "a", checked=True), block("to_do", "b", block("to_do", "c"), checked=False)], "- [x] a\n- [ ] b\n  - [ ] c"),
        ([block("toggle", "Q?", block("paragraph", "A."), block("table", None, row("a"), has_column_header=True))], "**Q?**\n\nA.\n\n| a |\n| --- |"),
        ([block("quote", "a\nb", block("paragraph", "c")), block("quote", "d")], "> a\n> b\n>\n> c\n\n> d"),
        ([block("callout", "Mind", block("bulleted_list_item", "this"), icon={"type": "emoji", "emoji": "💡"})], "> 💡 Mind\n>\n> - this"),
        ([block("code", "if a:\n    ```\n", language="python", caption=spans("how"))], "````python\nif a:\n    ```\n````\n\nhow"),
        ([block("code", "x  y", language="plain text")], "```\nx  y\n```"),
        ([block("equation", None, expression="e = m c^2")], "$$\ne = m c^2\n$$"),
        ([block("divider"), block("paragraph", "a"), block("divider")], "---\n\na\n\n---"),
        ([block("table", None, row("a|b", "c\nd"), row("1"), has_column_header=True)], "| a\\|b | c d |\n| --- | --- |\n| 1 |  |"),
        ([block("table", None, row("1", "2"), has_column_header=False)], "|  |  |\n| --- | --- |\n| 1 | 2 |"),
        ([block("table", None, has_column_header=True)], ""),
        ([block("column_list", None, block("column", None, block("heading_1", "L")), block("column", None, block("paragraph", "R")))], "## L\n\nR"),
        ([block("synced_block", None, block("paragraph", "both"), synced_from=None)], "both"),
        ([block("tab", None, block("paragraph", "First", block("paragraph", "in it")))], "First\n\nin it"),
        ([block("template", "New", block("to_do", "a"))], "New\n\n- [ ] a"),
        ([block("bookmark", None, url="https://x.example/(a)", caption=[]), block("embed", None, url="https://y.example", caption=spans("Map"))], "[https://x.example/(a)](https://x.example/%28a%29)\n\n[Map](https://y.example)"),
        ([block("link_preview", None, url="https://z.example/1")], "[https://z.example/1](https://z.example/1)"),
        ([block("file", None, caption=[], name="a.zip", **OUTSIDE), block("video", None, caption=[], **OUTSIDE)], "[a.zip](https://x.example/plan.pdf)\n\n[plan.pdf](https://x.example/plan.pdf)"),
        ([block("image", None, caption=spans("The hall"), **FILE), block("image", None, caption=[], **OUTSIDE)], "Picture: The hall"),
        ([block("breadcrumb"), block("table_of_contents"), block("unsupported", None, block_type="form"), block("not_known_yet", "words")], "words"),
        ([block("child_page", None, title="In [it]") | {"id": OTHER}], f"[In \\[it\\]](https://www.notion.so/{OTHER})"),
    ],
)  # fmt: skip
async def test_each_block_is_written(blocks, told):
    assert await written(*blocks) == told


async def test_a_file_that_notion_keeps_is_linked_by_its_block_and_never_by_its_key():
    text = await written(block("pdf", None, caption=[], **FILE), block("audio", None, caption=spans("Talk"), **FILE))
    assert "[My plan.pdf](https://www.notion.so/P-" in text
    assert "[Talk](https://www.notion.so/P-" in text
    assert "secret" not in text


async def test_links_to_pages_carry_their_titles():
    async with NotionServer().serving() as server:
        space = server.space
        other, lost = space.page("Other"), space.page("Lost")
        server.lost.add(lost)
        table = space.database("Table")
        database = space.sources[table]["parent"]["database_id"]
        space.page(
            "P",
            block("link_to_page", None, type="page_id", page_id=other),
            block("link_to_page", None, type="page_id", page_id=lost),
            block("child_database", None, title="Table") | {"id": database},
        )
        runs = Runs(server)
        await runs()
        assert f"[Other](https://www.notion.so/{other.replace('-', '')})\n\n[Table](" in runs.text("P")
        assert lost.replace("-", "") not in runs.text("P")


async def test_a_copy_of_a_synced_block_shows_its_original_and_one_that_holds_itself_ends():
    async with NotionServer().serving() as server:
        space = server.space
        original = space.new_id()
        space.page(
            "Original", block("synced_block", None, block("paragraph", "both"), synced_from=None) | {"id": original}
        )
        copy = block("synced_block", None, synced_from={"type": "block_id", "block_id": original})
        space.page("Copy", copy)
        round_one = space.new_id()
        itself = block("synced_block", None, synced_from={"type": "block_id", "block_id": round_one})
        space.page("Round", block("toggle", "more", itself) | {"id": round_one})
        runs = Runs(server)
        assert await runs() == {"Original", "Copy", "Round"}
        assert runs.text("Copy") == "# Copy\n\nboth\n"
        server.lost.add(original)
        told = {"type": "block_id", "block_id": original}
        space.page("Told by itself", block("synced_block", None, block("paragraph", "as here"), synced_from=told))
        space.page("Not told", copy, block("paragraph", "beside"))
        await runs()
        assert runs.text("Told by itself") == "# Told by itself\n\nas here\n"
        assert runs.text("Not told") == "# Not told\n\nbeside\n"
        assert runs.text("Round") == "# Round\n\n**more**\n"


async def test_the_notes_of_a_meeting_are_read_by_their_parts():
    async with NotionServer().serving() as server:
        space = server.space
        parts = {name: space.new_id() for name in ("summary_block_id", "transcript_block_id")}
        page = space.page("P")
        for name, identity in parts.items():
            space.by_id[identity] = {"id": identity}
            space._put(identity, [block("paragraph", name)])
        space.write(page, block("meeting_notes", None, title=spans("Weekly"), status="notes_ready", children=parts))
        runs = Runs(server)
        await runs()
        assert (
            runs.text("P")
            == "# P\n\n**Weekly**\n\n**Summary**\n\nsummary_block_id\n\n**Transcript**\n\ntranscript_block_id\n"
        )


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (["a ", {"plain_text": "b ", "marks": ["bold"]}, "c"], "a **b** c"),
        ([{"plain_text": "x", "marks": ["bold", "italic", "strikethrough"]}], "~~***x***~~"),
        ([{"plain_text": "a`b", "marks": ["code", "bold"]}], "``a`b``"),
        ([{"plain_text": "see", "href": "https://x.example/a b"}], "see"),
        ([{"plain_text": "see", "href": "https://x.example/a"}], "[see](https://x.example/a)"),
        ([{"plain_text": "[1]", "href": "https://x.example"}], "[\\[1\\]](https://x.example)"),
        ([{"plain_text": "P", "href": f"/{OTHER}#b"}], f"[P](https://www.notion.so/{OTHER}#b)"),
        ([{"plain_text": "run", "href": "javascript:alert(1)"}], "run"),
        ([{"type": "equation", "plain_text": "x^2", "equation": {"expression": "x^2"}}], "$x^2$"),
        ([{"type": "mention", "plain_text": "@Ann", "mention": {"type": "user", "user": {"id": "1"}}}], "@Ann"),
        ([{"type": "mention", "plain_text": "2026-01-01", "mention": {"type": "date", "date": {"start": "2026-01-01"}}}], "2026-01-01"),
        ([{"type": "mention", "plain_text": "Depot", "href": f"https://www.notion.so/{OTHER}", "mention": {"type": "page", "page": {"id": OTHER}}}], f"[Depot](https://www.notion.so/{OTHER})"),
        (["a <b> c", " <div>"], "a &lt;b> c &lt;div>"),
        (["   "], ""),
    ],
)  # fmt: skip
def test_rich_text_is_written(parts, told):
    assert markdown([Span.model_validate(one) for one in spans(*parts)]).strip() == told


WORDS = st.text(st.characters(categories=("Ll", "Lu", "Nd")), min_size=1, max_size=8)
HARD = st.sampled_from(
    [
        "```",
        "# ",
        "---",
        "===",
        "<b>",
        "<!--",
        "](",
        "|",
        "- ",
        "> ",
        "`",
        "**",
        "[",
        "\n",
        " ",
        "1. ",
        "\\",
        "~~~",
        "</div>",
        "    ",
    ]
)
TEXTS = st.lists(WORDS | HARD, min_size=1, max_size=8).map("".join)
KINDS = st.sampled_from(["paragraph", "heading_1", "heading_3", "bulleted_list_item", "numbered_list_item", "to_do", "toggle", "quote", "callout", "code", "column", "not_known_yet"])  # fmt: skip
MARKS = st.lists(st.sampled_from(["bold", "italic", "code", "strikethrough"]), max_size=2, unique=True)


@st.composite
def trees(draw, depth=0):
    """Draw blocks side by side, as their type, text and what stands in them."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(KINDS)
        rich = [{"plain_text": draw(TEXTS), "marks": draw(MARKS)}, draw(WORDS)]
        inner = draw(trees(depth + 1)) if depth < 2 and kind != "code" and draw(st.booleans()) else []
        found.append((kind, rich, inner))
    return found


def nodes_of(found, numbers):
    """Return blocks, each with an id of its own."""
    return tuple(
        Node(
            Block.model_validate({"id": f"{next(numbers):032x}"} | block(kind, spans(*rich), language="python")),
            nodes_of(inner, numbers),
        )
        for kind, rich, inner in found
    )


def words_in(found):
    for node in found:
        yield node.block.type, node.block.id, "".join(span.plain_text for span in node.block.body.rich_text)
        yield from words_in(node.children)


def letters(text):
    return "".join(one for one in text if one.isalnum())


@settings(max_examples=scaled(30))
@given(trees())
def test_no_word_is_lost_and_each_block_is_found_at_its_line(found):
    blocks = nodes_of(found, count())
    writer = Writer(url=PAGE, titles={})
    writer.begin("Title")
    writer.nodes(blocks)
    result = writer.written()
    text = result.content.decode().replace("&lt;", "<")
    lines = text.split("\n")
    starts = {link.url.partition("#")[2]: link.line for link in result.permalinks}
    document = parse(result.content, name="a.md", media_type="text/markdown")
    read = letters("\n".join("\n".join((*part.heading_path, part.text)) for part in document.sections))
    for kind, identity, words in words_in(blocks):
        begins = lines[starts[identity] - (kind != "code") :]
        assert letters(words.strip().split("\n")[0]) in letters(begins[0])
        assert letters(words) in letters("\n".join(begins))
        for word in words.split():
            if word.isalnum():
                assert word in read


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "name", "id", "start", "number", "array", "state", "plain_text"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=5,
)
OF_PROPERTIES = st.sampled_from(["title", "rich_text", "number", "select", "status", "multi_select", "date", "people", "files", "checkbox", "url", "formula", "relation", "rollup", "unique_id", "verification", "place", "created_by", "button", "later"])  # fmt: skip


@settings(max_examples=scaled(40))
@given(OF_PROPERTIES, JSON)
def test_a_property_of_any_form_is_text_on_one_line_or_nothing(kind, value):
    assert "\n" not in text_of(kind, value)
    for one in properties_of({"A": {"id": "a", "type": kind, kind: value}}):
        assert one.text or one.pages or kind == "title"


def test_a_page_of_which_hardly_anything_is_told_is_one():
    page = Page.model_validate(
        {
            "object": "page",
            "id": "1",
            "created_time": "2026-01-01T00:00:00Z",
            "last_edited_time": "2026-01-01T00:00:00Z",
        }
    )
    assert (page.title, page.parent.kind) == ("", "")


def test_a_heading_stays_on_one_line():
    assert one_line([Span(plain_text="a\nb")]) == "a b"


def test_long_blanks_are_written_at_once():
    """Whatever looks at a text holds up all else meanwhile: its time must not grow with the square."""
    blanks, lines = " " * 200_000, "\n" * 100_000
    code = Block.model_validate({"id": OTHER} | block("code", f"a{lines}b", language="python"))
    writer = Writer(url=PAGE, titles={})
    began = time.process_time()
    writer.nodes([Node(code)])
    assert markdown([Span(plain_text=f" a{blanks}b ")]) == f"a{blanks}b"
    assert time.process_time() - began < 5
    assert f"a{lines}b" in writer.written().content.decode()
