"""What is special to the source type ``reader``: readers of either kind, stable ids, and what goes wrong in them."""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time
from urllib.parse import quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from connectors.base import Checkpoint, Estimate, Origin
from connectors.reader import ReaderConnector, ReaderOptions, child
from connectors.reader.documents import Documents
from connectors.reader.hiding import masked
from connectors.readers import readers_of
from connectors.registry import credential
from ragcore.errors import ConfigError, SourceBadReply, SourceError
from tests.connectors.helpers import collect, known_of, listed
from tests.soak import scaled

HERE = "tests.fakes.loaders"
TWO = [{"text": "One.", "metadata": {"file_path": "a.txt"}}, {"text": "Two.", "metadata": {"file_path": "b.txt"}}]


@pytest.fixture
def origin(tmp_path):
    return Origin(source="s", folder=tmp_path)


def reader(origin, documents=TWO, loader=f"{HERE}.ListReader", **options):
    arguments = {"documents": list(documents)} | options.pop("arguments", {})
    return ReaderConnector(origin, ReaderOptions(loader=loader, arguments=arguments, **options))


async def read(origin, documents=TWO, **options):
    found, *_ = await collect(reader(origin, documents, **options).changes(None, {}))
    return found


async def test_a_reader_whose_ids_are_random_has_ids_that_stay(origin):
    first = await read(origin)
    assert first.keys() == {"s:a.txt", "s:b.txt"}
    again, _, gone, _ = await collect(reader(origin).changes(None, known_of(first)))
    assert (again, gone) == ({}, set())
    ids, _ = await listed(reader(origin))
    assert ids == first.keys()


async def test_a_method_of_a_class_may_make_the_reader(origin):
    found = await read(origin, loader=f"{HERE}:ListReader.of", arguments={"copies": 1})
    assert found.keys() == {"s:a.txt", "s:b.txt"}


@pytest.mark.parametrize("method", ["", "load_data", "aload_data", "alazy_load_data", "fork"])
async def test_each_kind_of_method_gives_the_documents(origin, method):
    assert (await read(origin, method=method)).keys() == {"s:a.txt", "s:b.txt"}


async def test_what_is_passed_reaches_the_class_and_its_method(origin):
    found = await read(origin, method="load_data", load_arguments={"limit": 1}, secrets={"api_key": SecretStr("k")})
    assert found.keys() == {"s:a.txt"}


async def test_metadata_is_shown_as_the_settings_say(origin):
    metadata = {
        "nr": 7,
        "url": "https://w.example/7",
        "subject": "Seven",
        "by": ["Ann", "Bob"],
        "last_modified": "2026-03-01",
    }
    (seven,) = (await read(origin, [{"text": "Text.", "metadata": metadata}], id="nr", author="by")).values()
    assert (seven.id, seven.title, seven.url, seven.author) == ("s:7", "Seven", "https://w.example/7", "Ann, Bob")
    assert seven.updated_at is not None
    assert seven.updated_at.isoformat() == "2026-03-01T00:00:00+00:00"
    assert seven.readers is None
    (closed,) = (await read(origin, [{"text": "Text.", "metadata": {"nr": 8}}], id="nr", readers="groups")).values()
    assert closed.readers == frozenset()


async def test_empty_documents_are_left_out_and_huge_ones_named(origin):
    documents = [
        {"text": " \n", "metadata": {"source": "blank"}},
        {"text": "x" * 3_000, "metadata": {"source": "huge"}},
        {"text": "Text.", "metadata": {"source": "good"}},
    ]
    found, failures, _, _ = await collect(reader(origin, documents, max_megabytes=0.002).changes(None, {}))
    assert found.keys() == {"s:good"}
    assert failures.keys() == {"s:huge"}
    assert failures["s:huge"].mend == "raise max_megabytes"


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"loader": "langchain_nowhere.loaders.WebLoader"}, ConfigError, "pip install langchain-nowhere"),
        ({"loader": "llama_index.readers.nowhere.NoReader"}, ConfigError, "pip install llama-index-readers-nowhere"),
        ({"loader": f"{HERE}.Nothing"}, ConfigError, "has no Nothing"),
        ({"arguments": {"wrong": 1}}, ConfigError, "unexpected keyword argument 'wrong'"),
        ({"load_arguments": {"wrong": 1}, "method": "load_data"}, ConfigError, "`load_arguments`"),
        ({"method": "fetch"}, ConfigError, "no method fetch"),
        ({"method": "numbers"}, SourceBadReply, "gives int, which is no document"),
        ({"method": "needs"}, ConfigError, "pip install a-package-that-is-missing"),
        ({"method": "crash"}, SourceError, "status 3"),
        ({"method": "hang", "timeout": 2}, SourceError, "nothing for 2 s; raise `timeout`"),
    ],
    ids=["package", "part", "class", "arguments", "load-arguments", "method", "form", "needs", "crash", "hang"],
)
async def test_what_goes_wrong_is_told_with_its_mend(origin, options, kind, says):
    began = time.monotonic()
    with pytest.raises(kind, match=says):
        await read(origin, **options)
    assert time.monotonic() - began < 50


