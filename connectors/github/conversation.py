"""An issue or pull request with all that was written on it, as one document."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from connectors.base import SourceDocument
from connectors.forge.text import NOBODY, Part, thread
from connectors.github.replies import COMMENTS, REVIEWS, Comment, Issue, Review, User
from connectors.github.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What stands in one document; ``newest`` is the time of the newest comment."""

    scope: Scope
    issue: Issue
    is_pull: bool
    parts: Sequence[Part]
    newest: datetime | None

    @classmethod
    async def read(cls, scope: Scope, issue: Issue, *, is_pull: bool) -> "Conversation":
        """Read the comments; SourceGone when there are none to be had."""
        comments = await _comments(scope, issue, is_pull=is_pull)
        reviews = await _reviews(scope, issue) if is_pull else []
        times = [comment.updated_at for comment in comments] + [at for review in reviews if (at := review.submitted_at)]
        parts = [*map(_comment, comments), *(part for review in reviews if (part := _review(review)))]
        parts.sort(key=lambda part: part.at)
        return cls(scope=scope, issue=issue, is_pull=is_pull, parts=parts, newest=max(times, default=None))

    def document(self, *, version: str) -> SourceDocument:
        """Return the document, without readers."""
        issue, scope = self.issue, self.scope
        labels = [label if isinstance(label, str) else label.name for label in issue.labels]
        kind, state = "Pull request" if self.is_pull else "Issue", self._state()
        head = f"{kind} #{issue.number} of {scope.name}, {state}." + (
            f" Labels: {', '.join(labels)}." if labels else ""
        )
        first = Part(author=name_of(issue.user), at=issue.created_at, url=issue.html_url, body=issue.body or "")
        text = thread(head, [first, *self.parts])
        return SourceDocument(
            id=scope.identity(place_of(issue.number, is_pull=self.is_pull)),
            source=scope.origin.source,
            content=text.content,
            name=f"{issue.number}.md",
            media_type="text/markdown",
            title=issue.title,
            url=issue.html_url,
            author=name_of(issue.user),
            version=version,
            updated_at=max([issue.updated_at, *([self.newest] if self.newest else [])]),
            metadata={"repository": scope.name, "state": state, "labels": ", ".join(labels)},
            permalinks=text.permalinks,
        )

    def _state(self) -> str:
        merged = self.issue.merged_at or (self.issue.pull_request and self.issue.pull_request.merged_at)
        return "merged" if merged else self.issue.state


def place_of(number: int, *, is_pull: bool) -> str:
    """Return where a thread stands below its repository, in GitHub's own addresses and in ids."""
    return f"{'pull' if is_pull else 'issues'}/{number}"


def name_of(user: User | None) -> str:
    """Return the name of who wrote something."""
    return user.login if user else NOBODY


async def _comments(scope: Scope, issue: Issue, *, is_pull: bool) -> list[Comment]:
    """Return the comments on a thread, and for a pull request those on its lines."""
    path, found = scope.path, list[Comment]()
    lists = [f"{path}/issues/{issue.number}/comments"] if issue.comments != 0 else []
    if is_pull:
        lists.append(f"{path}/pulls/{issue.number}/comments")
    for address in lists:
        async for page in scope.api.pages(COMMENTS, f"{address}?per_page=100"):
            found += page
    return found


async def _reviews(scope: Scope, issue: Issue) -> list[Review]:
    found: list[Review] = []
    async for page in scope.api.pages(REVIEWS, f"{scope.path}/pulls/{issue.number}/reviews?per_page=100"):
        found += page
    return found


def _comment(comment: Comment) -> Part:
    note = f"on `{comment.path}`" if comment.path else ""
    return Part(
        author=name_of(comment.user), at=comment.created_at, url=comment.html_url, body=comment.body or "", note=note
    )


def _review(review: Review) -> Part | None:
    """Return what a reviewer wrote, None when that is nothing or isn't sent yet."""
    if not review.submitted_at or not (review.body or "").strip():
        return None
    return Part(
        author=name_of(review.user),
        at=review.submitted_at,
        url=review.html_url,
        body=review.body or "",
        note="in a review",
    )
