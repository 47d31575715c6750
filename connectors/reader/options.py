"""The settings of the source type ``reader``."""

import json
import re
from typing import Any, Literal

from pydantic import Field, SecretStr, field_validator

from connectors.base import Options, TimeZoneName
from connectors.rows import BaseUrl

_PATH = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*[.:][^\W\d]\w*(?:\.[^\W\d]\w*)*")


class ReaderOptions(Options):
    """Whatever a reader of LlamaIndex or a document loader of LangChain reads: more than 160 further sources.

    `loader` names the class as Python imports it, or a method of the class that makes one; its package is yours to
    install, beside Citebot. It is made with `arguments` and `secrets`, and asked for its documents with
    `load_arguments`: of `lazy_load`, `lazy_load_data`, `load_data` and `load` the first that it has, then those that
    begin with an `a`, or what `method` names.

    **It runs the code of that package**, with the rights of the user that runs Citebot: install only what you would run
    yourself. It runs in a process of its own, in the folder of the settings file, which is ended when it is done or
    says nothing for `timeout` seconds, so it can neither block an answer nor keep memory.

    Readers can't tell what has changed, so each run reads everything; what is the same, by its text and what is shown
    with it, isn't indexed again. What a run yields is all there is: what it no longer yields is deleted, within the
    guard that holds for every listing. One that ends in an error deletes nothing.

    A document is known by what `id` names in its metadata, else by an id of its own that isn't drawn at random, else by
    where it is from (`source`, `file_path`, `url`, with its page), numbered where several are from there, else by its
    text: a changed one is then another one. A document without text is left out. One whose text, metadata or id isn't
    of the due kind is named and hides no other; where nothing tells which one it is, such documents are counted, and
    none that it may be is deleted.
    """

    loader: str = Field(
        description="the class, such as `llama_index.core.SimpleDirectoryReader` or "
        "`langchain_community.document_loaders.TextLoader`"
    )
    arguments: dict[str, Any] = Field(default_factory=dict, description="what the class is made with, by name")
    secrets: dict[str, SecretStr] = Field(
        default_factory=dict, description='further arguments, kept out of messages: `{ api_key = "${WIKI_KEY}" }`'
    )
    load_arguments: dict[str, Any] = Field(default_factory=dict, description="what its method is called with, by name")
    method: str = Field(default="", description="the method that gives the documents; default: the best that it has")
    id: str = Field(default="", description="the name in a document's metadata that tells it from all others")
    title: str = Field(default="", description="the name of its title; default: `title`, `file_name` or `name`")
    url: str = Field(
        default="", description="the name of the address where a reader finds it; default: `url`, `link` or `source`"
    )
    author: str = Field(default="", description="the name of who wrote it; default: `author`")
    updated_at: str = Field(
        default="", description="the name of the time of its last change; default: `updated_at` or `last_modified…`"
    )
    readers: str = Field(
        default="",
        description="the name of who may read it: a list of readers as in the settings, or of e-mail addresses; a "
        "document without one is then the operator's. Default: whoever the knowledge base lets",
    )
    text_format: Literal["auto", "text", "markdown", "html"] = Field(
        default="auto", description="what the texts are written in; `auto`: what each looks like"
    )
    base_url: BaseUrl = Field(
        default="", description="where a reader finds a document that has no address: `{id}` stands for its id"
    )
    timezone: TimeZoneName = Field(
        default="UTC", description="the zone of times that tell none, such as `Europe/Berlin`"
    )
    timeout: float = Field(
        default=300, gt=0, le=590, description="seconds that may pass until the first document, or the next"
    )
    max_megabytes: float = Field(default=20, gt=0, description="larger texts are reported instead of taken")

    @field_validator("loader")
    @classmethod
    def _is_path(cls, path: str) -> str:
        if not _PATH.fullmatch(path):
            raise ValueError('must be a class as Python imports it, such as "llama_index.core.SimpleDirectoryReader"')
        return path

    @field_validator("method")
    @classmethod
    def _is_method(cls, method: str) -> str:
        if method and (not method.isidentifier() or method.startswith("_")):
            raise ValueError('must be the name of a method, such as "load_data"')
        return method

    @field_validator("arguments", "load_arguments")
    @classmethod
    def _are_arguments(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            json.dumps(arguments)
        except (TypeError, ValueError):
            raise ValueError("must be texts, numbers, lists and tables; write dates in quotes") from None
        return arguments

    def hidden(self) -> list[str]:
        """Return the secrets, which no message may hold."""
        return sorted({secret.get_secret_value() for secret in self.secrets.values()} - {""})
