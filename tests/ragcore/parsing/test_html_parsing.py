import pytest

from ragcore.errors import EmptyDocument, ParseError
from ragcore.parsing import parse
from ragcore.types import SectionKind

PAGE = """<!doctype html><html><head><title>Leave | Acme Intranet</title><meta name=author content="Ada">
<script>var tracking = 1;</script><style>p {color: red}</style></head><body>
<nav><a href=/>Home</a> <a href=/hr>People</a></nav>
<div id="cookie-banner">We use cookies. <button>Accept</button></div>
<main><h1>Leave</h1><p>Everyone has&nbsp;25 days&mdash;per year.</p>
<section id="carry"><h2>Carry-over<a class="headerlink" href="#carry">¶</a></h2>
<p>Up to <b>five</b> days.<br>Ask early.</p>
<ul><li>One<ul><li>Nested</li></ul></li><li>Two</li></ul><ol start="3"><li>Third</li></ol>
<table><caption>Days by country</caption><tr><th>Country</th><th>Days</th></tr><tr><td>Spain</td><td>30</td></tr>
<tr><td rowspan=2>France</td><td>25</td></tr><tr><td>5</td></tr></table>
<div hidden>secret draft</div></section>
<h3 id="code">Code</h3><pre><code class="language-python">def leave():
    return 25
</code></pre><p>A&lt;B &amp; C</p></main>
<footer>Copyright Acme</footer></body></html>"""


def test_headings_anchors_lists_and_tables_are_kept_and_furniture_goes() -> None:
    parsed = parse(PAGE.encode(), name="leave.html")
    text = "\n".join(section.text for section in parsed.sections)
    assert (parsed.title, parsed.author, parsed.media_type) == ("Leave", "Ada", "text/html")
    for gone in ("tracking", "color", "Home", "cookies", "secret", "Copyright", "¶"):
        assert gone not in text
    assert "Everyone has 25 days—per year." in text
    assert "Up to five days.\nAsk early." in text
    assert "- One\n  - Nested\n- Two" in text
    assert "3. Third" in text
    assert "```python\ndef leave():\n    return 25\n```" in text
    assert "A<B & C" in text
    tables = [section for section in parsed.sections if section.kind is SectionKind.TABLE]
    assert [table.heading_path for table in tables] == [("Carry-over",)]
    assert tables[0].location.anchor == "carry"
    assert tables[0].header == "| Country | Days |\n| --- | --- |\n"
    assert tables[0].text.endswith("| Spain | 30 |\n| France | 25 |\n| France | 5 |")
    assert parsed.sections[-1].heading_path == ("Carry-over", "Code")
    assert parsed.sections[-1].location.anchor == "code"


def test_content_in_oddly_named_boxes_stays() -> None:
    page = (
        "<html><body><div class=sidebar><p>The office closes at six on Fridays, and the lift stops at seven.</p></div>"
    )
    assert "closes at six" in parse(page.encode(), name="x.html").sections[0].text


def test_layout_tables_are_text_and_long_code_is_its_own_section() -> None:
    code = "\n".join(f"line {number}" for number in range(20))
    page = f"<html><body><table><tr><td><h2>Left</h2><p>Words.</p></td></tr></table><pre>{code}</pre></body></html>"
    parsed = parse(page.encode(), name="x.html")
    assert [section.kind for section in parsed.sections] == [SectionKind.TEXT, SectionKind.CODE]
    assert parsed.sections[1].text == code


def test_headings_over_several_columns_name_each_of_them() -> None:
    page = """<table><tr><th rowspan=2>Model</th><th colspan=2>Range</th><th colspan=2>Price</th></tr>
    <tr><th>low</th><th>high</th><th>net</th><th>gross</th></tr>
    <tr><td>P-1</td><td>1</td><td>9</td><td>10</td><td>12</td></tr>
    <tr><td colspan=5>On request</td></tr><tr><td>P-2</td><td colspan=2>5</td><td>20</td><td>24</td></tr></table>"""
    (table,) = parse(page.encode(), name="x.html").sections
    assert table.text.split("\n") == [
        "| Model | Range low | Range high | Price net | Price gross |",
        "| --- | --- | --- | --- | --- |",
        "| P-1 | 1 | 9 | 10 | 12 |",
        "| On request |  |  |  |  |",
        "| P-2 | 5 |  | 20 | 24 |",
    ]


def test_signs_in_cells_of_their_own_go_back_to_their_numbers() -> None:
    page = """<html><body><table><tr><td></td><td colspan=3>2023</td><td colspan=3>2022</td></tr>
    <tr><td>Sales</td><td>$</td><td>3,667</td><td></td><td>$</td><td>3,635</td><td></td></tr>
    <tr><td>Loss</td><td></td><td>(12</td><td>)</td><td></td><td>(9</td><td>)</td></tr></table></body></html>"""
    table = parse(page.encode(), name="x.html").sections[0]
    assert table.text == "|  | 2023 | 2022 |\n| --- | --- | --- |\n| Sales | $3,667 | $3,635 |\n| Loss | (12) | (9) |"


def test_an_entity_bomb_is_not_expanded() -> None:
    bomb = '<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><html><p>Hi &b;</p></html>'
    assert "aaaaaaaaaa" not in parse(bomb.encode(), name="x.html").sections[0].text


@pytest.mark.parametrize(("depth", "is_read"), [(200, True), (1000, True), (5000, False)])
def test_a_page_nested_deep_is_read_or_refused_and_never_cut(depth: int, is_read: bool) -> None:
    page = f"<p>Before.</p>{'<div>' * depth}deep down{'</div>' * depth}<p>After.</p>".encode()
    if is_read:
        text = "\n".join(section.text for section in parse(page, name="x.html").sections)
        assert all(words in text for words in ("Before.", "deep down", "After."))
        return
    with pytest.raises(ParseError, match="nested too deep") as raised:
        parse(page, name="x.html")
    assert not isinstance(raised.value, EmptyDocument)


@pytest.mark.parametrize(
    "page",
    [
        "<html><body><p>Before.</p></body></html><p>Between.</p> After.",
        "<p>Before.</p></HTML ><!-- a remark --><h2>Between.</h2><div>After.</div></html>",
        "<html><body><p>Before.</p></body></html><html><body><p>Between.</p><p>After.</p></body></html>",
        "<html><body><p>Before.</p>Between.</body>After.</html>",
    ],
)
def test_what_stands_behind_the_end_of_a_page_is_read_as_browsers_do(page: str) -> None:
    parsed = parse(page.encode(), name="page.html")
    told = " ".join(word for section in parsed.sections for word in (*section.heading_path, section.text))
    for said in ("Before.", "Between.", "After."):
        assert said in told
