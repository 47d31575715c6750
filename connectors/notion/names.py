"""The names of people, as far as the integration may know them."""

from dataclasses import dataclass, field

from connectors.notion.api import MISSING, Api
from connectors.notion.replies import USER

_REFUSED = 403
"""An integration need not have the right to read who its workspace's people are: then nobody is named."""


@dataclass(slots=True)
class Names:
    """Asks who somebody is, once: the list of all has no guests, and of a large workspace is long."""

    api: Api
    _known: dict[str, str] = field(default_factory=dict)
    _is_allowed: bool = True

    async def of(self, identity: str) -> str:
        """Return the name of a person or bot, "" when Notion doesn't tell it."""
        if identity and identity not in self._known and self._is_allowed:
            user = await self.api.get(USER, f"users/{identity}", passing=MISSING | {_REFUSED})
            self._is_allowed = self.api.status != _REFUSED
            self._known[identity] = (user.name or "") if user else ""
        return self._known.get(identity, "")
