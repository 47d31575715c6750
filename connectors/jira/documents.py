"""An issue with its comments, or an attachment, as a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from connectors.atlassian.markup import one_line, paragraph, plain
from connectors.atlassian.versions import version_of
from connectors.base import Origin, Permalink, SourceDocument
from connectors.jira.adf import adf_lines
from connectors.jira.options import JiraOptions
from connectors.jira.replies import Attachment, Comment, Issue
from connectors.jira.search import Search
from connectors.jira.wiki import wiki_lines

FORM = "2"
"""Raised when documents are written in another way, so that they are read again."""


def issue_id(issue: Issue) -> str:
    """Return the part of an issue's id that Jira gives: an issue that is moved keeps it."""
    return f"issue/{issue.id}"


def file_id(issue: Issue, file: Attachment) -> str:
    """Return the same of an attachment."""
    return f"attachment/{issue.id}/{file.id}"


def readers_of(options: JiraOptions, issue: Issue) -> tuple[bool, frozenset[str] | None]:
    """Return whether an issue is read, and by whom: None stands for whoever reads the knowledge base."""
    if issue.level:
        named = options.security_levels.get(issue.level)
        return named is not None, frozenset(named or ())
    return True, None if options.readers is None else frozenset(options.readers)


def issue_version(options: JiraOptions, issue: Issue) -> str:
    """Return what stands for all that an issue's document tells: also for comments that were deleted."""
    told = issue.fields.comment
    comments = sorted((one.id, str(one.updated or one.created)) for one in told.comments) if told else []
    said = (issue.key, str(issue.fields.updated), told.total if told else 0, comments, issue.level)
    return version_of(readers_of(options, issue)[1], FORM, options.basis(), *said)


def file_version(options: JiraOptions, issue: Issue, file: Attachment) -> str:
    """Return the same of an attachment: its bytes never change, but the issue that shows it may be moved."""
    said = (file.id, file.filename, file.size, issue.key, issue.level)
    return version_of(readers_of(options, issue)[1], FORM, options.basis(), *said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Writes the documents of one site."""

    origin: Origin
    search: Search

    def issue(self, issue: Issue, comments: Sequence[Comment], *, readers: frozenset[str] | None) -> SourceDocument:
        """Return an issue with those of its comments that are for everybody who sees it, or are taken all the same."""
        options, fields = self.search.options, issue.fields
        url = f"{self.search.base}/browse/{issue.key}"
        taken = [one for one in comments if options.restricted_comments or not one.is_restricted]
        lines, links = [*self._head(issue), ""], [Permalink(line=1, url=url)]
        lines += self._text(fields.description)
        for name, value in self._further(issue):
            lines += ["", f"## {one_line(plain(name))}", "", *value]
        if taken:
            lines += ["", "## Comments", ""]
            links.append(Permalink(line=len(lines) - 1, url=url))
        for comment in taken:
            links.append(Permalink(line=len(lines) + 1, url=_comment_url(url, comment.id, is_cloud=options.is_cloud)))
            author = plain(comment.author.shown) if comment.author and comment.author.shown else "somebody"
            lines += [f"**{author}**, {comment.created:%Y-%m-%d}:", "", *self._text(comment.body), ""]
        times = [at for at in (fields.updated, *(one.updated or one.created for one in taken)) if at]
        return SourceDocument(
            id=self.origin.document_id(issue_id(issue)),
            source=self.origin.source,
            content="\n".join(lines).rstrip().encode("utf-8", "replace"),
            name=f"{issue.key}.md",
            media_type="text/markdown",
            title=f"{issue.key}: {fields.summary or ''}".strip(": "),
            url=url,
            author=fields.reporter.shown if fields.reporter else "",
            version=issue_version(options, issue),
            updated_at=max(times, default=None),
            readers=readers,
            metadata=_metadata(issue),
            permalinks=tuple(links),
        )

    def file(self, issue: Issue, file: Attachment, content: bytes, *, readers: frozenset[str] | None) -> SourceDocument:
        """Return an attachment, which is shown at its issue."""
        return SourceDocument(
            id=self.origin.document_id(file_id(issue, file)),
            source=self.origin.source,
            content=content,
            name=file.filename,
            media_type=file.media_type,
            title=file.filename,
            url=f"{self.search.base}/browse/{issue.key}",
            author=file.author.shown if file.author else "",
            version=file_version(self.search.options, issue, file),
            updated_at=file.created,
            readers=readers,
            metadata={"issue": issue.key},
        )

    def _head(self, issue: Issue) -> list[str]:
        """Return what an issue is, in one line."""
        fields = issue.fields
        what = " ".join(filter(None, [fields.kind.name if fields.kind else "Issue", issue.key]))
        state = fields.status.name if fields.status else ""
        told = [f"{what}{f', {state}' if state else ''}."]
        named = {
            "Resolution": fields.resolution.name if fields.resolution else "",
            "Priority": fields.priority.name if fields.priority else "",
            "Assignee": fields.assignee.shown if fields.assignee else "",
            "Reporter": fields.reporter.shown if fields.reporter else "",
            "Labels": ", ".join(fields.labels or ()),
            "Components": ", ".join(one.name for one in fields.components or ()),
            "Fix versions": ", ".join(one.name for one in fields.versions or ()),
            "Part of": fields.parent.key if fields.parent else "",  # its title may be for fewer readers
        }
        told += [f"{name}: {value}." for name, value in named.items() if value]
        return [plain(" ".join(" ".join(told).split()))]

    def _text(self, told: object) -> list[str]:
        return adf_lines(told) if self.search.options.is_cloud else wiki_lines(told)

    def _further(self, issue: Issue) -> list[tuple[str, list[str]]]:
        """Return the further fields that hold something, with their names."""
        extra: Mapping[str, object] = issue.fields.model_extra or {}
        found: list[tuple[str, list[str]]] = []
        for native in self.search.options.fields:
            value = extra.get(native)
            is_document = isinstance(value, dict) and value.get("type") == "doc"
            is_markup = is_document or (isinstance(value, str) and not self.search.options.is_cloud)
            lines = self._text(value) if is_markup else paragraph(plain(", ".join(_plain(value))))
            if lines:
                found.append((self.search.names.get(native, native), lines))
        return found


def _plain(value: object) -> list[str]:
    """Return what a field of another kind than text holds: a number, a choice, a person, or a list of these."""
    if value is None or isinstance(value, bool):
        return []
    if isinstance(value, dict):
        named = next((value[key] for key in ("value", "displayName", "name", "key") if value.get(key)), None)
        child = _plain(value.get("child"))
        return [" / ".join([str(named), *child])] if named is not None else []
    if isinstance(value, list):
        words = [word for one in value for word in _plain(one)]
        return [", ".join(words)] if words else []
    return [str(value)]


def _metadata(issue: Issue) -> dict[str, str]:
    fields = issue.fields
    return {
        "key": issue.key,
        "project": issue.key.rpartition("-")[0],
        "status": fields.status.name if fields.status else "",
        "type": fields.kind.name if fields.kind else "",
        "labels": ", ".join(fields.labels or ()),
    }


def _comment_url(url: str, native: str, *, is_cloud: bool) -> str:
    if is_cloud:
        return f"{url}?focusedCommentId={native}"
    tab = "com.atlassian.jira.plugin.system.issuetabpanels%3Acomment-tabpanel"
    return f"{url}?focusedCommentId={native}&page={tab}#comment-{native}"
