"""The doctor's checks: each tells what it found and, unless all is well, how to mend it."""

import asyncio
import base64
import errno
import os
import shutil
import struct
import tempfile
import time
import zlib
from collections.abc import Awaitable, Iterator, Sequence
from pathlib import Path

from bots.access import line_to_add, unread
from bots.requests import Check
from bots.settings import Settings
from ragcore.errors import (
    CitebotError,
    ConfigError,
    ContextTooSmall,
    ModelAuthError,
    ModelError,
    SourceBadReply,
    SourceError,
    SourceUnreachable,
)
from ragcore.models.embeddings import Embedder
from ragcore.models.llm import TASKS, ChatModel
from ragcore.models.rerankers import Reranker
from ragcore.prompts import OWN, prompts_in, render
from ragcore.types import Image, Message, Usage
from ragcore.web.pages import WebSearch

_LITTLE_SPACE = 1024**3
"""Bytes: an index of a few thousand documents, and room for Chroma to rewrite its files."""
_NO_SPACE = 64 * 1024**2
_MODEL_SECONDS = 60.0
_WEB_SECONDS = 15.0
_READERS = {"slack": "slack:T0123", "discord": "discord:1234", "telegram": "telegram:@1234"}
"""What a reader looks like on each platform."""


def check_settings(settings: Settings) -> Check:
    """Tell where the settings came from."""
    if settings.file is None:
        return Check(
            name="settings",
            state="warn",
            found="there is no citebot.toml: everything is at its default, and no source is set up",
            mend="run `citebot init`, then name a folder of documents in citebot.toml",
        )
    if not settings.sources:
        return Check(
            name="settings",
            state="warn",
            found=f"{settings.file} names no source of documents",
            mend='add [[sources]] with name = "documents", type = "files", path = "./documents"',
        )
    return Check(name="settings", state="ok", found=str(settings.file))


def check_tasks(settings: Settings) -> Iterator[Check]:
    """Tell which tables of tasks no task reads; nothing when all are read."""
    for name in settings.llm.tasks if settings.llm else ():
        if name not in TASKS:
            mend = f"leave it out until then; what reads a table now: {', '.join(TASKS)}"
            yield Check(name=f"[llm.tasks.{name}]", state="warn", found="nothing reads this table yet", mend=mend)


def check_filters(settings: Settings) -> Iterator[Check]:
    """Tell for which knowledge bases a model is to draw filters while none is set; nothing when all is well."""
    for name, base in settings.all_knowledge_bases.items():
        if base.metadata_filter != "off" and settings.llm is None:
            yield Check(
                name=f"metadata_filter of {name}",
                state="warn",
                found="no model is set up to draw filters from questions",
                mend="set one up under [llm], or leave metadata_filter out",
            )


def check_enriching(settings: Settings) -> Iterator[Check]:
    """Tell which settings need a model while none is set, or a knowledge graph while none is made."""
    bases = settings.all_knowledge_bases
    for name, base in bases.items():
        if settings.llm is None and base.needing_model:
            yield Check(
                name=f"{', '.join(base.needing_model)} of {name}",
                state="warn",
                found="no model is set up to do it",
                mend="set one up under [llm], or leave it out",
            )
    if settings.answer.use_kg and not any(base.graph for base in bases.values()):
        yield Check(
            name="use_kg under [answer]",
            state="warn",
            found="no knowledge base has a knowledge graph",
            mend="set graph = true for one under [knowledge_bases.NAME], or leave use_kg out",
        )


def mend_stores(settings: Settings) -> str:
    """Return what to do when the stores cannot be opened."""
    servers = [
        f"[{name}]" for name, url in (("database", settings.database.url), ("chroma", settings.chroma.url)) if url
    ]
    if servers:
        what, verb = ("servers", "are") if len(servers) > 1 else ("server", "is")
        return f"see that the {what} of {' and '.join(servers)} {verb} up, and the url right"
    return "`citebot restore FILE` brings a backup back; without one, move that file away and run `citebot sync`"


def check_files(settings: Settings) -> Iterator[Check]:
    """Tell which files that the settings name are not there; nothing when all are."""
    named = [("synonyms under [answer]", settings.answer.synonyms)]
    named += [(f"prompt of knowledge base {name}", base.prompt) for name, base in settings.all_knowledge_bases.items()]
    for what, file in named:
        if file is not None and not file.is_file():
            yield Check(
                name=what, state="fail", found=f"there is no file {file}", mend="mend the path, or leave it out"
            )


