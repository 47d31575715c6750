"""What the REST interface answers about one project."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from aiohttp import web

from tests.servers.git import Commit, Node
from tests.servers.gitlab.world import Issue, Note, Page, Project

if TYPE_CHECKING:
    from tests.servers.gitlab.server import GitlabServer


class NotFound(Exception):
    pass


class Rest:
    """Answers one request."""

    def __init__(self, server: "GitlabServer", request: web.Request) -> None:
        self.server, self.request = server, request

    def answer(self, project: Project, path: str) -> web.Response:
        routes: Sequence[tuple[str, Callable[..., web.Response]]] = (
            (r"", self._project),
            (r"/members/all", self._members),
            (r"/repository/branches", self._branches),
            (r"/repository/branches/([^/]+)", self._branch),
            (r"/repository/tree", self._tree),
            (r"/repository/commits/(\w+)", self._commit),
            (r"/repository/merge_base", self._merge_base),
            (r"/repository/compare", self._compare),
            (r"/repository/files/([^/]+)/raw", self._raw),
            (r"/(issues|merge_requests)", self._issues),
            (r"/(issues|merge_requests)/(\d+)", self._issue),
            (r"/(issues|merge_requests)/(\d+)/discussions", self._discussions),
            (r"/wikis", self._wiki),
            (r"/wikis/([^/]+)", self._wiki_page),
        )
        for pattern, handler in routes:
            found = re.fullmatch(pattern, path)
            if found:
                return handler(project, *map(unquote, found.groups()))
        raise NotFound

    def project_of(self, project: Project) -> dict[str, Any]:
        levels = {"repository": "enabled", "issues": "enabled", "merge_requests": "enabled", "wiki": "enabled"}
        return {
            "id": project.id,
            "path_with_namespace": project.path,
            "name": project.path.rpartition("/")[2],
            "web_url": f"{self.server.html}/{project.path}",
            "default_branch": project.default_branch if project.branches and project.tells_branch else None,
            "visibility": project.visibility,
            "archived": project.archived,
            "empty_repo": not project.branches,
        } | {f"{part}_access_level": level for part, level in (levels | project.levels).items()}

    def page(self, items: list[dict[str, Any]]) -> web.Response:
        """Return a page by number."""
        query = self.request.query
        size, page = min(100, int(query.get("per_page", "20"))), int(query.get("page", "1"))
        response = _json(items[(page - 1) * size : page * size])
        if len(items) <= self.server.counted:
            response.headers["X-Total"] = str(len(items))
        if len(items) > page * size:
            self._link(response, page=str(page + 1))
        return response

    def _link(self, response: web.Response, **changes: str) -> None:
        following = self.request.rel_url.update_query(**changes)
        response.headers["Link"] = (
            f'<{self.server.told_origin}{following}>; rel="next", <{self.server.told_origin}/x>; rel="first"'
        )

    def _project(self, project: Project) -> web.Response:
        return _json(self.project_of(project))

    def _members(self, project: Project) -> web.Response:
        return self.page(
            [
                {
                    "id": one.id,
                    "username": one.username,
                    "name": one.username.title(),
                    "state": one.state,
                    "membership_state": one.membership,
                    "access_level": one.role,
                    "expires_at": one.expires,
                }
                | ({"email": one.told_email} if one.told_email else {})
                for one in project.members
            ]
        )

    def _branches(self, project: Project) -> web.Response:
        return self.page([{"name": name, "commit": _commit(head)} for name, head in project.branches.items()])

    def _branch(self, project: Project, name: str) -> web.Response:
        if name not in project.branches:
            raise NotFound
        return _json({"name": name, "commit": _commit(project.branches[name])})

    def _tree(self, project: Project) -> web.Response:
        query = self.request.query
        commit = project.objects.commits.get(query["ref"])
        if commit is None:
            raise NotFound
        whole = list(project.objects.walk(commit.tree))
        folder = query.get("path", "")
        if folder and not any(path == folder and node.kind == "tree" for path, node in whole):
            raise NotFound
        nodes = [(path, node) for path, node in whole if path.startswith(f"{folder}/" if folder else "")]
        if query.get("recursive") != "true":
            nodes = [(path, node) for path, node in nodes if "/" not in path.removeprefix(f"{folder}/" * bool(folder))]
        if not whole:
            raise NotFound
        if self.server.cut:
            nodes = nodes[:3]
        size, after = min(self.server.tree_page, int(query.get("per_page", "20"))), query.get("page_token", "")
        begin = next((at for at, (_, node) in enumerate(nodes) if _token(nodes[at]) == after), -1) + 1
        shown = nodes[begin : begin + size]
        response = _json(
            [
                {"id": node.sha, "name": node.name, "type": node.kind, "path": path, "mode": node.mode}
                for path, node in shown
            ]
        )
        if begin + size < len(nodes):
            self._link(response, page_token=_token(shown[-1]))
        return response

    def _commit(self, project: Project, sha: str) -> web.Response:
        if sha not in project.objects.commits:
            raise NotFound
        return _json(_commit(project.objects.commits[sha]))

    def _merge_base(self, project: Project) -> web.Response:
        commits = project.objects.commits
        old, new = (commits.get(sha) for sha in self.request.query.getall("refs[]"))
        if old is None or new is None:
            raise NotFound
        before, at = set[str](), old
        while at is not None:
            before.add(at.sha)
            at = commits.get(at.parent or "")
        at = new
        while at is not None and at.sha not in before:
            at = commits.get(at.parent or "")
        if at is None:
            raise NotFound
        return _json(_commit(at))

    def _compare(self, project: Project) -> web.Response:
        query, commits = self.request.query, project.objects.commits
        if query["from"] not in commits or query["to"] not in commits or query.get("straight") != "true":
            raise NotFound
        sides = [_files(project, commits[query[side]]) for side in ("from", "to")]
        old, new = sides
        diffs = [
            {
                "old_path": path,
                "new_path": path,
                "a_mode": old[path].mode if path in old else "0",
                "b_mode": new[path].mode if path in new else "0",
                "new_file": path not in old,
                "renamed_file": False,
                "deleted_file": path not in new,
                "diff": "",
            }
            for path in sorted(old.keys() | new.keys())
            if old.get(path) != new.get(path)
        ]
        is_over = len(diffs) > self.server.most_diffs
        return _json({"commits": [], "diffs": diffs[: self.server.most_diffs], "compare_timeout": is_over})

    def _raw(self, project: Project, path: str) -> web.Response:
        commit = project.objects.commits.get(self.request.query["ref"])
        node = _files(project, commit).get(path) if commit else None
        if commit is None or node is None or node.kind != "blob":
            raise NotFound
        content, last = project.objects.blobs[node.sha], project.objects.last_change(commit, path)
        if self.request.query.get("lfs") == "true":
            if content not in self.server.kept:
                raise NotFound
            return web.Response(body=self.server.kept[content], content_type="application/octet-stream")
        headers = {"X-Gitlab-Blob-Id": node.sha, "X-Gitlab-Size": str(len(content))}
        headers["X-Gitlab-Last-Commit-Id"] = last.sha if last else ""
        return web.Response(body=content, content_type="text/plain", headers=headers)

    def _issues(self, project: Project, kind: str) -> web.Response:
        query = self.request.query
        found = list(self._things(project, kind).values())
        found += [one for one in found if one.iid in self.server.twice]
        if query.get("state", "all") != "all":
            found = [one for one in found if one.state == query["state"]]
        if kind == "issues" and "confidential" in query:
            found = [one for one in found if one.confidential == (query["confidential"] == "true")]
        key = (lambda one: one.updated) if query.get("order_by") == "updated_at" else (lambda one: one.created)
        for name, told in (("updated_after", lambda one: one.updated), ("created_after", lambda one: one.created)):
            if name in query:
                start = datetime.fromisoformat(query[name])
                found = [one for one in found if told(one) >= start]
        found.sort(key=lambda one: (key(one), one.iid), reverse=query.get("sort", "desc") == "desc")
        if self.server.cut:
            found = found[:3]
        return self.page([self._told(project, kind, one) for one in found])

    def _issue(self, project: Project, kind: str, iid: str) -> web.Response:
        return _json(self._told(project, kind, self._there(project, kind, iid)))

    def _discussions(self, project: Project, kind: str, iid: str) -> web.Response:
        if int(iid) in self.server.vanishing:
            self.server.vanishing.discard(int(iid))
            del self._things(project, kind)[int(iid)]
        thing = self._there(project, kind, iid)
        if thing.iid in self.server.garbled:
            return _json({"unexpected": True})
        return self.page(
            [
                {"id": f"d{thread[0].id}", "individual_note": len(thread) == 1, "notes": [_note(one) for one in thread]}
                for thread in thing.threads
            ]
        )

    def _wiki(self, project: Project) -> web.Response:
        is_whole = self.request.query.get("with_content") == "1"
        pages = list(project.wiki.items())[: 3 if self.server.cut else None]
        return _json([_page(slug, page, is_whole=is_whole) for slug, page in pages])

    def _wiki_page(self, project: Project, slug: str) -> web.Response:
        if slug not in project.wiki:
            raise NotFound
        return _json(_page(slug, project.wiki[slug], is_whole=True))

    def _things(self, project: Project, kind: str) -> dict[int, Issue]:
        return project.issues if kind == "issues" else project.merge_requests

    def _there(self, project: Project, kind: str, iid: str) -> Issue:
        if int(iid) not in self._things(project, kind):
            raise NotFound
        return self._things(project, kind)[int(iid)]

    def _told(self, project: Project, kind: str, thing: Issue) -> dict[str, Any]:
        notes = [note for thread in thing.threads for note in thread if not note.system]
        told = {
            "id": 7_000 + thing.iid,
            "iid": thing.iid,
            "project_id": project.id,
            "title": thing.title,
            "description": thing.body,
            "state": thing.state,
            "created_at": stamp(thing.created),
            "updated_at": stamp(thing.updated),
            "labels": thing.labels,
            "author": _author(thing.author),
            "user_notes_count": len(notes),
            "web_url": f"{self.server.html}/{project.path}/-/{kind}/{thing.iid}",
        }
        if kind == "issues":
            told |= {"confidential": thing.confidential, "moved_to_id": thing.moved_to}
        return told


def stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def _token(entry: tuple[str, Node]) -> str:
    return entry[0].encode().hex()


def _files(project: Project, commit: Commit) -> dict[str, Node]:
    return {path: node for path, node in project.objects.walk(commit.tree) if node.kind != "tree"}


def _commit(commit: Commit) -> dict[str, Any]:
    return {
        "id": commit.sha,
        "author_name": commit.author,
        "author_email": "ann@example.org",
        "committed_date": stamp(commit.at),
        "parent_ids": [commit.parent] if commit.parent else [],
    }


def _note(note: Note) -> dict[str, Any]:
    told = {
        "id": note.id,
        "type": "DiffNote" if note.path else None,
        "body": note.body,
        "author": _author(note.author),
        "created_at": stamp(note.created),
        "updated_at": stamp(note.updated),
        "system": note.system,
        "internal": note.internal,
        "confidential": note.internal,
    }
    return told | ({"position": {"new_path": note.path, "old_path": note.path, "new_line": 3}} if note.path else {})


def _author(username: str | None) -> dict[str, Any] | None:
    return {"id": 1, "username": username, "name": username.title()} if username else None


def _page(slug: str, page: Page, *, is_whole: bool) -> dict[str, Any]:
    told = {"slug": slug, "title": page.title, "format": page.format}
    return told | ({"content": page.content, "encoding": "UTF-8"} if is_whole else {})


def _json(value: object) -> web.Response:
    return web.Response(text=json.dumps(value), content_type="application/json", charset="utf-8")
