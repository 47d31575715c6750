import itertools
import json
import math
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.errors import ConfigError
from ragcore.evaluate.judged import read_corpus, read_queries
from ragcore.evaluate.retrieval import (
    documents_of,
    evaluate_retrieval,
    ndcg,
    percentile,
    recall,
    reciprocal_rank,
)
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.types import Chunk, ScoredChunk

CORPUS = [
    ("d 1", "Leave", "Employees have thirty days of paid vacation."),
    ("d:2", "Network", "The client shows ERR_CONN_104 when the tunnel breaks."),
    ("d3", "Canteen", "Lunch is served from noon."),
    ("d4", "", ""),
]
QUERIES = [("q1", "vacation days"), ("q2", "ERR_CONN_104"), ("q3", "nobody judged this")]


def written(folder: pathlib.Path, *, beir: bool) -> pathlib.Path:
    folder.mkdir()
    document, query, text = ("_id", "_id", "text") if beir else ("doc_id", "qid", "query")
    corpus = [{document: one, "title": title, "text": body} for one, title, body in CORPUS]
    queries = [{query: one, text: words, "history": [{"role": "user", "content": "hello"}]} for one, words in QUERIES]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
    lines = ["q1\td 1\t2", "q1\td3\t0", "q2\td:2\t1"]
    if beir:
        (folder / "qrels").mkdir()
        lines.insert(0, "query-id\tcorpus-id\tscore")
    (folder / ("qrels/test.tsv" if beir else "qrels.tsv")).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("beir", [True, False])
def test_both_layouts_read_alike(tmp_path: pathlib.Path, beir: bool) -> None:
    folder = written(tmp_path / "set", beir=beir)
    assert [(one.id, one.title, one.text) for one in read_corpus(folder)] == CORPUS
    queries = read_queries(folder)
    assert [(query.id, query.text) for query in queries] == QUERIES[:2]
    assert queries[0].grades == {"d 1": 2, "d3": 0}
    assert [message.text for message in queries[0].history] == ["hello"]


def test_what_cannot_be_read_is_told(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ConfigError, match="qrels"):
        read_queries(tmp_path)
    folder = written(tmp_path / "set", beir=False)
    (folder / "qrels.tsv").write_text("q1\td1\t1\nq2\td2\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="line 2"):
        read_queries(folder)
    (folder / "corpus.jsonl").write_text("{]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="line 1"):
        list(read_corpus(folder))


@pytest.mark.parametrize("beir", [True, False])
async def test_a_set_is_measured_by_the_products_own_way(tmp_path: pathlib.Path, beir: bool) -> None:
    folder = written(tmp_path / "set", beir=beir)
    run = tmp_path / "run.tsv"
    report = await evaluate_retrieval(
        folder, workspace=tmp_path / "work", embedder=MiniLMEmbedder(), run_file=run, history="all"
    )
    assert (report.queries, report.documents) == (2, 4)
    assert (report.ndcg_at_10, report.recall_at_10, report.mrr) == (1.0, 1.0, 1.0)
    assert 0 < report.p50_ms <= report.p95_ms
    rows = [line.split("\t") for line in run.read_text(encoding="utf-8").splitlines()]
    assert [row[:4] for row in rows if row[3] == "1"] == [["q1", "Q0", "d 1", "1"], ["q2", "Q0", "d:2", "1"]]
    assert all(len(row) == 6 and row[5] == "citebot" for row in rows)
    scores = [float(row[4]) for row in rows if row[0] == "q1"]
    assert scores == sorted(set(scores), reverse=True)
    assert len({(row[0], row[2]) for row in rows}) == len(rows)


def test_ndcg_has_linear_gain_and_the_whole_ideal() -> None:
    grades = {"a": 2, "b": 1, "c": 0, "d": -1}
    assert ndcg(["a", "b"], grades) == 1.0
    assert ndcg(["c", "b", "d", "a"], grades) == pytest.approx(
        (1 / math.log2(3) + 2 / math.log2(5)) / (2 + 1 / math.log2(3))
    )
    assert ndcg(["x"] * 10 + ["a"], grades) == 0.0
    assert ndcg([], {}) == 0.0


def test_recall_and_reciprocal_rank() -> None:
    grades = {"a": 1, "b": 3, "c": 0}
    assert recall(["c", "b"], grades) == 0.5
    assert recall([*("x" * 10), "a"], grades) == 0.0
    assert reciprocal_rank(["c", "x", "b", "a"], grades) == pytest.approx(1 / 3)
    assert reciprocal_rank([], grades) == 0.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.floats(0.01, 1))
def test_a_percentile_is_one_of_the_values(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1)), max_size=80))
def test_each_document_stands_once_by_its_best_chunk(found: list[tuple[int, float]]) -> None:
    ordered = sorted(found, key=lambda entry: -entry[1])
    chunks = [
        ScoredChunk(
            chunk=Chunk(
                id=f"{place}",
                document_id=f"s:{document}",
                knowledge_base="kb",
                ordinal=0,
                text="",
                title="",
                token_count=0,
            ),
            score=score,
        )
        for place, (document, score) in enumerate(ordered)
    ]
    ranked = documents_of(chunks)
    assert [document.id for document in ranked] == list(dict.fromkeys(str(document) for document, _ in ordered))
    assert all(one.score > two.score for one, two in itertools.pairwise(ranked))
