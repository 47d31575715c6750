"""What the REST interface answers about one repository."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from aiohttp import web

from tests.servers.github.world import Comment, Issue, Repo

if TYPE_CHECKING:
    from tests.servers.github.server import GithubServer


class NotFound(Exception):
    pass


class Refused(Exception):
    def __init__(self, response: web.Response) -> None:
        self.response = response


class Rest:
    """Answers one request."""

    def __init__(self, server: "GithubServer", request: web.Request) -> None:
        self.server, self.request = server, request

    def answer(self, repo: Repo, path: str) -> web.Response:
        routes: Sequence[tuple[str, Callable[..., web.Response]]] = (
            (r"", self._repository),
            (r"/branches", self._branches),
            (r"/branches/([^/]+)", self._branch),
            (r"/git/trees/(\w+)", self._tree),
            (r"/git/blobs/(\w+)", self._blob),
            (r"/issues", self._issues),
            (r"/issues/comments", self._issue_comments),
            (r"/issues/(\d+)", self._issue),
            (r"/issues/(\d+)/comments", self._comments_of),
            (r"/pulls", self._pulls),
            (r"/pulls/comments", self._line_comments),
            (r"/pulls/(\d+)", self._pull),
            (r"/pulls/(\d+)/comments", self._line_comments_of),
            (r"/pulls/(\d+)/reviews", self._reviews),
        )
        for pattern, handler in routes:
            found = re.fullmatch(pattern, path)
            if found:
                return handler(repo, *map(unquote, found.groups()))
        raise NotFound

    def _repository(self, repo: Repo) -> web.Response:
        return _json(
            {
                "full_name": repo.full_name,
                "name": repo.full_name.partition("/")[2],
                "private": repo.private,
                "html_url": self._html(repo),
                "default_branch": repo.default_branch,
                "has_issues": repo.has_issues,
                "size": len(repo.files),
            }
        )

    def _branches(self, repo: Repo) -> web.Response:
        return self._page([{"name": name, "commit": {"sha": head.sha}} for name, head in repo.branches.items()])

    def _branch(self, repo: Repo, name: str) -> web.Response:
        if name in repo.renamed_branches:
            target = f"{self.server.url}/repos/{repo.full_name}/branches/{repo.renamed_branches[name]}"
            raise Refused(web.Response(status=301, headers={"Location": target}))
        if name not in repo.branches:
            raise NotFound
        head = repo.branches[name]
        commit = {"author": {"name": head.author}, "tree": {"sha": head.tree}}
        return _json({"name": name, "commit": {"sha": head.sha, "commit": commit}, "protected": False})

    def _tree(self, repo: Repo, sha: str) -> web.Response:
        if sha not in repo.objects.trees:
            raise NotFound
        is_deep = "recursive" in self.request.query  # whatever its value
        nodes = list(repo.objects.walk(sha))
        if not is_deep:
            nodes = [(path, node) for path, node in nodes if "/" not in path]
        limit = self.server.tree_limit if is_deep else self.server.folder_limit
        is_truncated = len(nodes) > limit
        if self.server.cut:
            nodes, is_truncated = nodes[:3], False
        told = [
            {"path": path, "mode": node.mode, "type": node.kind, "sha": node.sha}
            | ({"size": node.size} if node.size is not None else {})
            for path, node in nodes[:limit]
        ]
        return _json({"sha": sha, "tree": told, "truncated": is_truncated})

    def _blob(self, repo: Repo, sha: str) -> web.Response:
        if sha not in repo.objects.blobs:
            raise NotFound
        if self.request.headers.get("Accept") != "application/vnd.github.raw+json":
            raise NotImplementedError("base64 is not served")
        return web.Response(body=repo.objects.blobs[sha], content_type="application/vnd.github.raw+json")

    def _issues(self, repo: Repo) -> web.Response:
        if not repo.has_issues:
            raise Refused(_gone("Issues are disabled for this repo"))
        return self._list([self._issue_of(repo, issue) for issue in self._told(repo)])

    def _told(self, repo: Repo) -> list[Issue]:
        found = list(repo.issues.values())
        return found + [issue for issue in found if issue.number in self.server.twice]

    def _pulls(self, repo: Repo) -> web.Response:
        found = [self._pull_of(repo, issue) for issue in self._told(repo) if issue.is_pull]
        for pull in found:
            del pull["comments"]
        return self._list(found, since=False)

    def _issue(self, repo: Repo, number: str) -> web.Response:
        if not repo.has_issues:
            raise Refused(_gone("Issues are disabled for this repo"))
        return _json(self._issue_of(repo, self._there(repo, number)))

    def _pull(self, repo: Repo, number: str) -> web.Response:
        issue = self._there(repo, number)
        if not issue.is_pull:
            raise NotFound
        return _json(self._pull_of(repo, issue))

    def _issue_comments(self, repo: Repo) -> web.Response:
        comments = [self._comment(repo, issue, one) for issue in repo.issues.values() for one in issue.comments]
        return self._list(comments)

    def _line_comments(self, repo: Repo) -> web.Response:
        return self._list(
            [self._line_comment(repo, issue, one) for issue in repo.issues.values() for one in issue.line_comments]
        )

    def _comments_of(self, repo: Repo, number: str) -> web.Response:
        if int(number) in self.server.vanishing:
            self.server.vanishing.discard(int(number))
            repo.drop(int(number))
        issue = self._there(repo, number)
        if issue.number in self.server.garbled:
            return _json({"unexpected": True})
        return self._page([self._comment(repo, issue, one) for one in issue.comments])

    def _line_comments_of(self, repo: Repo, number: str) -> web.Response:
        issue = self._there(repo, number)
        return self._page([self._line_comment(repo, issue, one) for one in issue.line_comments])

    def _reviews(self, repo: Repo, number: str) -> web.Response:
        issue = self._there(repo, number)
        return self._page(
            [
                {
                    "id": review.id,
                    "html_url": f"{self._html(repo)}/pull/{number}#pullrequestreview-{review.id}",
                    "body": review.body,
                    "user": {"login": review.author},
                    "state": "COMMENTED" if review.submitted else "PENDING",
                }
                | ({"submitted_at": stamp(review.submitted)} if review.submitted else {})
                for review in issue.reviews
            ]
        )

    def _there(self, repo: Repo, number: str) -> Issue:
        if int(number) in repo.transferred:
            target, other = repo.transferred[int(number)]
            place = f"{self.server.url}/repos/{target}/issues/{other}"
            raise Refused(web.Response(status=301, headers={"Location": place}))
        if int(number) in repo.deleted:
            raise Refused(_gone("This issue was deleted"))
        if int(number) not in repo.issues:
            raise NotFound
        return repo.issues[int(number)]

    def _issue_of(self, repo: Repo, issue: Issue) -> dict[str, Any]:
        place = "pull" if issue.is_pull else "issues"
        told = {
            "number": issue.number,
            "url": f"{self.server.url}/repos/{repo.full_name}/issues/{issue.number}",
            "repository_url": f"{self.server.url}/repos/{repo.full_name}",
            "html_url": f"{self._html(repo)}/{place}/{issue.number}",
            "title": issue.title,
            "body": issue.body,
            "user": {"login": issue.author} if issue.author else None,
            "state": issue.state,
            "labels": [{"name": label} for label in issue.labels],
            "comments": len(issue.comments),
            "created_at": stamp(issue.created),
            "updated_at": stamp(issue.updated),
        }
        if issue.is_pull:
            told["pull_request"] = {"merged_at": stamp(issue.merged) if issue.merged else None}
        return told

    def _pull_of(self, repo: Repo, issue: Issue) -> dict[str, Any]:
        told = self._issue_of(repo, issue)
        return told | told.pop("pull_request")

    def _comment(self, repo: Repo, issue: Issue, comment: Comment) -> dict[str, Any]:
        place = "pull" if issue.is_pull else "issues"
        return {
            "id": comment.id,
            "html_url": f"{self._html(repo)}/{place}/{issue.number}#issuecomment-{comment.id}",
            "issue_url": f"{self.server.url}/repos/{repo.full_name}/issues/{issue.number}",
            "body": comment.body,
            "user": {"login": comment.author} if comment.author else None,
            "created_at": stamp(comment.created),
            "updated_at": stamp(comment.updated),
        }

    def _line_comment(self, repo: Repo, issue: Issue, comment: Comment) -> dict[str, Any]:
        told = self._comment(repo, issue, comment)
        del told["issue_url"]
        return told | {
            "html_url": f"{self._html(repo)}/pull/{issue.number}#discussion_r{comment.id}",
            "pull_request_url": f"{self.server.url}/repos/{repo.full_name}/pulls/{issue.number}",
            "path": comment.path,
        }

    def _list(self, items: list[dict[str, Any]], *, since: bool = True) -> web.Response:
        """Return a list that can be sorted and is asked for by time."""
        query = self.request.query
        if query.get("state", "open") != "all":
            items = [item for item in items if item.get("state", "open") == "open"]
        if since and "since" in query:
            items = [item for item in items if item["updated_at"] >= query["since"]]
        key = {"updated": "updated_at"}.get(query.get("sort", "created"), "created_at")
        items = sorted(items, key=lambda item: (item[key], item.get("number", item.get("id"))))
        if query.get("direction", "desc") != "asc":
            items.reverse()
        return self._page(items[:3] if self.server.cut else items)

    def _page(self, items: list[dict[str, Any]]) -> web.Response:
        query = self.request.query
        size, page = min(100, int(query.get("per_page", "30"))), int(query.get("page", "1"))
        shown = items[(page - 1) * size : page * size]
        response = _json([item for item in shown if item.get("number") not in self.server.hidden])
        if len(items) > page * size:
            following = self.request.rel_url.update_query(page=str(page + 1))
            last = self.request.rel_url.update_query(page=str(-(-len(items) // size)))
            links = f'<{self.server.origin}{following}>; rel="next", <{self.server.origin}{last}>; rel="last"'
            response.headers["Link"] = links
        return response

    def _html(self, repo: Repo) -> str:
        return f"{self.server.html}/{repo.full_name}"


def stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _json(value: object) -> web.Response:
    return web.Response(text=json.dumps(value), content_type="application/json", charset="utf-8")


def _gone(message: str) -> web.Response:
    return web.Response(status=410, text=json.dumps({"message": message}), content_type="application/json")
