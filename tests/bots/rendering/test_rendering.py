import io
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from bots.rendering.markdown import document_markdown, to_markdown
from bots.rendering.parse import parse_answer, parse_markdown, parse_partial
from bots.rendering.plain import plain_pieces
from bots.rendering.terminal import document_terminal
from bots.rendering.tree import Cite, Code, Document, Fence, ItemList, Link, Paragraph, Quote, Styled, Table, Text
from ragcore.types import Answer, Citation, Support

GOOD = "https://wiki.example/a_b*c?x=1#page=5"


def citation(number: int, identifier: int, url: str = "https://wiki.example/leave#carry") -> Citation:
    return Citation(
        number=number,
        id=identifier,
        chunk_id=f"g-{identifier}",
        document_id=f"docs:{identifier}",
        title=f"Title {number}",
        url=url,
        location=f"page {number}",
        quote="",
    )


def answer(text: str, *citations: Citation, allowed: frozenset[str] = frozenset({GOOD}), **more: object) -> Answer:
    return Answer(
        question="?",
        raw_text=text,
        support=Support.CITED,
        citations=citations,
        allowed_urls=allowed,
        **more,  # type: ignore[arg-type]
    )


def to_terminal(shown: Answer) -> RenderableType:
    return document_terminal(parse_answer(shown))


def walk(node: object) -> list[object]:
    """Return the node and everything under it."""
    found = [node]
    for name in getattr(node, "__slots__", ()):
        value = getattr(node, name)
        for child in _flatten(value):
            found += walk(child)
    return found


def _flatten(value: object) -> list[object]:
    if isinstance(value, tuple):
        return [leaf for child in value for leaf in _flatten(child)]
    return [value] if hasattr(value, "__slots__") and not isinstance(value, str) else []


def words(document: Document) -> list[str]:
    texts = [n.text for n in walk(document) if isinstance(n, Text | Code | Fence)]
    return re.findall(r"w\d+", "\n".join(texts))


def on_paper(renderable: object, *, terminal: bool = False, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=terminal, color_system="truecolor" if terminal else None).print(
        renderable
    )
    return out.getvalue()


def only_paragraph(text: str, *citations: Citation) -> tuple[object, ...]:
    (block,) = parse_answer(answer(text, *citations)).blocks
    assert isinstance(block, Paragraph)
    return block.children


def test_markers_become_numbered_citations_side_by_side_once() -> None:
    one, two = citation(1, 4), citation(2, 0)
    children = only_paragraph("Five days.[ID:4][ID:0] [ID:4] More[ID:4].", one, two)
    first, second = Cite(number=1, url=one.url), Cite(number=2, url=two.url)
    assert children == (Text(text="Five days."), first, second, Text(text=" More"), first, Text(text="."))


def test_a_marker_without_citation_leaves_no_trace() -> None:
    assert only_paragraph("Five [ID:7] days [ID:8].") == (Text(text="Five days."),)
    assert parse_answer(answer("[ID:7]")).blocks == ()
    assert only_paragraph("a [ID:[ID:9]3] b") == (Text(text="a b"),)


def test_a_marker_is_never_read_as_a_link() -> None:
    children = only_paragraph("x [ID:0](https://evil.example)", citation(1, 0))
    assert Cite(number=1, url=citation(1, 0).url) in children
    assert not [child for child in children if isinstance(child, Link)]
    assert Code(text="https://evil.example") in children


def test_markers_in_code_stay_as_written() -> None:
    document = parse_answer(answer("`[ID:0]`\n\n```\narr[0] [ID:0]\n```", citation(1, 0)))
    assert [type(n) for n in walk(document) if isinstance(n, Cite)] == []
    assert document.sources == ()
    assert Fence(text="arr[0] [ID:0]") in document.blocks


@pytest.mark.parametrize(
    "text",
    [
        "see https://evil.example/x",
        "see <https://evil.example/x>",
        "see [here](https://evil.example/x)",
        "see ![pixel](https://evil.example/x)",
        "see [https://evil.example/x](https://evil.example/x)",
        f"see [{GOOD}](https://evil.example/x)",
        "see **https://evil.example/x**",
        "see https\\://evil.example/x",
        "see www.evil.example/x",
        "看https://evil.example/x。然后",
        "see [a](javascript:alert(1))",
        "see [a](file:///etc/passwd) ftp://evil.example/x",
    ],
)
def test_an_unknown_url_is_code_and_never_a_link(text: str) -> None:
    document = parse_answer(answer(text))
    assert [n for n in walk(document) if isinstance(n, Link) and n.url != GOOD] == []
    assert not [
        n for n in walk(document) if isinstance(n, Text) and n.text != GOOD and ("://" in n.text or "www." in n.text)
    ]
    codes = [n.text for n in walk(document) if isinstance(n, Code)]
    assert codes
    assert not any(code.endswith(("*", "。")) for code in codes)


