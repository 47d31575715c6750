"""JSON in what a model writes: found, mended, and not at any price."""

import contextlib
import json
import time

import pytest

from ragcore.errors import ModelBadOutput
from ragcore.json_replies import MOST_MENDED, MOST_OPENED, list_of, value_of

WHOLE = '{"a": [1, 2]}'
SAID = " ".join(map(str, range(MOST_MENDED)))
LONG = f'{{"a": "{SAID}"}}'


@pytest.mark.parametrize("waited_for", [False, True])
@pytest.mark.parametrize(
    "reply", [WHOLE, f"```json\n{WHOLE}\n```", f"Here: {WHOLE}", f"{WHOLE} That is all.", '{"a": [1, 2']
)
def test_json_is_found_and_mended(reply: str, *, waited_for: bool) -> None:
    assert value_of(reply, waited_for=waited_for) == {"a": [1, 2]}


def test_what_somebody_waits_for_is_mended_only_where_that_is_quick() -> None:
    assert value_of(LONG, waited_for=True) == value_of(LONG)
    assert value_of(f"{LONG} That is all.", waited_for=True) == value_of(LONG)
    assert value_of(LONG[:-2]) == {"a": SAID}
    with pytest.raises(ModelBadOutput):
        value_of(LONG[:-2], waited_for=True)
    many = "[" + "".join(f"[{number}]," for number in range(MOST_OPENED))
    assert list_of(many, "numbers") == [[number] for number in range(MOST_OPENED)]
    with pytest.raises(ModelBadOutput):
        list_of(many, "numbers", waited_for=True)


@pytest.mark.parametrize("waited_for", [False, True])
@pytest.mark.parametrize("motif", ["{1}", "{", "[", "{'", '{"a"', "[{\u201d][", '["a" ', '"a"b"c",', '"a"" ,', "\n\n"])
def test_a_model_that_lost_its_way_costs_no_time(motif: str, *, waited_for: bool) -> None:
    began = time.thread_time()
    with contextlib.suppress(ModelBadOutput):
        value_of("[" + motif * 9_000, waited_for=waited_for)
    assert time.thread_time() - began < 2.0


@pytest.mark.parametrize("waited_for", [False, True])
@pytest.mark.parametrize("form", ["{{{0}}}", "{{{0}}}\n", "[{0} {{{0}}}", "{{k{0}: {{{0}}}"])
def test_nor_does_one_that_counts_on(form: str, *, waited_for: bool) -> None:
    began = time.thread_time()
    with contextlib.suppress(ModelBadOutput):
        value_of("[" + "".join(form.format(number) for number in range(9_000)), waited_for=waited_for)
    assert time.thread_time() - began < 3.0


def test_broken_objects_in_any_number_are_mended() -> None:
    objects = [{"name": f"n{number}", "about": [number]} for number in range(200)]
    written = json.dumps(objects)
    assert value_of(written[:-1]) == objects
    assert value_of(written.replace("], ", "] ")) == objects
    assert value_of(written.replace('"name"', "name")[:900])[0] == objects[0]


def test_what_is_said_a_few_times_over_is_kept() -> None:
    assert value_of("[" + "5, " * 60) == [5] * 60
