"""Two made-up statutes and a made-up paper, written for these tests, and what holds of the pieces of any document."""

from collections.abc import Sequence
from dataclasses import replace

from ragcore.chunking import ChunkOptions, Piece
from ragcore.tokens import offline_tokenizer
from ragcore.types import Location, Section

TOKENIZER = offline_tokenizer()


def numbered(sections: Sequence[Section]) -> list[Section]:
    """Put each section on a page of its own, so that its pieces are told by it."""
    return [
        replace(section, location=Location(page=page, first_line=1, last_line=section.text.count("\n") + 1), lines=())
        for page, section in enumerate(sections, start=1)
    ]


def check(sections: Sequence[Section], pieces: Sequence[Piece], options: ChunkOptions, most: int = 0) -> None:
    """Hold what is true of every method's pieces; the sections are those of ``numbered``.

    They may have up to ``most`` tokens, where that is more than the options say.
    """
    assert [piece.location.page for piece in pieces] == sorted(piece.location.page for piece in pieces)
    for section in sections:
        own = [(at, piece) for at, piece in enumerate(pieces) if piece.location.page == section.location.page]
        joined = "".join(piece.text[piece.overlap :] for _, piece in own)
        assert section.text.startswith(joined)
        if section.text[len(joined) :].strip():
            # Nothing but headings may be left out, where the next piece's heading path holds them.
            after = next(piece for piece in pieces if piece.location.page > section.location.page)
            path = "".join("".join(after.heading_path).split())
            for line in section.text[len(joined) :].split("\n"):
                # Those in Markdown are the parser's, which holds a title apart.
                assert line.startswith("#") or "".join(line.strip(" #*_\t\u3000").split()) in path
        for _, piece in own:
            assert piece.text in section.text or (section.header and piece.text.startswith(section.header))
            assert piece.token_count == TOKENIZER.count(piece.text) <= max(most, options.chunk_tokens)
            assert piece.kind == section.kind
            lines = section.text.split("\n")[piece.location.first_line - 1 : piece.location.last_line]
            assert piece.overlap or section.header or piece.text.rstrip() in "\n".join(lines)


CHINESE_STATUTE = """\
海港管理条例

（2031年3月1日海港委员会第七次会议通过）

目　录
第一章　总则
第二章　船舶
　第一节　进港
　第二节　出港
第三章　附则

第一章　总则

第一条　为了维护海港秩序，保障船舶安全，制定本条例。

第二条　本条例所称海港，包括码头、锚地和航道。
依照第五条进港的船舶，适用本条例
第六条的规定不影响其他船舶。

第二章　船舶

第一节　进港

第三条　船舶进港前应当申报下列事项：
（一）船名和船籍；
（二）载货的种类和数量；
（三）预计到达的时间。

第四条　依照第三条申报的内容有变化的，应当在两小时内更正。

第四条之一　夜间进港的船舶应当开灯。

第二节　出港

第5条　船舶出港应当结清港务费。
第五条规定的港务费，由海港委员会公布。

第六条【灯塔】灯塔由海港委员会管理。

第三章　附则

第七条　本条例自2031年5月1日起施行。

附件一　港务费表

小型船舶每日十元。
"""

ENGLISH_STATUTE = """\
Ferry Operations Act 2031

An Act to provide for the safe running of ferries.

PREAMBLE

Whereas ferries carry people across cold water;

PART ONE
GENERAL

Chapter I
Purpose and terms

Article 1
Purpose

This Act keeps ferries safe. For what a ferry is, see
Article 2 of this Act.

Article 2. Terms

In this Act:
(a) "ferry" means a vessel that carries passengers for a fare;
(b) "master" means whoever commands it.

Article 5 of the Harbour Act does not apply to ferries.

Chapter II
Duties

Article 3 The master shall count the passengers before each crossing, as laid down in
Section 12 of the Harbour Act.

Article 4 (repealed)

Article 4a. Night crossings

A ferry that crosses at night shall carry two lights. In accordance with Article 3, the master counts twice.

PART TWO
FINAL PROVISIONS

Chapter I
Fines

Article 5. Whoever breaks Article 3 pays a fine of 200 shells.

ANNEX I
Forms

The count is written on form F-1.
"""

PAPER = """\
Counting Puffins from the Ferry: A Cheap Census

Ada Skerry, Bo Holm and Cleo Reef

1 University of the Outer Isles
2 Harbour Bird Society

Abstract. We count puffins from a ferry. Twelve crossings give the same number as a full census of the cliffs, at a
tenth of its cost. The counts agree within four per cent.

Keywords: puffins, census, ferries

1 Introduction

Puffins nest on cliffs that few can reach. A ferry passes the cliffs each day.

We follow three steps:

1. Look at the cliff

2. Count the birds

3. Write the number down

2 Methods

2.1 Observers

Two observers stand on the upper deck, as in Figure 1.

![the deck](deck.png)

Figure 1: The upper deck, with the places of both observers.

Figure 1 does not show the rail.

2.2 Counts

Each crossing gives one count. See Section 3 for what they give.

3 Results

Table 1. Counts of three crossings.

Crossing 1 gave 410, crossing 2 gave 398.

Acknowledgements

We thank the crew.

References

[1] A. Skerry. Birds of the Isles. Reef Press, 2029.

[2] B. Holm and C. Reef. Ferries as platforms. Journal of Slow Boats 3, 2030.

Appendix A

The timetable of the ferry.
"""
