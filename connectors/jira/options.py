"""The settings of the source type ``jira``."""

import re

from pydantic import Field, field_validator, model_validator

from connectors.atlassian import AtlassianOptions
from connectors.cursors import basis_of
from connectors.patterns import Patterns
from connectors.readers import checked_readers

_PROJECT = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ORDER = re.compile(r"\border\s+by\b", re.IGNORECASE)
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class JiraOptions(AtlassianOptions):
    """Issues of Jira, on Cloud or on a Data Center or Server of one's own, found by project or by JQL.

    An issue is a document: type, status, people, labels and what else it says of itself, its description, and its
    comments, each linked by its own address. An issue that is moved to another project stays the same document; one
    that is deleted, or that `jql` no longer finds, is deleted.

    Who may read: Jira tells the operator of a bot neither who may browse a project nor who belongs to a security level.
    So issues are for whoever reads the knowledge base, or for `readers`: give each circle a knowledge base of its own.
    An issue with a security level is left out unless `security_levels` names who reads that level. Comments for one
    role or group alone, and internal ones of a service desk, are left out unless `restricted_comments` takes them.

    Each run asks for what was updated since the last one, and lists the ids of all; every `recheck_hours` all issues
    are looked through again, for what doesn't move an issue's time.
    """

    projects: tuple[str, ...] = Field(default=(), description='keys of projects, such as `["HELP", "DEV"]`')
    jql: str = Field(
        default="",
        description="which issues, such as `statusCategory = Done AND labels = docs`; with `projects`, of these. One "
        "of both is needed",
    )
    comments: bool = Field(default=True, description="whether comments are read")
    restricted_comments: bool = Field(
        default=False, description="whether comments count that only a role, a group or a service desk's agents see"
    )
    security_levels: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description='who reads issues with a security level, by its name: `{"Internal" = ["email:ann@example.org"]}`; '
        "those with another one are left out. What a team restricts by itself is `Restricted`",
    )
    fields: tuple[str, ...] = Field(
        default=(), description='ids of further fields to read, such as `["customfield_10016", "environment"]`'
    )
    attachments: bool = Field(default=False, description="whether attachments are read, each a document of its own")
    include: Patterns = Field(
        default=(), description='glob patterns of attachments to take, such as `["*.pdf"]`; default: all but pictures'
    )
    exclude: Patterns = Field(default=(), description="glob patterns of attachments to leave out")
    max_megabytes: float = Field(default=50, gt=0, le=1_000, description="larger attachments are reported, not read")
    recheck_hours: float = Field(default=24, gt=0, description="hours after which all issues are looked through again")

    @field_validator("projects")
    @classmethod
    def _are_keys(cls, keys: tuple[str, ...]) -> tuple[str, ...]:
        for key in keys:
            if not _PROJECT.fullmatch(key):
                raise ValueError(f'"{key}" is no key of a project; it stands before the number of each issue')
        return tuple(key.upper() for key in keys)

    @field_validator("jql")
    @classmethod
    def _is_unordered(cls, jql: str) -> str:
        if _ORDER.search(re.sub(r"\"[^\"]*\"|'[^']*'", "", jql)):
            raise ValueError("leave ORDER BY out: issues are read by their time")
        return jql.strip()

    @field_validator("fields")
    @classmethod
    def _are_fields(cls, fields: tuple[str, ...]) -> tuple[str, ...]:
        for name in fields:
            if not _FIELD.fullmatch(name):
                raise ValueError(f'"{name}" is no id of a field; write one such as customfield_10016')
        return fields

    @field_validator("security_levels")
    @classmethod
    def _name_readers(cls, levels: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        return {name: checked_readers(readers) for name, readers in levels.items()}

    @model_validator(mode="after")
    def _says_which(self) -> "JiraOptions":
        if not (self.projects or self.jql):
            raise ValueError("name `projects` or `jql`: which issues are to be read?")
        return self

    @property
    def scope(self) -> str:
        """Which issues, in JQL."""
        parts = [f"project in ({', '.join(_quoted(key) for key in self.projects)})"] if self.projects else []
        return " AND ".join([*parts, *([f"({self.jql})"] if self.jql else [])])

    @property
    def limit(self) -> int:
        """The most bytes of an attachment."""
        return int(self.max_megabytes * 1_000_000)

    def basis(self) -> str:
        """Return what changes when the same issues would make other documents, or other issues be read."""
        return basis_of(
            self.site,
            self.scope,
            self.comments,
            self.restricted_comments,
            sorted(self.security_levels.items()),
            self.fields,
            self.attachments,
            self.include,
            self.exclude,
            self.max_megabytes,
            self.readers,
        )


def _quoted(key: str) -> str:
    return f'"{key}"'
