"""What Jira answers, as far as it is used. Rich text is ADF on Cloud, and wiki markup elsewhere."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter

from connectors.atlassian.people import Person

_INTERNAL = "sd.public.comment"
"""The property by which a service desk keeps a comment among its agents."""
_NO_DESK = frozenset({"software", "business"})


class Named(BaseModel):
    """A status, a type, a priority, a component, a version, a security level."""

    name: str = ""
    id: str | None = None


class Visibility(BaseModel):
    """Whom a comment is for: a role or a group, which may be gone."""

    type: str | None = ""
    value: str | None = ""


class Property(BaseModel):
    """What an app notes at a comment."""

    key: str = ""
    value: Any = None


class Comment(BaseModel):
    """A comment; ``is_public`` is what a service desk of Cloud tells, and one of a Data Center by a property."""

    id: str
    author: Person | None = None
    body: Any = None
    created: datetime
    updated: datetime | None = None
    visibility: Visibility | None = None
    is_public: bool | None = Field(default=None, alias="jsdPublic")
    properties: list[Property] | None = None

    @property
    def at(self) -> datetime:
        """When it was written last."""
        return self.updated or self.created

    @property
    def is_restricted(self) -> bool:
        """Whether not everybody who sees the issue sees it."""
        notes = [one.value for one in self.properties or () if one.key == _INTERNAL]
        is_internal = any(isinstance(note, dict) and str(note.get("internal")).lower() == "true" for note in notes)
        return self.visibility is not None or self.is_public is False or is_internal


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

    def at_level_of(self, other: "Issue") -> "Issue":
        """Return it for those whom it is for by what was told of it at another time."""
        told = {"security": other.fields.security, "restriction": other.fields.restriction}
        return self.model_copy(update={"fields": self.fields.model_copy(update=told)})

    @property
    def may_be_request(self) -> bool:
        """Whether its project may be a service desk: where that isn't told, it may."""
        told = (self.fields.model_extra or {}).get("project")
        return not (isinstance(told, dict) and told.get("projectTypeKey") in _NO_DESK)

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
