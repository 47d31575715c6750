"""Pictures in Word documents and presentations become figures with their captions; icons and logos are passed by."""

import io
from collections.abc import Callable
from email.message import EmailMessage
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.parsing import ParseOptions, parse
from ragcore.parsing.office import figures
from ragcore.parsing.office.docx_figures import captioned
from ragcore.parsing.office.figures import REPEATED, Shown
from ragcore.types import ParsedDocument
from tests.ragcore.parsing.pictures import white_png, written
from tests.soak import scaled

SEEN, UNSEEN = ParseOptions(images=True), ParseOptions()
CAPTION = "Figure 1: The harbour of Brightwater."


def shown(number: int = 0) -> io.BytesIO:
    """Return a picture that is unlike the others."""
    return io.BytesIO(white_png(200 + number, 200))


def word(build: Callable[[Any], None], options: ParseOptions = SEEN) -> ParsedDocument:
    import docx

    document = docx.Document()
    build(document)
    out = io.BytesIO()
    document.save(out)
    return parse(out.getvalue(), name="a.docx", options=options)


def slides(build: Callable[[Any], None], options: ParseOptions = SEEN) -> ParsedDocument:
    import pptx

    presentation = pptx.Presentation()
    build(presentation)
    out = io.BytesIO()
    presentation.save(out)
    return parse(out.getvalue(), name="a.pptx", options=options)


def told(parsed: ParsedDocument) -> list[tuple[str, bool]]:
    return [(section.text, section.image is not None) for section in parsed.sections]


def cm(number: float) -> int:
    return int(number * 360_000)


def test_a_caption_behind_or_before_a_picture_is_the_figures() -> None:
    def build(document: Any) -> None:
        document.add_paragraph("Some text.")
        document.add_picture(shown(), width=cm(10))
        document.add_paragraph(CAPTION)
        document.add_paragraph("The lighthouse", style="Caption")
        document.add_picture(shown(1), width=cm(10))
        document.add_paragraph("More text.")

    parsed = word(build)
    assert told(parsed) == [
        ("Some text.", False),
        (CAPTION, True),
        ("The lighthouse", True),
        ("More text.", False),
    ]
    assert parsed.has_pictures
    unseen = word(build, UNSEEN)
    assert told(unseen) == [(f"Some text.\n\n{CAPTION}\n\nThe lighthouse\n\nMore text.", False)]
    assert unseen.has_pictures


def test_pictures_under_each_other_share_the_caption_that_follows_and_each_is_shown() -> None:
    def build(document: Any) -> None:
        for number in range(2):
            document.add_picture(shown(number), width=cm(10))
        document.add_paragraph(CAPTION)

    assert told(word(build)) == [(CAPTION, True), ("", True)]


def test_alternative_text_stands_where_there_is_no_caption() -> None:
    def build(document: Any) -> None:
        for number, text in enumerate(("Ships in a harbour", "A boat\n\nDescription automatically generated")):
            document.add_picture(shown(number), width=cm(10))
            properties = document.inline_shapes[-1]._inline.docPr
            properties.set("descr", text)
            document.add_paragraph("Between.")

    assert told(word(build)) == [
        ("Ships in a harbour", True),
        ("Between.", False),
        ("", True),
        ("Between.", False),
    ]


def test_icons_ornaments_and_what_is_repeated_are_passed_by() -> None:
    def build(document: Any) -> None:
        document.add_picture(shown(), width=cm(2))
        document.add_picture(io.BytesIO(white_png(40, 40)), width=cm(10))
        for _ in range(REPEATED):
            document.add_picture(shown(1), width=cm(10))
        document.add_picture(shown(2), width=cm(10))
        mark = '<a:extLst xmlns:a="a"><a:ext><d:decorative xmlns:d="d" val="1"/></a:ext></a:extLst>'
        from docx.oxml import parse_xml

        document.inline_shapes[-1]._inline.docPr.append(parse_xml(mark))
        document.add_paragraph(CAPTION)

    assert told(word(build)) == [(CAPTION, False)]


def test_a_picture_in_a_table_stands_behind_it() -> None:
    def build(document: Any) -> None:
        table = document.add_table(rows=2, cols=2)
        for cell in table._cells:
            cell.text = "Cell"
        table.cell(1, 1).paragraphs[0].add_run().add_picture(shown(), width=cm(5))
        document.add_paragraph("After.")

    table, figure, after = told(word(build))
    assert (table[1], figure, after) == (False, ("", True), ("After.", False))


