"""What is special to ``confluence``: links, comments, attachments, moves, and what goes wrong.

Long because Cloud and Data Center are held to the same cases.
"""

import pytest
from aiohttp import web
from pydantic import ValidationError

from connectors.base import Origin
from connectors.confluence import ConfluenceOptions
from ragcore.errors import SourceAuthError, SourceBadReply, SourceError, SourceGone
from tests.connectors.confluences import Runs, connector
from tests.connectors.helpers import collect, known_of
from tests.connectors.rounds import links
from tests.servers.confluence import ConfluenceServer


@pytest.fixture(params=["cloud", "server"])
async def server(request):
    async with ConfluenceServer(is_cloud=request.param == "cloud").serving() as found:
        found.person("ann", "ann@x.example")
        found.person("bob", "bob@x.example")
        yield found


@pytest.fixture
def runs(server, tmp_path):
    return Runs(server, tmp_path)


def reads(asked):
    """Return the requests that read a text or a file: those that only list aren't among them."""
    return [one for one in asked if "body" in one or "/download" in one]


async def test_a_page_is_a_document_whose_parts_have_their_links(server, runs):
    page = server.page(
        "Leave & more", "<h2>Carry over</h2><p>Ten days.</p><h2>Carry over</h2><p>Ask.</p>", author="bob"
    )
    comment = server.comment(page, "<p>And <em>half</em> days?</p>", author="ann", selection="Ten\ndays")
    await runs()
    document = runs.told[f"page/{page.id}"]
    lines = document.content.decode().split("\n")
    assert lines[0] == "## Carry over"
    assert '**ann**, 2026-03-01, on "Ten days":' in lines
    assert "And *half* days?" in lines
    assert (document.title, document.author, document.metadata["space"]) == ("Leave & more", "bob", "HR")
    assert document.readers is None
    assert document.url.startswith(f"{server.base}/")
    links = {lines[link.line - 1]: link.url for link in document.permalinks}
    anchor = "Carry-over" if server.is_cloud else "Leave&more-Carryover"
    assert [link.url for link in document.permalinks][:2] == [
        f"{document.url}#{anchor}",
        f"{document.url}#{anchor}.1",
    ]
    assert links["## Comments"] == document.url
    assert links['**ann**, 2026-03-01, on "Ten days":'].endswith(f"focusedCommentId={comment.id}")


async def test_a_citation_leads_to_the_heading_or_the_comment(server, runs, tmp_path):
    body = "<p>At the top.</p><h2>Carry over</h2><p>Ten days.</p><h3>By whom</h3><p>By the lead.</p>"
    page = server.page("Leave", body)
    comment = server.comment(page, "<p>And half days?</p>")
    found = await links(tmp_path, runs.connect(), "At the top.", "Ten days.", "By the lead.", "half days")
    head = found[0]
    assert head.endswith(f"/pages/{page.id}" if server.is_cloud else f"?pageId={page.id}")
    anchors = ("Carry-over", "By-whom") if server.is_cloud else ("Leave-Carryover", "Leave-Bywhom")
    assert found[1:3] == [f"{head}#{anchor}" for anchor in anchors]
    assert found[3].endswith(f"focusedCommentId={comment.id}")


async def test_a_page_without_text_is_one_that_holds_others(server, runs):
    page = server.page("Only below", "")
    await runs()
    assert runs.text(f"page/{page.id}") == "Only below"
    assert not runs.failures


async def test_what_is_unchanged_is_listed_and_not_read(server, runs):
    pages = [server.page(f"P{number}") for number in range(7)]
    server.attach(pages[0], "a.txt", b"text", media_type="text/plain")
    server.comment(pages[1], "<p>Yes.</p>")
    assert len(await runs()) == 8
    assert len(reads(runs.asked)) == 9, "a page each, its comments where it has some, and the file"
    assert await runs() == set()
    assert reads(runs.asked) == []


async def test_a_comment_makes_its_page_new_when_it_comes_changes_or_goes(server, runs):
    page, _ = server.page("One"), server.page("Two")
    await runs()
    comment = server.comment(page, "<p>First words.</p>")
    assert await runs() == {f"page/{page.id}"}
    assert "First words." in runs.text(f"page/{page.id}")
    server.edit(comment, "<p>Other words.</p>")
    assert await runs() == {f"page/{page.id}"}
    assert "Other words." in runs.text(f"page/{page.id}")
    server.drop(comment)
    assert await runs() == {f"page/{page.id}"}
    assert "words" not in runs.text(f"page/{page.id}")


