"""What is special to ``jira``: time by the account's clock, comments, who may read, attachments, and what goes wrong.

Long because Cloud and Data Center are held to the same cases.
"""

import json
import threading
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from connectors.base import Checkpoint, Origin
from connectors.jira import JiraOptions
from connectors.jira.documents import Writer
from connectors.jira.search import Search
from connectors.jira.state import State
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError
from tests.connectors.helpers import collect, known_of
from tests.connectors.jiras import Runs, connector
from tests.connectors.rounds import links
from tests.servers.jira import JiraServer


@pytest.fixture(params=["cloud", "server"])
async def server(request):
    async with JiraServer(is_cloud=request.param == "cloud").serving() as found:
        yield found


@pytest.fixture
def runs(server, tmp_path):
    return Runs(server, tmp_path)


async def test_an_issue_is_a_document_with_all_its_comments(server, runs):
    more = {
        "issuetype": {"name": "Bug"},
        "status": {"name": "In Progress"},
        "assignee": {"displayName": "Bob"},
        "reporter": {"displayName": "Cat"},
        "labels": ["login", "sso"],
        "priority": {"name": "High"},
        "components": [{"name": "Auth"}],
        "parent": {"key": "AB-9", "fields": {"summary": "Logins"}},
    }
    issue = server.open("Login fails", "It fails since Monday.", more=more)
    told = [server.comment(issue, f"Comment {number}.") for number in range(12)]
    await runs()
    document = runs.told[f"issue/{issue.id}"]
    text = document.content.decode()
    assert text.split("\n")[0] == (
        "Bug AB-1, In Progress. Priority: High. Assignee: Bob. Reporter: Cat. Labels: login, sso. Components: Auth. "
        "Part of: AB-9."
    )
    assert "It fails since Monday." in text
    assert [number for number in range(12) if f"Comment {number}." in text] == list(range(12))
    assert (document.title, document.author) == ("AB-1: Login fails", "Cat")
    assert document.url == f"{server.url}/browse/AB-1"
    assert document.readers is None
    assert document.metadata["status"] == "In Progress"
    urls = [link.url for link in document.permalinks]
    assert urls[:2] == [document.url, document.url]
    assert [f"focusedCommentId={one.id}" in url for one, url in zip(told, urls[2:], strict=True)] == [True] * 12
    lines = text.split("\n")
    for link in document.permalinks[2:]:
        assert lines[link.line - 1].startswith("**Ann**, 2026-03-01:")


async def test_a_citation_leads_to_the_comment(server, runs, tmp_path):
    issue = server.open("One", "It fails since Monday.")
    comments = [server.comment(issue, f"Reason number {number}.") for number in range(3)]
    found = await links(tmp_path, runs.connect(), "since Monday", "number 0", "number 2")
    assert found[0] == f"{server.url}/browse/AB-1"
    for url, comment in zip(found[1:], (comments[0], comments[2]), strict=True):
        assert f"focusedCommentId={comment.id}" in url


async def test_further_fields_are_read_where_they_are_named(server, tmp_path):
    text = "A cable." if not server.is_cloud else {"type": "doc", "content": [{"type": "text", "text": "A cable."}]}
    more = {"customfield_1": text, "environment": [{"value": "Prod"}, {"value": "Test", "child": {"value": "EU"}}]}
    issue = server.open("One", more=more | {"customfield_2": "unseen"})
    runs = Runs(server, tmp_path, fields=("customfield_1", "environment"))
    await runs()
    assert "## Cause\n\nA cable." in runs.text(f"issue/{issue.id}")
    assert "## Environment\n\nProd, Test / EU" in runs.text(f"issue/{issue.id}")
    assert "unseen" not in runs.text(f"issue/{issue.id}")
    fetched, _, _, _ = await collect(runs.connect().fetch([f"s:issue/{issue.id}"]))
    assert fetched[f"s:issue/{issue.id}"].content == runs.told[f"issue/{issue.id}"].content