async def test_what_is_the_same_gives_signs_of_life(origin):
    documents = [{"text": f"Text {number}." if number % 2 else " ", "identity": f"d{number}"} for number in range(8)]
    documents = [one | {"metadata": {}} for one in documents]
    first = await read(origin, documents)
    signs = [one async for one in reader(origin, documents).changes(None, known_of(first))]
    assert [type(one) for one in signs] == [Estimate] * 8 + [Checkpoint]


async def test_what_the_run_has_not_found_is_gone_without_another_reading(origin):
    file = origin.folder / "state.json"
    file.write_text(json.dumps({"documents": {"a": {"text": "A.", "metadata": {}}}, "fault": ""}))
    connector = ReaderConnector(
        origin, ReaderOptions(loader=f"{HERE}.StateLoader", arguments={"state": str(file)}, timeout=30)
    )
    await collect(connector.changes(None, {}))
    file.unlink()  # another reading would fail
    *_, gone, _ = await collect(connector.fetch(["s:b", "s:c"]))
    assert gone == {"s:b", "s:c"}


async def test_a_large_document_is_looked_through_in_a_thread(origin, monkeypatch):
    threads, real = [], Documents.document

    def document(self, told):
        threads.append(threading.current_thread())
        return real(self, told)

    monkeypatch.setattr(Documents, "document", document)
    large, small = await read(
        origin, [{"text": text, "metadata": {"source": text[:5]}} for text in ("x" * 300_000, "Y")]
    )
    assert {large, small} == {"s:xxxxx", "s:Y"}
    assert [thread is threading.main_thread() for thread in threads] == [False, True]


async def test_a_secret_is_in_no_message(origin):
    connector = reader(origin, method="leak", secrets={"api_key": SecretStr("k3y-of-the-wiki")})
    with pytest.raises(SourceError, match=r"bad key \*\*\*") as caught:
        await collect(connector.changes(None, {}))
    assert "k3y" not in str(caught.value)
    assert "k3y" not in repr(connector)


KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvgIBADAN+Bgkqh/kiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "written",
    [
        lambda key: key,
        lambda key: " ".join(key.split()),
        repr,
        quote_plus,
        lambda key: f"input_value={{'api_key': {key[:30]!r}...{key[-20:]!r}}}",
        lambda key: key[:50],
    ],
    ids=["plain", "one-line", "code", "address", "shortened", "cut"],
)
def test_no_piece_of_a_secret_is_told_however_it_is_written(written):
    told = masked(f"no access with {written(KEY)}, says the server", [KEY])
    assert told.startswith("no access with")
    assert told.endswith(", says the server")
    assert not [start for start in range(len(KEY) - 6) if KEY[start : start + 6] in told]
    assert masked("nothing to hide", [KEY]) == "nothing to hide"


async def test_a_secret_is_not_cut_in_two_where_a_message_is_cut(origin):
    connector = reader(origin, method="leak_cut", secrets={"api_key": SecretStr("k3y-of-the-wiki")})
    with pytest.raises(SourceError, match="xxx") as caught:
        await collect(connector.changes(None, {}))
    assert "k3" not in str(caught.value)


few = st.text("ab01 \n", max_size=30)


@settings(max_examples=scaled(40))
@given(few, few.filter(bool), few)
def test_what_is_told_holds_no_piece_of_a_secret(before, secret, after):
    told, length = masked(before + secret + after, [secret]), min(6, len(secret))
    pieces = {secret[start : start + length] for start in range(len(secret) - length + 1)}
    assert "***" in told
    assert not [piece for piece in pieces for part in told.split("***") if piece in part]
    assert masked(before, []) == before


