"""Whatever happens in a project between runs, what is held at the end is what a first run would find."""

import random
from datetime import timedelta

import pytest
from aiohttp import web

from ragcore.errors import SourceError
from tests.connectors.gitlabs import Runs
from tests.servers.gitlab import GitlabServer
from tests.servers.gitlab.world import Page
from tests.soak import scaled

PLACES = ("a.md", "docs/b.md", "docs/c.md", "docs/deep/d.md", "src/e.py")


class Steps:
    """People at work on a project, at random."""

    def __init__(self, server, project, chance: random.Random) -> None:
        self.server, self.project, self.chance = server, project, chance

    def word(self) -> str:
        return f"word {self.chance.random()}"

    def thing(self):
        things = [*self.project.issues.values(), *self.project.merge_requests.values()]
        return self.chance.choice(things) if things else self.project.open("First", self.word())

    def write(self) -> None:
        self.project.write(self.chance.choice(PLACES), self.word())

    def remove(self) -> None:
        if self.project.files:
            self.project.write(self.chance.choice(list(self.project.files)), None)

    def rename(self) -> None:
        if self.project.files:
            content = self.project.files.pop(self.chance.choice(list(self.project.files)))
            self.project.files[f"{self.chance.choice('xyz')}/{self.chance.choice('xyz')}.md"] = content
            self.project.commit()

    def force(self) -> None:
        self.project.files = {place: self.word().encode() for place in PLACES if self.chance.random() < 0.6}
        self.project.commit(force=True)

    def open(self) -> None:
        self.project.open(self.word(), self.word(), is_merge=self.chance.random() < 0.3)

    def edit(self) -> None:
        self.project.edit(self.thing(), self.word())

    def note(self) -> None:
        thing = self.thing()
        notes = [note for thread in thing.threads for note in thread]
        to = self.chance.choice(notes) if notes and self.chance.random() < 0.5 else None
        self.project.note(thing, self.word(), to=to, internal=self.chance.random() < 0.2)

    def edit_note(self) -> None:
        thing = self.thing()
        for thread in thing.threads[:1]:
            thread[0].body, thing.updated = self.word(), self.project.clock.tick()

    def delete(self) -> None:
        for things in (self.project.issues, self.project.merge_requests):
            if things and self.chance.random() < 0.5:
                del things[self.chance.choice(list(things))]

    def conceal(self) -> None:
        if self.project.issues:
            issue = self.chance.choice(list(self.project.issues.values()))
            issue.confidential, issue.updated = not issue.confidential, self.project.clock.tick()

    def wiki(self) -> None:
        slug = self.chance.choice(["home", "how/to", "faq"])
        if slug in self.project.wiki and self.chance.random() < 0.4:
            del self.project.wiki[slug]
        else:
            self.project.wiki[slug] = Page(slug, self.word())

    def members(self) -> None:
        self.project.visibility = self.chance.choice(["public", "private"])
        username = f"u{self.chance.randrange(3)}"
        if self.chance.random() < 0.5 or not self.project.members:
            role = self.chance.choice([10, 30])
            self.server.member(self.project, username, role=role, public_email=f"{username}@x.example")
        elif len(self.project.members) > 1:
            self.project.members.pop()

    def wait(self) -> None:
        self.project.clock.now += timedelta(minutes=self.chance.choice([1, 20, 90]))


def seen(documents):
    """Return what tells documents apart, but for the commit that an unchanged file was read at."""
    return {
        identity: (one.content, one.readers, one.version, one.url if "/blob/" not in identity else "")
        for identity, one in documents.items()
    }


@pytest.mark.parametrize("seed", range(max(2, scaled(2))))
async def test_what_is_held_is_what_a_first_run_finds(seed, tmp_path, monkeypatch):
    monkeypatch.setattr("connectors.gitlab.threads.PER_PAGE", 3)
    chance = random.Random(seed)
    async with GitlabServer(tree_page=3, has_etags=seed % 2 == 0, counted=(10_000, 3)[seed % 2]).serving() as server:
        project = server.project()
        server.member(project, "dev", public_email="dev@x.example")
        steps = Steps(server, project, chance)
        does = [
            getattr(steps, name) for name in dir(Steps) if not name.startswith("_") and name not in {"thing", "word"}
        ]
        runs = Runs(server, tmp_path, confidential=seed % 3 == 1)
        for _ in range(12):
            for _ in range(chance.randrange(1, 6)):
                chance.choice(does)()
            part = chance.choice(["/issues?", "/tree?", "/compare?", "/raw?", "discussions", "/wikis?"])
            if chance.random() < 0.3:
                server.fault = lambda path, part=part: web.Response(status=503) if part in path else None
            try:
                await runs()
            except SourceError:
                runs.keep()
            server.fault = None
        project.clock.now += timedelta(hours=2)
        await runs()
        if runs.ids - runs.held.keys():
            await runs.fetch(sorted(runs.ids - runs.held.keys()))
        fresh = Runs(server, tmp_path, confidential=seed % 3 == 1)
        await fresh()
        assert seen(runs.held) == seen(fresh.held)
        assert runs.ids == fresh.ids
        await runs()
        assert runs.told == {}