async def test_only_what_was_updated_is_asked_for(server, runs):
    issues = [server.open(f"I{number}") for number in range(12)]
    assert len(await runs()) == 12
    server.now += timedelta(hours=2)
    server.edit(issues[3], "Changed")
    assert await runs() == {f"issue/{issues[3].id}"}
    server.now += timedelta(hours=2)
    server.comment(issues[4], "New")
    assert await runs() == {f"issue/{issues[4].id}"}
    searches = [body for body in runs.searches if "updated >=" in body["jql"]]
    assert searches
    assert all('updated >= "2026/03/01 0' in body["jql"] for body in searches), "by the clock of New York"


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "Asia/Kathmandu"])
@pytest.mark.parametrize("is_told", [True, False])
async def test_no_change_is_missed_whatever_the_accounts_clock(server, runs, zone, is_told):
    server.zone, server.told_zone = zone, is_told
    issue = server.open("One")
    await runs()
    for step in range(3):
        server.now += timedelta(minutes=step * 40)
        server.edit(issue, f"Step {step}")
        assert await runs() == {f"issue/{issue.id}"}


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2029, 1, 1)),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC", "Asia/Kathmandu"]),
)
def test_the_time_that_is_asked_from_is_never_after_the_one_meant(moment, zone):
    at = moment.replace(tzinfo=UTC)
    asked = Search(JiraOptions(url="https://x.example", token="t", projects=("AB",)), None, zone=ZoneInfo(zone))._local(
        at
    )
    for fold in (0, 1):  # whichever of two equal hours is taken for it
        taken = datetime.strptime(asked, "%Y/%m/%d %H:%M").replace(tzinfo=ZoneInfo(zone), fold=fold)
        assert at - timedelta(hours=3) <= taken.astimezone(UTC) <= at


async def test_an_issue_that_is_updated_while_pages_are_read_hides_no_other(server, runs):
    issues = [server.open(f"I{number}") for number in range(17)]
    for issue in issues:
        issue.at += timedelta(minutes=int(issue.id) - 10_000)
    server.now += timedelta(hours=1)
    touched = []

    def fault(path, body):
        if body and "updated ASC" in body["jql"] and len(touched) < 4:
            touched.append(issues[len(touched)])
            server.edit(touched[-1], "Moved to the end")

    server.fault = fault
    assert await runs() == {f"issue/{issue.id}" for issue in issues}
    assert len(touched) == 4


async def test_many_issues_of_one_minute_are_all_read(server, runs):
    issues = [server.open(f"I{number}") for number in range(23)]
    for issue in issues:
        issue.at = server.now
    assert await runs() == {f"issue/{issue.id}" for issue in issues}
    assert await runs() == set()


async def test_a_first_reading_that_is_cut_off_goes_on_where_it_was(server, runs):
    for number in range(20):
        server.open(f"I{number}").at += timedelta(minutes=30 * number)
    cursor, known = None, {}
    async for change in runs.connect().changes(None, {}):
        if isinstance(change, Checkpoint):
            cursor = change.cursor
            if len(known) >= 10:
                break
        else:
            known[change.id] = change.version
    before = len(server.asked)
    told, _, _, cursor = await collect(runs.connect().changes(cursor, known))
    assert len(told) + len(known) == 20
    assert all("updated >=" in body["jql"] for body in server.searches(before))
    assert State.from_cursor(cursor, json.loads(cursor)["basis"]).walked is None


async def test_a_comment_that_is_deleted_without_a_word_goes_when_all_is_looked_through(server, tmp_path):
    issue = server.open("One")
    comment = server.comment(issue, "First words.")
    runs = Runs(server, tmp_path, recheck_hours=1)
    await runs()
    server.now += timedelta(hours=5)
    server.open("Two")
    await runs()
    issue.comments.remove(comment)
    assert await runs() == set()
    told = json.loads(runs.cursor)
    runs.cursor = json.dumps(told | {"whole": told["whole"] - 7_200})
    assert await runs() == {f"issue/{issue.id}"}
    assert "words" not in runs.text(f"issue/{issue.id}")


