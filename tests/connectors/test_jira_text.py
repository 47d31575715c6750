"""The texts of Jira, ADF on Cloud and wiki markup elsewhere, become Markdown that says the same."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.jira.adf import adf_lines
from connectors.jira.wiki import wiki_lines


def text(words, *marks):
    return {"type": "text", "text": words} | ({"marks": list(marks)} if marks else {})


def node(kind, *content, **attrs):
    return {"type": kind, "content": list(content)} | ({"attrs": attrs} if attrs else {})


def par(*content):
    return node("paragraph", *content)


def adf(*content):
    return "\n".join(adf_lines({"type": "doc", "version": 1, "content": list(content)}))


def wiki(words):
    return "\n".join(wiki_lines(words))


def test_adf_marks_and_links():
    link = {"type": "link", "attrs": {"href": "https://x.example/(a)"}}
    assert adf(par(text("Do "), text("this ", {"type": "strong"}), text("now", link), text(" or not"))) == (
        "Do **this** [now](<https://x.example/(a)>) or not"
    )
    assert adf(par(text("x", {"type": "link", "attrs": {"href": "javascript:y"}}))) == "x"
    assert adf(par(text("a = <b>", {"type": "code"}), node("hardBreak"), text("# not a heading"))) == (
        "`a = <b>`\n\\# not a heading"
    )


def test_adf_inline_nodes_say_what_they_show():
    nodes = [
        node("mention", id="1", text="@Ann"),
        node("emoji", shortName=":tick:", text="✅"),
        node("date", timestamp="1767312000000"),
        node("status", text="DONE", color="green"),
        node("inlineCard", url="https://x.example"),
    ]
    assert adf(par(*(part for one in nodes for part in (one, text(" "))))) == (
        "@Ann ✅ 2026-01-02 DONE https://x.example"
    )


def test_adf_blocks():
    assert adf(node("heading", text("Two"), level=2), par(text("x"))) == "## Two\n\nx"
    assert adf(node("codeBlock", text("a\n```\nb"), language="py")) == "````py\na\n```\nb\n````"
    assert adf(node("panel", par(text("Hot")), panelType="warning")) == "**Warning**\n\nHot"
    assert adf(node("expand", par(text("In")), title="More")) == "**More**\n\nIn"
    assert adf(node("blockquote", par(text("said")))) == "> said"
    assert adf(node("rule"), node("theirs", par(text("kept")))) == "---\n\nkept"


def test_adf_lists_and_tables():
    inner = node("orderedList", node("listItem", par(text("b"))), node("listItem", par(text("c"))))
    assert adf(node("bulletList", node("listItem", par(text("a")), inner))) == "- a\n  1. b\n  2. c"
    tasks = node("taskList", node("taskItem", text("x"), state="DONE"), node("taskItem", text("y"), state="TODO"))
    assert adf(tasks) == "- [x] x\n- [ ] y"
    head = node("tableRow", node("tableHeader", par(text("A|B"))), node("tableHeader", par(text("C"))))
    row = node("tableRow", node("tableCell", par(text("1")), par(text("2"))), node("tableCell"))
    assert adf(node("table", head, row)) == "| A\\|B | C |\n| --- | --- |\n| 1<br>2 |  |"


@pytest.mark.parametrize("told", [None, "text", 3, [], {}, {"content": "x"}, {"content": [None, {"type": 3}]}])
def test_what_is_no_document_says_nothing(told):
    assert adf_lines(told) == []


def test_adf_that_is_nested_deep_is_read():
    inner = par(text("deep"))
    for _ in range(500):
        inner = node("blockquote", inner)
    assert "deep" in adf(inner)


WORD = st.text("abcdeßf文", min_size=1, max_size=4)
LEAF = st.builds(lambda words: par(text(words)), WORD)
NODES = st.recursive(
    LEAF,
    lambda inner: st.builds(
        lambda kind, one, two: (
            node(kind, node("listItem", one), node("listItem", two))
            if kind.endswith("List")
            else node("table", node("tableRow", node("tableCell", one), node("tableCell", two)))
            if kind == "table"
            else node(kind, one, two)
        ),
        st.sampled_from(["bulletList", "orderedList", "table", "panel", "expand", "theirs", "blockquote"]),
        inner,
        inner,
    ),
    max_leaves=8,
)


def words_of(found):
    if isinstance(found, dict):
        return [found["text"]] if found["type"] == "text" else [w for one in found["content"] for w in words_of(one)]
    return re.findall("[abcdeßf文]+", re.sub("<br>", " ", found))


@given(st.lists(NODES, max_size=3))
def test_adf_loses_no_word(nodes):
    assert words_of(adf(*nodes)) == [word for one in nodes for word in words_of(one)]


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=4
)


@given(st.dictionaries(st.sampled_from(["type", "content", "attrs", "marks", "text"]), JSON))
def test_adf_in_another_form_is_no_fault(told):
    assert all(isinstance(line, str) for line in adf_lines({"content": [told, par(told)]}))


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("h2. Two *words*\ntext", "## Two **words**\n\ntext"),
        ("*bold*, _so_, -gone-, +new+, ??said??", "**bold**, *so*, ~~gone~~, new, said"),
        ("snake_case_name, 2*3*4, a - b - c, well-known-thing", "snake_case_name, 2*3*4, a - b - c, well-known-thing"),
        ("{{a_b_c}} and {color:red}red{color}", "`a_b_c` and red"),
        ("[docs|https://x.example/a_b_c] [https://x.example]", "[docs](https://x.example/a_b_c) https://x.example"),
        ("[~ann] [^plan.pdf] !image.png|thumbnail!", "@ann plan.pdf ![image.png]"),
        ("* a\n** b\n*# c\n# d", "- a\n   - b\n   1. c\n1. d"),
        (
            "before\n||A||B||\n|1|[x|https://x.example]|\nafter",
            "before\n\n| A | B |\n| --- | --- |\n| 1 | [x](https://x.example) |\n\nafter",
        ),
        ("|a|b|\n|c|d|", "| a | b |\n| --- | --- |\n| c | d |"),
        ("{code:java|title=X}\na *b* <c>\n{code}\nafter", "```java\na *b* <c>\n```\n\nafter"),
        ("{noformat}a{noformat}", "```\na\n```"),
        ("{quote}\nsaid\n{quote}\nafter", "> said\n\nafter"),
        ("bq. said", "> said"),
        ("{panel:title=Mind}hot{panel}", "**Mind**\n\nhot"),
        ("a <b> c\n> d\n----", "a &lt;b> c\n> d\n\n---"),
        ("{code}never closed", "{code}never closed"),
        (None, ""),
    ],
)
def test_wiki_markup(told, shown):
    assert wiki(told) == shown


@given(st.text("ab |*_-+[]{}!~^#h1.\\\n<>?:", max_size=40))
def test_whatever_wiki_markup_it_is_read(told):
    assert all("\n" not in line and "\ue000" not in line for line in wiki_lines(told))


@given(st.lists(WORD, min_size=1, max_size=5), st.sampled_from(["* ", "|", "h1. ", "*", "_", "{quote}", "{{", ""]))
def test_wiki_markup_loses_no_word(words, sign):
    ends = {"*": "*", "_": "_", "|": "|", "{quote}": "{quote}", "{{": "}}"}.get(sign, "")
    found = wiki("\n".join(f"{sign}{word}{ends}" for word in words))
    assert re.findall("[abcdeßf文]+", found) == words


def test_adf_that_is_nested_deep_within_a_line_is_read():
    deep = text("Words")
    for _ in range(5_000):
        deep = node("new", deep)
    assert adf(par(deep, text(" after"))) == "Words after"


@pytest.mark.parametrize("sign", ["{{", "{color:", "{anchor:", "{quote:", "{code:", "{{[!??*_"])
def test_signs_that_are_never_closed_cost_no_more_than_their_length(sign):
    before = time.process_time()
    wiki(sign * (60_000 // len(sign)))
    assert time.process_time() - before < 2


def test_code_within_a_line_may_hold_braces():
    assert wiki("{{a{b}c}} and {{ {x} }}") == "`a{b}c` and `{x}`"
