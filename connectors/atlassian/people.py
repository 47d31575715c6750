"""The e-mail addresses of people and groups, as far as a site tells them: whose isn't told can't be a reader."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from connectors.atlassian.options import AtlassianOptions


class Person(BaseModel):
    """A person as either interface tells: ``accountId`` on Cloud, ``username`` or ``name`` and a key on Data Center."""

    account_id: str | None = Field(default=None, alias="accountId")
    account_type: str | None = Field(default=None, alias="accountType")
    username: str | None = None
    name: str | None = None
    key: str | None = None
    user_key: str | None = Field(default=None, alias="userKey")
    email: str | None = None
    email_address: str | None = Field(default=None, alias="emailAddress")
    display_name: str | None = Field(default=None, alias="displayName")
    public_name: str | None = Field(default=None, alias="publicName")
    active: bool | None = None

    @property
    def shown(self) -> str:
        """The name that readers know."""
        return self.display_name or self.public_name or self.username or self.name or ""


class Group(BaseModel):
    """A group: known by ``id`` on Cloud, by ``name`` on Data Center."""

    id: str | None = None
    name: str | None = None
    group_id: str | None = Field(default=None, alias="groupId")

    def key(self, options: AtlassianOptions) -> str:
        """Return what the group's members are asked by."""
        return ((self.id or self.group_id) if options.is_cloud else self.name) or ""


@dataclass(slots=True)
class People:
    """Knows the addresses of people, and the members of groups, asked for once a run.

    ``ask`` returns the members of a group by its key; none when they may not be seen.
    """

    options: AtlassianOptions
    ask: Callable[[str], Awaitable[list[Person]]]
    _members: dict[str, frozenset[str]] = field(init=False, default_factory=dict)

    def address(self, person: Person) -> str:
        """Return a person's e-mail address in small letters, "" when it is nowhere told."""
        if person.active is False:
            return ""
        told = person.email or person.email_address or ""
        if "@" in told:
            return told.strip().lower()
        for name in (person.account_id, person.username, person.name, person.key, person.user_key):
            if name and name in self.options.emails:
                return self.options.emails[name]
        username = person.username or person.name or ""
        if username and self.options.username_email and not self.options.is_cloud:
            return self.options.username_email.replace("{username}", username).lower()
        return ""

    async def members(self, group: Group) -> frozenset[str]:
        """Return the addresses of a group's members, as far as they are told."""
        key = group.key(self.options)
        if not key:
            return frozenset()
        if key not in self._members:
            self._members[key] = frozenset(filter(None, map(self.address, await self.ask(key))))
        return self._members[key]
