from ragcore.parsing import parse
from ragcore.parsing.lines import split_lines
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