def check_prompts(folder: Path | None) -> Iterator[Check]:
    """Tell what is wrong with the folder of templates of the operator's own; nothing without one."""
    if folder is None:
        return
    if not folder.is_dir():
        mend = "create it, or leave the setting out"
        yield Check(name="prompts", state="fail", found=f"there is no folder {folder}", mend=mend)
        return
    for name in sorted(file.stem for file in folder.glob("*.j2")):
        if name not in OWN.names():
            mend = f"name it like the one that it is to replace: {', '.join(OWN.names())}"
            yield Check(name="prompts", state="warn", found=f"nothing reads {name}.j2 in {folder}", mend=mend)
            continue
        try:
            prompts_in(folder).render(name, **dict.fromkeys(OWN.declared_inputs(name), ""))
        except ConfigError as error:
            yield Check(name="prompts", state="fail", found=str(error), mend=f"mend {folder / name}.j2, or remove it")


def check_data_dir(data_dir: Path) -> Check:
    """Tell whether the data directory can be written, and has room."""
    standing = next(folder for folder in (data_dir, *data_dir.parents) if folder.exists())
    obstacle = _obstacle(standing)
    if obstacle and obstacle.errno != errno.ENOSPC:
        allow = f"give this user the right to write there (`chown {os.getuid()} {standing}`)"
        mend = f"{allow}, or set another data_dir" if obstacle.errno == errno.EACCES else "set another data_dir"
        found = f"{standing} cannot be written: {obstacle.strerror}"
        return Check(name="data_dir", state="fail", found=found, mend=mend)
    free = shutil.disk_usage(standing).free
    room = f"{free / 1024**3:.1f} GB free" if free >= _LITTLE_SPACE else f"{free / 1024**2:.0f} MB free"
    if free < _LITTLE_SPACE:
        state = "fail" if free < _NO_SPACE else "warn"
        mend = "free some disk space, or set another data_dir"
        return Check(name="data_dir", state=state, found=f"{data_dir}: only {room}", mend=mend)  # type: ignore[arg-type]
    return Check(name="data_dir", state="ok", found=f"{data_dir}: writable, {room}")


def _obstacle(folder: Path) -> OSError | None:
    """Return what keeps this user from writing into a folder."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error


def check_readers(settings: Settings, platforms: Sequence[str] = ()) -> Iterator[Check]:
    """Tell which knowledge bases nobody but the operator can read, with the line to add for the first platform."""
    reader = _READERS[platforms[0] if platforms else "slack"]
    readers_of = {name: base.readers for name, base in settings.all_knowledge_bases.items()}
    closed = unread(readers_of)
    for name in closed:
        yield Check(
            name=f"readers of {name}",
            state="warn",
            found="nobody but this terminal is answered from it",
            mend=f"if others should be, write {line_to_add(name, reader=reader)}",
        )
    if readers_of and not closed:
        yield Check(name="readers", state="ok", found=f"every knowledge base has readers ({len(readers_of)})")


async def check_embedder(embedder: Embedder) -> Check:
    """Tell whether texts can be embedded, by embedding one."""
    try:
        vectors = await embedder.embed(["How many days of leave do I have?"])
    except CitebotError as error:
        mend = "check [embedding] in the settings: base_url, model and the key"
        return Check(name="embedder", state="fail", found=f"{embedder.name}: {error}", mend=mend)
    return Check(name="embedder", state="ok", found=f"{embedder.name}, {vectors.shape[1]} dimensions")


async def check_model(model: ChatModel | None) -> Check:
    """Tell whether the language model answers, by a call of a few tokens."""
    if model is None:
        return Check(name="model", state="ok", found="none is set up: answers quote the documents")
    asked = model.complete([Message(role="user", text=render("check_model"))], task="check")
    return await _tried(asked, model, name="model", key="model")


async def check_vision_model(model: ChatModel) -> Check:
    """Tell whether the model for pictures takes one, by a small white square."""
    image = Image(media_type="image/png", data=base64.b64encode(_white_square(64)).decode("ascii"))
    message = Message(role="user", text=render("check_model"), images=(image,))
    return await _tried(model.complete([message], task="check"), model, name="vision model", key="vision_model")


async def check_web(search: WebSearch, settings: Settings) -> Check:
    """Tell whether the web's search engine answers, by one search, and where it is asked."""
    try:
        async with asyncio.timeout(_WEB_SECONDS):
            pages = await search.search("weather", 1)
    except (SourceError, TimeoutError) as error:
        told = getattr(error, "reason", "") or str(error) or f"no answer within {_WEB_SECONDS:.0f} s"
        mend = getattr(error, "mend", "") or "try again later"
        if isinstance(error, SourceUnreachable | SourceBadReply) and "[web]" not in mend:
            mend = f"{mend} (provider, base_url and api_key under [web])"
        found = told if search.name in told else f"{search.name}: {told}"
        return Check(name="web", state="fail", found=found, mend=mend)
    if not pages:
        mend = "see what it answers in a browser; a SearXNG instance may have no engine that answers it"
        return Check(name="web", state="warn", found=f"{search.name} answers, and finds nothing", mend=mend)
    return Check(name="web", state="ok", found=f"{search.name} answers, {_where(settings)}")


