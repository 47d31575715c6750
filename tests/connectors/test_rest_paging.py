"""The source type ``rest``: each way of paging, and pages that lead astray."""

import asyncio
import json
import time

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from connectors.rest.templates import filled_body, filled_url
from ragcore.errors import SourceBadReply, SourceError, SourceGone, SourceUnreachable
from tests.connectors.apis import STYLES, Api, post
from tests.connectors.helpers import collect, known_of, listed


@pytest.fixture
async def api():
    async with Api().serving() as api:
        yield api


async def read(api, **changes):
    documents, failures, gone, _ = await collect(api.connector(**changes).changes(None, {}))
    assert not failures
    assert not gone
    return documents


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 99), unique=True, max_size=12), st.integers(1, 6), st.sampled_from(STYLES))
async def test_however_a_listing_is_split_into_pages_it_holds_the_same(numbers, size, style):
    async with Api([post(n, f"Text {n}") for n in numbers], size=size, style=style).serving() as api:
        documents = await read(api)
        assert documents.keys() == {f"s:{n}" for n in numbers}
        assert all(documents[f"s:{n}"].content == f"Text {n}".encode() for n in numbers)
        assert await listed(api.connector()) == (documents.keys(), {})
        assert await collect(api.connector().changes(None, known_of(documents))) == ({}, {}, set(), None)


@pytest.mark.parametrize(
    ("style", "pages"), [("page", 4), ("more", 3), ("offset", 4), ("token", 3), ("next", 3), ("link", 3), ("post", 3)]
)
async def test_each_way_asks_no_more_than_it_must(api, style, pages):
    api.style, api.posts = style, [post(n, f"Text {n}") for n in range(12)]
    assert len(await read(api)) == 12
    assert len(api.requests) == pages


async def test_a_token_stands_in_the_body_as_it_came(api):
    api.style, api.posts = "post", [post(n, f"Text {n}") for n in range(6)]
    body = {
        "query": "{posts}",
        "after": "{token}",
        "page": {"after": "{token}"},
        "filters": ["{token}", "x"],
        "size": 5,
    }
    await read(api, body=body)
    assert api.bodies == [
        {"query": "{posts}", "page": {}, "filters": ["x"], "size": 5},
        {"query": "{posts}", "after": "t5", "page": {"after": "t5"}, "filters": ["t5", "x"], "size": 5},
    ]
    assert all(request.method == "POST" for request in api.requests)


def test_places_are_filled_and_nothing_else():
    values = {"page": 2, "offset": 0, "token": ["a", 1], "cursor": None}
    assert filled_body(
        {"a": "{token}", "b": "{page}", "c": "at {offset}", "d": "{cursor}", "e": 1, "f": None}, values
    ) == {
        "a": ["a", 1],
        "b": 2,
        "c": "at 0",
        "e": 1,
        "f": None,
    }
    assert filled_body("{cursor}", values) is None
    address = filled_url("https://x.example/{page}?a=1", {"b": "c d&e", "f": "{cursor}", "g": "{other} {page}"}, values)
    assert address == "https://x.example/2?a=1&b=c+d%26e&g=%7Bother%7D+2"


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=20))
def test_a_parameter_arrives_as_it_is_written(text):
    from yarl import URL

    address = filled_url("https://x.example/", {"q": "{token}", "p": text.replace("{", "")}, {"token": text})
    assert URL(address).query["q"] == text


async def test_pages_that_lead_in_a_circle_are_an_error(api):
    api.posts = [post(n, f"Text {n}") for n in range(3)]
    turns = iter("abcabcabc")
    api.answer_instead = lambda request, page: web.json_response(
        {"data": [], "meta": {"token": f"{next(turns)}", "next": f"/posts?at={next(turns)}"}}
    )
    for style in ("token", "next"):
        api.style = style
        turns = iter("ababababab")
        with pytest.raises(SourceBadReply, match="in a circle") as told:
            await read(api)
        assert "`more`" in told.value.mend


async def test_pages_that_all_say_the_same_are_an_error(api):
    api.style = "page"
    api.answer_instead = lambda request, page: web.json_response({"data": [post(1)]})
    with pytest.raises(SourceBadReply, match=r"page 2 of .* repeats an earlier one"):
        await read(api)


async def test_pages_that_never_end_are_an_error(api):
    api.style = "token"
    api.answer_instead = lambda request, page: web.json_response(
        {"data": [], "meta": {"token": f"t{len(api.requests)}"}}
    )
    with pytest.raises(SourceBadReply, match="more than 7 pages") as told:
        await read(api, max_pages=7)
    assert "max_pages" in told.value.mend
    assert len(api.requests) == 7


async def test_an_empty_page_is_no_end_where_a_token_follows(api):
    pages = [{"data": [post(1)], "meta": {"token": "a"}}, {"data": [], "meta": {"token": "b"}}, {"data": [post(2)]}]
    api.style = "token"
    api.answer_instead = lambda request, page: web.json_response(pages[len(api.requests) - 1])
    assert len(await read(api)) == 2


