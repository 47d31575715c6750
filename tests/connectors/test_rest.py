"""The source type ``rest``: items as documents, what changed since, details, and settings that are wrong.

Over 400 lines: one short case for each setting, in the order of the settings, over one made API.
"""

import contextlib
import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from connectors.base import Origin
from connectors.registry import connect
from connectors.rest import REST
from connectors.rest.expressions import ExpressionError, check, found
from connectors.rest.times import time_of, written
from ragcore.errors import ConfigError, SourceAuthError, SourceBadReply, SourceError, SourceRateLimited
from tests.connectors.apis import FIELDS, Api, post
from tests.connectors.helpers import collect, known_of, listed


@pytest.fixture
async def api():
    async with Api().serving() as api:
        yield api


async def run(api, cursor=None, known=None, **changes):
    return await collect(api.connector(**changes).changes(cursor, known or {}))


# Items as documents.


async def test_a_document_tells_what_its_item_does(api):
    api.posts = [post("a/b ü", "# Text", tags=["x", "y"], views=3)]
    ((document,), _, _, _) = [
        (*d.values(),) if isinstance(d, dict) else d
        for d in await run(
            api, text_format="markdown", metadata={"tags": "join(', ', tags)", "views": "views", "none": "nothing"}
        )
    ]
    assert document.id == "s:a/b ü"
    assert (document.title, document.author) == ("A post", "Ann")
    assert document.url == "https://posts.example/a%2Fb%20%C3%BC"
    assert (document.content, document.media_type) == (b"# Text", "text/markdown")
    assert document.updated_at == datetime(2026, 3, 10, 10, tzinfo=UTC)
    assert document.readers == {"*"}
    assert document.metadata == {"tags": "x, y", "views": "3"}


async def test_expressions_reach_as_deep_as_jmespath_does(api):
    api.posts = [post(7, [{"text": "One"}, {"text": "Two"}], updated_at=1_773_136_800_000)]
    documents, *_ = await run(
        api, text="join('\n\n', body[].text)", link="", base_url="https://x.example/{id}", title="id", readers=""
    )
    document = documents["s:7"]
    assert document.content == b"One\n\nTwo"
    assert (document.url, document.title) == ("https://x.example/7", "7")
    assert document.updated_at == datetime(2026, 3, 10, 10, tzinfo=UTC)
    assert document.readers is None


async def test_only_what_a_document_tells_makes_a_change(api):
    api.posts = [post(1, views=1)]
    documents, _, _, _ = await run(api)
    known = known_of(documents)
    api.posts = [post(1, views=2)]
    assert not (await run(api, known=known))[0]
    for change in ({"body": "Other"}, {"title": "Other"}, {"readers": ["ann@x.example"]}, {"author": {"name": "Bob"}}):
        api.posts = [post(1, **change)]
        assert (await run(api, known=known))[0].keys() == {"s:1"}, change
    assert (await run(api, known=known, text_format="text"))[0], "another form is another document"


async def test_readers_in_another_order_are_the_same(api):
    api.posts = [post(1, readers=["b@x.example", "a@x.example"])]
    known = known_of((await run(api))[0])
    api.posts = [post(1, readers=["a@x.example", "b@x.example"])]
    assert not (await run(api, known=known))[0]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (["Ann@x.example", "slack:T1/C1", "*"], {"email:ann@x.example", "slack:T1/C1", "*"}),
        ("ann@x.example, bob@x.example", {"email:ann@x.example", "email:bob@x.example"}),
        ([], set()),
        (None, set()),
    ],
)
async def test_readers(api, told, expected):
    api.posts = [post(1, readers=told)]
    assert (await run(api))[0]["s:1"].readers == expected