@pytest.mark.parametrize("text", [f"see {GOOD}.", f"see <{GOOD}>", f"[page]({GOOD})", f"({GOOD})", f"见{GOOD}，然后"])
def test_an_allowed_url_is_a_link(text: str) -> None:
    assert [n.url for n in walk(parse_answer(answer(text))) if isinstance(n, Link)] == [GOOD]


def test_a_fence_behind_a_sentence_ends_where_it_is_closed() -> None:
    document = parse_answer(answer("Set it so: ```py\nx[1]\n```\nThen it runs [ID:0].", *CITATIONS))
    assert [type(block) for block in document.blocks] == [Paragraph, Fence, Paragraph]
    assert any(isinstance(node, Cite) for node in walk(document.blocks[2]))


@pytest.mark.parametrize("end", ["``` It is one. Then it runs.", "``` It is one: then it runs.\n\nThat is all."])
def test_words_behind_what_seems_to_open_a_fence_are_shown(end: str) -> None:
    document = parse_answer(answer(f"Set it so: ```py\nx = 1\n{end}"))
    assert "it runs." in "".join(plain_pieces(document.blocks))


@pytest.mark.parametrize("settings", ['title="a.py"', "{1,3}", "12:15:a.py"])
def test_settings_behind_the_language_of_a_fence_are_no_text(settings: str) -> None:
    (fence,) = parse_answer(answer(f"```py {settings}\nx = 1\n```")).blocks
    assert isinstance(fence, Fence)
    assert fence.text == "x = 1"


def test_a_fence_behind_a_quoted_sentence_stays_in_the_quote() -> None:
    (quote,) = parse_answer(answer("> Set it so: ```py\n> x[1]\n> ```\n> Then it runs [ID:0].", *CITATIONS)).blocks
    assert isinstance(quote, Quote)
    assert [type(block) for block in quote.blocks] == [Paragraph, Fence, Paragraph]
    (items,) = parse_answer(answer("- Set it so: ```py\n  x[1]\n  ```\n- Then it runs [ID:0].", *CITATIONS)).blocks
    assert isinstance(items, ItemList)
    assert [type(block) for item in items.items for block in item.blocks] == [Paragraph, Fence, Paragraph]


@pytest.mark.parametrize("code", ["```py\nx[1]\n```", "~~~\nx[1]\n   ~~~", "```py\n   x[1]\n```"])
def test_a_fence_that_is_not_indented_as_its_list_item_ends_where_it_is_closed(code: str) -> None:
    document = parse_answer(answer(f"1. {code}\n\nThen it runs [ID:0].", *CITATIONS))
    assert [node.text.strip() for node in walk(document) if isinstance(node, Fence)] == ["x[1]"]
    assert isinstance(document.blocks[-1], Paragraph)
    assert isinstance(document.blocks[-1].children[1], Cite)


@pytest.mark.parametrize(
    "text", ["- ```py\n  x\n\nso [ID:0]", "- a\n  ```py\nso [ID:0]", "```\n[ID:0]\n```\n- so [ID:0]"]
)
def test_what_is_shown_as_prose_shows_its_markers_as_citations(text: str) -> None:
    document = parse_answer(answer(text, *CITATIONS))
    assert [node.number for node in walk(document) if isinstance(node, Cite)] == [1]
    assert [source.number for source in document.sources] == [1]


def test_a_citation_inside_a_link_stands_after_it() -> None:
    children = only_paragraph(f"[the page [ID:0]]({GOOD})", citation(1, 0))
    assert isinstance(children[0], Link)
    assert children[-1] == Cite(number=1, url=citation(1, 0).url)


def test_only_cited_sources_are_listed_in_order() -> None:
    document = parse_answer(answer("a[ID:1] b[ID:0]", citation(1, 1), citation(2, 0), citation(3, 5)))
    assert [(s.number, s.label) for s in document.sources] == [(1, "Title 1, page 1"), (2, "Title 2, page 2")]


