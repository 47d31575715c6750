"""Whatever happens in Confluence and Jira between runs, what is held at the end is what a first run would find."""

import random
from datetime import timedelta

import pytest
from aiohttp import web

from ragcore.errors import SourceError
from tests.connectors import confluences, jiras
from tests.connectors.rounds import Rounds
from tests.servers.confluence import ConfluenceServer, Thing
from tests.servers.jira import Issue, JiraServer
from tests.soak import scaled

PEOPLE = ("ann", "bob", "cat")


class Wiki:
    """People at work in a space, at random."""

    def __init__(self, server: ConfluenceServer, chance: random.Random) -> None:
        self.server, self.chance = server, chance
        for name in PEOPLE:
            server.person(name, f"{name}@x.example")
        server.groups = {"hr": ["ann", "bob"]}

    def some(self, *kinds: str) -> list[Thing]:
        found = [one for one in self.server.things.values() if one.kind in kinds]
        return self.chance.sample(found, min(1, len(found)))

    def body(self) -> str:
        return f"<p>word {self.chance.random()}</p>"

    def add(self) -> None:
        above = self.some("page") if self.chance.random() < 0.6 else []
        self.server.page("Page", self.body(), parent=above[0] if above else None)

    def edit(self) -> None:
        for one in self.some("page", "comment"):
            self.server.edit(one, self.body())

    def comment(self) -> None:
        for page in self.some("page"):
            self.server.comment(page, self.body())

    def unsay(self) -> None:
        for one in self.some("comment", "attachment"):
            self.server.drop(one)

    def attach(self) -> None:
        for page in self.some("page"):
            self.server.attach(page, "a.txt", self.body().encode())

    def replace(self) -> None:
        for file in self.some("attachment"):
            file.data, file.number = self.body().encode(), file.number + 1

    def put_away(self) -> None:
        for page in self.some("page"):
            if not any(one.parent is page for one in self.server.things.values()):
                page.status = self.chance.choice(["trashed", "archived", "current"])

    def move(self) -> None:
        for page in self.some("page"):
            for above in self.some("page"):
                if page not in (above, *above.above):
                    page.parent = above

    def restrict(self) -> None:
        for page in self.some("page"):
            page.users = set(self.chance.sample(PEOPLE, self.chance.randrange(3)))
            page.groups = {"hr"} if self.chance.random() < 0.2 else set()

    def regroup(self) -> None:
        self.server.groups["hr"] = self.chance.sample(PEOPLE, 2)


class Tickets:
    """People at work on issues, at random."""

    def __init__(self, server: JiraServer, chance: random.Random) -> None:
        self.server, self.chance = server, chance

    def some(self) -> list[Issue]:
        found = list(self.server.issues.values())
        return self.chance.sample(found, min(1, len(found)))

    def word(self) -> str:
        return f"word {self.chance.random()}"

    def open(self) -> None:
        self.server.open(self.word(), self.word())

    def edit(self) -> None:
        for issue in self.some():
            self.server.edit(issue, self.word())

    def comment(self) -> None:
        for issue in self.some():
            more = {"visibility": {"type": "role", "value": "Admins"}} if self.chance.random() < 0.3 else {}
            self.server.comment(issue, self.word(), **more)

    def attach(self) -> None:
        for issue in self.some():
            self.server.attach(issue, "a.txt", self.word().encode())

    def secure(self) -> None:
        for issue in self.some():
            issue.security = self.chance.choice(["", "Internal", "Board"])
            self.server.edit(issue, issue.text)

    def move(self) -> None:
        for issue in self.some():
            issue.key = f"CD-{self.chance.randrange(100, 999)}"
            self.server.edit(issue, issue.text)

    def delete(self) -> None:
        for issue in self.some():
            del self.server.issues[issue.id]

    def wait(self) -> None:
        self.server.now += timedelta(minutes=self.chance.choice([1, 20, 90]))


class WikiRuns(Rounds):
    make = staticmethod(confluences.connector)


class TicketRuns(Rounds):
    make = staticmethod(jiras.connector)


def steps_of(work: object, *aside: str) -> list:
    return [getattr(work, name) for name in dir(type(work)) if not name.startswith("_") and name not in aside]


def seen(documents):
    return {one: (found.content, found.readers, found.url, found.title) for one, found in documents.items()}


async def check(runs: Rounds, steps: list, chance: random.Random, broken) -> None:
    """Work and run by turns, some runs broken off, and hold what came of it against a first run."""
    for _ in range(10):
        for _ in range(chance.randrange(1, 8)):
            chance.choice(steps)()
        if chance.random() < 0.4:
            runs.server.fault = broken(chance)
        try:
            await runs()
        except SourceError:
            runs.keep()
        runs.server.fault = None
    await runs()
    if runs.ids - runs.held.keys():
        await runs.fetch(sorted(runs.ids - runs.held.keys()))
    fresh = type(runs)(runs.server, runs.origin.folder, **runs.options)
    await fresh()
    assert runs.ids == fresh.ids == fresh.held.keys()
    assert seen(runs.held) == seen(fresh.held)


@pytest.mark.parametrize("seed", range(max(2, scaled(2))))
async def test_a_space_is_held_as_it_is(seed, tmp_path):
    chance = random.Random(seed)
    async with ConfluenceServer(is_cloud=seed % 2 == 0).serving() as server:

        def broken(chance: random.Random):
            part = chance.choice(["storage", "pages?", "type=page", "search", "download"])
            return lambda path: web.Response(status=503) if part in path else None

        emails = {} if server.is_cloud else {name: f"{name}@x.example" for name in PEOPLE}
        await check(
            WikiRuns(server, tmp_path, emails=emails), steps_of(Wiki(server, chance), "some", "body"), chance, broken
        )


@pytest.mark.parametrize("seed", range(max(2, scaled(2))))
async def test_a_project_is_held_as_it_is(seed, tmp_path):
    chance = random.Random(seed)
    async with JiraServer(is_cloud=seed % 2 == 0).serving() as server:

        def broken(chance: random.Random):
            after, asked = chance.randrange(4), []

            def fault(path, body):
                asked.append("search" in path)
                return web.Response(status=503) if asked[-1] and sum(asked) > after else None

            return fault

        runs = TicketRuns(server, tmp_path, attachments=True, security_levels={"Internal": ("email:ann@x.example",)})
        await check(runs, steps_of(Tickets(server, chance), "some", "word"), chance, broken)
