import json
import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from bots.cli import main
from tests.fakes.settings import forget_settings

CORPUS = [
    {"_id": "d 1", "title": "Leave", "text": "Five unused days may be carried over into the next year."},
    {"_id": "d2", "title": "VPN", "text": "ERR_CONN_104 means that the profile has expired."},
    {"_id": "d3", "title": "Cats", "text": "Cats sleep most of the day."},
]
QUERIES = [{"_id": "q1", "text": "carry over unused days"}, {"_id": "q2", "text": "what is ERR_CONN_104?"}]


@dataclass
class Ran:
    code: int
    out: str
    err: str


Citebot = Callable[..., Ran]


@pytest.fixture
def citebot(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Citebot:
    """Run a command in the test's folder."""
    monkeypatch.chdir(tmp_path)
    forget_settings(monkeypatch)

    def run(*args: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["citebot", *args])
        with pytest.raises(SystemExit) as left:
            main()
        shown = capsys.readouterr()
        return Ran(int(left.value.code or 0), shown.out, shown.err)

    return run


def lines(path: pathlib.Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_retrieval_is_measured_apart_from_any_data(tmp_path: pathlib.Path, citebot: Citebot) -> None:
    lines(tmp_path / "corpus.jsonl", CORPUS)
    lines(tmp_path / "queries.jsonl", QUERIES)
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td 1\t1\nq2\td2\t1\n")
    # Settings are not even read.
    (tmp_path / "citebot.toml").write_text("nonsense")
    ran = citebot("eval", "retrieval", ".", "--run-file", "run.tsv", "--json")
    assert ran.code == 0, ran.err
    figures = json.loads(ran.out)
    assert set(figures) == {"ndcg@10", "recall@10", "mrr", "p50_ms", "p95_ms"}
    assert figures["ndcg@10"] == figures["recall@10"] == figures["mrr"] == 1.0
    run = [line.split("\t") for line in (tmp_path / "run.tsv").read_text().splitlines()]
    assert run[0][:4] == ["q1", "Q0", "d 1", "1"]
    assert {row[5] for row in run} == {"citebot"}
    assert not (tmp_path / ".citebot").exists()


def test_citations_are_measured(tmp_path: pathlib.Path, citebot: Citebot) -> None:
    answer = "Five unused days may be carried over. The moon is made of cheese."
    case = {
        "case_id": "c1",
        "answer": answer,
        "passages": [{"pid": "p1", "text": CORPUS[0]["text"]}, {"pid": "p2", "text": CORPUS[2]["text"]}],
        "sentences": [
            {"start": 0, "end": 37, "gold": ["p1"]},
            {"start": 38, "end": len(answer), "gold": []},
        ],
    }
    lines(tmp_path / "cases.jsonl", [case])
    ran = citebot("eval", "citations", "cases.jsonl", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out) == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "unsupported_cited": 0.0}


@pytest.mark.parametrize("kind", ["retrieval", "citations"])
def test_other_data_is_told(tmp_path: pathlib.Path, citebot: Citebot, kind: str) -> None:
    (tmp_path / "file").write_text('{"a": 1}\n')
    ran = citebot("eval", kind, "." if kind == "retrieval" else "file")
    assert ran.code == 1
    assert ran.err.startswith("citebot: ")
    assert "Traceback" not in ran.err
