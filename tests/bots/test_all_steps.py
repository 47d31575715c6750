"""A folder of all kinds of documents with every step of ingest switched on, and a process that is killed in it."""

import asyncio
import contextlib
import json
import pathlib
import re
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import AsyncIterator
from email.message import EmailMessage

import pytest

from tests.fakes.openai_server import Hang, OpenAIServer, Reply, Request
from tests.fakes.running import ROOT, command, environment
from tests.ragcore.parsing.makers import Words, pdf
from tests.ragcore.parsing.pictures import white_png

SETTINGS = """
[llm]
base_url = "{url}"
model = "fake"
vision_model = "seer"

[knowledge_bases.tags]
chunking = "tag"

[knowledge_bases.company]
auto_keywords = 2
auto_questions = 2
contents = true
tags_from = ["tags"]
raptor = "knowledge_base"
graph = true
graph_communities = true
parent_tokens = 512

[knowledge_bases.company.metadata]
year = {{ description = "the year it is about", type = "number" }}

[knowledge_bases.company.chunking]
"*.csv" = "qa"
"*.xlsx" = "table"
"*.eml" = "email"
"*.png" = "picture"
"*law*" = "laws"
"*paper*" = "paper"
"*book*" = "book"
"*manual*" = "manual"
"*note*" = "one"
"*.pdf" = "presentation"
"*" = "naive"

[[sources]]
name = "tags"
type = "files"
path = "tags"

[[sources]]
name = "documents"
type = "files"
path = "documents"
knowledge_base = "company"
"""

LAW = "Act on Parcels\n\n" + "\n\n".join(
    f"Article {number}\nWhoever sends a parcel of more than {number} kilograms tells its weight to the carrier."
    for number in range(1, 7)
)
MANUAL = (
    "1 Lamp\n\n1.1 Switching on\nPress the green button.\n\n1.2 Cleaning\nUse a dry cloth.\n\n2 Power\n\nSeven volts.\n"
)
BOOK = "Chapter 1\n\nThe harbour slept.\n\nChapter 2\n\nThe ship sailed in the morning.\n"
PAPER = "# On moss\n\n## Abstract\n\nMoss grows on the north side.\n\n## Results\n\nIt did so in 9 of 10 cases.\n"
PLAIN = "\n\n".join(
    f"Matter {n}. The depot at gate {n} opens at {n} and is led by Person{n} of Team{n}." for n in range(40)
)
TAGS = "\n".join(["text,tags", "How many leave days do I have?,leave", "The VPN does not connect,network"])


def reply(request: Request) -> Reply:
    """Answer as the task wants it, with words of the passage."""
    task, passage = request.texts[0], request.texts[-1]
    # By their lengths: names and questions of short words would be refused.
    words = sorted({*re.findall(r"\w+", passage), "of", "it"}, key=lambda word: (len(word), word))
    *_, first, last = words
    named = [{"name": name, "type": "thing", "description": name} for name in (first, last)]
    related = [{"source": first, "target": last, "description": f"{first} and {last}", "weight": 5}]
    replies = {
        "You tag": '{"leave": 5}',
        "You fill in a card": '{"year": 2026}',
        "You look through": '{"same": []}',
        "You read out": json.dumps({"entities": named, "relations": related}),
        "You write the table of contents": '[{"piece": 0, "level": 1, "title": "Depots"}]',
        "You write the questions": f"What is told of {last}?",
        "You name": f"{last}, {first}",
    }
    told = [text for beginning, text in replies.items() if task.startswith(beginning)]
    return Reply(text=told[0] if told else " ".join(words[-8:]))


@pytest.fixture
async def model() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer(reply) as server:
        yield server