@pytest.mark.parametrize(
    ("wrong", "setting", "words"),
    [
        ({"body": {"blocks": []}}, "text", "gives an object where a text is due"),
        ({"body": 3}, "text", "gives a number where a text is due"),
        ({"body": None}, "text", "gives nothing"),
        ({"title": ["a"]}, "title", "gives a list where a text is due"),
        ({"author": {"name": True}}, "author", "gives true or false where a text is due"),
        ({"updated_at": "soon"}, "updated_at", 'gives "soon", which is no time'),
        ({"readers": ["everybody"]}, "readers", '"everybody" is no reader'),
        ({"readers": [{"id": 1}]}, "readers", "gives a list where a list of texts is due"),
        ({"readers": 7}, "readers", "gives a number where a list of texts is due"),
    ],
)
@pytest.mark.parametrize("is_detailed", [False, True])
async def test_an_item_that_isnt_what_is_due_is_named_with_its_setting(api, wrong, setting, words, is_detailed):
    api.posts = [post(1, **wrong), post(2)]
    api.details = {str(one["id"]): one for one in api.posts}
    changes = {"detail": f"{api.url}/{{id}}"} if is_detailed else {}
    documents, failures, _, _ = await run(api, **changes)
    assert documents.keys() == {"s:2"}
    failure = failures["s:1"]
    assert f"`{setting}`" in failure.reason
    assert words in failure.reason
    assert f"`{setting}`" in failure.mend
    assert (await listed(api.connector(**changes)))[0] == {"s:1", "s:2"}, "it is there, and loses no last good version"
    known = known_of(documents) | {failure.id: failure.version}
    assert (await run(api, known=known, **changes))[1] == {}, "not told again while it stays as it is"
    api.posts[0] = post(1, updated_at="2026-03-11T10:00:00Z")
    api.details["1"] = api.posts[0]
    assert (await run(api, known=known, **changes))[0].keys() == {"s:1"}


async def test_an_expression_that_cannot_be_worked_out_names_itself(api):
    api.posts = [post(1, None), post(2, ["a"])]
    documents, failures, _, _ = await run(api, text="join('', body)", metadata={"n": "length(body)"})
    assert documents.keys() == {"s:2"}
    assert "`text` can't be worked out: In function join()" in failures["s:1"].reason
    api.posts = [post(1, tags=7)]
    _, failures, _, _ = await run(api, metadata={"tags": "join('', tags)"})
    assert "`metadata.tags`" in failures["s:1"].reason


async def test_items_without_an_id_are_counted(api):
    api.posts = [post(None), post(True), post(""), post([1]), {}, "text", post(0)]
    documents, failures, _, _ = await run(api)
    assert documents.keys() == {"s:0"}
    (failure,) = failures.values()
    assert failure.reason == "6 items have no id by `id`"
    assert "`id`" in failure.mend
    assert (await listed(api.connector()))[1].keys() == failures.keys()


async def test_an_id_that_no_item_has_is_an_error_that_names_the_setting(api):
    api.posts = [post(1), post(2)]
    with pytest.raises(SourceBadReply, match=r"`id` gives nothing .* on every item") as told:
        await run(api, id="uuid")
    assert told.value.mend == "mend `id`"


async def test_an_id_that_comes_twice_with_different_content_is_named(api):
    api.posts = [post(1, "A"), post(1, "B"), post(2), post(3, "same"), post(3, "same")]
    documents, failures, _, _ = await run(api)
    assert documents.keys() == {"s:2", "s:3"}
    assert "`id` gives the same for items that differ" in failures["s:1"].reason


async def test_where_leaves_items_out(api):
    api.posts = [post(1, draft=True), post(2, draft=False), post(3), {"note": "no id", "draft": True}]
    documents, failures, gone, _ = await run(api, where="!draft")
    assert documents.keys() == {"s:2", "s:3"}
    assert not failures
    assert not gone
    assert (await listed(api.connector(where="!draft")))[0] == {"s:2", "s:3"}
    assert (await run(api, known={"s:1": "x"}, where="!draft"))[2] == {"s:1"}, "one that was taken before goes"


@pytest.mark.parametrize("setting", ["where", "deleted"])
async def test_an_item_of_which_nobody_can_tell_whether_it_is_there_is_named(api, setting):
    api.posts = [post(1, flags=None), post(2, flags=["x"] if setting == "where" else [])]
    documents, failures, gone, _ = await run(api, **{setting: "length(flags) > `0`"})
    assert (documents.keys(), gone) == ({"s:2"}, set())
    assert f"`{setting}` can't be worked out" in failures["s:1"].reason


