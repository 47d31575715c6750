"""The slash commands, told to Discord only when they have changed."""

import logging
from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

import discord
from discord import app_commands
from discord.app_commands import locale_str
from discord.http import Route

from bots.discord.calling import mapped
from bots.platform import CommandName
from bots.words.commands import LANGUAGES, OPTIONS, description, option_description

log = logging.getLogger(__name__)

_QUESTION, _WHERE, _ALONE, _SOURCE, _WHEN = (
    locale_str(option_description(option), option=option) for option in OPTIONS
)


class Use(Protocol):
    """What a used command leads to."""

    def __call__(
        self,
        interaction: discord.Interaction,
        name: CommandName,
        text: str = "",
        *,
        knowledge_base: str = "",
        ephemeral: bool = False,
    ) -> Awaitable[None]:
        """Take it."""


class Complete(Protocol):
    """What completes a name that somebody types: of a knowledge base, or of a source."""

    def __call__(self, interaction: discord.Interaction, typed: str) -> Awaitable[list[app_commands.Choice[str]]]:
        """Return what fits."""


def command_tree(
    client: discord.Client, use: Use, complete: Complete, complete_source: Complete
) -> app_commands.CommandTree:
    """Return the commands: the same in servers, threads and direct messages."""
    tree = app_commands.CommandTree(
        client,
        allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False),
        allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
    )

    async def completed(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        return await complete(interaction, typed)

    async def source_completed(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        return await complete_source(interaction, typed)

    @tree.command(name="ask", description=_told("ask"))
    @app_commands.describe(question=_QUESTION, knowledge_base=_WHERE, private=_ALONE)
    @app_commands.autocomplete(knowledge_base=completed)
    async def ask(
        interaction: discord.Interaction, question: str, knowledge_base: str = "", private: bool = False
    ) -> None:
        await use(interaction, "ask", question, knowledge_base=knowledge_base, ephemeral=private)

    @tree.command(name="research", description=_told("research"))
    @app_commands.describe(question=_QUESTION, knowledge_base=_WHERE, private=_ALONE)
    @app_commands.autocomplete(knowledge_base=completed)
    async def research(
        interaction: discord.Interaction, question: str, knowledge_base: str = "", private: bool = False
    ) -> None:
        await use(interaction, "research", question, knowledge_base=knowledge_base, ephemeral=private)

    @tree.command(name="summarise", description=_told("summarise"))
    @app_commands.describe(when=_WHEN, private=_ALONE)
    async def summarise(interaction: discord.Interaction, when: str = "", private: bool = False) -> None:
        await use(interaction, "summarise", when, ephemeral=private)

    @tree.command(name="search", description=_told("search"))
    @app_commands.describe(question=_QUESTION, knowledge_base=_WHERE)
    @app_commands.autocomplete(knowledge_base=completed)
    async def search(interaction: discord.Interaction, question: str, knowledge_base: str = "") -> None:
        await use(interaction, "search", question, knowledge_base=knowledge_base, ephemeral=True)

    @tree.command(name="sources", description=_told("sources"))
    async def sources(interaction: discord.Interaction) -> None:
        await use(interaction, "sources", ephemeral=True)

    @tree.command(name="sync", description=_told("sync"))
    @app_commands.describe(source=_SOURCE)
    @app_commands.autocomplete(source=source_completed)
    async def sync_(interaction: discord.Interaction, source: str = "") -> None:
        await use(interaction, "sync", source, ephemeral=True)

    @tree.command(name="why", description=_told("why"))
    async def why(interaction: discord.Interaction) -> None:
        await use(interaction, "why", ephemeral=True)

    @tree.command(name="reset", description=_told("reset"))
    async def reset(interaction: discord.Interaction) -> None:
        await use(interaction, "reset", ephemeral=True)

    @tree.command(name="help", description=_told("help"))
    async def help_(interaction: discord.Interaction) -> None:
        await use(interaction, "help", ephemeral=True)

    return tree


async def sync(tree: app_commands.CommandTree, application: int) -> bool:
    """Tell Discord of the commands, unless it has the very same; return whether it had to be told.

    Raises:
        PlatformError: It doesn't take them, or can't be reached.
    """
    await tree.set_translator(_Words())
    translator = tree.translator
    assert translator is not None
    ours = [await command.get_translated_payload(tree, translator) for command in tree.get_commands()]
    async with mapped():
        theirs = await tree.client.http.request(
            Route("GET", "/applications/{application_id}/commands", application_id=application),
            params={"with_localizations": "true"},
        )
        if _by_name(ours) == _by_name(theirs):
            return False
        await tree.sync()
    log.info("told Discord of %d commands", len(ours))
    return True


class _Words(app_commands.Translator):
    async def translate(
        self, string: locale_str, locale: discord.Locale, context: app_commands.TranslationContextTypes
    ) -> str | None:
        language = str(locale).partition("-")[0].lower()
        if language == "en" or language not in LANGUAGES:
            return None  # Discord shows these the English words
        if "command" in string.extras:
            return description(string.extras["command"], language)
        return option_description(string.extras["option"], language) if "option" in string.extras else None


def _told(name: CommandName) -> locale_str:
    return locale_str(description(name), command=name)


def _by_name(commands: list[Any]) -> Mapping[str, Any]:
    return {command["name"]: _kept(command) for command in commands}


def _kept(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what we say of a command or option; Discord leaves out what stands at its default."""
    return {
        "name": part["name"],
        "description": part["description"],
        "localized": part.get("description_localizations") or {},
        "type": part.get("type", 1),
        "required": part.get("required", False),
        "autocomplete": part.get("autocomplete", False),
        "contexts": sorted(part.get("contexts") or ()),
        "options": [_kept(option) for option in part.get("options") or ()],
    }
