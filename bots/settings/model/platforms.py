"""The tables of chat platforms and of the process that serves them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from bots.settings.grammar import normal_channel
from bots.settings.model.values import (
    DISCORD_URL,
    SLACK_URL,
    TELEGRAM_URL,
    FilterText,
    HttpUrl,
    OptionalUrl,
    Secret,
    Section,
    SlashCommand,
)

Port = Annotated[int, Field(ge=1, le=65535)]


class SlackSettings(Section):
    """Slack; it starts when `bot_token` is there, by Socket Mode with `app_token`, else by signed HTTP."""

    bot_token: Secret | None = Field(default=None, description="`xoxb-…`")
    app_token: Secret | None = Field(default=None, description="`xapp-…`, for Socket Mode")
    signing_secret: Secret | None = Field(default=None, description="for signed HTTP")
    api_url: HttpUrl = Field(default=SLACK_URL, description="another one for GovCloud or a proxy")
    http_host: str = Field(default="127.0.0.1", description="where signed HTTP is listened for")
    http_port: Port = Field(
        default=8082, description="and at which port, under `/slack/events`; put a proxy with TLS before it"
    )
    ask_command: SlashCommand = Field(default="/ask", description="the command that asks a question")
    bot_command: SlashCommand = Field(
        default="/citebot", description="the command for `search`, `sources`, `reset` and `help`"
    )

    @field_validator("bot_command")
    @classmethod
    def _is_another(cls, name: str, info: ValidationInfo) -> str:
        if name == info.data.get("ask_command"):
            raise ValueError("must be another name than ask_command")
        return name


class DiscordSettings(Section):
    """Discord; it starts when `token` is there."""

    token: Secret | None = Field(default=None, description="the bot's token")
    api_url: HttpUrl = Field(default=DISCORD_URL, description="another one for a proxy; it also moves the gateway")
    message_content: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="whether to ask for the message content intent; `auto` does without when it is refused",
    )


class TelegramSettings(Section):
    """Telegram; it starts when `bot_token` is there."""

    bot_token: Secret | None = Field(default=None, description="the bot's token")
    api_url: HttpUrl = Field(default=TELEGRAM_URL, description="another one for a local Bot API server")
    webhook_url: OptionalUrl = Field(default="", description="the public address for updates; default: polling")
    webhook_host: str = Field(default="127.0.0.1", description="where the updates of a webhook are listened for")
    webhook_port: Port = Field(default=8081, description="and at which port; put a proxy with TLS before it")


class ChannelSettings(Section):
    """One channel that differs from the rest."""

    id: Annotated[str, AfterValidator(normal_channel)] = Field(
        description="`slack:T0123/C0456`, `discord:GUILD/CHANNEL` or `telegram:CHAT`; ids, never names"
    )
    knowledge_bases: tuple[str, ...] | None = Field(
        default=None,
        description="narrows what the channel may read, never widens it; default: all that its readers allow",
    )
    filter: FilterText = Field(
        default="", description="search only documents that meet this, such as `team = sales`; default: all"
    )
    respond: Literal["mention", "all", "questions", "off"] = Field(
        default="mention", description="which messages it answers"
    )
    web: bool | None = Field(
        default=None,
        description="whether answers there may rest on the web too, as `[web]` sets it up; default: that table's "
        "`everywhere`, which is no",
    )


class TurnSettings(Section):
    """How questions are taken on the chat platforms."""

    patience: float = Field(
        default=40.0,
        gt=0,
        description="seconds after a question within which an answer, or a plain reason for none, stands",
    )
    catch_up: float = Field(
        default=15.0,
        ge=0,
        description="minutes: what was asked while Citebot was down is answered if it is no older",
    )
    lease: float = Field(
        default=30.0,
        ge=3.0,
        description="seconds after which another process takes up what a dead one left, where several share a database",
    )
    user_limit: int = Field(default=15, gt=0, description="questions a minute of one person")
    channel_limit: int = Field(default=60, gt=0, description="questions a minute in one channel")
    research_limit: int = Field(
        default=10, ge=0, description="researches an hour of one person; 0: none in chats, and none is offered"
    )
    summaries: bool = Field(
        default=True, description="whether what was said in a thread or a channel is summarised for those who ask there"
    )
    pictures: bool = Field(
        default=True,
        description="whether whoever asks to see the cited passages also gets those of PDFs as pictures cut from their "
        "pages; Slack needs the scope `files:write` for it",
    )
    person_limit: int = Field(
        default=5, gt=0, description="questions that one person may take to the owners of documents within 24 hours"
    )
    prompts: tuple[str, ...] = Field(
        default=(), max_length=4, description="questions to suggest to whoever opens a conversation, at most four"
    )


class MonitoringSettings(Section):
    """What `citebot run` tells whoever watches it."""

    port: Port | None = Field(default=None, description="serves `/healthz` and `/metrics` there; default: not at all")
    host: str = Field(default="127.0.0.1", description="where these are listened for")
    log_format: Literal["text", "json"] = Field(default="text", description="`json` writes one object a line")
    log_questions: bool = Field(default=False, description="whether the log holds what people ask")
