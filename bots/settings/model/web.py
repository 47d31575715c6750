"""The table of the web as a place to search."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field, model_validator

from bots.settings.model.values import Network, OptionalUrl, Secret, Section

WEB_KEYS: Mapping[str, str] = MappingProxyType({"tavily": "TAVILY_API_KEY", "brave": "BRAVE_API_KEY"})
"""Under which name the environment has the key of each engine that needs one."""


class WebSettings(Section):
    """A search engine of the web, whose results stand beside the documents in answers, marked as such.

    An engine is sent the question as the asker typed it, with words of earlier questions that they typed in the same
    conversation where it leans on these, and nothing else. In the terminal it is searched once this table is there; on
    chat platforms only where `web = true` stands under `[[channels]]`, or `everywhere` here.
    """

    provider: Literal["tavily", "brave", "searxng"] = Field(
        description="the engine: `tavily` and `brave` need a key, `searxng` the address of an instance that answers "
        "in JSON"
    )
    api_key: Secret | None = Field(
        default=None,
        description="the engine's key; else from `TAVILY_API_KEY` or `BRAVE_API_KEY`; SearXNG itself needs none",
    )
    base_url: OptionalUrl = Field(
        default="", description="address of the SearXNG instance; for the others, that of a proxy"
    )
    results: int = Field(default=3, ge=1, le=10, description="how many passages of the web an answer may rest on")
    seconds: float = Field(
        default=4.0,
        gt=0,
        le=30,
        description="how long searching the web and reading its pages may take; after that the answer goes on without",
    )
    everywhere: bool = Field(
        default=False, description="also where no `[[channels]]` table says whether, private conversations among them"
    )
    networks: tuple[Network, ...] = Field(
        default=(), description="networks besides public addresses whose pages may be read; default: none"
    )

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if self.provider == "searxng" and not self.base_url:
            raise ValueError('base_url is missing: provider = "searxng" needs the address of its instance')
        name = WEB_KEYS.get(self.provider)
        if name and not (self.api_key and self.api_key.get_secret_value()):
            raise ValueError(f'api_key is missing: provider = "{self.provider}" needs one; set {name}, or write it')
        key = self.api_key.get_secret_value() if self.api_key else ""
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ValueError("api_key must be one word of ASCII characters, as the engine gave it")
        return self
