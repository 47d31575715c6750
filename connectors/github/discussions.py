"""Discussions, which GitHub tells by GraphQL alone.

https://docs.github.com/en/graphql/guides/using-the-graphql-api-for-discussions
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connectors.base import Estimate, Failure, SourceDocument, Tombstone
from connectors.cursors import reached, since
from connectors.forge.stamps import Stamp
from connectors.forge.text import Part, thread
from connectors.github.conversation import name_of
from connectors.github.replies import (
    DISCUSSION,
    DISCUSSIONS,
    POSTS,
    Discussion,
    Discussions,
    Listed,
    PageInfo,
    Post,
    Posts,
)
from connectors.github.scope import Scope
from ragcore.errors import SourceBadReply, SourceError, SourceGone

PLACE = "discussions/"
_POST = "id url body author { login } createdAt"
_PAGE = "pageInfo { hasNextPage endCursor }"
_LIST = f"""query ($owner: String!, $name: String!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    discussions(first: 100, after: $after, orderBy: {{field: UPDATED_AT, direction: DESC}}) {{
      totalCount {_PAGE} nodes {{ number updatedAt comments {{ totalCount }} }}
    }}
  }}
}}"""
_ONE = f"""query ($owner: String!, $name: String!, $number: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    discussion(number: $number) {{
      number title body url author {{ login }} createdAt updatedAt category {{ name }}
      total: comments {{ totalCount }}
      comments(first: 50, after: $after) {{
        {_PAGE} nodes {{ {_POST} isAnswer replies(first: 100) {{ {_PAGE} nodes {{ {_POST} }} }} }}
      }}
    }}
  }}
}}"""
_REPLIES = f"""query ($id: ID!, $after: String) {{
  node(id: $id) {{
    ... on DiscussionComment {{ replies(first: 100, after: $after) {{ {_PAGE} nodes {{ {_POST} }} }} }}
  }}
}}"""


@dataclass(slots=True)
class DiscussionReader:
    """Reads one repository's discussions."""

    scope: Scope
    numbers: dict[int, None] = field(default_factory=dict)
    """All that there are."""
    newest: datetime | None = None
    """The newest time that was told."""

    @property
    def ids(self) -> list[str]:
        """The ids of all that there are."""
        return [self._identity(number) for number in self.numbers]

    async def changes(
        self, cursor: str | None, known: Mapping[str, str], before: Sequence[int] = ()
    ) -> AsyncGenerator[SourceDocument | Failure | Estimate | None, None]:
        """Yield every discussion that is new or has changed; None after each batch. Fills ``numbers``.

        The list is read from its newest end until what the cursor has seen. When GitHub counts as many as there were
        (``before``) and as are new then, none is gone; else the list is read to its end. What is known would not do
        for that: a discussion that failed isn't among it, and one that is gone would stand for it.
        """
        start, numbers = since(cursor), dict.fromkeys(before)
        found = dict[int, None]()
        async for page in self._pages():
            listed = [one for one in page.nodes if one]
            found |= {one.number: None for one in listed}
            for one in listed:
                self.newest = one.updatedAt if self.newest is None else max(self.newest, one.updatedAt)
            due = [one for one in listed if self._is_due(one, known)]
            if due:
                yield Estimate(documents=len(due))
            for one in due:
                change = await self._read(one.number)
                if change is not None:
                    yield change
            yield None
            is_reached = start is not None and any(one.updatedAt < start for one in listed)
            if is_reached and len(numbers | found) == page.totalCount:
                found = numbers | found
                break
        self.numbers = found

    def reached(self, cursor: str | None) -> str | None:
        """Return the cursor after ``changes``: nothing that changed while it ran lies before it."""
        date = self.scope.date
        return reached(cursor, min(self.newest, date) if self.newest and date else self.newest)

    async def list_ids(self) -> None:
        """Fill ``numbers`` alone."""
        async for page in self._pages():
            self.numbers |= {one.number: None for one in page.nodes if one}

    async def fetch(self, places: Sequence[str]) -> AsyncGenerator[SourceDocument | Failure | Tombstone, None]:
        """Yield these discussions as they are now."""
        for place in dict.fromkeys(places):
            number = place.removeprefix(PLACE)
            change = await self._read(int(number)) if number.isascii() and number.isdigit() else None
            yield change or Tombstone(id=self.scope.identity(place))

    def _is_due(self, listed: Listed, known: Mapping[str, str]) -> bool:
        stamp = Stamp.of(salt=self.scope.salt, updated=listed.updatedAt, comments=listed.comments.totalCount)
        return not Stamp.from_version(known.get(self._identity(listed.number), "")).tells_of(stamp)

    async def _pages(self) -> AsyncGenerator[Discussions, None]:
        after, seen = None, set[str | None]()
        while True:
            repository = await self._repository(_LIST, after=after)
            page = self.scope.api.checked(DISCUSSIONS, repository.get("discussions"))
            yield page
            if (after := self._following(page.pageInfo, seen)) is None:
                return

    async def _read(self, number: int) -> SourceDocument | Failure | None:
        """Return a discussion as a document, None when it is gone."""
        try:
            document = await self._document(number)
        except SourceError as error:
            return self.scope.known(await self.scope.mishaps.failure(self._identity(number), error))
        self.scope.mishaps.passed()
        return document

    async def _document(self, number: int) -> SourceDocument | None:
        found, parts = None, list[Part]()
        after, seen = None, set[str | None]()
        while True:
            repository = await self._repository(_ONE, number=number, after=after)
            if repository.get("discussion") is None:
                return None
            found = self.scope.api.checked(DISCUSSION, repository["discussion"])
            for comment in filter(None, found.comments.nodes):
                parts.append(_part(comment, "the answer" if comment.isAnswer else ""))
                async for reply in self._replies(comment):
                    parts.append(_part(reply, "in reply"))
            if (after := self._following(found.comments.pageInfo, seen)) is None:
                return await asyncio.to_thread(self._made, found, parts)

    def _made(self, found: Discussion, parts: Sequence[Part]) -> SourceDocument:
        scope, category = self.scope, found.category.name if found.category else ""
        head = f"Discussion #{found.number} of {scope.name}" + (f", {category}." if category else ".")
        first = Part(author=name_of(found.author), at=found.createdAt, url=found.url, body=found.body)
        text = thread(head, [first, *parts])
        stamp = Stamp.of(salt=scope.salt, updated=found.updatedAt, comments=found.total.totalCount)
        return scope.known(
            SourceDocument(
                id=self._identity(found.number),
                source=scope.origin.source,
                content=text.content,
                name=f"{found.number}.md",
                media_type="text/markdown",
                title=found.title,
                url=found.url,
                author=name_of(found.author),
                version=stamp.version,
                updated_at=found.updatedAt,
                metadata={"repository": scope.name, "category": category},
                permalinks=text.permalinks,
            )
        )

    async def _replies(self, comment: Post) -> AsyncGenerator[Post, None]:
        page, seen = comment.replies, set[str | None]()
        while page is not None:
            for reply in filter(None, page.nodes):
                yield reply
            if (after := self._following(page.pageInfo, seen)) is None:
                return
            page = await self._more_replies(comment.id, after)

    def _following(self, told: PageInfo, seen: set[str | None]) -> str | None:
        """Return where the next page begins, None after the last; a list that leads back is no whole one."""
        if not told.hasNextPage:
            return None
        if told.endCursor is None or told.endCursor in seen:
            raise SourceBadReply(f"the pages of {self.scope.name} lead in a circle", mend="try again later")
        seen.add(told.endCursor)
        return told.endCursor

    async def _more_replies(self, comment: str, after: str | None) -> Posts | None:
        data, _ = await self.scope.api.query(_REPLIES, {"id": comment, "after": after})
        node = data.get("node")
        if not isinstance(node, dict) or node.get("replies") is None:
            return None  # the comment was deleted meanwhile
        return self.scope.api.checked(POSTS, node["replies"])

    async def _repository(self, text: str, **variables: object) -> dict[str, Any]:
        owner, _, name = self.scope.about.full_name.partition("/")
        data, missing = await self.scope.api.query(text, {"owner": owner, "name": name, **variables})
        found = data.get("repository")
        if isinstance(found, dict):
            return found
        if missing:
            raise SourceGone(f"GitHub tells no discussions of {self.scope.name}: {missing}", mend="check the token")
        raise SourceBadReply(f"GitHub told nothing of {self.scope.name}", mend="try again later")

    def _identity(self, number: int) -> str:
        return self.scope.identity(f"{PLACE}{number}")


def _part(post: Post, note: str) -> Part:
    return Part(author=name_of(post.author), at=post.createdAt, url=post.url, body=post.body, note=note)
