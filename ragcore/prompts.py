"""Prompts, from Jinja templates: one file a task, in the package ``prompts`` or in a folder that overrides it.

The first line of a template is a comment that declares its inputs: ``{# inputs: quote, title -#}``, or ``none``.
"""

import re
from functools import lru_cache
from pathlib import Path

import jinja2

from ragcore.errors import ConfigError

PACKAGE = "prompts"

_DECLARATION = re.compile(r"\{#-?\s*inputs:\s*(?P<names>[^#]*?)\s*-?#\}")


class Prompts:
    """The templates: the package's own, and before them those of a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        """Look for a template in the folder first, when one is given."""
        loaders: list[jinja2.BaseLoader] = [jinja2.FileSystemLoader(folder)] if folder else []
        self._environment = jinja2.Environment(
            loader=jinja2.ChoiceLoader([*loaders, jinja2.PackageLoader(PACKAGE, "")]),
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # what is written is a prompt, not HTML
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, name: str, /, **inputs: object) -> str:
        """Return the text of the template ``<name>.j2``.

        Raises:
            ConfigError: If there is no such template, it cannot be read, or it asks for an input that is not given.
        """
        return self._render(f"{name}.j2", inputs)

    def render_file(self, path: Path, /, **inputs: object) -> str:
        """Return the text of a template somewhere else, such as a knowledge base's own system prompt.

        It may include the others by name: ``{% include "citation_rules.j2" %}``.
        """
        if not path.is_file():
            raise ConfigError(f"the prompt file {path} is not there; create it, or mend the knowledge base's `prompt`")
        beside = self._environment.overlay()
        own = jinja2.FileSystemLoader(path.parent)
        beside.loader = jinja2.ChoiceLoader([own, *([self._environment.loader] if self._environment.loader else [])])
        return _rendered(beside, path.name, inputs, shown=str(path))

    def declared_inputs(self, name: str) -> frozenset[str]:
        """Return the inputs that the template's first line declares."""
        return declared_inputs(self.source(name))

    def source(self, name: str) -> str:
        """Return the template as it is written."""
        assert self._environment.loader is not None
        return self._environment.loader.get_source(self._environment, f"{name}.j2")[0]

    def names(self) -> list[str]:
        """Return the names of all templates, sorted."""
        return sorted(name.removesuffix(".j2") for name in self._environment.list_templates(extensions=["j2"]))

    def _render(self, file: str, inputs: dict[str, object]) -> str:
        return _rendered(self._environment, file, inputs, shown=file)


def _rendered(environment: jinja2.Environment, file: str, inputs: dict[str, object], *, shown: str) -> str:
    try:
        return environment.get_template(file).render(inputs).strip()
    except jinja2.TemplateNotFound as error:
        raise ConfigError(f"there is no prompt template {error.name or shown} (asked for by {shown})") from error
    except jinja2.TemplateSyntaxError as error:
        raise ConfigError(f"prompt template {error.name or shown}, line {error.lineno}: {error.message}") from error
    except jinja2.UndefinedError as error:
        raise ConfigError(f"prompt template {shown}: {error.message}; it may use {sorted(inputs)}") from error
    except (UnicodeDecodeError, jinja2.TemplateError) as error:
        raise ConfigError(f"prompt template {shown} cannot be used: {error}") from error


def declared_inputs(source: str) -> frozenset[str]:
    """Return the inputs that a template's first line declares; ConfigError when it declares nothing."""
    found = _DECLARATION.match(source)
    if found is None:
        raise ConfigError("a prompt template must open with a comment such as {# inputs: none -#}")
    names = {name.strip() for name in found["names"].split(",")}
    return frozenset(names - {"none", ""})


OWN = Prompts()
"""The package's own templates."""


@lru_cache(maxsize=16)
def prompts_in(folder: Path | None) -> Prompts:
    """Return the templates with those of a folder before them, the same ones each time: each is compiled once."""
    return Prompts(folder) if folder else OWN


def render(name: str, /, **inputs: object) -> str:
    """Return the text of one of the package's own templates; see ``Prompts.render``."""
    return OWN.render(name, **inputs)
