import asyncio
import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from connectors.files.jsonl import BrokenLine, LineDocument, documents_from_jsonl, holds_documents
from connectors.rows import moment
from tests.connectors.helpers import collect, files, listed, put, settle

LINES = [
    {
        "id": "one",
        "title": "One",
        "text": "# first",
        "url": "https://x.example/1",
        "updated_at": "2026-01-02T03:04:05Z",
    },
    {"id": 2, "text": "second"},
    {"_id": "drei", "text": "third", "author": "Ann"},
]


def jsonl(lines):
    return "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n"


async def test_each_line_is_a_document(tmp_path):
    put(tmp_path, "sub/a.jsonl", "\ufeff" + jsonl(LINES) + "\n\n")
    documents, failures, _, _ = await collect(files(tmp_path, base_url="https://b.example").changes(None, {}))
    assert not failures
    assert documents.keys() == {"s:sub/a.jsonl#one", "s:sub/a.jsonl#2", "s:sub/a.jsonl#drei"}
    first, second = documents["s:sub/a.jsonl#one"], documents["s:sub/a.jsonl#2"]
    assert (first.title, first.content, first.url) == ("One", b"# first", "https://x.example/1")
    assert first.updated_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert second.url == "https://b.example/sub/a.jsonl"
    assert second.updated_at is not None
    assert documents["s:sub/a.jsonl#drei"].author == "Ann"
    assert (await listed(files(tmp_path)))[0] == documents.keys()


async def test_a_broken_line_is_one_failure_and_the_rest_goes_on(tmp_path):
    broken = ['{"id": "x", "text": ', '"text"', '{"text": "no id"}', '{"id": "y"}', '{"id": "one", "text": "again"}',
              '{"id": "z", "text": "' + "9" * 10 + '", "n": ' + "9" * 5000 + "}"]  # fmt: skip
    put(tmp_path, "a.jsonl", jsonl([LINES[0], *broken, LINES[1]]))
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(b'{"id": "latin", "text": "\xe9"}\n')
    documents, failures, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert documents.keys() == {"s:a.jsonl#one", "s:a.jsonl#2"}
    reasons = [failures[f"s:a.jsonl#L{line}"].reason for line in (2, 3, 4, 5, 6, 7, 9)]
    assert reasons == [
        "line 2 is not valid JSON: Expecting value at character 22",
        "line 3 is not valid JSON: it is no object",
        "line 4 has no id",
        "line 5 has no text",
        'line 6 repeats the id "one" of line 1',
        "line 7 is not valid JSON: a number or a nesting is too large",
        "line 9 is not valid JSON: it is not UTF-8",
    ]
    assert all(failure.mend and failure.covers == "s:a.jsonl#" for failure in failures.values())


def test_many_broken_lines_are_told_in_short(tmp_path):
    path = put(tmp_path, "a.jsonl", jsonl([*["{"] * 1000, LINES[0]]))
    found = list(documents_from_jsonl(path))
    assert sum(isinstance(line, BrokenLine) for line in found) == 101
    assert BrokenLine(line=0, reason="900 more lines hold no document", mend="mend the file") in found
    assert sum(isinstance(line, LineDocument) for line in found) == 1


async def test_jsonl_without_documents_is_one_document(tmp_path):
    put(tmp_path, "log.jsonl", jsonl([{"level": "info", "message": "x"}]))
    put(tmp_path, "rubbish.jsonl", "rubbish\n")
    documents, failures, _, _ = await collect(files(tmp_path).changes(None, {}))
    assert documents.keys() == {"s:log.jsonl", "s:rubbish.jsonl"}
    assert not failures


async def test_a_file_as_the_cursor_knows_it_is_not_read(tmp_path, monkeypatch):
    settle(monkeypatch)
    put(tmp_path, "a.jsonl", jsonl(LINES))
    documents, _, _, cursor = await collect(files(tmp_path).changes(None, {}))
    known = {identity: document.version for identity, document in documents.items()}

    def refuse(path):
        raise AssertionError("the lines were read")

    monkeypatch.setattr("connectors.files.lines.documents_from_jsonl", refuse)
    connector = files(tmp_path)
    again, failures, _, after = await collect(connector.changes(cursor, known))
    assert not again
    assert not failures
    assert after == cursor
    assert (await listed(connector))[0] == documents.keys()


async def test_only_changed_lines_are_yielded(tmp_path, monkeypatch):
    settle(monkeypatch)
    put(tmp_path, "a.jsonl", jsonl(LINES))
    documents, _, _, cursor = await collect(files(tmp_path).changes(None, {}))
    known = {identity: document.version for identity, document in documents.items()}
    await asyncio.sleep(0.02)
    put(tmp_path, "a.jsonl", jsonl([LINES[2], {"id": 2, "text": "changed"}, {"id": "new", "text": "n"}]))
    connector = files(tmp_path)
    again, _, _, _ = await collect(connector.changes(cursor, known))
    assert again.keys() == {"s:a.jsonl#2", "s:a.jsonl#new"}
    assert (await listed(connector))[0] == {"s:a.jsonl#drei", "s:a.jsonl#2", "s:a.jsonl#new"}


