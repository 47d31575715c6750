"""The settings, written out: the page that ``python -m bots.settings docs/settings.md`` writes.

A test fails when it is out of date.
"""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from inspect import signature
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from bots.settings.loading import USUAL_NAMES
from bots.settings.model import Settings, TaskSettings
from bots.settings.presets import PRESETS
from bots.settings.problems import table_of
from ragcore.chunk_methods import CHUNK_METHODS
from ragcore.chunking import ChunkOptions
from ragcore.models.openai_chat import ChatLimits, ChatOptions
from ragcore.models.openai_embeddings import OpenAIEmbedder
from ragcore.retrieval.options import RetrievalOptions

_INTRODUCTION = "settings_reference.md"


def settings_reference() -> str:
    """Return the settings' reference as Markdown: one table of keys for each table of the file."""
    top = {name: field for name, field in Settings.model_fields.items() if table_of(field.annotation) is None}
    introduction = files("bots.settings").joinpath(_INTRODUCTION).read_text(encoding="utf-8")
    parts = [introduction.rstrip(), "## At the top", _keys(top, "")]
    for name, field in Settings.model_fields.items():
        table = table_of(field.annotation)
        if table is not None:
            parts += [f"## `{_heading(name, field)}`", _prose(table), _keys(table.model_fields, name)]
            parts += [_chunk_methods()] if name == "knowledge_bases" else []
    parts += ["## `[llm.tasks.TASK]`", _prose(TaskSettings), _keys(TaskSettings.model_fields, "llm.tasks")]
    return "\n\n".join(parts) + "\n"


def measured_defaults() -> dict[tuple[str, str], object]:
    """Return what a setting that is left out comes to where that is ragcore's word, by table and key."""
    chat, limits, search, chunk = ChatOptions(), ChatLimits(), RetrievalOptions(), ChunkOptions()
    return {
        ("llm", "max_tokens"): chat.max_tokens,
        ("llm", "temperature"): chat.temperature,
        ("llm", "connect_timeout"): limits.connect,
        ("llm", "first_token_timeout"): limits.first_token,
        ("llm", "total_timeout"): limits.total,
        ("llm", "max_concurrent"): limits.max_concurrent,
        ("embedding", "batch_size"): signature(OpenAIEmbedder).parameters["batch_size"].default,
        ("answer", "top_k"): search.top_k,
        ("answer", "top_n"): search.top_n,
        ("answer", "similarity_threshold"): search.similarity_threshold,
        ("answer", "vector_similarity_weight"): search.vector_similarity_weight,
        ("knowledge_bases", "chunk_tokens"): chunk.chunk_tokens,
        ("knowledge_bases", "chunk_overlap"): chunk.overlap,
    }


def _chunk_methods() -> str:
    """Return the chunk methods, a line each, and how file patterns are read."""
    lines = [f"- `{name}`: {meaning}" for name, meaning in CHUNK_METHODS.items()]
    patterns = (
        "A file pattern has `*`, `?` and `[a-z]`, and takes no account of case. One with a slash is compared with the "
        "whole path or address that the source gives a document (the `*` of `contracts/*` takes folders too), any "
        "other with the file's name. `*` is tried last; what no pattern matches is cut by `naive`. A change here cuts "
        "anew those documents alone whose method it changes."
    )
    pairs = (
        "`qa` embeds question and answer together where RAGFlow embeds the question alone: what is asked is often "
        "answered where something else was asked, and it finds more (nDCG@10 0.937 to 0.890 over 947 pairs of "
        'faq-zoomcamp, 0.864 to 0.838 over 453 of inscit). `qa_embed = "question"` does as RAGFlow does.'
    )
    presets = [
        f"- `{name}`: {preset.meaning} (`{preset.chunking}`, {preset.chunk_tokens} tokens)"
        for name, preset in PRESETS.items()
    ]
    return "\n".join(["Chunk methods:", "", *lines, "", patterns, "", pairs, "", "Presets:", "", *presets])


def _heading(name: str, field: FieldInfo) -> str:
    origin = get_origin(field.annotation)
    if origin is tuple:
        return f"[[{name}]]"
    return f"[{name}.NAME]" if origin in {Mapping, dict} else f"[{name}]"


def _prose(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())


def _keys(fields: Mapping[str, FieldInfo], section: str) -> str:
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    measured = measured_defaults()
    for key, field in fields.items():
        if not field.exclude:
            meaning = (field.description or "").replace("|", "\\|") + _usual_name(section, key)
            kind = ("list of " if get_origin(field.annotation) is tuple else "") + " or ".join(_kinds(field.annotation))
            rows.append(f"| `{key}` | {kind} | {_default(field, measured.get((section, key)))} | {meaning} |")
    return "\n".join(rows)


def _usual_name(section: str, key: str) -> str:
    name = USUAL_NAMES.get((section, key))
    return f"; else from `{name}`" if name else ""


def _kinds(annotation: Any) -> Iterator[str]:
    """Yield what a value may be, in words."""
    origin = get_origin(annotation)
    if origin is Literal:
        yield from (f'`"{choice}"`' for choice in get_args(annotation) if choice)
    elif origin in {Union, UnionType, tuple}:
        inner = [part for part in get_args(annotation) if part not in {type(None), Ellipsis}]
        yield from dict.fromkeys(kind for part in inner for kind in _kinds(part))
    elif origin in {Mapping, dict}:
        yield "table"
    elif origin is not None:  # Annotated
        yield from _kinds(get_args(annotation)[0])
    else:
        names = {bool: "true or false", int: "whole number", float: "number", Path: "path", SecretStr: "secret"}
        yield names.get(annotation, "text")


def _default(field: FieldInfo, measured: object) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None:
        value = measured
    if value is None or value == "":
        return ""
    if isinstance(value, tuple | dict) and not value:
        return "none"
    if isinstance(value, float):
        return f"`{value:g}`"
    return f"`{json.dumps(value if isinstance(value, bool | int | tuple) else str(value))}`"
