"""The settings: what may stand in ``citebot.toml``, read, merged with the environment, checked, and frozen."""

from bots.settings.grammar import normal_reader, reader_kind
from bots.settings.loading import FILE_NAME, load_settings
from bots.settings.model import (
    PEOPLE,
    AnswerSettings,
    ChannelSettings,
    ChromaSettings,
    DatabaseSettings,
    DiscordSettings,
    EmbeddingSettings,
    KnowledgeBaseSettings,
    LLMSettings,
    MonitoringSettings,
    RerankSettings,
    Settings,
    SlackSettings,
    SourceSettings,
    TaskSettings,
    TelegramSettings,
    TurnSettings,
)
from bots.settings.starter import init_toml

__all__ = [
    "FILE_NAME",
    "PEOPLE",
    "AnswerSettings",
    "ChannelSettings",
    "ChromaSettings",
    "DatabaseSettings",
    "DiscordSettings",
    "EmbeddingSettings",
    "KnowledgeBaseSettings",
    "LLMSettings",
    "MonitoringSettings",
    "RerankSettings",
    "Settings",
    "SlackSettings",
    "SourceSettings",
    "TaskSettings",
    "TelegramSettings",
    "TurnSettings",
    "init_toml",
    "load_settings",
    "normal_reader",
    "reader_kind",
]