async def test_comments_are_left_out_where_they_are_not_wanted(server, tmp_path):
    page = server.page("One")
    server.comment(page, "<p>First words.</p>")
    runs = Runs(server, tmp_path, kinds=("pages",))
    await runs()
    assert "words" not in runs.text(f"page/{page.id}")
    assert not [one for one in runs.asked if "comment" in one]


async def test_a_page_that_is_renamed_or_moved_stays_the_same_document(server, runs):
    server.spaces["DEV"] = "global"
    page = server.page("Old name")
    await runs()
    page.title, page.space, page.number = "New name", "DEV", 2
    assert await runs() == {f"page/{page.id}"}
    assert runs.told[f"page/{page.id}"].title == "New name"
    assert runs.ids == {f"s:page/{page.id}"}


@pytest.mark.parametrize("status", ["archived", "trashed", "draft"])
async def test_a_page_that_is_put_away_is_gone(server, runs, status):
    page, other = server.page("One"), server.page("Two")
    server.attach(page, "a.txt", b"text")
    await runs()
    page.status = status
    await runs()
    assert runs.ids == {f"s:page/{other.id}"}
    _, _, gone, _ = await collect(runs.connect().fetch([f"s:page/{page.id}"]))
    assert gone == {f"s:page/{page.id}"}


async def test_an_attachment_is_a_document_with_its_bytes(server, runs):
    page = server.page("One")
    file = server.attach(page, "plan ü.pdf", b"%PDF-1.7", media_type="application/pdf")
    server.attach(page, "photo.png", b"png", media_type="image/png")
    await runs()
    document = runs.told[f"attachment/{file.id}"]
    assert (document.content, document.name, document.media_type) == (b"%PDF-1.7", "plan ü.pdf", "application/pdf")
    assert document.url.startswith(server.base)
    assert len(runs.ids) == 2
    assert server.tokens_elsewhere == ([None] if server.is_cloud else [])
    file.data, file.number = b"%PDF-1.8", 2
    assert await runs() == {f"attachment/{file.id}"}
    server.drop(file)
    await runs()
    assert runs.ids == {f"s:page/{page.id}"}


async def test_an_attachment_that_is_too_large_is_told(server, tmp_path):
    page = server.page("One")
    file = server.attach(page, "long.txt", b"x" * 2_000)
    runs = Runs(server, tmp_path, max_megabytes=0.001)
    await runs()
    failure = runs.failures[f"s:attachment/{file.id}"]
    assert "max_megabytes" in failure.mend
    assert failure.version
    assert not [one for one in runs.asked if "/download" in one]


async def test_an_attachment_that_may_not_be_read_is_named_and_holds_up_nothing(server, runs):
    page = server.page("One")
    files = [server.attach(page, f"{name}.txt", b"text") for name in "ab"]

    def fault(path):
        is_closed = "download" in path and files[0].id in path
        return web.json_response({"message": "blocked"}, status=403) if is_closed else None

    server.fault = fault
    assert await runs() == {f"page/{page.id}", f"attachment/{files[1].id}"}
    assert "403" in runs.failures[f"s:attachment/{files[0].id}"].reason


async def test_a_page_to_log_in_is_no_attachment(tmp_path):
    async with ConfluenceServer(is_cloud=False).serving() as server:
        page = server.page("One")
        file = server.attach(page, "a.txt", b"text")

        def fault(path):
            if path.startswith("/login.action"):
                return web.Response(text="<html>Log in</html>", content_type="text/html")
            place = f"{server.url}/login.action?permissionViolation=true"
            return web.Response(status=302, headers={"Location": place}) if "/download/" in path else None

        server.fault = fault
        runs = Runs(server, tmp_path)
        assert await runs() == {f"page/{page.id}"}
        assert "log in" in runs.failures[f"s:attachment/{file.id}"].reason


async def test_a_list_that_runs_in_a_circle_is_not_taken_for_whole(server, runs):
    for number in range(12):
        server.page(f"P{number}")
    links = {"next": "/x?cursor=5&start=5&limit=5"}

    def fault(path):
        is_list = "spaces/1/pages" in path or "/content?" in path
        again = "cursor=5" in path or "start=5" in path
        return web.json_response({"results": [], "_links": links}) if is_list and again else None

    server.fault = fault
    with pytest.raises(SourceError, match="circle"):
        await runs()


