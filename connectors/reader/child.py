"""The process that a reader runs in: it imports the class, asks it for its documents, and tells them one by one.

It gets its task as a frame on its input, and ends when that is closed, as whoever reads has ended. On its output stand
frames, too: eight bytes of length, little-endian, then JSON: documents, and last how it ended. Whatever the package
prints goes to the error output instead. Only the standard library is imported here, so that it is the package's own
imports that the time is spent on.
"""

import asyncio
import importlib
import inspect
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, BinaryIO

HEADER = 8
"""Bytes that tell a frame's length."""
_METHODS = ("lazy_load", "lazy_load_data", "load_data", "load", "alazy_load", "alazy_load_data", "aload_data", "aload")
_LONGEST = 4_000
"""Characters of a reason that are passed on; secrets are taken out of it only then, and it is cut further."""


class Problem(Exception):
    """It can't go on: of which kind that is, and why."""

    def __init__(self, kind: str, reason: str, **told: Any) -> None:
        super().__init__(reason)
        self.told = {"kind": kind, "reason": reason[:_LONGEST], **told}


def main() -> None:
    """Do what the input asks for, and tell it on the output."""
    output, asks = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # the package reads nothing of ours
    task = json.loads(asks.read(int.from_bytes(asks.read(HEADER), "little")))
    threading.Thread(target=end_with, args=(asks,), daemon=True).start()
    sys.path.append(os.getcwd())
    with Ending(output):
        for document in documents(task):
            tell(output, document)
    os._exit(0)  # what the package left running (threads, connections) is nobody's business


def end_with(asks: BinaryIO) -> None:
    """Wait until whoever asked has ended, be it that it was killed; then end, with what was started here."""
    asks.read(1)
    os.killpg(os.getpid(), signal.SIGKILL)


class Ending:
    """Tells last how it ended, whatever was raised."""

    def __init__(self, output: BinaryIO) -> None:
        self._output, self._process = output, os.getpid()

    def __enter__(self) -> "Ending":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if os.getpid() != self._process:  # the package forked, and what it forked tells nothing of the whole
            os._exit(1)
        end = error.told if isinstance(error, Problem) else of_error(error) if error is not None else {}
        tell(self._output, {"end": end})
        return True


def tell(output: BinaryIO, value: dict[str, Any]) -> None:
    """Write one frame."""
    data = json.dumps(value, default=str).encode("utf-8", "backslashreplace")
    output.write(len(data).to_bytes(HEADER, "little") + data)
    output.flush()


