"""The source type ``reader`` where single documents aren't in order: each fails alone, and what is indexed of it stays."""

import pytest

from connectors.base import Origin
from connectors.reader import ReaderConnector, ReaderOptions
from ragcore.errors import SourceBadReply
from tests.connectors.helpers import collect, known_of, listed, live, run
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened


@pytest.fixture
def origin(tmp_path):
    return Origin(source="s", folder=tmp_path)


def reader(origin, documents, **options):
    told = {"loader": "tests.fakes.loaders.ListReader", "arguments": {"documents": documents}}
    return ReaderConnector(origin, ReaderOptions(**told, **options))


LONG = pytest.mark.soak  # each starts a process of its own, three times
FINE = {"text": "Fine.", "metadata": {"source": "fine"}}


@pytest.mark.parametrize(
    ("bad", "native", "says"),
    [
        ({"text": 5, "metadata": {"source": "a"}}, "a", "its text is of the type int"),
        pytest.param({"text": None, "metadata": {"source": "a", "page": 2}}, "a/2", "its text is missing", marks=LONG),
        pytest.param(
            {"text": ["x"], "metadata": {}, "identity": "own"}, "own", "its text is of the type list", marks=LONG
        ),
        ({"text": "x", "metadata": ["x"], "identity": "own"}, "own", "its metadata is of the type list"),
        ({"text": "x", "metadata": "circle", "identity": "own"}, "own", "its metadata can't be told (RecursionError)"),
        pytest.param(
            {"text": "x", "metadata": {"source": "a"}, "identity": ["x"]}, "a", "its id is of the type list", marks=LONG
        ),
        ({"text": "x", "metadata": {"source": "a"}, "identity": "opaque"}, "a", "its id is of the type Opaque"),
    ],
    ids=["number", "none", "list", "metadata", "circle", "id", "opaque"],
)
async def test_one_document_that_is_not_in_order_fails_alone(origin, bad, native, says):
    connector = reader(origin, [bad, FINE], method="bad")
    found, failures, gone, _ = await collect(connector.changes(None, {}))
    assert (found.keys(), failures.keys(), gone) == ({"s:fine"}, {f"s:{native}"}, set())
    failure = failures[f"s:{native}"]
    assert failure.reason == says
    assert failure.mend
    assert await listed(connector) == ({"s:fine", f"s:{native}"}, {}), "it is there, and what is indexed of it stays"
    known = known_of(found) | {failure.id: failure.version}
    again = await collect(reader(origin, [bad, FINE], method="bad").changes(None, known))
    assert again[:3] == ({}, {}, set()), "as it stays it isn't told again"
    told = await collect(reader(origin, [bad, FINE], method="bad").fetch([f"s:{native}"]))
    assert told[1].keys() == {f"s:{native}"}


@pytest.mark.parametrize(
    ("metadata", "readers"), [({"who": ["email:ann@x.example"]}, {"email:ann@x.example"}), ({}, set()), (5, set())]
)
async def test_what_is_not_in_order_is_open_to_whoever_it_still_names(origin, metadata, readers):
    bad = {"text": None, "metadata": metadata, "identity": "own"}
    _, failures, _, _ = await collect(reader(origin, [bad, FINE], readers="who").changes(None, {}))
    assert failures["s:own"].readers == readers


@pytest.mark.parametrize(
    ("bad", "covers"), [({"text": None, "metadata": {}}, "s:text-"), ({"text": "x", "metadata": 1}, "s:")]
)
async def test_documents_that_nothing_tells_from_others_are_counted_and_delete_none(origin, bad, covers):
    connector = reader(origin, [bad, FINE, bad])
    found, failures, _, _ = await collect(connector.changes(None, {}))
    assert found.keys() == {"s:fine"}
    (failure,) = failures.values()
    assert failure.reason.startswith("the reader gives 2 documents that have no id: its ")
    assert failure.covers == covers
    ids, hidden = await listed(connector)
    assert (ids, hidden) == ({"s:fine"}, {failure.id: failure})
    with pytest.raises(SourceBadReply, match="gives a document that has no id"):
        await collect(reader(origin, [bad]).changes(None, {}))


async def test_several_of_one_place_keep_their_numbers_while_some_are_not_in_order(origin):
    one, two, three = ({"text": text, "metadata": {"source": "a"}} for text in ("One.", "Two.", "Three."))
    first, *_ = await collect(reader(origin, [one, two, three]).changes(None, {}))
    assert first.keys() == {"s:a", "s:a#2", "s:a#3"}
    bad = {"text": None, "metadata": {"source": "a"}}
    found, failures, _, _ = await collect(reader(origin, [bad, bad, three]).changes(None, {}))
    assert (found.keys(), failures.keys()) == ({"s:a#3"}, {"s:a", "s:a#2"})
    assert found["s:a#3"].version == first["s:a#3"].version


async def test_a_document_that_is_out_of_order_for_a_while_stays_indexed(origin, tmp_path):
    def given(*texts):
        return reader(
            origin, [{"text": text, "metadata": {"source": f"{number}"}} for number, text in enumerate(texts)]
        )

    async with opened(tmp_path / "data", HashEmbedder()) as library:
        assert (await run(library, given("One.", "Two."))).added == 2
        report = await run(library, given("One.", None))
        assert (report.error, report.deleted, [one.id for one in report.failed]) == ("", 0, ["s:1"])
        assert await live(library) == {"0", "1"}
        report = await run(library, given("One.", "Two again."))
        assert (report.is_success, report.changed) == (True, 1)