async def test_a_text_that_is_too_large_is_named(api):
    api.posts = [post(1, "x" * 20_000)]
    assert "max_megabytes" in (await run(api, max_megabytes=0.01))[1]["s:1"].mend


# What changed since.


class Since:
    """An API that gives what is new since a time or a token, oldest last."""

    def __init__(self, api, **changes):
        self.api, self.changes, self.cursor, self.known = api, changes, None, {}
        self.asked = []
        self.tokens = False
        api.answer_instead = self.answer

    def answer(self, request, page):
        if "native" in request.match_info:
            return None
        since = request.query.get("since")
        self.asked.append(since)
        posts = [one for one in self.api.posts if not since or self.tokens or one["updated_at"] >= since]
        if self.tokens:
            posts = self.api.posts[int(since or 0) :]
        return web.json_response({"data": posts, "sync": str(len(self.api.posts))})

    async def __call__(self):
        changes = {"params": {"since": "{cursor}"}} | self.changes
        self.connector = self.api.connector(**changes)
        documents, self.failures, self.gone, self.cursor = await collect(
            self.connector.changes(self.cursor, self.known)
        )
        self.known |= known_of(documents)
        return documents


def at(hour, identity, text="Text"):
    return post(identity, text, updated_at=f"2026-03-10T{hour:02}:00:00Z")


async def test_only_what_is_new_is_asked_for_ten_minutes_back(api):
    since = Since(api)
    api.posts = [at(8, 1), at(10, 2)]
    assert len(await since()) == 2
    api.posts.append(at(12, 3))
    assert (await since()).keys() == {"s:3"}
    await since()
    assert since.asked == ["1970-01-01T00:00:00Z", "2026-03-10T09:50:00Z", "2026-03-10T11:50:00Z"]
    ids, _ = await listed(since.connector)
    assert ids == {"s:1", "s:2", "s:3"}
    assert since.asked[-1] == "1970-01-01T00:00:00Z", "what is gone is told by a listing of its own"


@pytest.mark.parametrize(
    ("form", "first", "then"),
    [
        ("date", "2020-01-01", "2026-03-10"),
        ("unix", "1577836800", "1773136200"),
        ("unix_ms", "1577836800000", "1773136200000"),
    ],
)
async def test_forms_of_the_cursor(api, form, first, then):
    asked = []
    api.posts = [at(10, 1)]

    def answer(request, page):
        asked.append(request.query["since"])

    api.answer_instead = answer
    changes = {"params": {"since": "{cursor}"}, "cursor_format": form, "beginning": "2020-01-01"}
    *_, cursor = await run(api, **changes)
    await run(api, cursor, **changes)
    assert asked == [first, then]


async def test_a_time_that_is_still_to_come_hides_nothing(api):
    since = Since(api)
    api.posts = [at(10, 1), post(2, updated_at="2999-01-01T00:00:00Z")]
    await since()
    await since()
    assert since.asked[-1] == "2026-03-10T09:50:00Z"


async def test_times_without_a_zone_are_of_the_setting(api):
    since = Since(api, timezone="Asia/Tokyo")
    api.posts = [post(1, updated_at="2026-03-10T10:00:00")]
    await since()
    await since()
    assert since.asked[-1] == "2026-03-10T00:50:00Z"


async def test_other_settings_begin_again(api):
    since = Since(api)
    api.posts = [at(10, 1)]
    await since()
    since.changes = {"text_format": "text"}
    await since()
    assert since.asked == ["1970-01-01T00:00:00Z"] * 2


@pytest.mark.parametrize("cursor", ["", "x", "x y", "2026"])
async def test_a_cursor_that_cannot_be_read_is_none(api, cursor):
    since = Since(api)
    api.posts = [at(10, 1)]
    since.cursor = cursor
    await since()
    basis = since.cursor.partition(" ")[0]
    since.cursor = f"{basis} {cursor}"
    since.known = {}
    assert len(await since()) == 1


