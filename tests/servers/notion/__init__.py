"""A server that speaks Notion's documented interface, in the version 2026-03-11, for tests."""

from tests.servers.notion.server import NotionServer
from tests.servers.notion.world import Clock, Workspace, block, spans

__all__ = ["Clock", "NotionServer", "Workspace", "block", "spans"]
