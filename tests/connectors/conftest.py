"""What of the conformance suite is left to ``make soak``: most of it, for sources that share their connector with another."""

import pytest

from tests.connectors.conformance import Conformance

_ALWAYS = (
    "test_runs_follow_what_is_added_changed_and_deleted",
    "test_a_page_that_fails_in_the_first_sync_loses_nothing",
    "test_what_the_source_cannot_do_is_declared",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        suite = getattr(item, "cls", None)
        if suite and issubclass(suite, Conformance) and suite.at_length_in_soak and item.originalname not in _ALWAYS:
            item.add_marker(pytest.mark.soak)