async def test_a_token_of_the_api_is_kept_and_given_back(api):
    since = Since(api, cursor="sync", updated_at="")
    since.tokens = True
    api.posts = [at(10, 1), at(9, 2)]
    assert len(await since()) == 2
    api.posts.append(at(1, 3))
    assert (await since()).keys() == {"s:3"}
    assert since.asked == [None, "2"]
    assert (await listed(since.connector))[0] == {"s:1", "s:2", "s:3"}
    assert since.asked == [None, "2", None]


async def test_an_api_that_tells_deletions(api):
    since = Since(api, deleted="removed", lists_all=False)
    api.posts = [at(8, 1), at(10, 2)]
    await since()
    assert since.connector.list_ids() is None
    api.posts = [at(12, 1) | {"removed": True, "body": None}, at(12, 9) | {"removed": True}]
    assert not await since()
    assert since.gone == {"s:1"}
    assert not since.failures


async def test_what_an_api_lists_no_longer_is_kept_unless_it_lists_all(api):
    api.posts = [post(1)]
    _, failures, gone, _ = await collect(api.connector(lists_all=False).fetch(["s:1", "s:2"]))
    assert (failures.keys(), gone) == ({"s:2"}, set())
    assert "`detail`" in failures["s:2"].mend
    _, failures, gone, _ = await collect(api.connector().fetch(["s:1", "s:2"]))
    assert (failures, gone) == ({}, {"s:2"})


# Details.


def detailed(api, count=3, **more):
    api.posts = [{"id": n, "updated_at": "2026-03-10T10:00:00Z", "title": "Listed"} for n in range(count)]
    api.details = {
        str(n): {"post": {"body": f"Text {n}", "title": "Detail", "readers": ["*"]} | more} for n in range(count)
    }
    return {"detail": f"{api.url}/{{id}}", "detail_item": "post"}


async def test_the_detail_is_laid_over_the_item_and_read_only_when_it_changed(api):
    changes = detailed(api)
    documents, _, _, _ = await run(api, **changes)
    document = documents["s:1"]
    assert (document.content, document.title) == (b"Text 1", "Detail")
    assert document.updated_at == datetime(2026, 3, 10, 10, tzinfo=UTC)
    api.requests.clear()
    assert not (await run(api, known=known_of(documents), **changes))[0]
    assert len(api.requests) == 1
    api.posts[1]["updated_at"] = "2026-03-11T10:00:00Z"
    assert (await run(api, known=known_of(documents), **changes))[0].keys() == {"s:1"}
    api.posts[2]["title"] = "Renamed in the listing alone"
    assert (await run(api, known=known_of(documents), **changes))[0].keys() == {"s:1", "s:2"}


async def test_an_id_is_escaped_in_the_address_of_its_detail(api):
    changes = detailed(api)
    api.posts = [{"id": "a/b?c=ü#d"}]
    api.details = {"a/b?c=ü#d": {"post": {"body": "Text"}}}
    assert (await run(api, **changes, readers="", updated_at=""))[0].keys() == {"s:a/b?c=ü#d"}


async def test_a_detail_that_is_gone_or_closed_hides_no_other(api):
    changes = detailed(api)

    def answer(request, page):
        native = request.match_info.get("native")
        return web.Response(status={"0": 404, "1": 403}[native]) if native in {"0", "1"} else None

    api.answer_instead = answer
    documents, failures, gone, _ = await run(api, **changes)
    assert (documents.keys(), failures.keys(), gone) == ({"s:2"}, {"s:1"}, {"s:0"})
    assert failures["s:1"].mend
    _, failures, gone, _ = await collect(api.connector(**changes).fetch(["s:0", "s:1", "s:2"]))
    assert (failures.keys(), gone) == ({"s:1"}, {"s:0"})


@pytest.mark.parametrize(
    ("status", "headers", "error"),
    [
        (401, {}, SourceAuthError),
        (429, {"Retry-After": "7"}, SourceRateLimited),
        (403, {"X-RateLimit-Remaining": "0"}, SourceRateLimited),
    ],
)
async def test_what_concerns_all_details_ends_the_run(api, status, headers, error):
    changes = detailed(api)
    api.answer_instead = lambda request, page: (
        web.Response(status=status, headers=headers) if "native" in request.match_info else None
    )
    with pytest.raises(error):
        await run(api, **changes)