async def test_a_page_nested_too_deep_fails_alone(server, runs):
    server.page("Deep", "<ul>" * 1_500 + "x" + "</ul>" * 1_500)
    other = server.page("Two")
    assert await runs() == {f"page/{other.id}"}
    assert [failure.version != "" for failure in runs.failures.values()] == [True]


async def test_what_is_fetched_has_the_version_that_the_list_tells(server, runs):
    page = server.page("One")
    below = server.page("Below", parent=page, users={"bob"})
    server.comment(below, "<p>Yes.</p>")
    post = server.page("News", kind="blogpost")
    files = [server.attach(one, "a.txt", b"text") for one in (below, post)]
    ids = [f"s:page/{page.id}", f"s:page/{below.id}", f"s:blogpost/{post.id}", *(f"s:attachment/{f.id}" for f in files)]
    fetched, _, gone, _ = await collect(runs.connect().fetch([*ids, "s:page/9999", "s:attachment/att9", "s:x/../1"]))
    assert list(fetched) == ids
    assert gone == {"s:page/9999", "s:attachment/att9", "s:x/../1"}
    runs.known = known_of(fetched)
    assert await runs() == set()


async def test_personal_spaces_and_those_left_out_are_not_read(server, tmp_path):
    server.spaces |= {"~ann": "personal", "DEV": "global"}
    pages = {key: server.page(f"In {key}", space=key) for key in server.spaces}
    runs = Runs(server, tmp_path, exclude_spaces=("DEV",))
    assert await runs() == {f"page/{pages['HR'].id}"}
    runs = Runs(server, tmp_path, spaces=("~ann",))
    assert await runs() == {f"page/{pages['~ann'].id}"}
    _, _, gone, _ = await collect(runs.connect().fetch([f"s:page/{pages['HR'].id}"]))
    assert gone == {f"s:page/{pages['HR'].id}"}


async def test_a_page_that_a_list_passes_over_is_asked_for(server, runs):
    pages = [server.page(f"P{number}") for number in range(3)]
    await runs()
    kept = [one for one in server.things.values() if one is not pages[1]]
    server._live = lambda *kinds: [one for one in kept if one.kind in kinds]
    assert await runs() == set()
    assert f"s:page/{pages[1].id}" in runs.ids


async def test_a_list_that_passes_over_some_deletes_none_of_them(server, runs):
    pages = [server.page(f"P{number}") for number in range(36)]
    await runs()
    real = server._live
    server._live = lambda *kinds: [one for one in real(*kinds) if one not in pages[20:32]]
    gone = pages[20:22]
    for page in gone:
        page.status = "trashed"
    assert await runs() == set()
    assert runs.ids == {f"s:page/{page.id}" for page in pages if page not in gone}


async def test_a_page_that_changes_while_it_is_read_is_read_again(server, runs):
    page = server.page("One")

    def fault(path):
        if "storage" in path and page.number == 1:
            server.edit(page, "<p>Newer words.</p>")

    server.fault = fault
    await runs()
    assert runs.text(f"page/{page.id}") == "Newer words."
    assert await runs() == {f"page/{page.id}"}
    assert await runs() == set()


async def test_a_stranger_is_told_apart_from_somebody_who_may_read(server, runs):
    server.page("One")
    server.is_stranger = True
    with pytest.raises(SourceAuthError, match="stranger"):
        await runs()


@pytest.mark.parametrize("reason", ["AUTHENTICATED_FAILED", "AUTHENTICATION_DENIED"])
async def test_a_reply_to_a_stranger_is_never_believed(server, runs, reason):
    server.page("One")
    server.fault = lambda path: web.json_response({"results": []}, headers={"X-Seraph-LoginReason": reason})
    with pytest.raises(SourceAuthError) as refused:
        await runs()
    assert "token" in refused.value.mend


async def test_a_wrong_token_names_the_setting(server, tmp_path):
    with pytest.raises(SourceAuthError) as refused:
        await Runs(server, tmp_path, token="wrong")()
    assert "`token`" in refused.value.mend


async def test_a_missing_scope_is_told_with_what_confluence_says(server, runs):
    said = web.json_response({"message": "scope does not match"}, status=403)
    server.fault = lambda path: said if "user/current" not in path else None
    with pytest.raises(SourceAuthError, match="scope does not match") as refused:
        await runs()
    assert "scopes" in refused.value.mend


async def test_a_login_page_is_no_list(server, runs):
    server.is_html = True
    with pytest.raises(SourceBadReply, match="web page"):
        await runs()


