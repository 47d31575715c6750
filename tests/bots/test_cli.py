"""The commands as they are typed. Over 400 lines because each command is held to its output, its JSON and its status."""

import contextlib
import errno
import io
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

import bots.cli.reach
from bots.cli import main
from bots.requests import Ask, Decide, Search, Sync
from bots.service import SOCKET_NAME
from bots.settings import load_settings
from tests.fakes.operations import TEXT, Scripted
from tests.fakes.running import start_command
from tests.fakes.settings import forget_settings

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = """
[knowledge_bases.handbook]
readers = ["slack:T1"]
[knowledge_bases.closed]
[[sources]]
name = "handbook"
type = "files"
path = "."
"""


@dataclass
class Ran:
    code: int
    out: str
    err: str


Cli = Callable[..., Ran]


@pytest.fixture
def scripted() -> Scripted:
    return Scripted()


@pytest.fixture
def cli(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scripted: Scripted
) -> Cli:
    (tmp_path / "citebot.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    forget_settings(monkeypatch)
    monkeypatch.setattr(bots.cli.reach, "open_data", lambda settings, command: scripted.opened())
    return typed(monkeypatch, capsys)


@pytest.fixture
def real(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command over a folder without settings, and over its data as they are."""
    monkeypatch.chdir(tmp_path)
    forget_settings(monkeypatch)
    return typed(monkeypatch, capsys)


def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    def run(*args: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["citebot", *args])
        with pytest.raises(SystemExit) as left:
            main()
        shown = capsys.readouterr()
        return Ran(int(left.value.code or 0), shown.out, shown.err)

    return run


def test_ask_prints_the_answer_and_its_sources(cli: Cli, scripted: Scripted) -> None:
    ran = cli("ask", "How", "many?", "--kb", "handbook", "--doc", "handbook:a.md", "--as", "slack:T1/@U1")
    assert ran.code == 0
    assert "five days. [1]" in ran.out
    assert "\n[1] Leave, Carry-over  leave-2.md\n[2] Leave, Carry-over  leave-0.md\n" in ran.out
    assert "\x1b" not in ran.out
    assert scripted.asked == [
        Ask(
            question="How many?",
            knowledge_bases=("handbook",),
            document_ids=("handbook:a.md",),
            audience=frozenset({"slack:T1/@U1", "slack:T1", "*"}),
            may_mend=True,
        )
    ]


def test_a_research_is_asked_for(cli: Cli, scripted: Scripted) -> None:
    assert cli("ask", "--research", "How", "many?").code == 0
    (asked,) = scripted.asked
    assert isinstance(asked, Ask)
    assert asked.reference, "broken off, it goes on when it is asked for again"
    assert asked == Ask(question="How many?", research=True, reference=asked.reference)


def test_ask_json_has_its_fields(cli: Cli) -> None:
    form = json.loads(cli("ask", "--json", "?").out)
    assert form["question"] == "?"
    assert form["answer"] == TEXT
    assert "[[1]](file:///srv/leave-2.md#carry-over)" in form["text"]
    assert form["abstained"] is False
    assert [c["number"] for c in form["citations"]] == [1, 2]
    assert set(form["citations"][0]) == {
        "number",
        "id",
        "chunk_id",
        "document_id",
        "title",
        "url",
        "location",
        "quote",
    }
    assert {"id", "chunk_id", "document_id", "title", "url", "score", "text"} <= set(form["chunks"][0])
    assert [chunk["id"] for chunk in form["chunks"]] == [0, 1, 2]
    assert form["documents"][0] == {
        "document_id": "handbook:leave-0.md", "title": "Leave", "url": "file:///srv/leave-0.md", "chunks": 1,
    }  # fmt: skip
    assert form["usage"] == {"calls": 1, "prompt_tokens": 10, "completion_tokens": 5}
    assert form["timings_ms"] == {"search": 1.235}
    assert form["related"] == []


def test_search_marks_the_matched_words(cli: Cli, scripted: Scripted) -> None:
    ran = cli("search", "carry over", "-k", "3")
    assert ran.code == 0
    assert "**Carry** over five days. **年假**可以结转。" in ran.out
    assert ran.out.startswith("1. Leave, Carry-over  0.90  handbook:leave-0.md\n   Days lapse in March.\n")
    assert scripted.asked == [Search(query="carry over", limit=3)]
    forms = json.loads(cli("search", "x", "-k", "2", "--json").out)
    assert len(forms) == 2
    assert forms[0]["text"] == "Days lapse in March."
    assert [(form["document_chunks"], form["copies"]) for form in forms] == [(1, []), (1, [])]
    assert ran.out.endswith(
        "3 passages from 3 documents: handbook:leave-0.md 1, handbook:leave-1.md 1, handbook:leave-2.md 1\n"
    )


def test_sync_reports_each_failed_file(cli: Cli, scripted: Scripted) -> None:
    ran = cli("sync", "handbook")
    assert ran.code == 1
    assert "handbook: 1 added, 1 failed in 0.5 s" in ran.out
    assert "✗ handbook:x.pdf: it is encrypted → save it without a password" in ran.out
    assert "Syncing handbook" in ran.err
    assert scripted.asked == [Sync(sources=("handbook",), ask_first=True, enrich=True)]
    ran = cli("sync", "--json", "--dry-run", "--full")
    (form,) = json.loads(ran.out)
    assert form["failed"] == [
        {"id": "handbook:x.pdf", "reason": "it is encrypted", "mend": "save it without a password"}
    ]
    assert {"source", "added", "changed", "deleted", "unchanged", "failed", "seconds"} <= set(form)
    assert ran.err == ""


def test_a_source_that_cannot_be_listed_is_told_once(tmp_path: pathlib.Path, real: Cli) -> None:
    (tmp_path / "citebot.toml").write_text('[[sources]]\nname = "wiki"\ntype = "files"\npath = "away"\n')
    ran = real("sync")
    assert ran.code == 1
    assert ran.out.startswith("wiki: failed in ")
    assert (ran.out + ran.err).count("is not there") == 1


def test_a_search_of_nothing_tells_that_there_is_nothing(cli: Cli, scripted: Scripted) -> None:
    scripted.found = ()
    assert cli("search", "x").err == "Nothing fits.\n"
    scripted.documents = 0
    assert "Nothing is indexed yet" in cli("search", "x").err


@pytest.mark.parametrize(("terminal", "typed", "agreed"), [(False, "", True), (True, "y\n", True), (True, "\n", False)])
def test_a_full_sync_tells_the_count_and_asks_on_a_terminal(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, terminal: bool, typed: str, agreed: bool
) -> None:
    stdin = io.StringIO(typed)
    monkeypatch.setattr(stdin, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stdin", stdin)
    ran = cli("sync", "--full")
    assert "handbook: 12 documents are no longer at the source" in ran.err
    assert ("Delete them" in ran.err) is terminal
    assert scripted.asked[1:] == [Decide(doubt="d", agreed=agreed)]


def test_feedback(cli: Cli) -> None:
    told = cli("feedback").out
    assert told.startswith("1 vote: 0 👍, 1 👎\n\n👎 It is out of date  2026-01-0")
    assert "  How many days?\n  Five days. [1] Or so. [2]\n    [1] Leave, handbook:leave-1.md (0.50)\n" in told
    assert "    not cited: Leave, handbook:leave-2.md (0.50)\n" in told
    assert "\n1 question without an answer from the documents\nno answer found  2026-01-0" in told
    assert "  telegram 7  0a1b2c3e\n  什么是年假？\n" in told
    form = json.loads(cli("feedback", "--json").out)
    (vote,), (question,) = form["votes"], form["unanswered"]
    assert (vote["side"], vote["reason"], vote["answer"]) == ("down", "outdated", "Five days. [ID:1] Or so. [ID:0]")
    assert [(chunk["id"], chunk["number"]) for chunk in vote["chunks"]] == [(0, 2), (1, 1), (2, None)]
    assert (question["outcome"], question["question"]) == ("abstained", "什么是年假？")


def test_sources(cli: Cli) -> None:
    assert "handbook" in cli("sources").out
    (form,) = json.loads(cli("sources", "--json").out)
    assert form == {
        "name": "handbook",
        "type": "files",
        "knowledge_base": "handbook",
        "documents": 3,
        "chunks": 7,
        "last_success": "2026-01-02T03:04:00+00:00",
        "last_error": None,
        "next_run": None,
    } | {"paused": False, "stale": False, "failed": []}


def test_doctor_says_how_to_mend(cli: Cli) -> None:
    ran = cli("doctor")
    assert ran.code == 1
    assert "✗ model: the key was refused\n    → set another key" in ran.out
    assert '[knowledge_bases.closed]: readers = ["slack:T0123"]' in ran.out
    states = {check["name"]: check["state"] for check in json.loads(cli("doctor", "--json").out)}
    assert states["settings"] == "ok"
    assert states["data_dir"] == "ok"
    assert states["readers of closed"] == "warn"


def test_doctor_tells_each_fault_of_the_settings_on_a_line(cli: Cli, tmp_path: pathlib.Path) -> None:
    (tmp_path / "citebot.toml").write_text("[answer]\ntop_m = 3\n[chroma]\nulr = 1\n")
    told = cli("doctor").out.splitlines()
    assert told[0].endswith('[chroma] ulr: is not known; did you mean "url"?')
    assert told[1].endswith('[answer] top_m: is not known; did you mean "top_n"?')


def test_config_stands_before_or_after_the_command(cli: Cli, tmp_path: pathlib.Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "c.toml").write_text('[knowledge_bases.other]\n[[sources]]\nname="other"\ntype="files"\npath="."\n')
    for args in (("--config", str(other / "c.toml"), "ask", "?"), ("ask", "?", "--config", str(other / "c.toml"))):
        assert cli(*args, "--kb", "other").code == 0
    assert cli("ask", "?", "--kb", "other").code == 2
    assert (other / ".citebot").is_dir()


@pytest.mark.parametrize(
    "args",
    [
        ("nonsense",),
        ("ask",),
        ("ask", " "),
        ("ask", "?", "--kb", "nonsense"),
        ("ask", "?", "--as", "nobody"),
        ("--config", "missing.toml", "ask", "?"),
        ("search", ""),
        ("search", "x", "-k", "0"),
        ("sync", "nonsense"),
        ("eval", "retrieval", "missing"),
        ("restore", "missing"),
    ],
)
def test_wrong_use_exits_2(cli: Cli, args: tuple[str, ...]) -> None:
    ran = cli(*args)
    assert ran.code == 2
    assert ran.err
    assert not ran.out
    assert "Traceback" not in ran.err


def test_an_error_is_a_line(cli: Cli, scripted: Scripted, tmp_path: pathlib.Path) -> None:
    scripted.failing = True
    ran = cli("ask", "?")
    assert (ran.code, ran.out, ran.err) == (1, "", "citebot: no connection to http://localhost:1\n")
    (tmp_path / "citebot.toml").write_text("unknown_key = 1\x0b\n")
    ran = cli("ask", "?")
    assert ran.code == 1
    assert ran.err.startswith("citebot: ")


def test_debug_shows_where(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.failing = True
    monkeypatch.setenv("CITEBOT_DEBUG", "0")
    monkeypatch.setattr(sys, "argv", ["citebot", "--debug", "ask", "?"])
    with pytest.raises(Exception, match="no connection"):
        main()


def test_init_writes_the_file_that_the_commands_will_read(
    cli: Cli, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = cli("init", "--config", "etc/bot.toml")
    assert "`citebot --config etc/bot.toml sync`" in ran.out
    monkeypatch.setenv("CITEBOT_CONFIG", "other.toml")
    assert cli("ask", "?").code == 1
    assert cli("init").out.startswith("Wrote other.toml.\n")
    assert cli("ask", "?").code == 0
    assert (tmp_path / "citebot.toml").read_text() == SETTINGS


def test_init_never_overwrites(cli: Cli, tmp_path: pathlib.Path) -> None:
    assert cli("init").code == 1
    assert (tmp_path / "citebot.toml").read_text() == SETTINGS
    ran = cli("init", "--config", "new/citebot.toml")
    assert ran.code == 0
    assert "readers = []" in (tmp_path / "new" / "citebot.toml").read_text()


def test_init_asks_on_a_terminal_who_may_read(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.StringIO("everybody\nslack:T0123, *\n")
    monkeypatch.setattr(stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", stdin)
    ran = cli("init", "--config", "asked.toml")
    assert (ran.code, "everybody" in ran.err, "No readers" in ran.out) == (0, True, False)
    settings = load_settings(pathlib.Path("asked.toml"))
    assert [base.readers for base in settings.all_knowledge_bases.values()] == [("slack:T0123", "*")]


def test_help_imports_nothing_heavy(tmp_path: pathlib.Path) -> None:
    code = (
        "import sys; sys.argv = ['citebot', 'ask', '--help']\n"
        "from bots.cli import main\n"
        "status = None\n"
        "try: main()\n"
        "except SystemExit as ended: status = ended.code\n"
        "heavy = {'chromadb', 'openai', 'onnxruntime', 'sqlalchemy', 'tantivy', 'jieba', 'numpy', 'pydantic_settings',\n"
        "         'markdown_it', 'asyncio', 'rich', 'filelock', 'tokenizers', 'tiktoken', 'lxml', 'aiogram', 'slack_bolt',\n"
        "         'slack_sdk', 'discord', 'aiohttp', 'apscheduler', 'prometheus_client'} & set(sys.modules)\n"
        "print(status, sorted(heavy), file=sys.stderr)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert "QUESTION" in ran.stdout
    assert ran.stderr.strip() == "0 []"


def test_a_reader_that_leaves_is_no_error(tmp_path: pathlib.Path) -> None:
    process = start_command(tmp_path, "--help")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() in {0, 1}


def waits_for(process: subprocess.Popen[str], folder: pathlib.Path) -> None:
    """Return when a command has a file of this folder open; where nothing tells, after a while."""
    files = pathlib.Path(f"/proc/{process.pid}/fd")
    for _ in range(200 if files.is_dir() else 0):
        with contextlib.suppress(OSError):  # closed meanwhile
            if any(str(folder) in os.readlink(file) for file in list(files.iterdir())):
                return
        time.sleep(0.1)
    time.sleep(2.5)


def test_interrupted_quietly(tmp_path: pathlib.Path) -> None:
    (tmp_path / ".citebot").mkdir()
    # Another process holds the lock, so the command waits until somebody loses patience.
    hold = (
        "import asyncio, pathlib, sys\nfrom ragcore.stores.lock import hold\n"
        "async def main():\n"
        "    async with hold(pathlib.Path(sys.argv[1]), command='test'):\n"
        "        print('held', flush=True); await asyncio.sleep(60)\n"
        "asyncio.run(main())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path / ".citebot")], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        process = start_command(tmp_path, "ask", "?")
        waits_for(process, tmp_path / ".citebot")
        process.send_signal(2)
        out, err = process.communicate(timeout=20)
        holder.kill()
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_a_refusal_of_the_system_is_told_in_words(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scripted, "opened", lambda: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
    ran = cli("ask", "?")
    assert (ran.code, ran.err) == (1, "citebot: No space left; free some disk space, or set another data_dir\n")


def test_who_answers_by_older_settings_is_told(
    cli: Cli, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ".citebot"
    folder.mkdir()
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as held:
        held.bind(str(folder / SOCKET_NAME))
        held.listen()
        (folder / "lock.json").write_text('{"pid": 7, "command": "chat"}')
        os.utime(folder / SOCKET_NAME, (1, 1))
        monkeypatch.setattr(bots.cli.reach, "Gateway", lambda *_, **__: Scripted().opened())
        assert "`citebot chat` (process 7) began before the settings were last changed" in cli("sources").err
        os.utime(folder / SOCKET_NAME)
        assert cli("sources").err == ""


def test_the_manifest_takes_only_an_address_that_slack_takes(cli: Cli) -> None:
    ran = cli("slack", "manifest", "--url", "http://bot.example.org/slack/events")
    assert ran.code == 2
    assert "https://" in ran.err
    assert cli("slack", "manifest", "--url", "https://bot.example.org/slack/events").code == 0


def test_the_list_of_commands_cuts_no_sentence(cli: Cli) -> None:
    for command in ((), ("eval",), ("slack",)):
        assert "..." not in cli(*command, "--help").out.partition("Commands:")[2]


def test_a_database_that_is_none_is_told_with_the_way_to_mend_it(tmp_path: pathlib.Path, real: Cli) -> None:
    (tmp_path / ".citebot").mkdir()
    (tmp_path / ".citebot" / "citebot.sqlite").write_bytes(b"no database, whatever the name says")
    ran = real("sources")
    assert ran.code == 1
    assert "citebot.sqlite cannot be opened as a database" in ran.err
    assert "`citebot doctor` says how to mend it" in ran.err
