"""What happens in a channel that is read is in the index soon after, and open to whom the channel is open."""

import asyncio
import pathlib
import time

from bots.app import open_operations
from bots.app.following import Following
from bots.requests import Sync
from bots.settings import load_settings
from connectors.registry import options_model
from tests.bots.handbook import told
from tests.connectors.slacks import C, workspace

SETTINGS = """
[knowledge_bases.kb]
readers = ["slack:T0001"]
[[sources]]
name = "docs"
type = "slack"
knowledge_base = "kb"
token = "{token}"
api_url = "{url}/api/"
"""


async def test_a_reply_to_an_old_thread_and_a_private_word(tmp_path: pathlib.Path) -> None:
    async with workspace() as server:
        server.channel("C2").private = True
        first = server.say(C, "Is the valve open?", at=time.time() - 200 * 86_400)
        file = tmp_path / "citebot.toml"
        file.write_text(SETTINGS.format(token=server.bot_token, url=server.url), encoding="utf-8")
        settings = load_settings(file, source_model=options_model)
        async with open_operations(settings, mending=False) as operations:
            registry = operations._parts.library.registry

            async def become(*expected: str) -> list[str]:
                async with asyncio.timeout(20):
                    while True:
                        ids = await registry.document_ids("docs")
                        text = "\n".join(chunk.text for chunk in await registry.chunks_of(ids))
                        if all(word in text for word in expected):
                            return ids
                        await asyncio.sleep(0.02)

            await told(operations, Sync())
            assert len(await become("Is the valve open?")) == 1
            following = Following(settings, ["slack"], operations.refresh, join=0.05)
            take = following.of("slack")
            assert take is not None
            server._events.emit = lambda event, **more: take({**event, "team": server.team}) or "Ev"  # type: ignore[method-assign,func-returns-value]
            async with following.going_on():
                server.say(C, "Not since Friday.", user="U2", thread=first["ts"])
                (thread,) = await become("Is the valve open?", "Not since Friday.")
                assert thread == f"docs:C1/{first['ts']}"
                said = server.say("C2", "The key hangs in room 4.")
                ids = await become("room 4")
                (secret,) = set(ids) - {thread}
                document = await registry.document(secret)
                assert document is not None
                assert document.readers == {"slack:T0001/C2"}
                server.edit("C2", said, "The key hangs in room 5.")
                await become("room 5")
                server.delete("C2", said)
                async with asyncio.timeout(20):
                    while await registry.document_ids("docs") != [thread]:  # noqa: ASYNC110 (a database tells no event)
                        await asyncio.sleep(0.02)
            before = await registry.document(thread)
            await told(operations, Sync())
            assert await registry.document(thread) == before, "a run finds nothing to add"
