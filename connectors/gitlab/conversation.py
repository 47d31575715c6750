"""An issue or merge request with all that was written on it, as one document."""

from dataclasses import dataclass

from connectors.base import SourceDocument
from connectors.forge.text import NOBODY, Part, thread
from connectors.gitlab.api import PER_PAGE
from connectors.gitlab.replies import DISCUSSIONS, Discussion, Issue, Note, User
from connectors.gitlab.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Issues or merge requests: ``name`` as settings and addresses have it, ``sign`` before their numbers."""

    name: str
    noun: str
    sign: str

    @property
    def place(self) -> str:
        """What stands before their numbers in ids."""
        return f"-/{self.name}/"


ISSUES = Kind(name="issues", noun="Issue", sign="#")
MERGE_REQUESTS = Kind(name="merge_requests", noun="Merge request", sign="!")


async def discussions(scope: Scope, kind: Kind, issue: Issue) -> list[Discussion]:
    """Return the threads of an issue or merge request; SourceGone when there are none to be had."""
    found: list[Discussion] = []
    if issue.user_notes_count != 0:
        path = f"{scope.path}/{kind.name}/{issue.iid}/discussions?per_page={PER_PAGE}"
        async for page in scope.api.pages(DISCUSSIONS, path):
            found += page
    return found


def document(scope: Scope, kind: Kind, issue: Issue, threads: list[Discussion], *, version: str) -> SourceDocument:
    """Return an issue or merge request as a document; internal comments stand in that of a confidential issue alone."""
    parts = [Part(author=_name(issue.author), at=issue.created_at, url=issue.web_url, body=issue.description or "")]
    for spoken in threads:
        said = [note for note in spoken.notes if not note.system and (issue.confidential or not _is_internal(note))]
        parts += [_part(issue, note, is_reply=number > 0) for number, note in enumerate(said)]
    state = "open" if issue.state == "opened" else issue.state
    state = f"{state}, moved" if issue.moved_to_id else state
    labels = ", ".join(issue.labels)
    head = f"{kind.noun} {kind.sign}{issue.iid} of {scope.name}, {state}." + (f" Labels: {labels}." if labels else "")
    text = thread(head, parts)
    times = [note.updated_at for spoken in threads for note in spoken.notes if not note.system]
    made = SourceDocument(
        id=scope.identity(f"{kind.place}{issue.iid}"),
        source=scope.origin.source,
        content=text.content,
        name=f"{issue.iid}.md",
        media_type="text/markdown",
        title=issue.title,
        url=issue.web_url,
        author=_name(issue.author),
        version=version,
        updated_at=max([issue.updated_at, *times]),
        metadata={"project": scope.name, "state": state, "labels": labels},
        permalinks=text.permalinks,
    )
    return scope.known(made, confidential=issue.confidential)


def _part(issue: Issue, note: Note, *, is_reply: bool) -> Part:
    place = note.position and (note.position.new_path or note.position.old_path)
    where = "in reply" if is_reply else f"on `{place}`" if place else ""
    url = f"{issue.web_url}#note_{note.id}"
    return Part(author=_name(note.author), at=note.created_at, url=url, body=note.body or "", note=where)


def _is_internal(note: Note) -> bool:
    return bool(note.internal or note.confidential)


def _name(user: User | None) -> str:
    return (user.name or user.username) if user else NOBODY