async def test_details_that_all_fail_end_the_run(api):
    changes = detailed(api, count=20)
    api.answer_instead = lambda request, page: web.Response(status=500) if "native" in request.match_info else None
    with pytest.raises(SourceError):
        await run(api, **changes)
    assert len(api.requests) == 6


# Settings.


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"items": "data["}, 'items: Value error, "data[" is no JMESPath expression'),
        ({"text": "to_upper(body)"}, 'text: Value error, "to_upper(body)" names the function to_upper()'),
        ({"title": "a b"}, "title: "),
        ({"next": "(", "paging": "next"}, "next: "),
        ({"metadata": {"tags": "]"}}, "metadata: "),
        ({"metadata": {"title": "a"}}, '"title" has a setting of its own'),
        ({"id": ""}, "id: "),
        ({"url": "api.example.org"}, "url: "),
        ({"url": "https://ann:hidden@x.example/"}, "put them into `headers`"),
        ({"detail": "https://x.example/post"}, "detail: Value error, must have {id} in it"),
        ({"paging": "page"}, 'paging: "page" needs {page} somewhere in url, params or body'),
        ({"params": {"page": "{page}"}}, 'paging: {page} needs paging = "page"'),
        ({"paging": "token", "params": {"t": "{token}"}}, 'next: paging = "token" needs it'),
        ({"body": {"a": 1}}, 'body: is sent with method = "POST" alone'),
        ({"method": "POST", "paging": "link"}, "paging: an address is asked with GET alone"),
        ({"cursor": "sync"}, "cursor: needs {cursor}"),
        ({"params": {"s": "{cursor}"}, "updated_at": ""}, "updated_at: {cursor} goes by it"),
        ({"version": "etag"}, "version: is for a listing with `detail` alone"),
        ({"next": "a"}, "next: is for paging"),
        ({"timezone": "Mars"}, "timezone: "),
        ({"beginning": "long ago"}, "beginning: "),
    ],
)
def test_wrong_settings_are_refused_by_name(tmp_path, wrong, told):
    with pytest.raises(ConfigError) as refused:
        connect("rest", Origin(source="posts", folder=tmp_path), {"url": "https://x.example/"} | FIELDS | wrong)
    assert told in str(refused.value)
    assert "hidden" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValidationError, match=r"pip install 'citebot\[rest\]'"):
        REST.options.model_validate({"url": "https://x.example/"} | FIELDS)


def test_another_credential_is_another_fingerprint():
    told = {
        REST.credential(None, REST.options.model_validate({"url": "https://x.example/"} | FIELDS | changes))
        for changes in ({}, {"headers": {"A": "a"}}, {"headers": {"A": "b"}}, {"params": {"key": "a"}})
    }
    assert len(told) == 4


def test_a_secret_shows_in_no_repr():
    options = REST.options.model_validate({"url": "https://x.example/", "headers": {"A": "hidden"}} | FIELDS)
    assert "hidden" not in repr(options)


def assert_names(told, text):
    assert f'"{text}"' in told
    assert "JMESPath" in told


@given(st.text(max_size=30) | st.text("ab.[]()*@|&!'`\"?:{}, =<>0", max_size=12))
def test_every_text_is_an_expression_or_refused_by_name(text):
    try:
        check(text)
    except ValueError as refused:
        told = str(refused)
        assert_names(told, text)
        return
    for value in (None, {"a": [1, "b", None]}, [[]]):
        with contextlib.suppress(ExpressionError):
            json.dumps(found(text, value), default=str)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1)))
def test_a_time_is_understood_in_every_form_that_it_is_written_in(moment):
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    zone = ZoneInfo("Asia/Tokyo")
    for form in ("iso", "unix", "unix_ms"):
        assert time_of(written(moment, form), zone) == moment
        assert time_of(str(written(moment, form)), zone) == moment
    assert time_of(moment.timestamp(), zone) == moment


@pytest.mark.parametrize("value", [None, "", "soon", True, [], {}, float("nan"), float("inf"), 10**30, "9" * 40])
def test_what_is_no_time_is_none(value):
    assert time_of(value, ZoneInfo("UTC")) is None
