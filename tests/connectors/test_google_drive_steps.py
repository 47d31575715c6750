"""Whatever happens in Drive between runs, what is held at the end is what a first run would find."""

import contextlib
import random

import pytest

from ragcore.errors import SourceError
from tests.connectors.drives import Runs
from tests.servers.google_drive import ACCOUNT, FOLDER, SHEET, GoogleServer, anyone, problem, user
from tests.soak import scaled

PEOPLE = [user("ann@x.example"), user("bob@x.example"), anyone(can_find=True), user(ACCOUNT, "writer")]


class Steps:
    """People at work in a Drive of two folders of My Drive and two shared drives, at random."""

    def __init__(self, server: GoogleServer, chance: random.Random) -> None:
        self.server, self.drive, self.chance = server, server.drive, chance
        self.tops = [self.drive.folder("docs"), self.drive.folder("other")]
        self.tops += [self.drive.shared("shared-1"), self.drive.shared("shared-2")]

    def files(self):
        return [one.id for one in self.drive.items.values() if one.mime != FOLDER]

    def folders(self):
        fixed = {"my-root", *self.tops}
        return [one.id for one in self.drive.items.values() if one.mime == FOLDER and one.id not in fixed]

    def some(self, ids):
        return self.chance.choice(ids) if ids else None

    def place(self, drive: str | None = None) -> str:
        found = [*self.tops, *self.folders()]
        return self.chance.choice([one for one in found if drive is None or self.drive.items[one].drive == drive])

    def write(self) -> None:
        mime = self.chance.choice([SHEET, "text/plain", "text/plain"])
        self.drive.put(self.chance.choice(["a.md", "b/c.md", "draft.md"]), self.text(), self.place(), mime=mime)

    def make_folder(self) -> None:
        self.drive.folder(self.chance.choice(["inner", "drafts", ".hidden"]), self.place())

    def change(self) -> None:
        if one := self.some(self.files()):
            self.drive.write(one, self.text())

    def delete(self) -> None:
        if one := self.some(self.files()):
            self.drive.delete(one)

    def rename(self) -> None:
        if one := self.some([*self.files(), *self.folders()]):
            self.drive.edit(one, name=self.chance.choice(["a.md", "draft.md", "drafts", "inner"]))

    def trash(self) -> None:
        if one := self.some([*self.files(), *self.folders()]):
            self.drive.edit(one, trashed=not self.drive.items[one].trashed)

    def move(self) -> None:
        one = self.some([*self.files(), *self.folders()])
        if one is None:
            return
        item = self.drive.items[one]
        to = self.place(item.drive if item.mime == FOLDER else None)
        if one in {above.id for above in self.drive.chain(self.drive.items[to])}:
            return  # nothing lies in itself
        self.drive.note(one)  # in the log of where it was
        self.drive.edit(one, parent=to, drive=self.drive.items[to].drive)

    def share(self) -> None:
        if one := self.some([*self.files(), *self.folders(), *self.tops]):
            self.drive.share(one, *self.chance.sample(PEOPLE, self.chance.randrange(len(PEOPLE))))

    def forget(self) -> None:
        self.server.oldest = len(self.drive.log)

    def disturb(self) -> None:
        after, answer = self.chance.randrange(12), self.chance.choice([500, 403, 429])

        def fault(request):
            nonlocal after
            after -= 1
            if after:
                return None
            return problem(answer, "rateLimitExceeded" if answer != 500 else "")

        self.server.fault = fault

    def text(self) -> str:
        return f"word {self.chance.random()}"


async def checked(runs: Runs, folder) -> None:
    """Check what is held against a first run."""
    first = Runs(runs.server, folder, **runs.options)
    await first()

    def told(one):
        return (one.content, one.readers, one.name, one.version)

    assert {key: told(one) for key, one in runs.held.items()} == {key: told(one) for key, one in first.held.items()}
    assert runs.cursor
    assert await runs() == set(), "and nothing more is to be read"


@pytest.mark.parametrize("seed", range(scaled(3)))
async def test_what_is_held_is_what_a_first_run_finds(seed, tmp_path):
    chance = random.Random(seed)
    async with GoogleServer().serving() as server:
        steps = Steps(server, chance)
        ways = ({"folders": (steps.tops[0], steps.tops[2])}, {"shared_drives": (steps.tops[2],)}, {})
        runs = Runs(server, tmp_path, **ways[seed % len(ways)], exclude=("drafts", "draft.md"))
        doings = [steps.write, steps.make_folder, steps.change, steps.delete, steps.rename, steps.trash, steps.move]
        doings += [steps.write, steps.move, steps.share, steps.share, steps.forget, steps.disturb]
        for _ in range(6):
            for doing in chance.choices(doings, k=chance.randrange(1, 7)):
                doing()
            with contextlib.suppress(SourceError):
                await runs()
        server.fault = None
        await runs()
        await checked(runs, tmp_path)
