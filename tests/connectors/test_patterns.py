"""Patterns of what is taken from a folder, and what is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from connectors.files import FilesOptions
from connectors.patterns import Selection
from tests.connectors.helpers import names, put


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        (("*.md",), (), ["a.md", "docs/b.MD", "docs/old/c.md"]),
        (("docs/*.md",), (), ["docs/b.MD"]),
        (("docs/**/*.md",), (), ["docs/b.MD", "docs/old/c.md"]),
        (("docs",), (), ["docs/b.MD", "docs/d.txt", "docs/old/c.md"]),
        (("**",), (), ["a.md", "docs/b.MD", "docs/d.txt", "docs/old/c.md"]),
        ((), ("old",), ["a.md", "docs/b.MD", "docs/d.txt"]),
        ((), ("docs/old/**",), ["a.md", "docs/b.MD", "docs/d.txt"]),
        ((), ("docs/",), ["a.md"]),
        ((), ("/docs",), ["a.md"]),
        ((), ("/old",), ["a.md", "docs/b.MD", "docs/d.txt", "docs/old/c.md"]),
        ((), ("[ab].md",), ["docs/d.txt", "docs/old/c.md"]),
        ((), ("[!ab].*",), ["a.md", "docs/b.MD"]),
        (("?.md",), ("**/old/**",), ["a.md", "docs/b.MD"]),
    ],
)
async def test_patterns(tmp_path, include, exclude, expected):
    for name in ("a.md", "docs/b.MD", "docs/d.txt", "docs/old/c.md"):
        put(tmp_path, name)
    assert await names(tmp_path, include=include, exclude=exclude) == expected


@given(st.text(alphabet="ab*?/[]!.^-&~|\\ \n", max_size=12), st.text(alphabet="ab/.*[]", max_size=8))
def test_any_pattern_is_one_or_is_refused(pattern, path):
    try:
        options = FilesOptions(path="x", include=(pattern,))
    except ValidationError:
        return
    Selection.of(options.include, (), hidden=False).takes(path)


@given(st.lists(st.sampled_from(["a", "b.md", "c"]), min_size=1, max_size=4))
def test_a_path_is_its_own_pattern(parts):
    path = "/".join(parts)
    selection = Selection.of((path,), (), hidden=False)
    assert selection.takes(path)
    assert selection.takes(f"{path}/below")
    assert not selection.takes(f"{path}x")
