import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.parsing import parse
from ragcore.parsing.lines import split_lines
from ragcore.parsing.markup import markdown
from ragcore.parsing.outline import Slugs
from ragcore.types import SectionKind

GUIDE = b"""---
title: Leave guide
author: Ada
date: 2024-03-01
---
Preface.

## Annual leave
### Carry-over { #carry }

Five days.

| Kind | Days |
| --- | ---: |
| Annual | 25 |
| Sick | 10 |

After the table.

## Annual leave

```python
# not a heading
```
"""


def test_headings_tables_and_lines_are_kept() -> None:
    parsed = parse(GUIDE, name="x.md")
    assert (parsed.title, parsed.author, parsed.media_type) == ("Leave guide", "Ada", "text/markdown")
    assert parsed.updated_at is not None
    assert parsed.updated_at.year == 2024
    assert [section.heading_path for section in parsed.sections] == [
        (),
        ("Annual leave", "Carry-over"),
        ("Annual leave", "Carry-over"),
        ("Annual leave", "Carry-over"),
        ("Annual leave",),
    ]
    assert [section.location.anchor for section in parsed.sections] == ["", "carry", "carry", "carry", "annual-leave-1"]
    table = parsed.sections[2]
    assert table.kind is SectionKind.TABLE
    assert table.header == "| Kind | Days |\n| --- | ---: |\n"


def test_each_line_of_a_section_is_the_line_of_the_source_that_its_location_says() -> None:
    source = split_lines(GUIDE.decode())
    for section in parse(GUIDE, name="x.md").sections:
        body = section.text.removeprefix(section.header).split("\n")
        first = section.location.first_line - 1
        assert body == source[first : first + len(body)]
        assert section.location.last_line == first + len(body)


def test_the_title_is_not_repeated_in_the_heading_path() -> None:
    parsed = parse(b"# Handbook\n\nHello.\n\n## Travel\n\nBy train.\n", name="a.md")
    assert parsed.title == "Handbook"
    assert [section.heading_path for section in parsed.sections] == [(), ("Travel",)]


def test_a_file_without_headings_is_named_after_its_file() -> None:
    assert parse(b"just a line of text", name="docs/annual-leave_policy.md").title == "Annual leave policy"


HTML_INSIDE = b"""# Setup

<p align="center"><img src="x.png" alt="logo"></p>

Use `<br>`, <your-token>, a < b > c,<br>x and <b>bold</b>. <!-- a remark --> See <https://x.y>.

<!--
hidden

## No heading
-->

```html
<!--
kept
-->
<b>kept, too</b>
```

<table><tr><th>Grade</th><th>Days</th></tr>
<tr><td>A</td>
<td>

# 30

</td></tr></table>

## After

<table> is never closed
"""


def test_tags_and_comments_go_as_on_the_published_page() -> None:
    parsed = parse(HTML_INSIDE, name="x.md")
    text = parsed.sections[0].text
    assert "Use `<br>`, <your-token>, a < b > c, x and bold.  See <https://x.y>." in text
    assert "<!--\nkept\n-->\n<b>kept, too</b>" in text
    assert "hidden" not in text
    assert [section.heading_path for section in parsed.sections] == [(), (), ("After",)]


def test_a_table_of_html_is_a_table_with_its_header() -> None:
    parsed = parse(HTML_INSIDE, name="x.md")
    table = parsed.sections[1]
    assert (table.kind, table.header) == (SectionKind.TABLE, "| Grade | Days |\n| --- | --- |\n")
    assert table.text.endswith("| A | # 30 |")
    assert (table.location.anchor, table.location.first_line) == ("setup", 0)


def test_what_is_left_of_a_file_with_html_keeps_its_lines() -> None:
    source = split_lines(HTML_INSIDE.decode())
    last = parse(HTML_INSIDE, name="x.md").sections[-1]
    assert source[last.location.first_line - 1] == "## After"
    assert (last.location.last_line, last.text.split("\n")[-1]) == (len(source) - 1, "is never closed")


def test_front_matter_of_toml() -> None:
    parsed = parse(b'+++\ntitle = "Leave"\ndate = 2024-03-01\n+++\n\nText.\n', name="x.md")
    assert (parsed.title, [section.text for section in parsed.sections]) == ("Leave", ["Text."])
    assert parsed.updated_at is not None


@given(st.lists(st.sampled_from(["<b>", "</b>", "<!--", "-->", "```", "`", "text", "<table>", "</table>", "# x"])))
def test_no_mixture_of_html_breaks_it_or_loses_what_follows(parts: list[str]) -> None:
    source = "\n".join([*parts, "-->", "```", "```", "</table>", "", "the last words"])
    parsed = parse(source.encode(), name="x.md")
    assert "the last words" in parsed.sections[-1].text
    assert parsed.sections[-1].location.last_line == len(source.split("\n"))


# Images and links by their text, and attributes, as plain as they are slow.
IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])")
ATTRIBUTES = re.compile(r"\s*\{:?\s*(?:#([\w:.-]+))?[^{}]*\}\s*$")
INLINE = st.lists(
    st.sampled_from(["![", "[", "]", "(", ")", "](", "][", "a", "b ", "!", "{", "}", "{:", "#x", " "]), max_size=14
).map("".join)


@given(INLINE)
def test_a_line_is_read_as_plain_expressions_for_it_tell(line: str) -> None:
    assert markdown.plain_inline(line) == " ".join(LINK.sub(r"\1", IMAGE.sub(r"\1", line)).split())
    plainly, found = ATTRIBUTES.search(line), markdown._ATTRIBUTES.search(line)
    assert (plainly and plainly[1]) == (found and found[1])
    assert (plainly and line[: plainly.start()]) == (found and line[: found.start()].rstrip())


@pytest.mark.parametrize("unit", ["![", "[", "![](", "[a](", "[a][", "<a", "[\\", "[`", "{", " ", "{ "])
def test_no_heading_takes_long(unit: str) -> None:
    heading = unit * (30_000 // len(unit))
    began = time.thread_time()
    for line in (heading, f"{heading}x"):
        markdown._heading(1, line, Slugs())
    assert time.thread_time() - began < 0.3