@pytest.mark.parametrize("more", [{"visibility": {"type": "role", "value": "Admins"}}, {"jsdPublic": False}])
async def test_a_comment_for_some_is_for_nobody_here_unless_it_is_wanted(server, tmp_path, more):
    issue = server.open("One")
    server.comment(issue, "For everybody.", jsdPublic=True)
    server.comment(issue, "For some.", **more)
    runs = Runs(server, tmp_path)
    await runs()
    assert "For everybody." in runs.text(f"issue/{issue.id}")
    assert "For some." not in runs.text(f"issue/{issue.id}")
    runs = Runs(server, tmp_path, restricted_comments=True)
    await runs()
    assert "For some." in runs.text(f"issue/{issue.id}")
    runs = Runs(server, tmp_path, comments=False)
    await runs()
    assert "For " not in runs.text(f"issue/{issue.id}")


@pytest.mark.parametrize("kind", ["service_desk", None])
async def test_an_internal_comment_of_a_service_desk_is_for_nobody_here(tmp_path, kind):
    async with JiraServer(is_cloud=False).serving() as server:
        desk = server.open("One", more={"project": {"key": "AB", "projectTypeKey": kind}} if kind else {})
        plain = server.open("Two", more={"project": {"key": "AB", "projectTypeKey": "software"}})
        server.comment(desk, "For customers.", properties=[{"key": "sd.public.comment", "value": {"internal": False}}])
        server.comment(desk, "By mail.", properties=[])
        for value in (True, "true"):
            server.comment(desk, "Inside.", properties=[{"key": "sd.public.comment", "value": {"internal": value}}])
        server.comment(plain, "Fine.")
        runs = Runs(server, tmp_path)
        await runs()
        text = runs.text(f"issue/{desk.id}")
        assert "For customers." in text
        assert "By mail." in text
        assert "Inside." not in text
        assert "Fine." in runs.text(f"issue/{plain.id}")
        assert not [path for path, _ in server.asked if f"issue/{plain.id}/comment" in path]
        assert await runs() == set()
        runs = Runs(server, tmp_path, restricted_comments=True)
        await runs()
        assert "Inside." in runs.text(f"issue/{desk.id}")


@pytest.mark.parametrize("is_named", [True, False])
async def test_what_is_said_once_an_issue_is_closed_to_some_is_shown_to_no_others(server, tmp_path, is_named):
    issue = server.open("One")
    for number in range(server.shown + 1):
        server.comment(issue, f"Comment {number}.")

    def fault(path, body):
        if "/comment" in path and not issue.security:
            issue.security = "Internal"
            server.comment(issue, "Secret.")

    levels = {"Internal": ("email:ann@x.example",)} if is_named else {}
    runs = Runs(server, tmp_path, security_levels=levels, attachments=True)
    file = server.attach(issue, "a.txt", b"text")
    await runs()
    server.edit(issue, "Other text")
    server.fault = fault
    assert await runs() == ({f"issue/{issue.id}"} if is_named else set())
    for one in runs.told.values():
        assert one.readers == {"email:ann@x.example"}
    assert runs.gone == (set() if is_named else {f"s:issue/{issue.id}", f"s:attachment/{issue.id}/{file}"})
    await runs()
    assert await runs() == set()


async def test_a_comment_for_a_group_that_is_gone_is_for_nobody(server, runs):
    issue = server.open("One")
    server.comment(issue, "For some.", visibility={"type": "group", "value": None, "identifier": None})
    await runs()
    assert "For some." not in runs.text(f"issue/{issue.id}")


async def test_an_attachment_that_may_not_be_read_is_named_and_holds_up_nothing(server, tmp_path):
    issue = server.open("One")
    files = [server.attach(issue, f"{name}.txt", b"text") for name in "ab"]

    def fault(path, body):
        is_closed = f"/{files[0]}" in path and "attachment" in path
        return web.json_response({"errorMessages": ["blocked"]}, status=403) if is_closed else None

    server.fault = fault
    runs = Runs(server, tmp_path, attachments=True)
    assert await runs() == {f"issue/{issue.id}", f"attachment/{issue.id}/{files[1]}"}
    assert "403" in runs.failures[f"s:attachment/{issue.id}/{files[0]}"].reason


@pytest.mark.parametrize("order", ["updated ASC", "created ASC"])
async def test_a_search_that_runs_in_a_circle_is_told(tmp_path, order):
    async with JiraServer().serving() as server:
        for number in range(12):
            server.open(f"I{number}").at = server.now

        def fault(path, body):
            if len(server.asked) > 50:
                return web.Response(status=500)
            if body and order in body["jql"] and body.get("nextPageToken"):
                return web.json_response({"issues": [], "nextPageToken": "t5", "isLast": False})
            return None

        server.fault = fault
        with pytest.raises(SourceError, match="circle"):
            await Runs(server, tmp_path)()


