"""What is said, edited and deleted on Discord reaches a source that reads it, within seconds and without a run."""

import asyncio
import pathlib
from typing import Any

from bots.app import Operations, open_operations
from bots.app.following import Following
from bots.requests import Sync
from bots.settings import Settings, load_settings
from connectors.registry import options_model
from tests.bots.handbook import told
from tests.connectors.discords import DAY, GENERAL, GUILD, a_server, post
from tests.servers.discord import DiscordServer


def settings_of(folder: pathlib.Path, server: DiscordServer) -> Settings:
    (folder / "citebot.toml").write_text(
        f'[[sources]]\nname = "chat"\ntype = "discord"\nknowledge_base = "kb"\ntoken = "{server.token}"\n'
        f'servers = ["{GUILD}"]\napi_url = "{server.url}"\n',
        encoding="utf-8",
    )
    return load_settings(folder / "citebot.toml", source_model=options_model)


async def holds(operations: Operations, *, words: set[str], none_of: set[str]) -> None:
    """Wait until the index says these words, and none of those."""
    registry = operations._parts.library.registry
    async with asyncio.timeout(20):
        while True:
            chunks = await registry.chunks_of(await registry.document_ids("chat"))
            text = "\n".join(chunk.text for chunk in chunks)
            if all(word in text for word in words) and not any(word in text for word in none_of):
                return
            await asyncio.sleep(0.05)


async def test_what_is_said_edited_and_deleted_is_followed(tmp_path: pathlib.Path) -> None:
    async with a_server() as server:
        old = await server.say(GENERAL, "The pump is blue.", age=7 * DAY)
        wrong = await server.say(GENERAL, "Hit it.", age=8 * DAY)
        thread = post(server, "Valve", "How do I open the valve?")
        settings = settings_of(tmp_path, server)
        async with open_operations(settings, mending=False) as operations:
            await told(operations, Sync())
            await holds(operations, words={"blue", "Hit it", "How do I"}, none_of=set())
            following = Following(settings, ["discord"], operations.refresh, join=0.05)
            take = following.of("discord")
            assert take is not None

            async def tell(name: str, data: dict[str, Any]) -> None:
                take({"t": name, "d": data})

            server.tell = tell  # type: ignore[method-assign]
            async with following.going_on():
                await server.say(thread, "Turn it left.")
                await server.edit(old, "The pump is grey.")
                await server.delete(wrong)
                await holds(operations, words={"Turn it left", "grey", "How do I"}, none_of={"blue", "Hit it"})
