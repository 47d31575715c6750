"""What stands in the modules of the packages, for the tests that look at the code: each is read and walked once."""

import ast
import functools
import pathlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[1]
BROAD = {"Exception", "BaseException"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function, by its lines; the first is that of its ``def``."""

    name: str
    first: int
    last: int
    has_mutable_default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """What the tests ask of a module. Its tree is not kept: all of them together are a million objects."""

    lines: int
    head: str
    """Its first 1,500 characters."""
    imports: tuple[tuple[str, int], ...]
    """Every module that is imported anywhere in it, with the line; not those of a relative import."""
    functions: tuple[Function, ...]
    broad: tuple[int, ...]
    """The lines of handlers for everything."""
    texts: tuple[str, ...]
    """Every text; one in several pieces is whole as well, what is filled in stands as "…"."""

    @property
    def imported(self) -> set[str]:
        """Return the packages that are imported anywhere in it."""
        return {name.split(".")[0] for name, _ in self.imports}

    @property
    def late(self) -> Iterator[str]:
        """Yield what is imported inside a function."""
        for name, line in self.imports:
            if any(one.first <= line <= one.last for one in self.functions):
                yield name


@functools.cache
def modules_of(package: str) -> Mapping[str, Module]:
    """Return the modules of a package by their paths."""
    return {path.relative_to(ROOT).as_posix(): _read(path) for path in sorted((ROOT / package).rglob("*.py"))}


def _read(path: pathlib.Path) -> Module:
    source = path.read_text(encoding="utf-8")
    imports: list[tuple[str, int]] = []
    functions: list[Function] = []
    broad: list[int] = []
    texts: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=str(text)):
                texts.append(text)
            case ast.JoinedStr(values=values):
                texts.append("".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in values))
            case ast.Import(names=names, lineno=line):
                imports += ((alias.name, line) for alias in names)
            case ast.ImportFrom(module=str(name), level=0, lineno=line):
                imports.append((name, line))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                functions.append(_function(node))
            case ast.ExceptHandler() | ast.Call() if _catches_everything(node):
                broad.append(node.lineno)
    return Module(
        lines=source.count("\n"),
        head=source[:1500],
        imports=tuple(imports),
        functions=tuple(functions),
        broad=tuple(broad),
        texts=tuple(texts),
    )


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    defaults = [*node.args.defaults, *(default for default in node.args.kw_defaults if default)]
    return Function(
        name=node.name,
        first=node.lineno,
        last=node.end_lineno or node.lineno,
        has_mutable_default=any(isinstance(default, ast.List | ast.Dict | ast.Set) for default in defaults),
    )


def _catches_everything(node: ast.ExceptHandler | ast.Call) -> bool:
    """Tell a handler for everything, alone or in a tuple; what cleans up and raises again catches nothing."""
    if isinstance(node, ast.Call):
        return bool(_named(node.func) & {"suppress"} and _named(*node.args) & BROAD)
    last = node.body[-1]
    raised = isinstance(last, ast.Raise) and last.exc is None
    return not raised and (node.type is None or bool(_named(node.type) & BROAD))


def _named(*nodes: ast.AST) -> set[str]:
    inner = [one for node in nodes for one in ast.walk(node)]
    return {one.id for one in inner if isinstance(one, ast.Name)} | {
        one.attr for one in inner if isinstance(one, ast.Attribute)
    }
