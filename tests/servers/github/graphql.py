"""The GraphQL interface: a part of GitHub's public schema, asked with a real engine, so that a wrong question fails."""

import re
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, GraphQLResolveInfo, build_schema, graphql_sync

from tests.servers.git import Commit
from tests.servers.github.rest import stamp
from tests.servers.github.world import Comment, Discussion, Repo

if TYPE_CHECKING:
    from tests.servers.github.server import GithubServer

SCHEMA = build_schema("""
scalar DateTime
scalar URI
scalar GitObjectID
type Query { repository(owner: String!, name: String!, followRenames: Boolean = true): Repository  node(id: ID!): Node }
interface Node { id: ID! }
interface Actor { login: String! }
type User implements Actor { login: String! }
type PageInfo { hasNextPage: Boolean!  hasPreviousPage: Boolean!  endCursor: String  startCursor: String }
enum DiscussionOrderField { CREATED_AT UPDATED_AT }
enum OrderDirection { ASC DESC }
input DiscussionOrder { field: DiscussionOrderField!  direction: OrderDirection! }
type Repository implements Node {
  id: ID!
  nameWithOwner: String!
  hasDiscussionsEnabled: Boolean!
  object(oid: GitObjectID, expression: String): GitObject
  discussion(number: Int!): Discussion
  discussions(
    after: String, before: String, first: Int, last: Int, categoryId: ID, answered: Boolean,
    orderBy: DiscussionOrder = {field: UPDATED_AT, direction: DESC}
  ): DiscussionConnection!
}
interface GitObject { oid: GitObjectID! }
type Commit implements GitObject & Node {
  id: ID!
  oid: GitObjectID!
  committedDate: DateTime!
  author: GitActor
  history(after: String, first: Int, path: String): CommitHistoryConnection!
}
type GitActor { name: String  email: String }
type CommitHistoryConnection { nodes: [Commit]  pageInfo: PageInfo!  totalCount: Int! }
type DiscussionConnection { nodes: [Discussion]  pageInfo: PageInfo!  totalCount: Int! }
type DiscussionCategory { name: String! }
type Discussion implements Node {
  id: ID!
  number: Int!
  title: String!
  body: String!
  url: URI!
  author: Actor
  category: DiscussionCategory!
  createdAt: DateTime!
  updatedAt: DateTime!
  comments(after: String, before: String, first: Int, last: Int): DiscussionCommentConnection!
}
type DiscussionCommentConnection { nodes: [DiscussionComment]  pageInfo: PageInfo!  totalCount: Int! }
type DiscussionComment implements Node {
  id: ID!
  body: String!
  url: URI!
  author: Actor
  createdAt: DateTime!
  updatedAt: DateTime!
  isAnswer: Boolean!
  replies(after: String, before: String, first: Int, last: Int): DiscussionCommentConnection!
}
""")


class _NotFound(GraphQLError):
    pass


def execute(server: "GithubServer", text: str, variables: dict[str, Any]) -> dict[str, Any]:
    """Answer a question as GitHub does: errors have a type when they come of the data, none when of the question."""
    result = graphql_sync(SCHEMA, text, _Root(server), variable_values=variables, type_resolver=_kind)
    said: dict[str, Any] = {"data": result.data}
    if result.errors:
        said["errors"] = [
            {"message": error.message, "path": error.path}
            | (
                {"type": "NOT_FOUND"}
                if isinstance(error.original_error, _NotFound) or isinstance(error, _NotFound)
                else {"type": "undefinedField"}
            )
            for error in result.errors
        ]
    return said


def _kind(value: Any, *_: object) -> str:
    return str(value["__typename"])