def documents(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what the reader gives: text, own id and metadata of each document."""
    reader = made(task["loader"], task["arguments"])
    for found in given(reader, task["method"], task["load_arguments"]):
        yield as_told(found, task["most"])


def made(path: str, arguments: dict[str, Any]) -> Any:
    """Return the reader.

    Raises:
        Problem: it can't be imported, or doesn't take these arguments.
    """
    name = path.replace(":", ".").rpartition(".")[2]
    kind = imported(path.replace(":", ".").split("."))
    try:
        return kind(**arguments)
    except ImportError as error:  # what it needs itself, which many look for only now
        raise Problem("import", str(error), missing=_top(error)) from error
    except (TypeError, ValueError) as error:
        raise Problem("arguments", f"{name} doesn't take its arguments: {error}") from error


def imported(parts: list[str]) -> Any:
    """Return what stands at a path: of a module, a class in it, or a method of that class that makes it."""
    missing: ModuleNotFoundError | None = None
    for end in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:end])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            missing = missing or error
            if not f"{module}.".startswith(f"{error.name}.") or end == 1:
                raise Problem("import", str(error), missing=_top(error)) from error
            continue
        except ImportError as error:
            raise Problem("import", str(error), missing="") from error
        for part in parts[end:]:
            if not hasattr(found, part):
                if missing is not None:
                    raise Problem("import", str(missing), missing=_top(missing))
                raise Problem("import", f"{module} has no {'.'.join(parts[end:])}", missing="")
            found = getattr(found, part)
        return found
    raise Problem("import", f"{parts[0]} is no class in a module", missing="")


def _top(error: ImportError) -> str:
    """Return the outermost package that wasn't found, "" when it isn't told."""
    return (error.name or "").split(".")[0] if isinstance(error, ModuleNotFoundError) else ""


def given(reader: Any, method: str, arguments: dict[str, Any]) -> Iterator[Any]:
    """Yield what the reader's method gives."""
    names = [method] if method else [name for name in _METHODS if callable(getattr(reader, name, None))]
    if not names or not callable(getattr(reader, names[0], None)):
        wanted = method or "lazy_load, lazy_load_data, load_data or load"
        raise Problem("arguments", f"{type(reader).__name__} has no method {wanted}")
    for name in names:
        try:
            found = iter(ran(getattr(reader, name), arguments))
            first = next(found, None)
        except NotImplementedError:
            if name == names[-1]:
                raise
            continue  # the base classes have all of them, and readers fill in some
        if first is not None:
            yield first
        yield from found
        return


def ran(method: Callable[..., Any], arguments: dict[str, Any]) -> Iterable[Any]:
    """Call a method, whether it waits in the manner of asyncio or not."""
    try:
        result = method(**arguments)
    except TypeError as error:
        if not arguments or "argument" not in str(error):
            raise
        raise Problem("arguments", f"`load_arguments`: {error}") from error
    if inspect.isawaitable(result):
        return _listed(asyncio.run(_awaited(result)))
    if isinstance(result, AsyncIterator):
        return _stepped(result)
    return _listed(result)


def _listed(result: Any) -> Iterable[Any]:
    if not isinstance(result, Iterable) or isinstance(result, str | bytes | dict):
        raise Problem("form", f"it gives {type(result).__name__}, and no documents")
    return result


async def _awaited(result: Any) -> Any:
    return await result


def _stepped(result: AsyncIterator[Any]) -> Iterator[Any]:
    """Yield what an asynchronous iterator gives, on a loop of its own."""
    with asyncio.Runner() as runner:

        async def step() -> tuple[bool, Any]:
            try:
                return True, await anext(result)
            except StopAsyncIteration:
                return False, None

        while (told := runner.run(step()))[0]:
            yield told[1]


def as_told(found: Any, most: int) -> dict[str, Any]:
    """Return a document of LangChain (``page_content``) or LlamaIndex (``text``) as it is told.

    What isn't as it should be about this one stands under ``fault``, and under ``is_unsure`` whether that may be why
    it has no id; what isn't even in the form of a document is a Problem.
    """
    if not hasattr(found, "page_content") and not hasattr(found, "text"):
        raise Problem("form", f"it gives {type(found).__name__}, which is no document of LlamaIndex or LangChain")
    text = getattr(found, "page_content", None)
    if text is None:
        text = getattr(found, "text", None)
    faults = [] if isinstance(text, str) else [f"its text is {_kind(text)}"]
    metadata = getattr(found, "metadata", None)
    plain, is_unsure = dict[str, Any](), False
    if isinstance(metadata, Mapping | None):
        try:
            plain = {str(name): _plain(value) for name, value in (metadata or {}).items()}
        except (TypeError, ValueError, RecursionError) as error:
            faults.append(f"its metadata can't be told ({type(error).__name__})")
            is_unsure = True
    else:
        faults.append(f"its metadata is {_kind(metadata)}")
        is_unsure = True
    own = getattr(found, "id_", None) or getattr(found, "doc_id", None) or getattr(found, "id", None)
    if own and not _is_id(own):
        faults.append(f"its id is {_kind(own)}")
        is_unsure = True
    size = len(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else 0
    told = {
        "text": text if isinstance(text, str) and size <= most else "",
        "size": size,
        "id": str(own) if own and _is_id(own) else "",
        "metadata": plain,
    }
    return told | {"fault": " and ".join(faults)[:_LONGEST], "is_unsure": is_unsure} if faults else told


def _is_id(own: Any) -> bool:
    """Tell whether an id is a text, or has one that is its own; what every object has may be another at each run."""
    if isinstance(own, str | int):
        return not isinstance(own, bool)
    has_text = any("__str__" in vars(kind) for kind in type(own).__mro__ if kind is not object)
    return has_text and not isinstance(own, bytes | bytearray)


def _kind(value: Any) -> str:
    return "missing" if value is None else f"of the type {type(value).__name__}"


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value), key=repr)  # in an order that is the same at each run
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    stamp = getattr(value, "isoformat", None)
    return stamp() if callable(stamp) else str(value)


def of_error(error: BaseException) -> dict[str, Any]:
    """Return what a reader's error means, as far as it tells: most hold the answer that they got over HTTP."""
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None) or getattr(error, "status_code", None)
    status = status or getattr(error, "status", None) or getattr(error, "code", None)
    headers = getattr(response, "headers", None) or getattr(error, "headers", None) or {}
    try:
        wait = str(headers.get("Retry-After", ""))
    except AttributeError:
        wait = ""
    kind = "import" if isinstance(error, ImportError) else "error"
    said = " ".join(str(error).split())
    return {
        "kind": kind,
        "missing": _top(error) if isinstance(error, ImportError) else "",
        "reason": f"{type(error).__name__}: {said}"[:_LONGEST] if said else type(error).__name__,
        "status": status if isinstance(status, int) else 0,
        "wait": wait if wait.isdigit() else "",
    }


if __name__ == "__main__":
    main()
