"""Issues of a site, found by JQL.

Cloud: https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-search/, whose ``search/jql``
took the place of ``search`` (https://developer.atlassian.com/changelog/#CHANGE-2046); Data Center:
https://developer.atlassian.com/server/jira/platform/rest/.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from connectors.atlassian import Api
from connectors.jira.options import JiraOptions
from connectors.jira.replies import COMMENTS, FOUND, ISSUE, MYSELF, SERVER, Comment, Found, Issue
from ragcore.errors import SourceAuthError, SourceError

PER_PAGE = 50
"""Issues of one page with all that is read of them."""
_PER_LISTING = 1_000
"""The same where next to nothing is asked of each; either edition gives fewer where it will."""
_MOST_COMMENTS = 100
_MOST_AGAIN = 3
"""How often a list is begun anew that shifts while it is read."""
_GONE = frozenset({404})
_ASTRAY = timedelta(hours=13)
"""How far the account's clock may be behind UTC, where it isn't told."""
RESTRICTING = ("security", "issuerestriction")
"""What says that not everybody who may browse the project sees an issue."""
_BASIC = (
    "summary",
    "description",
    "updated",
    "created",
    "status",
    "issuetype",
    "priority",
    "resolution",
    "assignee",
    "reporter",
    "labels",
    "components",
    "fixVersions",
    "parent",
    "project",
    *RESTRICTING,
)


@dataclass(slots=True)
class Search:
    """One account's view of a site's issues."""

    options: JiraOptions
    api: Api
    base: str = ""
    """Where people find the site."""
    zone: tzinfo | None = None
    """The account's time zone, by which JQL reads times; None when it isn't told."""
    names: dict[str, str] = field(default_factory=dict)
    """What further fields are called."""

    @property
    def prefix(self) -> str:
        """Where the interface is."""
        return "/rest/api/3" if self.options.is_cloud else "/rest/api/2"

    async def check(self) -> None:
        """Learn whom the site takes the account for; SourceAuthError for a stranger, who is told less, or nothing."""
        got = await self.api.get(MYSELF, f"{self.prefix}/myself")
        if got.value is None or not (got.value.account_id or got.value.name or got.value.key):
            raise SourceAuthError("Jira takes the account for a stranger", mend="check `token`, and `email` on Cloud")
        try:
            self.zone = ZoneInfo(got.value.zone) if got.value.zone else None
        except (ValueError, OSError):
            self.zone = None
        told = (await self.api.get(SERVER, f"{self.prefix}/serverInfo")).value
        self.base = (told.base if told and told.base else self.options.site).rstrip("/")

    async def changed(self, since: datetime | None) -> AsyncGenerator[list[Issue], None]:
        """Yield the issues updated since a time, page by page, those first that were updated longest ago.

        A page is followed by asking anew from its last minute on: what is updated meanwhile moves to the end, and where
        pages are counted something else would move past what is read.
        """
        start, seen = since, set[tuple[str, datetime | None]]()
        place, places = "", set[str]()
        while True:
            found = await self._page(self._since(start), [*self._fields()], PER_PAGE, place)
            fresh = [one for one in found.issues if (one.id, one.fields.updated) not in seen]
            seen |= {(one.id, one.fields.updated) for one in fresh}
            yield fresh
            following = self._next(found)
            if not following:
                return
            newest = max((one.fields.updated for one in found.issues if one.fields.updated), default=None)
            moved = newest.replace(second=0, microsecond=0) if newest else None
            if moved is not None and (start is None or moved > start):
                start, place, places = moved, "", set()
            else:
                place = _onward(following, places)

    async def listed(self) -> AsyncGenerator[list[Issue], None]:
        """Yield all issues with what decides whether they are read, and their attachments where those are."""
        fields = [*RESTRICTING, *(["attachment"] if self.options.attachments else [])]
        place, last, again, places = "", "", 0, set[str]()
        while True:
            found = await self._page(f"{self.options.scope} ORDER BY created ASC", fields, _PER_LISTING, place)
            if last and [one.id for one in found.issues[:1]] != [last]:
                again += 1
                if again > _MOST_AGAIN:
                    raise SourceError("issues were deleted while they were listed", mend="try again later")
                place, last, places = "", "", set()
                continue
            yield found.issues
            place = self._next(found)
            if not place:
                return
            _onward(place, places)
            if not self.options.is_cloud and len(found.issues) > 1:
                # Pages are counted: the next one begins with this one's last, or something before it has gone.
                place, last = str(int(place) - 1), found.issues[-1].id

    async def one(self, native: str) -> Issue | None:
        """Return an issue by its id, None when it is gone or isn't among those that are read."""
        asked: dict[str, str | int] = {"fields": ",".join(self._fields()), "expand": "names"}
        got = await self.api.get(ISSUE, f"{self.prefix}/issue/{native}", asked, passing=_GONE)
        if got.value is None:
            return None
        self.names |= got.value.names
        found = await self._page(f"id = {native} AND {self.options.scope}", ["security"], 1, "", settled=native)
        return got.value if found.issues else None

    async def comments(self, issue: Issue) -> list[Comment]:
        """Return all comments on an issue, oldest first."""
        told = issue.fields.comment
        if not self.options.comments:
            return []
        found = {one.id: one for one in told.comments} if told else {}
        # A search of a Data Center doesn't tell which comments of a service desk are for its agents alone.
        is_half_told = not self.options.is_cloud and bool(found) and issue.may_be_request
        if told is None or told.total > len(told.comments) or is_half_told:
            found, start = {}, 0
            while True:
                asked: dict[str, str | int] = {"startAt": start, "maxResults": _MOST_COMMENTS}
                asked |= {} if self.options.is_cloud else {"expand": "properties"}
                got = (await self.api.get(COMMENTS, f"{self.prefix}/issue/{issue.id}/comment", asked)).value
                page = got.comments if got else []
                found |= {one.id: one for one in page}
                start += len(page)
                if not page or got is None or start >= got.total:
                    break
        return sorted(found.values(), key=lambda one: (one.created, one.id))

    def download(self, native: str, content: str) -> str:
        """Return where an attachment is read."""
        if self.options.is_cloud:
            return self.api.address(f"{self.prefix}/attachment/content/{quote(native, safe='')}")
        path = content.partition("/secure/")[2]
        return self.api.address(f"/secure/{path}" if path else f"/secure/attachment/{quote(native, safe='')}/")

    def _fields(self) -> Sequence[str]:
        options = self.options
        wanted = [*_BASIC, *options.fields]
        return [*wanted, *(["comment"] * options.comments), *(["attachment"] * options.attachments)]

    def _since(self, start: datetime | None) -> str:
        if start is None:
            return f"{self.options.scope} ORDER BY updated ASC"
        return f'{self.options.scope} AND updated >= "{self._local(start)}" ORDER BY updated ASC'

    def _local(self, at: datetime) -> str:
        """Return a time as JQL takes it, in whole minutes of the account's clock; an hour before where that is set."""
        if self.zone is None:
            return f"{(at.astimezone(UTC) - _ASTRAY):%Y/%m/%d %H:%M}"
        told = at.astimezone(self.zone)
        hour = timedelta(hours=1)
        before, after = (at - 2 * hour).astimezone(self.zone), (at + 2 * hour).astimezone(self.zone)
        turned = before.utcoffset() != told.utcoffset() or after.utcoffset() != told.utcoffset()
        return f"{((at - hour).astimezone(self.zone) if turned else told):%Y/%m/%d %H:%M}"

    async def _page(self, jql: str, fields: list[str], limit: int, place: str, *, settled: str = "") -> Found:
        """Return a page of a search; ``settled`` is the id of an issue that must be as it is now."""
        body: dict[str, Any] = {"jql": jql, "fields": fields, "maxResults": limit}
        if self.options.is_cloud:
            body |= {"nextPageToken": place} if place else {}
            body |= {"reconcileIssues": [int(settled)]} if settled else {}
            body |= {"expand": "names"} if self.options.fields else {}
        else:
            body |= {"startAt": int(place or 0), "validateQuery": True}
            body |= {"expand": ["names"]} if self.options.fields else {}
        path = f"{self.prefix}/search/jql" if self.options.is_cloud else f"{self.prefix}/search"
        found = await self.api.post(FOUND, path, body)
        self.names |= found.names
        return found

    def _next(self, found: Found) -> str:
        """Return where the next page is, "" after the last one."""
        if self.options.is_cloud:
            return "" if found.is_last or not found.token else found.token
        end = found.start + len(found.issues)
        if found.total is None or end >= found.total:
            return ""
        if not found.issues:
            raise SourceError(f"a search breaks off at {end} of {found.total} issues", mend="rebuild Jira's index")
        return str(end)


def _onward(place: str, places: set[str]) -> str:
    """Return where the next page of a search is, and remember it; SourceError where the search has been there."""
    if place in places:
        raise SourceError("the pages of a search lead in a circle", mend="try again later")
    places.add(place)
    return place
