"""The doctor's look at Slack names the token that is wrong, and no other."""

import pytest

from bots.app.platforms import check_halves
from bots.settings import Settings
from bots.slack.checking import check
from bots.slack.manifest import SCOPES
from tests.servers.slack import SlackServer, slack_server


def settings_of(server: SlackServer, **slack: str) -> Settings:
    return Settings.model_validate({"slack": {"api_url": f"{server.url}/api/", **slack}, "data_dir": "data"})


@pytest.mark.parametrize(
    ("bot", "app", "wrong", "right"),
    [
        ("xoxb-local", "xapp-of-another-app", "SLACK_APP_TOKEN", "SLACK_BOT_TOKEN"),
        ("xoxb-of-another-app", "xapp-local", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"),
        ("xapp-local", "xoxb-local", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"),
    ],
)
async def test_a_refused_token_is_named(bot: str, app: str, wrong: str, right: str) -> None:
    async with slack_server() as server:
        failed = [one for one in await check(settings_of(server, bot_token=bot, app_token=app)) if one.state == "fail"]
    told = " ".join(f"{one.found} {one.mend}" for one in failed)
    assert len(failed) == 1
    assert wrong in told
    assert right not in told


async def test_right_tokens_are_well() -> None:
    async with slack_server() as server:
        found = await check(settings_of(server, bot_token=server.bot_token, app_token=server.app_token))
        assert {one.state for one in found} == {"ok"}


@pytest.mark.parametrize(
    ("lacking", "pictures", "state"),
    [
        ("nothing", True, "ok"),
        ("files:write", True, "warn"),
        ("files:write", False, "ok"),
        ("files:read", False, "fail"),
    ],
)
async def test_a_missing_scope_is_told_and_that_of_pictures_only_where_they_are_wanted(
    lacking: str, pictures: bool, state: str
) -> None:
    async with slack_server() as server:
        server.scopes = tuple(scope for scope in SCOPES if scope != lacking)
        settings = settings_of(server, bot_token=server.bot_token, app_token=server.app_token)
        turns = settings.turns.model_copy(update={"pictures": pictures})
        found = await check(settings.model_copy(update={"turns": turns}))
    (told,) = [one for one in found if one.name == "slack scopes"]
    assert told.state == state
    assert (lacking in told.found) == (state != "ok")
    assert ("pictures = false" in told.mend) == (state == "warn")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"app_token": "xapp-1"}, "SLACK_APP_TOKEN is set, SLACK_BOT_TOKEN is not: nobody is answered on Slack"),
        ({"signing_secret": "a"}, "SLACK_SIGNING_SECRET is set, SLACK_BOT_TOKEN is not: nobody is answered on Slack"),
        ({"app_token": "xapp-1", "bot_token": "xoxb-1"}, ""),
        ({"bot_token": "xoxb-1"}, ""),
        ({}, ""),
    ],
)
def test_a_second_token_without_the_first_is_told(given: dict[str, str], told: str) -> None:
    found = list(check_halves(Settings.model_validate({"slack": given, "data_dir": "data"})))
    assert [one.found for one in found] == ([told] if told else [])