class _Root:
    def __init__(self, server: "GithubServer") -> None:
        self.server = server

    def repository(self, info: GraphQLResolveInfo, owner: str, name: str, **_: object) -> dict[str, Any]:
        full = f"{owner}/{name}".lower()
        repo = self.server.repos.get(self.server.moved.get(full, full).lower())
        if repo is None:
            raise _NotFound(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return self._repository(repo)

    def node(self, info: GraphQLResolveInfo, id: str) -> dict[str, Any]:
        for repo in self.server.repos.values():
            for discussion in repo.discussions.values():
                for comment in discussion.comments:
                    if id == f"DC_{comment.id}":
                        return self._comment(repo, discussion, comment)
        raise _NotFound(f"Could not resolve to a node with the global id of '{id}'")

    def _repository(self, repo: Repo) -> dict[str, Any]:
        def discussion(info: GraphQLResolveInfo, number: int) -> dict[str, Any]:
            if number not in repo.discussions:
                raise _NotFound(f"Could not resolve to a Discussion with the number of {number}.")
            return self._discussion(repo, repo.discussions[number])

        def discussions(info: GraphQLResolveInfo, orderBy: dict[str, str], **page: Any) -> dict[str, Any]:  # noqa: N803
            by = (lambda one: one.updated) if orderBy["field"] == "UPDATED_AT" else (lambda one: one.created)
            found = sorted(repo.discussions.values(), key=by, reverse=orderBy["direction"] == "DESC")
            return _connection([self._discussion(repo, one) for one in found], **page)

        def commit(info: GraphQLResolveInfo, oid: str = "", **_: object) -> dict[str, Any] | None:
            found = repo.objects.commits.get(oid)
            return self._commit(repo, found) if found else None

        return {
            "id": f"R_{repo.full_name}",
            "nameWithOwner": repo.full_name,
            "hasDiscussionsEnabled": True,
            "discussion": discussion,
            "discussions": discussions,
            "object": commit,
        }

    def _commit(self, repo: Repo, commit: Commit) -> dict[str, Any]:
        def history(info: GraphQLResolveInfo, path: str = "", **page: Any) -> dict[str, Any]:
            last = repo.objects.last_change(commit, path)
            return _connection([self._commit(repo, last)] if last else [], **page)

        return {
            "__typename": "Commit",
            "id": f"C_{commit.sha}",
            "oid": commit.sha,
            "committedDate": stamp(commit.at),
            "author": {"name": commit.author, "email": "ann@example.org"},
            "history": history,
        }

    def _discussion(self, repo: Repo, discussion: Discussion) -> dict[str, Any]:
        def comments(info: GraphQLResolveInfo, **page: Any) -> dict[str, Any]:
            return _connection([self._comment(repo, discussion, one) for one in discussion.comments], **page)

        return {
            "__typename": "Discussion",
            "id": f"D_{discussion.number}",
            "number": discussion.number,
            "title": discussion.title,
            "body": discussion.body,
            "url": self._url(repo, discussion),
            "author": _actor(discussion.author),
            "category": {"name": discussion.category},
            "createdAt": stamp(discussion.created),
            "updatedAt": stamp(discussion.updated),
            "comments": comments,
        }

    def _comment(self, repo: Repo, discussion: Discussion, comment: Comment) -> dict[str, Any]:
        def replies(info: GraphQLResolveInfo, **page: Any) -> dict[str, Any]:
            return _connection([self._comment(repo, discussion, one) for one in comment.replies], **page)

        return {
            "__typename": "DiscussionComment",
            "id": f"DC_{comment.id}",
            "body": comment.body,
            "url": f"{self._url(repo, discussion)}#discussioncomment-{comment.id}",
            "author": _actor(comment.author),
            "createdAt": stamp(comment.created),
            "updatedAt": stamp(comment.updated),
            "isAnswer": comment.is_answer,
            "replies": replies,
        }

    def _url(self, repo: Repo, discussion: Discussion) -> str:
        return f"{self.server.html}/{repo.full_name}/discussions/{discussion.number}"


def _actor(login: str | None) -> dict[str, str] | None:
    return {"__typename": "User", "login": login} if login else None


def _connection(
    nodes: list[dict[str, Any]], *, first: int | None = None, after: str | None = None, **others: object
) -> dict[str, Any]:
    """Return a page; GitHub refuses one without a size, and of more than 100."""
    if not first or not 1 <= first <= 100:
        if first is None and not others:
            return {"totalCount": len(nodes), "nodes": [], "pageInfo": {"hasNextPage": False, "hasPreviousPage": False}}
        raise GraphQLError("You must provide a `first` or `last` value of 1 to 100 to properly paginate.")
    begin = int(after.removeprefix("c")) if after and re.fullmatch(r"c\d+", after) else 0
    page = nodes[begin : begin + first]
    info = {
        "hasNextPage": len(nodes) > begin + first,
        "hasPreviousPage": begin > 0,
        "endCursor": f"c{begin + len(page)}" if page else None,
        "startCursor": f"c{begin}" if page else None,
    }
    return {"totalCount": len(nodes), "nodes": page, "pageInfo": info}