@pytest.mark.parametrize(("order", "said"), [("updated ASC", "breaks off"), ("created ASC", "while they were listed")])
async def test_a_search_that_breaks_off_is_not_taken_for_whole(tmp_path, order, said):
    async with JiraServer(is_cloud=False).serving() as server:
        for number in range(12):
            server.open(f"I{number}").at = server.now

        def fault(path, body):
            if body and order in body["jql"] and body["startAt"]:
                return web.json_response({"issues": [], "startAt": body["startAt"], "total": 12})
            return None

        server.fault = fault
        with pytest.raises(SourceError, match=said):
            await Runs(server, tmp_path)()


async def test_an_issue_with_a_security_level_is_for_those_whom_the_settings_name(server, tmp_path):
    issue, other = server.open("One", security="Internal"), server.open("Two", security="Board")
    free = server.open("Three")
    file = server.attach(issue, "a.txt", b"text")
    runs = Runs(server, tmp_path, attachments=True)
    assert await runs() == {f"issue/{free.id}"}
    assert runs.ids == {f"s:issue/{free.id}"}
    _, _, gone, _ = await collect(runs.connect().fetch([f"s:issue/{issue.id}", f"s:attachment/{issue.id}/{file}"]))
    assert len(gone) == 2
    levels = {"Internal": ("email:Ann@x.example",)}
    runs = Runs(server, tmp_path, attachments=True, security_levels=levels, readers=("slack:T1",))
    assert await runs() == {f"issue/{free.id}", f"issue/{issue.id}", f"attachment/{issue.id}/{file}"}
    assert runs.told[f"issue/{issue.id}"].readers == {"email:ann@x.example"}
    assert runs.told[f"attachment/{issue.id}/{file}"].readers == {"email:ann@x.example"}
    assert runs.told[f"issue/{free.id}"].readers == {"slack:T1"}
    assert f"s:issue/{other.id}" not in runs.ids


async def test_an_issue_that_a_team_restricts_by_itself_is_left_out(server, tmp_path):
    roles = {"issuerestrictions": {"projectrole": ["10002"]}, "shouldDisplay": True}
    issue = server.open("One", more={"issuerestriction": roles})
    free = server.open("Two", more={"issuerestriction": {"issuerestrictions": {}, "shouldDisplay": True}})
    runs = Runs(server, tmp_path)
    assert await runs() == {f"issue/{free.id}"}
    assert runs.ids == {f"s:issue/{free.id}"}
    runs = Runs(server, tmp_path, security_levels={"Restricted": ("slack:T1/C1",)})
    await runs()
    assert runs.told[f"issue/{issue.id}"].readers == {"slack:T1/C1"}


async def test_an_issue_that_is_deleted_while_all_are_listed_hides_no_other(tmp_path):
    async with JiraServer(is_cloud=False).serving() as server:
        issues = [server.open(f"I{number}") for number in range(14)]

        def fault(path, body):
            if body and "created ASC" in body["jql"] and body["startAt"] == 4 and issues[0].id in server.issues:
                del server.issues[issues[0].id]

        server.fault = fault
        runs = Runs(server, tmp_path)
        await runs()
        assert runs.ids >= {f"s:issue/{issue.id}" for issue in issues[1:]}
        assert len(server.issues) == 13


async def test_a_list_that_never_stands_still_is_told(tmp_path):
    async with JiraServer(is_cloud=False).serving() as server:
        for number in range(40):
            server.open(f"I{number}")

        def fault(path, body):
            if body and "created ASC" in body["jql"] and body["startAt"]:
                del server.issues[min(server.issues)]

        server.fault = fault
        with pytest.raises(SourceError, match="while they were listed"):
            await Runs(server, tmp_path)()