@pytest.mark.parametrize("changes", [{"more": "meta.has_more"}, {"more": "meta.count > `0`"}])
async def test_the_end_may_be_told_in_words(api, changes):
    api.style = "token"
    api.answer_instead = lambda request, page: web.json_response(
        {"data": [post(1)], "meta": {"token": "a", "has_more": False, "count": 0}}
    )
    assert len(await read(api, **changes)) == 1
    assert len(api.requests) == 1


async def test_the_number_of_the_first_page_is_a_setting(api):
    api.style = "page"
    api.answer_instead = lambda request, page: web.json_response({"data": []})
    await read(api, first_page=0)
    assert api.requests[0].query["page"] == "0"


@pytest.mark.parametrize("style", ["next", "link"])
async def test_no_other_host_is_asked_though_a_page_leads_there(api, style):
    async with Api(style=style).serving() as other:
        api.style = style
        there = other.url.replace("127.0.0.1", "localhost")
        api.answer_instead = lambda request, page: web.json_response(
            {"data": [post(1)], "meta": {"next": there}}, headers={"Link": f'<{there}>; rel="next"'}
        )
        with pytest.raises(SourceBadReply, match="another host") as told:
            await read(api, headers={"Authorization": SecretStr("hidden")})
        assert not other.requests
        assert "hidden" not in str(told.value)


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_no_redirect_leads_to_another_host(api, method):
    async with Api().serving() as other:
        api.answer_instead = lambda request, page: web.Response(status=307, headers={"Location": other.url})
        with pytest.raises(SourceBadReply):
            await read(api, method=method, headers={"Authorization": SecretStr("hidden")})
        assert not other.requests


async def test_a_redirect_on_the_same_host_is_followed_and_a_circle_is_not(api):
    api.posts = [post(1)]

    def away(request, page):
        return None if request.query else web.Response(status=302, headers={"Location": "/posts?at=0"})

    api.answer_instead = away
    assert len(await read(api)) == 1
    api.answer_instead = lambda request, page: web.Response(status=302, headers={"Location": "/posts"})
    with pytest.raises(SourceBadReply, match="redirects"):
        await read(api)


async def test_headers_are_sent_with_every_request_of_this_host(api):
    api.style, api.posts = "next", [post(n, f"Text {n}") for n in range(12)]
    await read(api, headers={"X-Key": SecretStr("k")})
    assert [request.headers["X-Key"] for request in api.requests] == ["k"] * 3


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"result": [], "meta": {}}, "`items` gives nothing where a list is due; it has result, meta"),
        ({"data": {"posts": []}}, "`items` gives an object where a list is due; it has data"),
        ({"data": None}, "`items` gives nothing"),
        ([1, 2], "`items` gives nothing"),
        ("text", "`items` gives nothing"),
    ],
)
async def test_a_page_without_a_list_is_an_error_that_names_the_setting(api, value, words):
    api.answer_instead = lambda request, page: web.json_response(value)
    with pytest.raises(SourceBadReply) as told:
        await read(api)
    assert words in str(told.value)
    assert "mend `items`" in told.value.mend


@pytest.mark.parametrize(
    ("style", "changes", "setting"),
    [
        ("none", {"items": "keys(data)"}, "items"),
        ("next", {"next": "data"}, "next"),
        ("next", {"next": "join('', data)"}, "next"),
        ("more", {"more": "length(page)"}, "more"),
    ],
)
async def test_what_cannot_be_worked_out_on_a_page_names_its_setting(api, style, changes, setting):
    api.style, api.posts = style, [post(n, f"Text {n}") for n in range(6)]
    with pytest.raises(SourceBadReply) as told:
        await read(api, **changes)
    assert f"`{setting}`" in str(told.value)


async def test_an_empty_list_that_is_left_out(api):
    api.answer_instead = lambda request, page: web.json_response({"total": 0})
    assert await read(api, items="data || `[]`") == {}


async def test_a_web_page_is_told_as_one(api):
    api.answer_instead = lambda request, page: web.Response(text="<html>Log in", content_type="text/html")
    with pytest.raises(SourceBadReply, match="a web page where JSON was due"):
        await read(api)


@pytest.mark.parametrize(("status", "error"), [(404, SourceGone), (500, SourceError)])
async def test_faults_come_with_their_kind(api, status, error):
    api.answer_instead = lambda request, page: web.Response(status=status)
    with pytest.raises(error):
        await read(api)


async def test_a_host_that_takes_no_connection(api):
    with pytest.raises(SourceUnreachable):
        await read(api, url="http://127.0.0.1:9/posts")


async def test_a_page_of_thousands_of_items_keeps_nobody_waiting(api):
    api.posts = [post(n, "Text") for n in range(3_000)]
    answer = json.dumps({"data": api.posts}).encode()
    api.answer_instead = lambda request, page: web.Response(body=answer, content_type="application/json")
    longest = 0.0
    busy = asyncio.create_task(read(api))
    while not busy.done():
        began = time.thread_time()
        await asyncio.sleep(0)
        longest = max(longest, time.thread_time() - began)
    assert len(busy.result()) == 3_000
    assert longest < 0.1, "seconds that the loop's own thread worked without a pause"
