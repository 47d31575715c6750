"""What Jira answers, as far as it is used. Rich text is ADF on Cloud, and wiki markup elsewhere."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter

from connectors.atlassian.people import Person


class Named(BaseModel):
    """A status, a type, a priority, a component, a version, a security level."""

    name: str = ""
    id: str | None = None


class Visibility(BaseModel):
    """Whom a comment is for: a role or a group."""

    type: str = ""
    value: str = ""


class Comment(BaseModel):
    """A comment; ``is_public`` is what a service desk tells."""

    id: str
    author: Person | None = None
    body: Any = None
    created: datetime
    updated: datetime | None = None
    visibility: Visibility | None = None
    is_public: bool | None = Field(default=None, alias="jsdPublic")

    @property
    def is_restricted(self) -> bool:
        """Whether not everybody who sees the issue sees it."""
        return self.visibility is not None or self.is_public is False


class Comments(BaseModel):
    """Some of an issue's comments, of ``total``."""

    comments: list[Comment] = Field(default_factory=list)
    total: int = 0


class Attachment(BaseModel):
    """A file at an issue."""

    id: str
    filename: str
    size: int = 0
    media_type: str = Field(default="", alias="mimeType")
    content: str = ""
    created: datetime | None = None
    author: Person | None = None


class Parent(BaseModel):
    """The issue that another one is part of."""

    key: str


class Fields(BaseModel):
    """What an issue says of itself; ``model_extra`` has the further fields."""

    model_config = {"extra": "allow"}

    summary: str | None = ""
    description: Any = None
    updated: datetime | None = None
    created: datetime | None = None
    status: Named | None = None
    kind: Named | None = Field(default=None, alias="issuetype")
    priority: Named | None = None
    resolution: Named | None = None
    assignee: Person | None = None
    reporter: Person | None = None
    labels: list[str] | None = None
    components: list[Named] | None = None
    versions: list[Named] | None = Field(default=None, alias="fixVersions")
    parent: Parent | None = None
    security: Named | None = None
    restriction: Any = Field(default=None, alias="issuerestriction")
    comment: Comments | None = None
    attachment: list[Attachment] | None = None


class Issue(BaseModel):
    """An issue: its id stays when its key changes."""

    id: str
    key: str
    fields: Fields = Field(default_factory=Fields)
    names: dict[str, str] = Field(default_factory=dict)

    @property
    def level(self) -> str:
        """The name of its security level, "" when it has none; what a team restricts by itself is ``Restricted``."""
        if self.fields.security is not None:
            return self.fields.security.name or "Restricted"
        told = self.fields.restriction
        roles = told.get("issuerestrictions") if isinstance(told, dict) else told
        return "Restricted" if roles else ""


class Found(BaseModel):
    """A page of what a search finds: Cloud names the next one by a token, Data Center counts."""

    issues: list[Issue] = Field(default_factory=list)
    names: dict[str, str] = Field(default_factory=dict)
    token: str | None = Field(default=None, alias="nextPageToken")
    is_last: bool | None = Field(default=None, alias="isLast")
    start: int = Field(default=0, alias="startAt")
    total: int | None = None


class Myself(Person):
    """Whom Jira takes the account for."""

    zone: str = Field(default="", alias="timeZone")


class ServerInfo(BaseModel):
    """Where people find the site."""

    base: str = Field(default="", alias="baseUrl")


FOUND = TypeAdapter(Found)
ISSUE = TypeAdapter(Issue)
COMMENTS = TypeAdapter(Comments)
MYSELF = TypeAdapter(Myself)
SERVER = TypeAdapter(ServerInfo)
