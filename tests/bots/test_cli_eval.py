import json
import pathlib
import subprocess

import pytest

from tests.fakes.running import start_command

CORPUS = [
    {"_id": "d 1", "title": "Leave", "text": "Five unused days may be carried over into the next year."},
    {"_id": "d2", "title": "VPN", "text": "ERR_CONN_104 means that the profile has expired."},
    {"_id": "d3", "title": "Cats", "text": "Cats sleep most of the day."},
]
QUERIES = [{"_id": "q1", "text": "carry over unused days"}, {"_id": "q2", "text": "what is ERR_CONN_104?"}]


def citebot(folder: pathlib.Path, *args: str) -> "subprocess.CompletedProcess[str]":
    process = start_command(folder, *args)
    out, err = process.communicate(timeout=100)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def lines(path: pathlib.Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_retrieval_is_measured_apart_from_any_data(tmp_path: pathlib.Path) -> None:
    lines(tmp_path / "corpus.jsonl", CORPUS)
    lines(tmp_path / "queries.jsonl", QUERIES)
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td 1\t1\nq2\td2\t1\n")
    # Settings are not even read.
    (tmp_path / "citebot.toml").write_text("nonsense")
    ran = citebot(tmp_path, "eval", "retrieval", ".", "--run-file", "run.tsv", "--json")
    assert ran.returncode == 0, ran.stderr
    figures = json.loads(ran.stdout)
    assert set(figures) == {"ndcg@10", "recall@10", "mrr", "p50_ms", "p95_ms"}
    assert figures["ndcg@10"] == figures["recall@10"] == figures["mrr"] == 1.0
    run = [line.split("\t") for line in (tmp_path / "run.tsv").read_text().splitlines()]
    assert run[0][:4] == ["q1", "Q0", "d 1", "1"]
    assert {row[5] for row in run} == {"citebot"}
    assert not (tmp_path / ".citebot").exists()


def test_citations_are_measured(tmp_path: pathlib.Path) -> None:
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
    ran = citebot(tmp_path, "eval", "citations", "cases.jsonl", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "unsupported_cited": 0.0}


@pytest.mark.parametrize("kind", ["retrieval", "citations"])
def test_other_data_is_told(tmp_path: pathlib.Path, kind: str) -> None:
    (tmp_path / "file").write_text('{"a": 1}\n')
    ran = citebot(tmp_path, "eval", kind, "." if kind == "retrieval" else "file")
    assert ran.returncode == 1
    assert ran.stderr.startswith("citebot: ")
    assert "Traceback" not in ran.stderr