async def test_another_form_of_reply_is_told(server, runs):
    server.fault = lambda path: web.json_response({"results": [{"name": "no id"}]}) if "space" in path else None
    with pytest.raises(SourceBadReply, match="did not answer as Atlassian does"):
        await runs()


async def test_a_space_that_is_not_there_is_told_and_deletes_nothing(server, tmp_path):
    with pytest.raises(SourceGone, match="there is no space GONE"):
        await Runs(server, tmp_path, spaces=("HR", "GONE"))()


async def test_a_space_that_may_not_be_read_holds_up_no_other(server, runs, tmp_path):
    server.spaces["DEV"] = "global"
    closed, opened = server.page("One"), server.page("Two", space="DEV")

    def fault(path):
        is_closed = "spaces/1/pages" in path or "spaceKey=HR" in path
        return web.json_response({"message": "no"}, status=403) if is_closed else None

    server.fault = fault
    told = set()

    async def run():
        async for change in runs.connect().changes(None, {}):
            told.add(getattr(change, "id", ""))

    with pytest.raises(SourceAuthError):
        await run()
    assert f"s:page/{opened.id}" in told
    assert f"s:page/{closed.id}" not in told


async def test_a_page_that_may_not_be_seen_is_named_and_hides_no_other(server, runs):
    pages = [server.page(f"P{number}") for number in range(3)]
    server.forbidden.add(pages[1].id)
    assert len(await runs()) == 2
    failure = runs.failures[f"s:page/{pages[1].id}"]
    assert "403" in failure.reason
    assert failure.mend


async def test_a_circle_of_redirects_is_told(server, runs):
    server.fault = lambda path: web.Response(status=302, headers={"Location": path + ("" if "x=" in path else "&x=1")})
    with pytest.raises(SourceBadReply, match="redirects"):
        await runs()


async def test_when_the_site_is_down_it_is_the_source_that_failed(server, runs):
    for number in range(8):
        server.page(f"P{number}")
    asked = []

    def fault(path):
        asked.append("storage" in path)
        return web.json_response({"message": "down"}, status=500) if any(asked) else None

    server.fault = fault
    with pytest.raises(SourceError, match="fault of its own"):
        await runs()
    assert sum(asked) == 6


async def test_pages_that_fail_in_a_row_are_named_while_the_site_answers(server, runs):
    for number in range(8):
        server.forbidden.add(server.page(f"P{number}").id)
    kept = server.page("Last")
    assert await runs() == {f"page/{kept.id}"}
    assert len(runs.failures) == 8


def options(**changes):
    told = {"url": "https://x.atlassian.net", "email": "ann@x.example", "token": "t"}
    return ConfluenceOptions.model_validate(told | changes)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://x.atlassian.net/wiki/spaces/HR/pages/1/Title", "https://x.atlassian.net"),
        ("https://x.atlassian.net/wiki", "https://x.atlassian.net"),
        ("https://wiki.example.com/wiki/", "https://wiki.example.com"),
        ("https://api.atlassian.com/ex/confluence/ab-12/wiki", "https://api.atlassian.com/ex/confluence/ab-12"),
    ],
)
def test_any_address_of_the_site_will_do(url, site):
    assert options(url=url).site == site


@pytest.mark.parametrize("url", ["https://w.example/wiki/display/HR/Title", "https://w.example/wiki/"])
def test_a_server_keeps_its_path(url):
    assert options(url=url, email="").site == "https://w.example/wiki"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"url": "x.atlassian.net"}, "must be an address"),
        ({"url": "https://a:b@x.atlassian.net"}, "must be an address"),
        ({"email": ""}, "Cloud wants `email`"),
        ({"email": "ann"}, "no e-mail address"),
        ({"token": " "}, "empty"),
        ({"spaces": ("Human resources",)}, "no key of a space"),
        ({"kinds": ("comments",)}, "belong to pages"),
        ({"readers": ("ann",)}, "is no reader"),
        ({"emails": {"id": "ann"}}, "no e-mail address"),
        ({"username_email": "@x.example"}, "username"),
        ({"include": ("[z-a]",)}, "is no pattern"),
    ],
)
def test_wrong_settings_are_named(changes, said):
    with pytest.raises(ValidationError, match=said):
        options(**changes)


def test_the_token_is_shown_nowhere(server, tmp_path):
    found = connector(server, Origin(source="s", folder=tmp_path), token="very-secret")
    assert "very-secret" not in repr(found)
