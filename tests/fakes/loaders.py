"""Readers in the manner of LlamaIndex and LangChain, over a file that a test writes: what they hold, and how they fail."""

import json
import pathlib
import sys
import time
import types
import uuid


class Refused(Exception):
    """What a client of an API raises, with the answer that it got."""

    def __init__(self, status: int, **headers: str) -> None:
        super().__init__(f"the server answered {status}")
        self.response = types.SimpleNamespace(status_code=status, headers=headers)


class PageDocument:
    """A document as LangChain has it."""

    def __init__(self, text: str, metadata: dict) -> None:
        self.page_content, self.metadata, self.id = text, metadata, None


class IndexDocument:
    """A document as LlamaIndex has it: with an id that is drawn at random unless one is given."""

    def __init__(self, text: str, metadata: dict, identity: str = "") -> None:
        self.text, self.metadata, self.id_ = text, metadata, identity or str(uuid.uuid4())


class Opaque:
    """What has no text of its own: another one at each run."""


class StateLoader:
    """A loader of LangChain's kind: ``lazy_load`` yields what the file ``state`` holds."""

    def __init__(self, state: str, key: str = "") -> None:
        self.state = pathlib.Path(state)
        if json.loads(self.state.read_text())["fault"] == "away":
            raise ConnectionError("no route to host")

    def load(self):
        raise AssertionError("it is better read piece by piece")

    def lazy_load(self):
        print("packages print what they like")
        held = json.loads(self.state.read_text())
        for number, (name, told) in enumerate(held["documents"].items()):
            if number == 5:
                self._fail(held)
            if held["fault"] == "short" and number == 3:
                return
            if held["fault"] == "form":
                yield "<html>"
            metadata = {"source": name} | told["metadata"]
            for _ in range(2 if told.get("twice") else 1):
                yield PageDocument(told["text"], metadata)

    def _fail(self, held: dict) -> None:
        fault = held["fault"]
        if isinstance(fault, int):
            raise Refused(fault)
        if fault.startswith("wait "):
            self.state.write_text(json.dumps(held | {"fault": ""}))
            raise Refused(429, **{"Retry-After": fault.removeprefix("wait ")})


class ListReader:
    """A reader of LlamaIndex's kind, which gives what it is told to: its base class has every method."""

    def __init__(self, documents: list[dict], api_key: str = "") -> None:
        self.documents, self.api_key = documents, api_key

    @classmethod
    def of(cls, documents: list[dict], copies: int):
        return cls(documents * copies)

    def lazy_load_data(self, **_: object):
        raise NotImplementedError

    def load_data(self, limit: int = 1_000):
        return [IndexDocument(**one) for one in self.documents[:limit]]

    async def aload_data(self):
        return self.load_data()

    async def alazy_load_data(self):
        for one in self.load_data():
            yield one

    def leak(self):
        print(self.api_key, file=sys.stderr)
        raise RuntimeError(f"bad key {self.api_key}")

    def leak_cut(self):
        raise RuntimeError("x" * 370 + f" bad key {self.api_key}")

    def begin(self):
        yield from self.load_data()
        self.hang()

    def hang(self):
        time.sleep(60)

    def crash(self):
        import os

        os._exit(3)

    def fork(self):
        import os

        first, *others = self.load_data()
        yield first
        if os.fork() == 0:
            sys.exit(0)
        os.wait()
        yield from others

    def bad(self):
        """Give documents of which some aren't as they should be: metadata in a circle, an id that is no text."""
        for one in self.load_data():
            if one.metadata == "circle":
                one.metadata = {"source": "c.txt"}
                one.metadata["self"] = one.metadata
            if one.id_ == "opaque":
                one.id_ = Opaque()
            yield one

    def numbers(self):
        return [1, 2]

    def needs(self):
        import a_package_that_is_missing

        return a_package_that_is_missing