async def test_what_is_not_known_is_yielded_whatever_the_cursor_says(tmp_path, monkeypatch):
    settle(monkeypatch)
    put(tmp_path, "a.jsonl", jsonl(LINES))
    documents, _, _, cursor = await collect(files(tmp_path).changes(None, {}))
    known = {"s:a.jsonl#one": documents["s:a.jsonl#one"].version}
    again, _, _, _ = await collect(files(tmp_path).changes(cursor, known))
    assert again.keys() == {"s:a.jsonl#2", "s:a.jsonl#drei"}
    for foreign in ("rubbish", "[]", '{"jsonl": 5}', '{"jsonl": {"a.jsonl": 1}}'):
        again, _, _, _ = await collect(files(tmp_path).changes(foreign, known))
        assert again.keys() == {"s:a.jsonl#2", "s:a.jsonl#drei"}


async def test_lines_are_fetched_by_id(tmp_path):
    put(tmp_path, "a.jsonl", jsonl([*LINES, "{"]))
    wanted = ["s:a.jsonl#2", "s:a.jsonl#none", "s:a.jsonl#L4"]
    documents, failures, gone, _ = await collect(files(tmp_path).fetch(wanted))
    assert documents.keys() == {"s:a.jsonl#2"}
    assert failures.keys() == {"s:a.jsonl#L4"}
    assert gone == {"s:a.jsonl#none"}


async def test_a_file_larger_than_the_limit_streams(tmp_path):
    put(tmp_path, "a.jsonl", jsonl([{"id": n, "text": "x" * 1000} for n in range(3000)]))
    documents, failures, _, _ = await collect(files(tmp_path, max_megabytes=1).changes(None, {}))
    assert len(documents) == 3000
    assert not failures


def test_a_line_too_long_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr("connectors.files.jsonl._MAX_LINE", 100)
    path = put(tmp_path, "a.jsonl", jsonl([LINES[1], {"id": "long", "text": "x" * 1000}, LINES[2]]))
    found = list(documents_from_jsonl(path))
    assert [type(line) for line in found] == [LineDocument, BrokenLine, LineDocument]
    assert found[1].line == 2


def test_what_no_store_takes_is_taken_out(tmp_path):
    line = r'{"id": " a\u0000\ud800", "text": "x\u0000y\udfff", "title": "\u0000"}'
    (found,) = documents_from_jsonl(put(tmp_path, "a.jsonl", line))
    assert (found.id, found.text, found.title) == ("a?", "xy?", "")


def test_times_are_read():
    assert moment("2026-01-02", UTC) == datetime(2026, 1, 2, tzinfo=UTC)
    assert moment("2026-01-02T03:00:00+02:00", UTC) == datetime(2026, 1, 2, 1, tzinfo=UTC)
    assert moment(0, UTC) == datetime(1970, 1, 1, tzinfo=UTC)
    for nothing in (None, "yesterday", True, 1e30, float("nan"), [], ""):
        assert moment(nothing, UTC) is None


@given(st.binary(max_size=300))
def test_any_bytes_are_lines(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "a.jsonl"
    path.write_bytes(content)
    holds_documents(path)
    for line in documents_from_jsonl(path):
        assert line.line >= 1


values = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5)


@given(st.lists(st.dictionaries(st.sampled_from(["id", "text", "title", "url", "updated_at"]), values), max_size=8))
def test_every_line_is_a_document_or_a_failure(tmp_path_factory, lines):
    path = put(tmp_path_factory.mktemp("lines"), "a.jsonl", jsonl(lines))
    found = list(documents_from_jsonl(path))
    assert [line.line for line in found] == list(range(1, len(lines) + 1))
    documents = [line for line in found if isinstance(line, LineDocument)]
    assert len({document.id for document in documents}) == len(documents)
    for document in documents:
        (document.id + document.text + document.title + document.url).encode("utf-8")


async def test_a_text_that_is_a_piece_of_a_web_page_is_read_as_one(tmp_path):
    texts = [
        "<p>Boilers are <b>checked</b> monthly.</p>",
        "\n<DIV class='x'>a</DIV>",
        "a <b>c</b>",
        "<p is less than 5",
        "<x>y</x>",
    ]
    lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(texts)]
    put(tmp_path, "a.jsonl", "\n".join(lines))
    documents, _, _, _ = await collect(files(tmp_path).changes(None, {}))
    types = [documents[f"s:a.jsonl#{number}"].media_type for number in range(len(texts))]
    assert types == ["text/html", "text/html", "text/plain", "text/plain", "text/plain"]
