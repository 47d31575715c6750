"""Templates say what they need, need what they say, and can be overridden."""

import pathlib

import jinja2
import jinja2.meta
import pytest

from ragcore.errors import ConfigError
from ragcore.prompts import Prompts, declared_inputs, render

OWN = Prompts()


@pytest.mark.parametrize("name", OWN.names())
def test_declared_inputs_are_those_used(name: str) -> None:
    environment = jinja2.Environment(autoescape=False)
    used: set[str] = set()
    waiting = [name]
    while waiting:
        tree = environment.parse(OWN.source(waiting.pop()))
        used |= jinja2.meta.find_undeclared_variables(tree)
        waiting += [found.removesuffix(".j2") for found in jinja2.meta.find_referenced_templates(tree) if found]
    assert OWN.declared_inputs(name) == used


@pytest.mark.parametrize("name", OWN.names())
def test_every_template_renders_clean(name: str) -> None:
    inputs = dict.fromkeys(OWN.declared_inputs(name), "input")
    text = render(name, **inputs)
    assert text == text.strip()
    assert "{#" not in text
    assert "\n\n\n" not in text


def test_the_marker_is_spoken_of_in_the_citation_rules_alone() -> None:
    assert "[ID:" not in render("answer_system", quote=False)
    assert render("citation_rules") in render("answer_system", quote=True)
    assert render("citation_rules") in render("citation_plus")


def test_a_missing_input_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "greet.j2").write_text("{# inputs: name -#}\nHello {{ name }}", encoding="utf-8")
    with pytest.raises(ConfigError, match="name"):
        Prompts(tmp_path).render("greet")


def test_an_unknown_template_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no_such\.j2"):
        render("no_such")


def test_nothing_is_escaped(tmp_path: pathlib.Path) -> None:
    (tmp_path / "mine.j2").write_text("{# inputs: text -#}\n<{{ text }}>", encoding="utf-8")
    assert Prompts(tmp_path).render("mine", text="a & b {{ c }}") == "<a & b {{ c }}>"


def test_a_folder_overrides_one_template_and_leaves_the_others(tmp_path: pathlib.Path) -> None:
    (tmp_path / "citation_rules.j2").write_text("{# inputs: none -#}\n像这样标注：[ID:0]", encoding="utf-8")
    prompts = Prompts(tmp_path)
    assert prompts.render("citation_rules") == "像这样标注：[ID:0]"
    assert prompts.render("citation_plus").endswith("像这样标注：[ID:0]")
    assert prompts.render("answer_system", quote=False) == render("answer_system", quote=False)
    assert "像这样标注" in prompts.render("answer_system", quote=True)


def test_a_file_elsewhere_may_include_the_others(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "handbook.j2"
    file.write_text('Be kind.\n{% include "citation_rules.j2" %}', encoding="utf-8")
    assert OWN.render_file(file) == "Be kind.\n" + render("citation_rules")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("Be {{ kind", "line 1"),
        ("{{ nobody }}", "nobody"),
        ('{% include "gone.j2" %}', "gone.j2"),
        ("{% for %}", "broken.j2"),
    ],
)
def test_a_broken_file_is_named(tmp_path: pathlib.Path, source: str, said: str) -> None:
    file = tmp_path / "broken.j2"
    file.write_text(source, encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        OWN.render_file(file, quote=True)
    with pytest.raises(ConfigError, match=r"the prompt file \S+absent\.j2 is not there"):
        OWN.render_file(tmp_path / "absent.j2")


def test_a_file_in_another_encoding_is_named(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "gbk.j2"
    file.write_bytes("请回答".encode("gbk"))
    with pytest.raises(ConfigError, match=r"gbk\.j2"):
        OWN.render_file(file)


def test_the_first_line_must_declare() -> None:
    with pytest.raises(ConfigError):
        declared_inputs("Hello {{ name }}")