def test_blocks() -> None:
    text = "1. w1\n   - w2\n     - w3\n2. w4\n\n> w5\n\n| a | b |\n|:--|--:|\n| w6 | **w7** |\n\n- w8\n\n- w9"
    ordered, quote, table, loose = parse_markdown(text).blocks
    assert isinstance(ordered, ItemList)
    assert ordered.start == 1
    assert isinstance(quote, Quote)
    assert isinstance(table, Table)
    assert table.aligns == ("left", "right")
    assert table.rows == (((Text(text="w6"),), (Styled(style="strong", children=(Text(text="w7"),)),)),)
    assert isinstance(loose, ItemList)
    assert not loose.tight


@pytest.mark.parametrize("quoted", ["", "> ", "> - a\n>   "])
def test_a_row_with_too_many_cells_keeps_them_and_their_citation(quoted: str) -> None:
    rows = ["| a | b |", "|---|---|", "| `w1|w2` | w3 \\| w4 | **w5** [ID:0] |", "w6 | w7", "| w8 | | |"]
    start = quoted.rpartition("\n")[2]
    document = parse_answer(answer(quoted + ("\n" + start).join(rows), *CITATIONS))
    (table,) = [node for node in walk(document) if isinstance(node, Table)]
    assert words(document) == [f"w{n}" for n in range(1, 9)]
    assert Styled(style="strong", children=(Text(text="w5"),)) in table.rows[0][1]
    assert [source.number for source in document.sources] == [1]
    assert table.rows[1:] == (((Text(text="w6"),), (Text(text="w7"),)), ((Text(text="w8"),), ()))


def test_html_and_link_definitions_are_text() -> None:
    shown = on_paper(document_terminal(parse_markdown("<b>w1</b> <script>w2</script>\n\n[w3]: w4 'w5'")))
    assert re.findall(r"w\d", shown) == ["w1", "w2", "w3", "w4", "w5"]
    assert "<script>" in shown


@pytest.mark.parametrize("deep", ["> " * 300 + "w1", "- " * 300 + "w1", "[" * 3000 + "w1", "*a **b " * 500 + "w1"])
def test_deep_nesting_keeps_the_words(deep: str) -> None:
    document = parse_markdown(deep)
    assert "w1" in words(document)
    assert "w1" in on_paper(document_terminal(document), width=2000).replace("\n", "")


def test_the_terminal_shows_numbers_and_links() -> None:
    it = answer("Five days.[ID:3]", citation(1, 3, "file:///srv/my docs/休假.md#a"), notes=("No model.",))
    plain = on_paper(to_terminal(it))
    assert plain == "Five days.[1]\n\n[1] Title 1, page 1  3\n\nNo model.\n"
    live = on_paper(to_terminal(it), terminal=True)
    assert ";file:///srv/my%20docs/%E4%BC%91%E5%81%87.md#a\x1b\\" in live
    assert "[1]" in live


def test_no_escape_of_a_document_reaches_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J"
    hostile = Citation(
        number=1,
        id=0,
        chunk_id="c",
        document_id="d",
        title=f"T{evil}",
        url=f"http://x/\x1b\\{evil}",
        location=evil,
        quote="",
    )
    text = f"a{evil} `b{evil}` [ID:0]\n\n```\nc{evil}\n```\n\n&#27;[31m | \\\x1b[31m"
    shown = on_paper(to_terminal(answer(text, hostile, notes=(evil,))))
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\x1b" not in to_markdown(answer(text, hostile))
    live = on_paper(to_terminal(answer(text, hostile)), terminal=True)
    assert re.fullmatch(r"(?:[^\x1b]|\x1b\[[0-9;]*m|\x1b\]8;[^;]*;[!-~]*\x1b\\)*", live)


def test_markdown_links_its_citations() -> None:
    it = answer("Great![ID:0] In `a` (b)[ID:1](c)", citation(1, 0), citation(2, 1, url=""))
    url = citation(1, 0).url
    assert to_markdown(it) == (
        f"Great\\![[1]]({url}) In `a` (b)\\[2\\](c)\n\n1. [Title 1, page 1]({url})\n2. Title 2, page 2"
    )


def test_partial_text_numbers_by_first_use() -> None:
    document = parse_partial("a[ID:7] b[ID:2] c[ID:7]")
    assert [n.number for n in walk(document) if isinstance(n, Cite)] == [1, 2, 1]


def test_partial_text_shows_no_marker_as_the_model_misspelt_it() -> None:
    text = "Five days [ID: 0]. By March (ID: 2). Both 【ID:0】. In 2026 [2023], `arr[0]` and [ID:"
    document = parse_partial(text)
    assert [n.number for n in walk(document) if isinstance(n, Cite)] == [1, 2, 1]
    assert on_paper(document_terminal(document)).strip() == (
        "Five days [1]. By March [2]. Both [1]. In 2026 [2023], arr[0] and"
    )


