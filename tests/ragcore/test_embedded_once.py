"""A text once embedded is never embedded again, whatever becomes of its documents."""

import pathlib
import tempfile
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.chunking import ChunkOptions
from ragcore.ingest import IngestOptions, remove
from ragcore.library import Library
from ragcore.library.recovery import mend, recover, reembed
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import fill
from tests.soak import scaled

NAMES = st.sampled_from("abc")
TEXTS = st.lists(st.integers(0, 5), min_size=1, max_size=4).map(
    lambda numbers: "\n\n".join(f"# Part {number}\n\nThis part speaks of valve {number}. " * 12 for number in numbers)
)
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, TEXTS),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("cut otherwise"), st.sampled_from([32, 160])),
    st.tuples(st.just("all anew")),
    st.tuples(st.just("restart")),
    st.tuples(st.just("other embedder")),
)


@settings(max_examples=scaled(6), deadline=None)
@given(st.lists(STEPS, min_size=2, max_size=10))
async def test_no_text_is_embedded_twice(steps: list[tuple[object, ...]]) -> None:
    embedders = [HashEmbedder(), HashEmbedder(name="other")]
    there: dict[str, str] = {}
    options = IngestOptions()
    with tempfile.TemporaryDirectory() as folder:
        library = await _start(folder, embedders[0])
        try:
            for step in steps:
                match step:
                    case ("write", str(name), str(text)):
                        there[name] = text
                    case ("delete", str(name)):
                        there.pop(name, None)
                    case ("rename", str(name), str(new)) if name in there:
                        there[new] = there.pop(name)
                    case ("cut otherwise", int(tokens)):
                        options = IngestOptions(chunk=ChunkOptions(chunk_tokens=tokens))
                    case ("all anew",):
                        await remove(library, await library.registry.document_ids("s"))
                    case ("restart",) | ("other embedder",):
                        await library.close()
                        embedders = embedders[::-1] if step[0] == "other embedder" else embedders
                        library = await _start(folder, embedders[0])
                await _sync(library, there, options)
            for embedder in embedders:
                assert len(embedder.texts) == len(set(embedder.texts))
            assert (await library.vector_rows.unused()).count == _kept(embedders) - await _used(library)
        finally:
            await library.close()


async def _start(folder: str, embedder: HashEmbedder) -> Library:
    """Open as a sync does, and as ``--full`` where the embedder is another one."""
    library = await Library.open(pathlib.Path(folder), embedder=embedder)
    await recover(library)
    async for _ in mend(library):
        pass
    for name, base in (await library.registry.knowledge_bases()).items():
        if base.embedder != embedder.name:
            async for _ in reembed(library, name):
                pass
    return library


async def _sync(library: Library, there: dict[str, str], options: IngestOptions) -> None:
    await fill(library, there, options)
    gone = [known for known in await library.registry.document_ids("s") if known.removeprefix("s:") not in there]
    await remove(library, gone)


def _kept(embedders: Sequence[HashEmbedder]) -> int:
    return sum(len(embedder.texts) for embedder in embedders)


async def _used(library: Library) -> int:
    return len({stored.vector_key for stored in await library.registry.live_page("kb", limit=10_000)})
