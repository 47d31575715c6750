import importlib.util
from email.message import EmailMessage

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.errors import ParseError
from ragcore.parsing import ParseOptions, parse, picture, recognise
from ragcore.parsing.media import Media
from ragcore.parsing.worker import needs_process
from ragcore.types import Location
from tests.ragcore.parsing.pictures import empty_tiff, frames, white_png, written
from tests.soak import scaled

WITHOUT = ParseOptions(ocr=False)
SEEN = ParseOptions(ocr=False, images=True)
needs_ocr = pytest.mark.skipif(importlib.util.find_spec("rapidocr") is None, reason='the extra "ocr" is not installed')


def test_without_ocr_and_without_a_model_both_are_named() -> None:
    with pytest.raises(ParseError) as caught:
        parse(white_png(), name="a.png", options=WITHOUT)
    assert caught.value.reason == "it is a picture, and OCR is not installed"
    assert 'pip install "citebot[ocr]"' in caught.value.mend
    assert "vision_model" in caught.value.mend


def test_for_a_model_the_picture_goes_along() -> None:
    parsed = parse(white_png(), name="the valve.png", options=SEEN)
    (section,) = parsed.sections
    assert (parsed.title, parsed.titled, parsed.media_type) == ("The valve", False, Media.PICTURE)
    assert section.text == ""
    assert section.image is not None
    assert section.image.media_type == "image/png"


@pytest.mark.parametrize(
    "start",
    [
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0\x00\x10",
        b"GIF89a\x01\x00\x01\x00\x80\x00\x00",
        b"RIFF\0\0\0\0WEBPVP8 ",
        b"II*\0",
        b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0",
    ],
    ids=["png", "jpeg", "gif", "webp", "tiff", "bmp"],
)
def test_pictures_are_known_by_their_first_bytes_and_read_in_the_worker(start: bytes) -> None:
    content = start + bytes(range(200, 256)) * 2
    assert recognise(content, name="a.txt", media_type="text/plain") is Media.PICTURE
    assert needs_process(content)


def test_a_picture_in_a_format_that_is_not_read_says_so() -> None:
    with pytest.raises(ParseError, match="a format that is not read"):
        parse(b"\0\0\0\x18ftypheic" + bytes(80), name="a.heic")


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
@pytest.mark.parametrize(
    "text",
    [
        "BMW is a maker of cars.",
        "BMW baut Autos in München, größer als früher, und liefert sie über Österreich.",
        "GIF89a heißt das Format für kleine Bilder, wie jeder weiß.",
        "MZ ist ein Kürzel für Mühlenzug, und für vieles andere.",
        "ID3 ist eine Kennung für Angaben über Musikstücke.",
        "RIFF ist ein Behälter für Töne und Bilder.",
    ],
    ids=["plain", "bm", "gif", "mz", "id3", "riff"],
)
def test_text_that_begins_like_a_picture_or_a_program_is_text(text: str, encoding: str) -> None:
    parsed = parse(text.encode(encoding), name="a.txt")
    assert parsed.media_type == Media.TEXT
    assert [section.text for section in parsed.sections] == [text]


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1))
def test_no_text_is_a_picture_however_it_begins(rest: str) -> None:
    for start in ("BM", "GIF89a", "GIF8", "RIFF1234WEBP", "II*", "MM"):
        assert recognise(f"{start}{rest}".encode(), name="a.txt", media_type="") is not Media.PICTURE


@needs_ocr
def test_words_are_read_column_by_column_with_a_paragraph_where_there_is_a_gap() -> None:
    left = [(30, 30 + 40 * n, f"The left column, line {n}") for n in range(5)]
    right = [(520, 30 + 40 * n, f"The right column, line {n}") for n in range(5)]
    parsed = parse(written([*left, *right, (30, 340, "Below all of it")]), name="a.png")
    (section,) = parsed.sections
    lines = [line for line in section.text.splitlines() if line]
    assert lines == [*(text for *_, text in left), "Below all of it", *(text for *_, text in right)]
    assert "line 4\n\nBelow all of it" in section.text
    assert section.location == Location()


@needs_ocr
def test_each_frame_of_a_fax_is_a_page() -> None:
    parsed = parse(frames([[(30, 30, "First page")], [(30, 30, "Second page")]]), name="fax.tif")
    assert [(section.text, section.location.page) for section in parsed.sections] == [
        ("First page", 1),
        ("Second page", 2),
    ]


@needs_ocr
def test_a_wordless_picture_fails_with_a_mend_unless_a_model_is_to_see_it() -> None:
    with pytest.raises(ParseError) as caught:
        parse(white_png(64, 64), name="a.png")
    assert caught.value.reason == "it is a picture in which OCR found no words"
    assert "vision_model" in caught.value.mend
    assert parse(white_png(64, 64), name="a.png", options=ParseOptions(images=True)).sections[0].image is not None


@needs_ocr
def test_what_models_do_not_take_is_given_to_them_as_jpeg() -> None:
    parsed = parse(written([(30, 30, "Hello")], form="BMP"), name="a.bmp", options=ParseOptions(images=True))
    image, text = parsed.sections
    assert image.image is not None
    assert image.image.media_type == "image/jpeg"
    assert text.text == "Hello"
    assert not parsed.lacks_ocr


@pytest.mark.parametrize("form", ["BMP", "TIFF"])
def test_without_ocr_they_are_too(form: str) -> None:
    (section,) = parse(written([(30, 30, "Hello")], form=form), name="a", options=SEEN).sections
    assert section.image is not None
    assert section.image.media_type == "image/jpeg"


def test_what_lacks_ocr_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "ocr", lambda: None)
    parsed = parse(white_png(), name="a.png", options=ParseOptions(images=True))
    assert (parsed.has_pictures, parsed.lacks_ocr) == (True, True)


@pytest.mark.parametrize(("side", "told"), [(9_000, "81"), (12_000, "144"), (20_000, "400")])
def test_too_many_pixels_are_refused_before_they_are_unpacked(side: int, told: str) -> None:
    with pytest.raises(ParseError, match=f"has {told} million pixels, over the limit of 64") as caught:
        parse(empty_tiff(side), name="a.tif", options=SEEN)
    assert caught.value.mend == "make it smaller"


@needs_ocr
@settings(max_examples=scaled(20))
@given(st.integers(8, 80), st.binary(max_size=20))
def test_a_damaged_picture_is_told_as_one(cut: int, rest: bytes) -> None:
    with pytest.raises(ParseError, match=r"a damaged picture|found no words|none that can be read"):
        parse(white_png()[:cut] + rest, name="a.png")


def test_a_picture_attached_to_a_mail_is_left_to_itself() -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["Date"] = "Hi", "a@b.c", "Mon, 01 Jan 2024 10:00:00 +0100"
    mail.set_content("Look.")
    mail.add_attachment(white_png(), maintype="image", subtype="png", filename="logo.png")
    assert parse(mail.as_bytes(), name="a.eml").warnings == ("attachment logo.png: it is a picture",)