def test_where_no_link_can_be_clicked_the_address_is_written_out() -> None:
    it = answer("Five days.[ID:0]", citation(1, 0))
    assert "[1] Title 1, page 1  https://wiki.example/leave#carry" in on_paper(to_terminal(it))
    assert "  https://" not in on_paper(to_terminal(it), terminal=True)


WORD = st.integers(0, 999).map(lambda n: f"w{n}")
INLINE = st.one_of(
    WORD,
    WORD.map(lambda w: f"**{w}**"),
    WORD.map(lambda w: f"*{w}*"),
    WORD.map(lambda w: f"`{w}`"),
    WORD.map(lambda w: f"~~{w}~~"),
    WORD.map(lambda w: f"[{w}](https://evil.example)"),
    WORD.map(lambda w: f"[{w} [ID:1]]({GOOD})"),
    WORD.map(lambda w: f"{w}![ID:0][ID:1]"),
    WORD.map(lambda w: f"{w} [ID:2]."),
    st.sampled_from(
        [GOOD, "<b>", "a_b", "arr[0]", "* x", "# y", "| z |", "&amp;", "\\", "[^1]", "!", "](", "1. q", "年假"]
    ),
)
LINE = st.lists(INLINE, min_size=1, max_size=6).map(" ".join)


def _indent(text: str, first: str) -> str:
    return first + text.replace("\n", "\n" + " " * len(first))


BLOCK = st.recursive(
    st.one_of(
        LINE,
        st.lists(LINE, min_size=2, max_size=3).map("\n".join),
        LINE.map(lambda line: f"## {line}"),
        LINE.map(lambda line: f"```py\n{line}\n```"),
        st.tuples(WORD, WORD).map(lambda p: f"| {p[0]} | b |\n|---|:-:|\n| {p[1]} [ID:0] | y |"),
        st.tuples(LINE, LINE).map(lambda p: f"| {p[0]} | b |\n|---|:-:|\n| {p[1]} | y |"),
        st.tuples(WORD, LINE).map(lambda p: f"{p[0]}: ```py\n{p[1]}\n```"),
        st.just("---"),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda bs: "\n".join("- " + b for b in bs)),
        st.lists(inner, min_size=1, max_size=3).map(lambda bs: "\n".join(_indent(b, "- ") for b in bs)),
        st.lists(inner, min_size=1, max_size=3).map(lambda bs: "\n\n".join(_indent(b, "1. ") for b in bs)),
        inner.map(lambda b: "> " + b.replace("\n", "\n> ")),
    ),
    max_leaves=4,
)
MARKDOWN = st.lists(BLOCK, min_size=1, max_size=4).map("\n\n".join)
CITATIONS = (citation(1, 0), citation(2, 1, url=""))


@given(MARKDOWN)
def test_all_words_are_kept_and_every_citation_resolves(text: str) -> None:
    it = answer(text, *CITATIONS)
    document = parse_answer(it)
    expected = sorted(re.findall(r"w\d+", text))
    assert sorted(words(document)) == expected
    shown = on_paper(to_terminal(it), width=300)
    assert sorted(re.findall(r"w\d+", shown)) == expected
    assert not [n for n in walk(document) if isinstance(n, Text) and "[ID:" in n.text]
    cited = {n.number for n in walk(document) if isinstance(n, Cite)}
    assert cited == {source.number for source in document.sources}
    for number in cited:
        assert re.search(rf"^\[{number}\] Title {number}, page {number}(?:  \S+)?$", shown, re.MULTILINE)


@given(MARKDOWN)
@example(f"> - > ```py\n>   > w0\n>   > ```\n> - > ```py\n>   > w0\n>   > ```\n\n[w0 [ID:1]]({GOOD})")
def test_markdown_read_again_says_the_same(text: str) -> None:
    first = Document(blocks=parse_answer(answer(text, *CITATIONS)).blocks)
    again = parse_markdown(document_markdown(first), allowed=frozenset({GOOD, CITATIONS[0].url}))
    assert sorted(words(again)) == sorted(words(first))
    links = [n.url for n in walk(first) if isinstance(n, Link | Cite) and n.url]
    assert sorted(n.url for n in walk(again) if isinstance(n, Link)) == sorted(links)


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("[]()*_`#>|-~!:\n\t ID0123.\\<&"))))
def test_no_text_breaks_the_rendering(text: str) -> None:
    it = answer(text, *CITATIONS)
    assert "\x1b" not in on_paper(to_terminal(it))
    to_markdown(it)
    on_paper(document_terminal(parse_partial(text)), width=20)
