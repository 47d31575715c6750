"""Who changed files last, and when: one question by GraphQL for several files."""

from collections.abc import Mapping, Sequence

from connectors.forge.files import LastChange
from connectors.github.replies import HISTORIES
from connectors.github.scope import Scope


async def last_changes(scope: Scope, commit: str, paths: Sequence[str]) -> Mapping[str, LastChange]:
    """Return the last change of each of these files up to a commit, as far as GitHub tells it."""
    names = [f"f{number}" for number in range(len(paths))]
    declared = "".join(f", ${name}: String!" for name in names)
    asked = "\n".join(
        f"{name}: history(first: 1, path: ${name}) {{ nodes {{ committedDate author {{ name }} }} }}" for name in names
    )
    text = f"""query ($owner: String!, $name: String!, $commit: GitObjectID!{declared}) {{
  repository(owner: $owner, name: $name) {{ object(oid: $commit) {{ ... on Commit {{
{asked}
  }} }} }}
}}"""
    owner, _, name = scope.about.full_name.partition("/")
    variables = {"owner": owner, "name": name, "commit": commit, **dict(zip(names, paths, strict=True))}
    data, _ = await scope.api.query(text, variables)
    found = (data.get("repository") or {}).get("object") or {}
    histories = scope.api.checked(HISTORIES, found)
    changes: dict[str, LastChange] = {}
    for alias, path in zip(names, paths, strict=True):
        history = histories.get(alias)
        newest = history.nodes[0] if history and history.nodes else None
        if newest:
            author = (newest.author and newest.author.name) or ""
            changes[path] = LastChange(at=newest.committedDate, author=author)
    return changes