def _where(settings: Settings) -> str:
    """Return where questions are searched for on the web, in words."""
    told = [one.web for one in settings.channels]
    if settings.web is not None and settings.web.everywhere:
        without = told.count(False)
        return f"and is asked everywhere but in {_channels(without)}" if without else "and is asked everywhere"
    within = told.count(True)
    return (
        f"and is asked in the terminal and in {_channels(within)}" if within else "and is asked in the terminal alone"
    )


def _channels(count: int) -> str:
    return "1 channel" if count == 1 else f"{count} channels"


async def check_reranker(reranker: Reranker, seconds: float) -> Check:
    """Tell whether the reranker finds the better of two texts, and in the ``seconds`` that a question waits for it."""
    texts = ["The canteen serves lunch from noon.", "Each employee has thirty days of annual leave."]
    started = time.perf_counter()
    try:
        async with asyncio.timeout(_MODEL_SECONDS):
            found = await reranker.rerank("How many days of leave do I have?", texts)
    except ModelAuthError as error:
        mend = "set the right api_key under [rerank], or under [llm] where its model does it"
        return Check(name="reranker", state="fail", found=f"{reranker.name}: {error}", mend=mend)
    except (ModelError, ContextTooSmall, ConfigError, TimeoutError) as error:
        told = str(error) or f"no answer within {_MODEL_SECONDS:.0f} s"
        mend = "check provider, base_url and model under [rerank], and that the server there is up"
        return Check(name="reranker", state="fail", found=f"{reranker.name}: {told}", mend=mend)
    took = time.perf_counter() - started
    if took > seconds:
        slow = f"{reranker.name} took {took:.1f} s for two texts, and a question waits {seconds:g} s for it"
        return Check(
            name="reranker", state="warn", found=slow, mend="raise timeout under [rerank], or take a faster one"
        )
    if found.order[:1] != (1,):
        wrong = f"{reranker.name} takes a text about lunch for the answer to a question about leave"
        return Check(name="reranker", state="warn", found=wrong, mend="is the model under [rerank] one for reranking?")
    return Check(name="reranker", state="ok", found=f"{reranker.name} sorted two texts in {took:.2f} s")


async def _tried(asked: Awaitable[tuple[str, Usage]], model: ChatModel, *, name: str, key: str) -> Check:
    try:
        async with asyncio.timeout(_MODEL_SECONDS):
            _, usage = await asked
    except ModelAuthError as error:
        mend = "set the right OPENAI_API_KEY, or api_key under [llm]"
        return Check(name=name, state="fail", found=f"{model.name}: {error}", mend=mend)
    except (ModelError, TimeoutError) as error:
        mend = f"check base_url and {key} under [llm], and that the server there is up"
        found = str(error) or f"no answer within {_MODEL_SECONDS:.0f} s"
        return Check(name=name, state="fail", found=f"{model.name}: {found}", mend=mend)
    took = usage.prompt_tokens + usage.completion_tokens
    return Check(name=name, state="ok", found=f"{model.name} answered ({took} tokens, window {model.context_window})")


def _white_square(side: int) -> bytes:
    """Return a PNG of so many pixels each way, 8-bit grey (PNG specification, sections 5.3 and 11.2)."""

    def piece(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff" * side) * side)
    return b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", header) + piece(b"IDAT", rows) + piece(b"IEND", b"")
