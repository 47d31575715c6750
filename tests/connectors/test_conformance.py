import pytest

from tests.connectors.conformance import Conformance
from tests.connectors.helpers import files, put, settle
from tests.connectors.memory import Memory


class TestFiles(Conformance):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path, monkeypatch):
        settle(monkeypatch)
        self.root = tmp_path

    def put(self, name, text):
        put(self.root, name, text)

    def drop(self, name):
        (self.root / name).unlink()

    def connect(self):
        return files(self.root)


class TestMemory(Conformance):
    @pytest.fixture(autouse=True)
    def _memory(self):
        self.memory = Memory()

    def put(self, name, text):
        self.memory.put(name, text)

    def drop(self, name):
        self.memory.drop(name)

    def connect(self):
        return self.memory.connector()
