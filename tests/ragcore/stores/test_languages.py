"""In which languages knowledge bases are written, as their chunks tell since ingest."""

import pathlib

import pytest

from ragcore.chunking import ChunkOptions
from ragcore.ingest import IngestOptions
from ragcore.library import Library
from ragcore.library.recovery import recover
from ragcore.stores import languages
from ragcore.stores.languages import HeldLanguages
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import fill, opened
from tests.ragcore.retrieval.test_filtered_search import index, made_document

ENGLISH = (
    "# Leave {0}\n\nEmployees of team {0} have thirty days of paid vacation each year, and they may carry five over."
)
GERMAN = (
    "# Urlaub {0}\n\nDie Beschäftigten der Abteilung {0} haben dreißig Tage Urlaub im Jahr und dürfen fünf mitnehmen."
)
CHINESE = "# 休假 {0}\n\n第 {0} 部门的员工每年享有十天带薪年假，需要提前两周申请，未休完的可以结转。"
SMALL = IngestOptions(chunk=ChunkOptions(chunk_tokens=48))
TABLE = "# Codes {0}\n\n| A{0} | 1 |\n| --- | --- |\n| B{0} | 2 |"


def texts(**counts: int) -> dict[str, str]:
    """Return so many documents of each of the languages."""
    written = {"english": ENGLISH, "german": GERMAN, "chinese": CHINESE, "table": TABLE}
    return {
        f"{name}{number}": written[name].format(number) for name, count in counts.items() for number in range(count)
    }


@pytest.mark.parametrize(
    ("counts", "held"),
    [
        pytest.param({}, (), marks=pytest.mark.soak),
        pytest.param({"english": 3}, ("en",), marks=pytest.mark.soak),
        pytest.param({"german": 4, "english": 2, "table": 3}, ("de", "en"), marks=pytest.mark.soak),
        ({"chinese": 3, "german": 1}, ("zh", "de")),
        pytest.param({"table": 3}, ("en",), marks=pytest.mark.soak),
        ({"english": 22, "german": 1, "chinese": 1}, ("en",)),
    ],
    ids=["nothing", "one", "of one script", "of two scripts", "no words", "a few strangers"],
)
async def test_the_languages_of_many_chunks_are_told(
    counts: dict[str, int], held: tuple[str, ...], tmp_path: pathlib.Path
) -> None:
    async with opened(tmp_path) as library:
        await fill(library, texts(**counts))
        assert await HeldLanguages(library.database).of(("kb", "other")) == ({"kb": held} if held else {})


async def test_knowledge_bases_are_told_together_and_those_not_asked_for_are_not(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, texts(english=2))
        await index(library, [made_document("zh", CHINESE.format(1))], base="wiki")
        held = HeldLanguages(library.database)
        assert await held.of(("kb", "wiki")) == {"kb": ("en",), "wiki": ("zh",)}
        assert await held.of(("wiki",)) == {"wiki": ("zh",)}
        assert await held.of(()) == {}


async def test_the_text_is_looked_at_once_in_a_while(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    drawn = HeldLanguages._drawn

    async def counted(self: HeldLanguages, name: str) -> list[str]:
        looks.append(name)
        return await drawn(self, name)

    monkeypatch.setattr(HeldLanguages, "_drawn", counted)
    async with opened(tmp_path) as library:
        await fill(library, texts(english=4))
        held = HeldLanguages(library.database)
        for _ in range(3):
            assert await held.of(("kb",)) == {"kb": ("en",)}
        assert looks == ["kb"]
        await _add(library, texts(english=4) | texts(german=3))
        assert await held.of(("kb",)) == {"kb": ("en", "de")}, "more chunks by a quarter"
        assert looks == ["kb", "kb"]
        await _add(library, texts(english=4))
        assert await held.of(("kb",)) == {"kb": ("en",)}, "and what was deleted is told no more"
        monkeypatch.setattr(languages, "FRESH_SECONDS", -1.0)
        await held.of(("kb",))
        assert len(looks) == 4


async def test_few_chunks_of_one_document_are_found_among_many_others(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(languages, "NEAR", 1)
    monkeypatch.setattr(languages, "DRAWN", 1)
    monkeypatch.setattr(languages, "ENOUGH", 2)
    async with opened(tmp_path) as library:
        await fill(library, texts(chinese=9) | {"book": "\n\n".join(map(GERMAN.format, range(9)))}, SMALL)
        assert await HeldLanguages(library.database).of(("kb",)) == {"kb": ("zh", "de")}


@pytest.mark.soak
async def test_postgresql_tells_the_same(tmp_path: pathlib.Path, postgres_tables_url: str) -> None:
    library = await Library.open(tmp_path, embedder=HashEmbedder(), database_url=postgres_tables_url)
    try:
        await recover(library)
        await fill(library, texts(german=4, chinese=2))
        assert await HeldLanguages(library.database).of(("kb", "other")) == {"kb": ("de", "zh")}
    finally:
        await library.close()


async def _add(library: Library, documents: dict[str, str]) -> None:
    gone = [one for one in await library.registry.document_ids("s") if one.removeprefix("s:") not in documents]
    await fill(library, documents)
    if gone:
        await library.staging.tombstone(gone)