async def test_an_issue_that_gets_a_security_level_goes_at_once(server, tmp_path):
    issue = server.open("One")
    file = server.attach(issue, "a.txt", b"text")
    runs = Runs(server, tmp_path, attachments=True)
    await runs()
    issue.security = "Internal"
    server.edit(issue, "Secret")
    assert await runs() == set()
    assert runs.gone == {f"s:issue/{issue.id}", f"s:attachment/{issue.id}/{file}"}
    assert runs.ids == set()


async def test_long_issues_hold_up_nobody(server, tmp_path, monkeypatch):
    threads, real = set(), Writer.issue

    def issue(*told, **more):
        threads.add(threading.current_thread())
        return real(*told, **more)

    monkeypatch.setattr(Writer, "issue", issue)
    server.open("One")
    assert len(await Runs(server, tmp_path)()) == 1
    assert threads
    assert threading.main_thread() not in threads


async def test_however_many_issues_are_restricted_what_is_indexed_is_looked_through_once(server, tmp_path):
    class Counted(dict):
        looks = 0

        def __iter__(self):
            self.looks += 1
            return super().__iter__()

    for number in range(8):
        server.open(f"Issue {number}", security="Internal")
    known = Counted({"s:issue/1": "v", "s:attachment/1/2": "v"})
    connector = Runs(server, tmp_path, attachments=True).connect()
    await collect(connector.changes(None, known))
    assert known.looks == 1


async def test_what_cannot_be_read_anew_fails_with_the_readers_that_it_has_now(server, tmp_path):
    issue, other = server.open("One"), server.open("Two")
    for one in (issue, other):
        for number in range(server.shown + 1):
            server.comment(one, f"Comment {number}.")
    runs = Runs(server, tmp_path, security_levels={"Internal": ("slack:T1/C1",)})
    await runs()
    before = runs.told[f"issue/{other.id}"].readers
    issue.security = "Internal"
    for one in (issue, other):
        server.edit(one, "New")
        one.is_spoilt = True
    assert await runs() == set()
    told = {identity: failure.readers for identity, failure in runs.failures.items()}
    assert told == {f"s:issue/{issue.id}": {"slack:T1/C1"}, f"s:issue/{other.id}": before}


async def test_attachments_are_documents_where_they_are_wanted(server, tmp_path):
    issue = server.open("One")
    file = server.attach(issue, "plan ü.txt", b"The plan.")
    server.attach(issue, "photo.png", b"png")
    runs = Runs(server, tmp_path)
    assert await runs() == {f"issue/{issue.id}"}
    runs = Runs(server, tmp_path, attachments=True)
    assert await runs() == {f"issue/{issue.id}", f"attachment/{issue.id}/{file}"}
    document = runs.told[f"attachment/{issue.id}/{file}"]
    assert (document.content, document.name, document.metadata["issue"]) == (b"The plan.", "plan ü.txt", "AB-1")
    assert server.tokens_elsewhere == ([None] if server.is_cloud else [])
    assert await runs() == set()
    del issue.files[file]
    await runs()
    assert runs.ids == {f"s:issue/{issue.id}"}


async def test_an_attachment_that_is_too_large_is_told(server, tmp_path):
    issue = server.open("One")
    file = server.attach(issue, "long.txt", b"x" * 2_000)
    runs = Runs(server, tmp_path, attachments=True, max_megabytes=0.001)
    await runs()
    assert "max_megabytes" in runs.failures[f"s:attachment/{issue.id}/{file}"].mend


async def test_an_issue_that_is_moved_stays_the_same_document(server, runs):
    issue = server.open("One")
    await runs()
    issue.key = "CD-7"
    server.edit(issue, "Moved")
    assert await runs() == {f"issue/{issue.id}"}
    assert runs.told[f"issue/{issue.id}"].url.endswith("/browse/CD-7")


async def test_an_issue_with_another_summary_stays_the_same_document(server, runs):
    issue = server.open("Old name")
    await runs()
    issue.summary = "New name"
    server.edit(issue, issue.text)
    assert await runs() == {f"issue/{issue.id}"}
    assert (runs.ids, runs.told[f"issue/{issue.id}"].title) == ({f"s:issue/{issue.id}"}, f"{issue.key}: New name")


