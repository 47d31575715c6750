"""A folder with every format and every kind of bad file, as `citebot sync` reads and reports it."""

import asyncio
import io
import json
import pathlib
import subprocess
import sys
from dataclasses import dataclass
from email.message import EmailMessage

import pytest

from ragcore.library import Library
from tests.fakes.embedding import HashEmbedder
from tests.fakes.running import environment
from tests.ragcore.parsing.makers import epub, lines, pdf, zipped
from tests.soak import FACTOR

CHINESE = "员工每年享有十五天带薪年假，未使用的年假最多可结转五天至次年三月底。"
JAPANESE = "従業員は年間十五日の有給休暇を取得でき、未使用の休暇は翌年三月末まで繰り越すことができます。"
FRENCH = "Les employés bénéficient de quinze jours de congés payés dès l'été, déjà reportés à l'année suivante."
ENCODED = {
    "utf-8.txt": ("utf-8", CHINESE),
    "utf-16.txt": ("utf-16", CHINESE),
    "gb18030.txt": ("gb18030", CHINESE),
    "big5.txt": ("big5", "員工每年享有十五天帶薪年假，未使用的年假最多可結轉五天至次年三月底。"),
    "shift-jis.txt": ("shift_jis", JAPANESE),
    "latin-1.txt": ("latin-1", FRENCH),
}
OFFICE_TYPES = {"[Content_Types].xml": "<Types/>"}
PROTECTED = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(500) + "EncryptedPackage".encode("utf-16-le") + bytes(100)
BAD = {
    "empty.md": (b"", "it is empty"),
    "cut.pdf": (pdf([lines(["Cut off."])])[:300], "it is damaged or cut off"),
    "cut.docx": (zipped({**OFFICE_TYPES, "word/document.xml": "<a/>"})[:-30], "it is damaged or cut off"),
    "protected.pdf": (pdf([lines(["Secret."])], password="secret"), "protected with a password"),
    "protected.docx": (PROTECTED, "protected with a password"),
    "picture.pdf": (b"\x89PNG\r\n\x1a\n" + bytes(100), " a picture"),
}


def said(name: str) -> str:
    """Return the sentence that the file of this name holds."""
    return f"The {name.partition('.')[2]} room has twelve chairs."


def word(text: str) -> bytes:
    import docx

    document, out = docx.Document(), io.BytesIO()
    document.add_paragraph(text)
    document.save(out)
    return out.getvalue()


def workbook(text: str) -> bytes:
    import openpyxl

    book, out = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["Room", "Text"])
    book.active.append(["Birch", text])
    book.save(out)
    return out.getvalue()


def slides(text: str) -> bytes:
    import pptx

    deck, out = pptx.Presentation(), io.BytesIO()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Rooms"
    slide.placeholders[1].text = text
    deck.save(out)
    return out.getvalue()


def mail(text: str) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"], message["Date"] = "Rooms", "a@b.c", "Mon, 01 Jan 2024 10:00:00 +0100"
    message.set_content(text)
    return message.as_bytes()


def formats() -> dict[str, bytes]:
    """Return a file of each format, by name."""
    text = {
        "a.md": "# Rooms\n\n{}\n",
        "a.txt": "{}\n",
        "a.rst": "Rooms\n=====\n\n{}\n",
        "a.html": "<!doctype html><html><body><h1>Rooms</h1><p>{}</p></body></html>",
        "a.csv": "room,text\nBirch,{}\nOak,none\n",
        "a.tsv": "room\ttext\nBirch\t{}\nOak\tnone\n",
        "a.py": 'def birch():\n    """{}"""\n',
    }
    records = {"a.json": [{"room": "Birch", "text": said("a.json")}, {"room": "Oak", "text": "none"}]}
    cells = [{"cell_type": "markdown", "source": ["# Rooms\n", said("a.ipynb")]}]
    return {
        **{name: template.replace("{}", said(name)).encode() for name, template in text.items()},
        **{name: json.dumps(value).encode() for name, value in records.items()},
        "a.ipynb": json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}).encode(),
        "a.jsonl": json.dumps({"id": "1", "title": "Birch", "text": said("a.jsonl")}).encode() + b"\n",
        "a.pdf": pdf([lines([said("a.pdf")])]),
        "a.docx": word(said("a.docx")),
        "a.xlsx": workbook(said("a.xlsx")),
        "a.pptx": slides(said("a.pptx")),
        "a.eml": mail(said("a.eml")),
        "a.epub": epub({"one.xhtml": f"<h1>Rooms</h1><p>{said('a.epub')}</p>"}),
    }


def settled(folder: pathlib.Path) -> pathlib.Path:
    (folder / "docs").mkdir()
    (folder / "citebot.toml").write_text(
        'data_dir = "data"\n[[sources]]\nname = "docs"\ntype = "files"\npath = "docs"\n'
    )
    return folder


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    return settled(tmp_path)


def sync(folder: pathlib.Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "bots", "sync", *options],
        check=False,
        cwd=folder,
        env=environment(COLUMNS="400"),
        capture_output=True,
        text=True,
        timeout=120,
    )


