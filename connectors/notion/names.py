"""The names of people, as far as the integration may know them."""

from dataclasses import dataclass, field

from connectors.notion.api import MISSING, Api
from connectors.notion.replies import USER, USERS

_REFUSED = frozenset({403})
"""An integration need not have the right to read who its workspace's people are: then nobody is named."""


@dataclass(slots=True)
class Names:
    """The members of a workspace, asked for once; guests, who are none, one by one."""

    api: Api
    _known: dict[str, str] = field(default_factory=dict)
    _is_listed: bool = False
    _is_allowed: bool = True

    async def of(self, identity: str) -> str:
        """Return the name of a person or bot, "" when Notion doesn't tell it."""
        if identity and not self._is_listed:
            self._is_listed, self._is_allowed = True, False
            async for page in self.api.pages(USERS, "users", passing=_REFUSED):
                self._is_allowed = True
                self._known |= {user.id: user.name or "" for user in page.results}
        if identity and identity not in self._known and self._is_allowed:
            user = await self.api.get(USER, f"users/{identity}", passing=_REFUSED | MISSING)
            self._known[identity] = (user.name or "") if user else ""
        return self._known.get(identity, "")
