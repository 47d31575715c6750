"""Which projects a source reads: those that are named, and those of its groups as they are now."""

from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime

from connectors.gitlab.api import PER_PAGE, Api
from connectors.gitlab.options import GitlabOptions
from connectors.gitlab.replies import PROJECT, PROJECTS, Project
from connectors.patterns import compiled
from ragcore.errors import SourceAuthError, SourceError, SourceGone

Told = tuple[Project, datetime | None]
"""A project as a group's list told it, and when by GitLab's own time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Projects:
    """The projects by name, None for what only its path is known of; ``refused`` is why a group couldn't be listed."""

    told: dict[str, Told | None] = field(default_factory=dict)
    refused: list[SourceError] = field(default_factory=list)


async def projects_of(api: Api, *, earlier: Iterable[str] = ()) -> Projects:
    """Return the projects; a group that can't be listed holds up none of the others.

    Args:
        api: The interface.
        earlier: Those that there were: where a list lacks one of them it is asked for, as one that is deleted while a
            list is read lets its pages shift.
    """
    found, options = Projects(told=dict.fromkeys(api.options.projects)), api.options
    for group in options.groups:
        try:
            told = await _listed(api, group)
            listed = {project.path_with_namespace for project, _ in told}
            lacking = [name for name in earlier if name.lower().startswith(f"{group.lower()}/") and name not in listed]
            for name in lacking:
                told += await _asked(api, name)
            found.told.update({one[0].path_with_namespace: one for one in told if _is_wanted(options, one[0])})
        except (SourceGone, SourceAuthError) as error:
            found.refused.append(error)
    return found


def _is_wanted(options: GitlabOptions, project: Project) -> bool:
    name = project.path_with_namespace
    if name.lower() in {named.lower() for named in options.projects} or (project.archived and not options.archived):
        return False
    return not options.exclude_projects or compiled(*options.exclude_projects).fullmatch(name) is None


async def _asked(api: Api, name: str) -> list[Told]:
    """Return a project that still has this name, in a list."""
    got = await api.get(PROJECT, f"/projects/{name.replace('/', '%2F')}", passing=frozenset({403, 404}))
    return [(got.value, got.date)] if got.value is not None and got.value.path_with_namespace == name else []


async def _listed(api: Api, group: str) -> list[Told]:
    path = f"/groups/{group.replace('/', '%2F')}/projects"
    url = f"{path}?include_subgroups=true&with_shared=false&order_by=id&sort=asc&per_page={PER_PAGE}"
    found = list[Told]()
    async with aclosing(api.replies(PROJECTS, url)) as replies:
        async for got in replies:
            found += [(project, got.date) for project in got.value or []]
    return found