def indexed(folder: pathlib.Path) -> dict[str, str]:
    """Return the text of each document in the index."""

    async def read() -> dict[str, str]:
        library = await Library.open(folder / "data", embedder=HashEmbedder())
        try:
            chunks = await library.registry.chunks_of(await library.registry.document_ids("docs"))
        finally:
            await library.close()
        texts: dict[str, str] = {}
        for chunk in chunks:
            name = chunk.document_id.removeprefix("docs:")
            texts[name] = texts.get(name, "") + chunk.text
        return texts

    return asyncio.run(read())


@dataclass(frozen=True)
class Synced:
    """A run over a folder of every format, every encoding and every kind of bad file, and what was indexed."""

    ran: "subprocess.CompletedProcess[str]"
    texts: dict[str, str]
    reasons: dict[str, str]
    """Of each bad file."""


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Synced:
    folder = settled(tmp_path_factory.mktemp("synced"))
    docs = folder / "docs"
    for name, content in formats().items():
        (docs / name).write_bytes(content)
    for name, (encoding, text) in ENCODED.items():
        (docs / name).write_bytes(f"{text}\n".encode(encoding))
    bomb = zipped({**OFFICE_TYPES, "word/document.xml": bytes(60_000_000)})
    bad = {**BAD, "bomb.docx": (bomb, "a zip bomb")}
    for name, (content, _) in bad.items():
        (docs / name).write_bytes(content)
    reasons = {name: reason for name, (_, reason) in bad.items()}
    if FACTOR >= 1:
        # To look for words on its pages takes as long as all the rest.
        (docs / "scan.pdf").write_bytes(pdf([[], []], image=True))
        reasons["scan.pdf"] = "its pages are images without text"
    with (docs / "huge.pdf").open("wb") as file:
        file.truncate(500_000_000)
    reasons["huge.pdf"] = "it has 500 MB, more than the limit of 200 MB"
    (docs / "good.pdf").write_bytes(b"<!doctype html><html><body><p>It is a web page.</p></body></html>")
    (docs / "zuletzt.md").write_text("# The last one\n\nIt is read, too.\n")
    return Synced(ran=sync(folder), texts=indexed(folder), reasons=reasons)


def test_every_format_and_every_encoding_is_read(synced: Synced) -> None:
    texts = synced.texts
    assert {name for name in formats() if said(name) not in texts.get(name, texts.get(f"{name}#1", ""))} == set()
    assert {name for name, (_, text) in ENCODED.items() if text not in texts[name]} == set()


def test_each_bad_file_is_one_line_of_the_report_and_the_rest_goes_on(synced: Synced) -> None:
    ran, reasons = synced.ran, synced.reasons
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    head, *told = ran.stdout.splitlines()
    read = {name.partition("#")[0] for name in synced.texts}
    assert head.startswith(f"docs: {len(synced.texts)} added, {len(reasons) - 1} failed, 1 empty in ")
    assert read == {*formats(), *ENCODED, "good.pdf", "zuletzt.md"}
    assert len(told) == len(reasons)
    for name, reason in reasons.items():
        (line,) = [one for one in told if f"docs:{name}: " in one]
        assert reason in line
        assert len(line.partition(" → ")[2]) > 3, "what to do"
    assert "It is a web page." in synced.texts["good.pdf"]
    assert "It is read, too." in synced.texts["zuletzt.md"]


@pytest.mark.soak
def test_an_empty_file_is_told_and_no_failure(folder: pathlib.Path) -> None:
    (folder / "docs" / "__init__.py").write_bytes(b"")
    (folder / "docs" / "leave.md").write_text("# Leave\n\nFive days.\n")
    for counts in ("1 added", "1 unchanged"):
        ran = sync(folder)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        head, told = ran.stdout.splitlines()
        assert head.startswith(f"docs: {counts}, 1 empty in ")
        assert told == "  ! docs:__init__.py: it is empty → nothing to do, or restore it"
    (failed,) = json.loads(sync(folder, "--json").stdout)[0]["failed"]
    assert set(failed) == {"id", "reason", "mend"}


@pytest.mark.soak
def test_a_dry_run_tells_which_files_cannot_be_read(folder: pathlib.Path) -> None:
    docs = folder / "docs"
    (docs / "empty.md").write_bytes(b"")
    (docs / "old.rtf").write_bytes(b"{\\rtf1 It is old.}")
    (docs / "scan.pdf").write_bytes(pdf([[], []], image=True))
    (docs / "leave.md").write_text("# Leave\n\nFive days.\n")
    before = sync(folder, "--dry-run").stdout
    assert before.startswith("docs: 2 added, 1 failed, 1 empty in ")
    assert "  ✗ docs:old.rtf: it is a rich text file (.rtf) → save it as docx\n" in before
    assert sync(folder).stdout.startswith("docs: 1 added, 2 failed, 1 empty in ")
    after = sync(folder, "--dry-run").stdout
    assert after.startswith("docs: 1 unchanged, 2 failed, 1 empty in "), (
        "what failed before and is the same is not added"
    )
    assert "  ✗ docs:scan.pdf: its pages are images without text" in after
