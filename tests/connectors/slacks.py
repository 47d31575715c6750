"""What the tests of the source type ``slack`` use: a connector to a local workspace, and one run of it after another."""

import time
from contextlib import asynccontextmanager
from dataclasses import replace

from connectors.base import Origin
from connectors.slack import SlackConnector, SlackOptions
from connectors.slack.ids import thread_id
from tests.connectors.helpers import collect, listed
from tests.servers.slack import Rates, SlackServer, slack_server

C = "C1"
PLENTY = Rates(start=100_000, change=100_000, append=100_000, read=100_000)


def options(server, **changes):
    return SlackOptions(**({"token": server.bot_token, "api_url": f"{server.url}/api/"} | changes))


def slack(server, tmp_path="/", **changes):
    return SlackConnector(Origin(source="s", folder=tmp_path), options(server, **changes))


class Run:
    """One run after another of a source, as a sync does them: what each yielded, what it cost, and what is indexed."""

    def __init__(self, server: SlackServer, **changes):
        self.server, self.changes = server, changes
        self.held, self.cursor = {}, None

    async def __call__(self, **changes):
        """Do a run; return the native ids of what was yielded."""
        self.server.calls.clear()
        connector = slack(self.server, **(self.changes | changes))
        known = {identity: document.version for identity, document in self.held.items()}
        self.documents, self.failures, self.gone, self.cursor = await collect(connector.changes(self.cursor, known))
        self.calls = [method for _, method, _ in self.server.calls]
        self.ids, failures = await listed(connector)
        covers = tuple(one.covers for one in (self.failures | failures).values() if one.covers)
        self.held |= self.documents
        self.held = {
            identity: document
            for identity, document in self.held.items()
            if identity in self.ids or (covers and identity.startswith(covers))
        }
        return native(self.documents)

    def text(self, identity):
        return self.held[f"s:{identity}"].content.decode()


def native(ids):
    return sorted(identity.removeprefix("s:") for identity in ids)


def link_at(document, line):
    """Return the address of what stands on a line, counted from 1."""
    return [link.url for link in document.permalinks if link.line <= line][-1]


@asynccontextmanager
async def workspace():
    """Serve a workspace with a channel, Ann and Bob, without limits that a test meets by chance."""
    async with slack_server(rates=replace(PLENTY)) as slack:
        slack.delivers = False
        slack.channel(C).name = "valves"
        slack.person("U1", real_name="Ann Smith")["profile"]["display_name"] = "Ann"
        slack.person("U2")["profile"]["display_name"] = "Bob"
        yield slack


def ago(seconds):
    return time.time() - seconds


def thread(server, text="Is the valve open?", *replies, at=None, channel=C):
    first = server.say(channel, text, at=at or ago(172_800))
    for number, reply in enumerate(replies or ("Yes.",)):
        server.say(channel, reply, user="U2", thread=first["ts"], at=float(first["ts"]) + 60 * (number + 1))
    return first, thread_id(channel, first["ts"])
