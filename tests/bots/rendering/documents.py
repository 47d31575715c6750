"""Random answers for the properties: Markdown whose words are all different, with citations and what should stay quiet."""

import itertools
import re

from hypothesis import strategies as st

from bots.rendering.parse import parse_answer
from bots.rendering.tree import Document
from ragcore.types import Answer, Citation, Support

ALLOWED = "https://wiki.example/allowed_(page)?a=1&b=2#x*y"
URLS = (
    "https://wiki.example/leave#carry-over",
    "",
    "https://wiki.example/文档?q=a&b=<c>|d",
    "file:///srv/docs/a.md",
    "https://wiki.example/long#:~:text=" + "%E5%B9%B4" * 150,
    "https://wiki.example/" + "very/" * 500,
    "http://intern.example:8080/a_b*c~d`e",
)
HOSTILE = (
    "@everyone", "@here", "@channel", "<!channel>", "<!here|here>", "<@U012AB3CD>", "<@123456789>", "<#C123|general>",
    "<!subteam^S12|x>", "</ask:123456>", "#general", "#5a", "/start", "/ask@bot", "@alice_b", "alice@evil.example",
    "evil.example/x?y=1", "https://evil.example/a_b", "[click](https://evil.example)", "<https://evil.example|good>",
    "<b>bold</b>", "&lt;b&gt;", "&amp;", "a < b > c & d", "*", "_", "~~", "```", "`", "``x`y``", "||x||", "[x]", "](", "\\",
    ":tada:", "$USD", "<t:1:R>", "<a:x:1>", "<id:browse>", "192.168.1.1", "пример.рф", "ERR_CONN_104", "a*b*c", "2 * 3 * 4",
    "年假", "中文。", "مرحبا", "שלום", "👩‍👩‍👧‍👦", "é", "http://a.b", "www.evil.example", "tg://user?id=1",
    "discord.gg/abc", "_x_", "~x~", "> x", "1. x", "- x", "# x", "-# x", "| x |", "e.g. this", "and/or", "x^2_i", "$a_b$",
)  # fmt: skip

_word = st.just("W")
_atom = st.one_of(_word, _word, _word, _word, st.sampled_from(HOSTILE), st.integers(0, 7).map("[ID:{}]".format))
_words = st.lists(_atom, min_size=1, max_size=14).map(" ".join)
_span = st.one_of(
    _words,
    _words,
    _words.map(lambda text: f"**{text}**"),
    _words.map(lambda text: f"*{text}*"),
    _words.map(lambda text: f"~~{text}~~"),
    _words.map(lambda text: f"W**W {text}.**W"),
    _words.map(lambda text: f"年**“{text}”**假"),
    _word.map(lambda text: f"`{text}`"),
    st.sampled_from(
        ["`@everyone W`", "`` W`W ``", f"[W W]({ALLOWED})", f"<{ALLOWED}>", "[W [x] W](https://evil.example/)"]
    ),
)
_line = st.lists(_span, min_size=1, max_size=6).map(" ".join)
_paragraph = st.lists(_line, min_size=1, max_size=3).map("\n".join)
_cell = st.lists(_atom, min_size=0, max_size=4).map(lambda atoms: " ".join(atoms).replace("|", "\\|"))
_name = st.lists(st.sampled_from(["H", "**H**", "`H`"]), max_size=3).map(" ".join)
_code_line = st.lists(st.one_of(_word, st.sampled_from(HOSTILE)), max_size=8).map("  ".join)


@st.composite
def _table(draw: st.DrawFn, names: st.SearchStrategy[str]) -> str:
    columns = draw(st.integers(1, 4))
    header = draw(st.lists(names, min_size=columns, max_size=columns))
    rows = draw(st.lists(st.lists(_cell, min_size=columns, max_size=columns), max_size=7))
    lines = ["| " + " | ".join(row) + " |" for row in (header, *rows)]
    lines.insert(1, "|" + draw(st.sampled_from(["---|", ":-:|", "--:|"])) * columns)
    return "\n".join(lines)


@st.composite
def _fence(draw: st.DrawFn) -> str:
    lines = draw(st.lists(_code_line, min_size=0, max_size=12))
    return "~~~~~" + draw(st.sampled_from(["", "python", "c++", "weird <lang>"])) + "\n" + "\n".join(lines) + "\n~~~~~"


def _indented(text: str, first: str) -> str:
    return first + text.replace("\n", "\n" + " " * len(first))


def _listed(items: list[str], number: int | None) -> str:
    return "\n".join(
        _indented(item, "- " if number is None else f"{number + index}. ") for index, item in enumerate(items)
    )


def _markdown(names: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return random Markdown with such names of columns."""
    plain_block = st.one_of(
        _paragraph,
        _paragraph,
        _paragraph,
        _table(names),
        _fence(),
        _line.map(lambda text: f"## {text}"),
        st.just("***"),
    )
    block = st.recursive(
        plain_block,
        lambda inner: st.one_of(
            st.tuples(
                st.lists(st.lists(inner, min_size=1, max_size=2).map("\n\n".join), min_size=1, max_size=5),
                st.one_of(st.none(), st.integers(1, 120)),
            ).map(lambda pair: _listed(*pair)),
            st.lists(inner, min_size=1, max_size=2).map(lambda blocks: _indented_quote("\n\n".join(blocks))),
        ),
        max_leaves=6,
    )
    return st.lists(block, min_size=1, max_size=7).map("\n\n".join).map(_numbered)


def _indented_quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _numbered(text: str) -> str:
    counter = itertools.count(1)
    return re.sub("W|H", lambda found: f"w{next(counter)}" if found[0] == "W" else f"h{next(counter)}h", text)


markdown = _markdown(_cell)


def answer_of(text: str) -> Answer:
    """Return an answer with citations of every kind of source; ids 0 to 6 are known."""
    known = [identifier for identifier in dict.fromkeys(map(int, re.findall(r"\[ID:(\d)\]", text))) if identifier < 7]
    citations = tuple(
        Citation(
            number=number,
            id=identifier,
            chunk_id=f"c{identifier}",
            document_id=f"docs:file{identifier}.md",
            title=f"T<i>tle_{identifier} @all" if identifier != 1 else "",
            url=URLS[identifier],
            location=f"page {identifier}",
            quote="",
        )
        for number, identifier in enumerate(known, 1)
    )
    return Answer(
        question="?", raw_text=text, support=Support.CITED, citations=citations, allowed_urls=frozenset({ALLOWED})
    )


def document_of(text: str) -> Document:
    return parse_answer(answer_of(text))


documents = markdown.map(document_of)
named_documents = _markdown(_name).map(document_of)
"""The same, but for the names of columns, which are ``h12h`` and the like and may be repeated: nothing else is."""