async def test_its_process_ends_with_the_reading(origin):
    changes = reader(origin, method="begin").changes(None, {})
    await anext(changes)
    assert running()
    await changes.aclose()
    assert not running()


def test_its_process_ends_when_ours_is_killed():
    ours = (
        "import asyncio, pathlib\n"
        "from connectors.reader import ReaderOptions\n"
        "from connectors.reader.process import told_by\n"
        "async def main():\n"
        f"    options = ReaderOptions(loader='{HERE}.ListReader', method='begin', arguments={{'documents': {TWO!r}}})\n"
        "    async for _ in told_by(options, pathlib.Path('.')):\n"
        "        print('read', flush=True)\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", ours]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"read\n"
        (left,) = running(process.pid)
        process.kill()
    for _ in range(200):
        state = pathlib.Path(f"/proc/{left}/stat")
        if not state.exists() or ") Z" in state.read_text():
            return
        time.sleep(0.05)
    pytest.fail("it reads on")


def running(of: int | None = None) -> list[int]:
    """Return the numbers of the processes that read for one, default ours."""
    children = pathlib.Path(f"/proc/{of or os.getpid()}/task")
    if not children.exists():
        pytest.skip("only Linux tells in files who runs")
    told = " ".join((task / "children").read_text() for task in children.iterdir())
    return [int(one) for one in told.split() if "child.py" in pathlib.Path(f"/proc/{one}/cmdline").read_text()]


async def test_a_reader_beside_the_settings_is_found(origin):
    (origin.folder / "ours.py").write_text(
        "class Doc:\n    page_content = 'Ours.'\n    metadata = {'source': 'x'}\n"
        "class Loader:\n    def lazy_load(self):\n        yield Doc()\n"
    )
    found, *_ = await collect(ReaderConnector(origin, ReaderOptions(loader="ours:Loader")).changes(None, {}))
    assert found.keys() == {"s:x"}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"loader": "nothing"}, "as Python imports it"),
        ({"method": "_private"}, "name of a method"),
        ({"timezone": "Mars"}, "no time zone"),
        ({"base_url": "https://x"}, "{id}"),
    ],
    ids=["loader", "method", "zone", "base-url"],
)
def test_wrong_settings_are_named(changed, says):
    with pytest.raises(ValidationError, match=says):
        ReaderOptions.model_validate({"loader": "a.B"} | changed)


def test_names_in_a_set_are_told_in_one_order():
    names = [f"user{number}@example.org" for number in range(20)]
    assert child._plain({"readers": set(names), "by": frozenset({3, 1, 2})}) == {
        "readers": sorted(names),
        "by": [1, 2, 3],
    }


@pytest.mark.parametrize("reader", ["slack:T1\0", "email:a\ud800@x", "discord:G\u202e"], ids=["nul", "half", "turned"])
def test_what_no_store_takes_is_no_reader(reader):
    with pytest.raises(ValueError, match="is no reader"):
        readers_of([reader])


def test_another_secret_is_another_credential(origin):
    one, other = (
        credential("reader", origin, {"loader": "a.B", "secrets": {"api_key": value}}) for value in ("a", "b")
    )
    assert one != other


told = st.fixed_dictionaries(
    {
        "text": st.text(st.characters(codec="utf-8"), min_size=1, max_size=8),
        "id": st.sampled_from(["", "own", "own#2", "6c84fb90-12c4-41a1-840d-cca1b5b3c1bb"]),
        "metadata": st.dictionaries(
            st.sampled_from(["source", "page", "title", "url"]), st.sampled_from(["a", "b", 1])
        ),
    }
)


@settings(max_examples=scaled(40))
@given(st.lists(told, max_size=5))
def test_ids_are_unique_and_the_same_at_each_reading(tmp_path_factory, documents):
    def reading():
        made = Documents(Origin(source="s", folder=tmp_path_factory.getbasetemp()), ReaderOptions(loader="a.B"))
        found = [made.document(one | {"size": len(one["text"].encode())}) for one in documents]
        return [(one.id, one.version) for one in found if one is not None]

    first = reading()
    assert first == reading()
    assert len({identity for identity, _ in first}) == len(first)
    assert len(first) <= len(documents)
    texts = {one["text"] for one in documents if one["text"].strip()}
    assert len(first) >= len(texts)