@pytest.fixture
def home(tmp_path: pathlib.Path, model: OpenAIServer) -> pathlib.Path:
    documents = tmp_path / "documents"
    shutil.copytree(ROOT / "examples" / "documents", documents)
    for name, text in {
        "parcels-law.txt": LAW,
        "lamp-manual.txt": MANUAL,
        "harbour-book.txt": BOOK,
        "moss-paper.md": PAPER,
        "a-note.md": "# Note\n\nThe key hangs by the door.\n",
        "depots.txt": PLAIN,
    }.items():
        (documents / name).write_text(text, encoding="utf-8")
    (documents / "valve.png").write_bytes(white_png())
    scanned = pdf([[Words(text="Figure 1: The valve")]], image=True)
    (documents / "figures.pdf").write_bytes(scanned)
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ann@example.org", "ben@example.org", "The offer"
    mail["Date"] = "Mon, 02 Nov 2026 10:00:00 +0000"
    mail.set_content("Ben, the offer is attached.\n\n> What does it cost?\n")
    mail.add_attachment(
        b"# Offer\n\nSeven lamps cost 700 euros.\n", maintype="text", subtype="markdown", filename="offer.md"
    )
    (documents / "offer.eml").write_bytes(bytes(mail))
    (tmp_path / "tags").mkdir()
    (tmp_path / "tags" / "tags.csv").write_text(TAGS, encoding="utf-8")
    (tmp_path / "citebot.toml").write_text(SETTINGS.format(url=model.base_url), encoding="utf-8")
    return tmp_path


def asked(model: OpenAIServer) -> Counter[str]:
    """Return how often each thing was asked."""
    return Counter(json.dumps([request.texts, request.images]) for request in model.requests)


def held(home: pathlib.Path) -> list[tuple[str, ...]]:
    """Return what is stored of each live chunk."""
    query = """
        select d.id, c.ordinal, c.text, c.enrichment, d.enriched from chunks c
        join documents d on d.id = c.document_id and d.generation = c.generation order by d.id, c.ordinal
    """
    with contextlib.closing(sqlite3.connect(home / ".citebot" / "citebot.sqlite")) as database:
        return [tuple(map(str, row)) for row in database.execute(query)]


async def killed(home: pathlib.Path, model: OpenAIServer, answers: int) -> bool:
    """Sync until so many more things were asked, and kill it while nothing is written; False where it ended before."""
    left = answers

    def some(request: Request) -> Reply | Hang:
        nonlocal left
        left -= 1
        return reply(request) if left >= 0 else Hang()

    model.default = some
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bots",
        "sync",
        cwd=home,
        env=environment(),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        seen = -1
        while process.returncode is None and (left >= 0 or seen != len(model.requests)):
            # Once all that may be asked together waits, what was answered before is kept.
            seen = len(model.requests)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 1.0)
        return process.returncode is None
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        model.default = reply


@pytest.mark.soak
async def test_a_sync_that_is_killed_again_and_again_repeats_no_call(
    home: pathlib.Path, model: OpenAIServer, tmp_path: pathlib.Path
) -> None:
    """The issue's own words: a mixed folder with all of it switched on survives ``kill -9``."""
    done: Counter[str] = Counter()
    kills = 0
    while True:
        before = len(model.requests)
        was_killed = await killed(home, model, 40)
        fresh = model.requests[before:]
        answered = Counter(json.dumps([one.texts, one.images]) for one in (fresh[:40] if was_killed else fresh))
        again = [(key[:60], key[-120:]) for key in done & answered]
        assert not again, "asked again after it was answered"
        done += answered
        if not was_killed:
            break
        kills += 1
        assert kills < 40
    assert kills >= 3
    assert max(done.values()) == 1
    resumed = held(home)
    count = len(model.requests)
    status, out, err = await command(home, environment(), "sync", "--json")
    assert (status, err) == (0, "")
    assert len(model.requests) == count, "a sync with nothing changed asks nothing"
    assert all(not report.get("failed") for report in json.loads(out))
    shutil.rmtree(home / ".citebot")
    status, _, err = await command(home, environment(), "sync", "--json")
    assert status == 0, err
    assert set(asked(model)) == set(done), "a sync at one go asks the same"
    assert held(home) == resumed