def test_a_picture_that_models_do_not_take_is_given_as_jpeg_and_a_damaged_one_left_out() -> None:
    def build(document: Any) -> None:
        bitmap = io.BytesIO(written([(30, 30, "Hello")], form="BMP", size=(300, 200)))
        document.add_picture(bitmap, width=cm(10))
        document.add_paragraph("Between.")
        document.add_picture(shown(), width=cm(10))
        document.part.related_parts[
            document.inline_shapes[-1]._inline.graphic.graphicData.pic.blipFill.blip.embed
        ]._blob = white_png()[:40]
        document.add_paragraph(CAPTION)

    parsed = word(build)
    assert told(parsed) == [("", True), (f"Between.\n\n{CAPTION}", False)]
    image = parsed.sections[0].image
    assert image is not None
    assert image.media_type == "image/jpeg"


def test_beyond_a_limit_the_text_stays_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MOST_FIGURES", 2)

    def build(document: Any) -> None:
        for number in range(4):
            document.add_picture(shown(number), width=cm(10))
            document.add_paragraph(f"Figure {number}: The harbour.")

    parsed = word(build)
    assert sum(section.image is not None for section in parsed.sections) == 2
    assert "\n".join(section.text for section in parsed.sections).count("The harbour.") == 4
    assert parsed.warnings == ("figures without a picture, over the limit of 2 figures or 60 MB of them a document: 2",)


def test_pictures_of_slides_are_figures_with_their_alternative_text_and_logos_are_not() -> None:
    def build(presentation: Any) -> None:
        for number in range(REPEATED):
            slide = presentation.slides.add_slide(presentation.slide_layouts[5])
            slide.shapes.title.text = f"Slide {number}"
            slide.shapes.add_picture(shown(9), 0, 0, width=cm(4))
            if number < 2:
                picture = slide.shapes.add_picture(shown(number), 0, 0, width=cm(10))
                picture._element.nvPicPr.cNvPr.set("descr", "Ships" if number else "")
            slide.shapes.add_picture(shown(5), 0, 0, width=cm(1))

    parsed = slides(build)
    assert [text for text, is_shown in told(parsed) if is_shown] == ["", "Ships"]
    figure = next(section for section in parsed.sections if section.text == "Ships")
    assert (figure.location.slide, figure.heading_path[-1:]) == (2, ("Slide 1",))
    assert slides(build, UNSEEN).has_pictures


@settings(max_examples=scaled(100))
@given(st.lists(st.sampled_from("pct"), max_size=12))
def test_each_picture_is_told_once_and_no_caption_is_anothers(kinds: list[str]) -> None:
    pictures = {at: [Shown(part=str(at))] for at, kind in enumerate(kinds) if kind == "p"}
    blocks: list[Any] = list(range(len(kinds)))
    found = captioned(blocks, pictures, lambda block: kinds[block] == "c")
    assert sorted(one.part for place in found.values() for one in place) == sorted(str(at) for at in pictures)
    for place, told_here in found.items():
        parts = sorted(int(one.part) for one in told_here)
        if kinds[place] == "c":
            first, last = parts[0], parts[-1]
            assert last - first == len(parts) - 1, "they stand under each other"
            assert place in (first - 1, last + 1)
        else:
            assert parts == [place]


def test_a_mail_with_such_a_document_attached_shows_pictures() -> None:
    import docx

    document = docx.Document()
    document.add_picture(shown(), width=cm(10))
    document.add_paragraph(CAPTION)
    out = io.BytesIO()
    document.save(out)
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["Date"] = "Hi", "a@b.c", "Mon, 01 Jan 2024 10:00:00 +0100"
    mail.set_content("Look.")
    mail.add_attachment(out.getvalue(), maintype="application", subtype="octet-stream", filename="a.docx")
    parsed = parse(mail.as_bytes(), name="a.eml", options=SEEN)
    assert [section.text for section in parsed.sections if section.image is not None] == [CAPTION]
    assert parsed.has_pictures
    assert parse(mail.as_bytes(), name="a.eml", options=UNSEEN).has_pictures
