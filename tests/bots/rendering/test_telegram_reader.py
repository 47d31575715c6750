"""The reader of Telegram's HTML refuses what the server refuses, in its words."""

import time

import pytest

from tests.bots.rendering.readers.shown import Invalid
from tests.bots.rendering.readers.telegram import found_entities, parse_html, read


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        ("<x>a</x>", 'Unsupported start tag "x" at byte offset 0'),
        ("é<b>a", 'Can\'t find end tag corresponding to start tag "b"'),
        ("a</b>", "Unexpected end tag at byte offset 1"),
        ("<b>é</i>", 'Unmatched end tag at byte offset 5, expected "</b>", found "</i>"'),
        ("a < b", 'Unsupported start tag "" at byte offset 2'),
        ("a <b", "Unclosed start tag at byte offset 2"),
        ('<span class="x">a</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
    ],
)
def test_what_the_server_refuses(raw: str, error: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        parse_html(raw)
    assert str(refused.value) == error


def test_entities_are_counted_in_utf16_units() -> None:
    text, entities = parse_html(
        '  😀 <b>fett <i>é</i></b> &lt;x&gt; &nbsp; <a href="https://x.example/?a=1&amp;b">[1]</a> '
    )
    assert text == "😀 fett é <x> &nbsp; [1]"
    assert entities == [
        {"type": "bold", "offset": 3, "length": 6},
        {"type": "italic", "offset": 8, "length": 1},
        {"type": "text_link", "offset": 21, "length": 3, "url": "https://x.example/?a=1&b"},
    ]


def test_code_with_its_language_is_one_entity() -> None:
    _, entities = parse_html('<pre><code class="language-py">x</code></pre><blockquote expandable>y</blockquote>')
    assert entities == [
        {"type": "pre", "offset": 0, "length": 1, "language": "py"},
        {"type": "expandable_blockquote", "offset": 1, "length": 1},
    ]


@pytest.mark.parametrize(
    "raw", ["<b>a <code>x</code></b>", '<a href="https://x.example"><code>x</code></a>', "<b> </b>"]
)
def test_what_would_be_lost_is_refused(raw: str) -> None:
    with pytest.raises(Invalid):
        read(raw)


@pytest.mark.parametrize(
    "text",
    [
        "@alice", "(/start)", "#tag", "#5a", "$USD", "a@b.example", "x.example", "see http://x", "192.168.1.1", "пример.рф",
        "/a@bot_x", "T.me/x", "😀 a.co",
    ],
)  # fmt: skip
def test_what_the_server_finds_by_itself(text: str) -> None:
    assert found_entities(text)


@pytest.mark.parametrize("text", ["_", "a", "a_", "#_", "a.", "a@", "-."])
def test_what_is_found_in_a_long_text_is_found_soon(text: str) -> None:
    began = time.thread_time()
    found_entities(text * 15_000 + "!")
    assert time.thread_time() - began < 1.0


@pytest.mark.parametrize(
    "text", ["and/or", "1/2", "#5", "5 $", "e.g. this", "3.5", "a@b", "@\u2060alice", "x.\u2060example"]
)
def test_what_the_server_leaves_alone(text: str) -> None:
    assert not found_entities(text)
