"""What goes wrong around Slack's events, at a bad moment."""

from ragcore.errors import StoreError
from tests.bots.slack.scene import serving
from tests.fakes.inbox import Kept
from tests.fakes.waiting import until
from tests.servers.slack import slack_server


class AwayAtFirst(Kept):
    async def connected(self) -> None:
        await super().connected()
        if self.connections < 3:
            raise StoreError("the database is away")


async def test_what_was_missed_is_read_back_once_the_database_is_there() -> None:
    inbox = AwayAtFirst()
    async with slack_server() as server, serving(server, inbox):
        await until(lambda: inbox.connections == 3)