async def test_an_issue_that_the_question_no_longer_finds_is_gone(server, runs):
    issue, kept = server.open("One"), server.open("Two")
    await runs()
    server.scope = lambda one: one is kept
    await runs()
    assert runs.ids == {f"s:issue/{kept.id}"}
    _, _, gone, _ = await collect(runs.connect().fetch([f"s:issue/{issue.id}"]))
    assert gone == {f"s:issue/{issue.id}"}


async def test_what_is_fetched_has_the_version_that_the_search_tells(server, tmp_path):
    issue = server.open("One")
    for number in range(5):
        server.comment(issue, f"Comment {number}.")
    file = server.attach(issue, "a.txt", b"text")
    runs = Runs(server, tmp_path, attachments=True)
    ids = [f"s:issue/{issue.id}", f"s:attachment/{issue.id}/{file}"]
    fetched, _, gone, _ = await collect(runs.connect().fetch([*ids, "s:issue/99", "s:issue/../1", "s:attachment/1"]))
    assert list(fetched) == ids
    assert gone == {"s:issue/99", "s:issue/../1", "s:attachment/1"}
    runs.known = known_of(fetched)
    assert await runs() == set()


async def test_other_settings_read_all_anew(server, tmp_path):
    server.open("One")
    runs = Runs(server, tmp_path)
    await runs()
    runs.options = {"jql": "labels = docs"}
    assert len(await runs()) == 1
    assert 'project in ("AB") AND (labels = docs)' in runs.searches[0]["jql"]


async def test_a_stranger_is_told_apart_from_somebody_who_may_read(server, runs):
    server.is_stranger = True
    with pytest.raises(SourceAuthError, match="stranger"):
        await runs()


async def test_a_reply_to_a_stranger_is_never_believed(server, runs):
    headers = {"X-Seraph-LoginReason": "AUTHENTICATED_FAILED"}
    server.fault = lambda path, body: web.json_response({"issues": []}, headers=headers) if body else None
    with pytest.raises(SourceAuthError):
        await runs()


async def test_a_question_that_jira_does_not_understand_is_told_in_its_words(server, runs):
    said = "Field 'labls' does not exist or you do not have permission to view it."
    server.fault = lambda path, body: web.json_response({"errorMessages": [said]}, status=400) if body else None
    with pytest.raises(SourceBadReply, match="Field 'labls' does not exist"):
        await runs()


async def test_a_missing_scope_is_told(server, runs):
    server.fault = lambda path, body: web.json_response({"message": "scope"}, status=403) if body else None
    with pytest.raises(SourceAuthError) as refused:
        await runs()
    assert "scopes" in refused.value.mend


async def test_a_login_page_is_no_reply(server, runs):
    server.is_html = True
    with pytest.raises(SourceBadReply, match="web page"):
        await runs()


async def test_a_circle_of_redirects_is_told(server, runs):
    server.fault = lambda path, body: web.Response(status=302, headers={"Location": server.url + path})
    with pytest.raises(SourceBadReply, match="circle"):
        await runs()


@pytest.mark.parametrize("cursor", ["", "x", "[]", '{"basis": 1, "whole": "x"}', '{"reached": "no time"}', "null"])
def test_a_cursor_that_is_none_begins_anew(cursor):
    assert State.from_cursor(cursor, "b") == State(basis="b")


def options(**changes):
    told = {"url": "https://x.atlassian.net/jira/software", "email": "ann@x.example", "token": "t", "projects": ("AB",)}
    return JiraOptions.model_validate(told | changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"projects": ()}, "name `projects` or `jql`"),
        ({"projects": ("A B",)}, "no key of a project"),
        ({"jql": "labels = x order  by created"}, "leave ORDER BY out"),
        ({"fields": ("Story points",)}, "no id of a field"),
        ({"security_levels": {"Internal": ("ann",)}}, "is no reader"),
        ({"email": ""}, "Cloud wants `email`"),
    ],
)
def test_wrong_settings_are_named(changes, said):
    with pytest.raises(ValidationError, match=said):
        options(**changes)


def test_a_question_may_hold_words_that_only_look_like_an_order():
    assert options(jql='summary ~ "order by"').site == "https://x.atlassian.net"


def test_the_token_is_shown_nowhere(tmp_path):
    found = connector(JiraServer(), Origin(source="s", folder=tmp_path), token="very-secret")
    assert "very-secret" not in repr(found)
