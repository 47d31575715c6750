"""Requests against a real server on loopback: what comes, and each way in which it doesn't."""

import asyncio
import contextlib
import gzip
import json
import logging
import re
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
import trustme
from aiohttp import web
from pydantic import SecretStr

from connectors.http import AddressRule, HttpClient, HttpOptions, Validators, parse_network
from ragcore.errors import (
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
    SourceUnreachable,
)
from tests.fakes.ports import free_port
from tests.fakes.website import Website

LOOPBACK = AddressRule(networks=(parse_network("127.0.0.0/8"),))
LIMIT = 1_000_000


@pytest.fixture
async def site():
    async with Website() as website:
        yield website


def client(**options):
    return HttpClient(HttpOptions(**{"addresses": LOOPBACK} | options))


async def get(url, *, limit=LIMIT, asking=None, redirects=10, wanted=None, **options):
    async with client(**options) as http:
        return await http.get(url, limit=limit, headers=asking, redirects=redirects, wanted=wanted)


async def test_a_page_comes_with_its_type_and_address(site):
    site.page("/a", "<p>ä</p>", media_type="text/html; charset=UTF-8")
    reply = await get(site.url("/a"))
    assert (reply.status, reply.media_type, reply.content.decode()) == (200, "text/html", "<p>ä</p>")
    assert reply.url == site.url("/a")


async def test_a_host_may_have_a_way_of_its_own_to_tell_what_a_refusal_means(site):
    site.page("/limit", '{"message": "slow down"}' + " " * 100_000, status=403, headers={"X-Told": "yes"})
    site.page("/other", "no", status=403)
    seen = []

    def explain(refusal):
        seen.append(refusal)
        return SourceRateLimited("slow down", retry_after=7) if b"slow down" in refusal.content else None

    with pytest.raises(SourceRateLimited):
        await get(site.url("/limit"), explain=explain)
    assert (seen[0].status, seen[0].headers["X-Told"], len(seen[0].content)) == (403, "yes", 8_192)
    with pytest.raises(SourceAuthError, match="may not be read"):
        await get(site.url("/other"), explain=explain)
    async with client(explain=explain) as http:
        assert (await http.json(site.url("/other"), limit=LIMIT, passing={403})).value is None
    assert len(seen) == 2, "what is let pass is no refusal"


async def test_what_is_packed_is_unpacked(site):
    site.page("/", gzip.compress(b"text" * 10_000), headers={"Content-Encoding": "gzip"})
    assert (await get(site.url())).content == b"text" * 10_000


async def test_conditions_cost_no_content(site):
    site.page("/", "text")
    first = await get(site.url())
    again = await get(site.url(), asking=Validators.of(first.headers).headers())
    assert (again.status, again.content) == (304, b"")
    site.page("/", "other")
    assert (await get(site.url(), asking=Validators.of(first.headers).headers())).content == b"other"


def test_a_date_within_its_own_second_is_no_validator():
    now = datetime(2026, 1, 1, tzinfo=UTC)

    def of(age):
        told = {"Date": format_datetime(now), "Last-Modified": format_datetime(now - timedelta(seconds=age))}
        return Validators.of(told)

    assert not of(0)
    assert not of(1)
    assert of(2).modified == format_datetime(now - timedelta(seconds=2))
    assert not Validators.of({"Last-Modified": format_datetime(now)}), "without a date of the reply nothing is sure"
    assert not Validators.of({"Last-Modified": "yesterday", "Date": format_datetime(now)})


async def test_redirects_are_followed_and_shown_on_request(site):
    site.redirect("/a", "b?x=1#part")
    site.redirect("/b?x=1", "/c", status=308)
    site.page("/c", "end")
    assert (await get(site.url("/a"))).url == site.url("/c")
    reply = await get(site.url("/a"), redirects=0)
    assert (reply.status, reply.target) == (302, site.url("/b?x=1"))


async def test_a_circle_of_redirects_is_told(site):
    site.redirect("/a", "/b")
    site.redirect("/b", "/a")
    with pytest.raises(SourceBadReply, match="redirects in a circle; mend the site"):
        await get(site.url("/a"))
    assert site.asked == ["/a", "/b"]


async def test_endless_redirects_end(site):
    for number in range(20):
        site.redirect(f"/{number}", f"/{number + 1}")
    with pytest.raises(SourceBadReply, match="more than 10 times"):
        await get(site.url("/0"))
    assert len(site.asked) == 11


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [
        (401, SourceAuthError, "refused the credential .401.; check"),
        (403, SourceAuthError, "scope or permission"),
        (404, SourceGone, "is not there"),
        (410, SourceGone, "not there any more"),
        (400, SourceBadReply, "refused the request"),
        (418, SourceBadReply, "refused the request"),
        (500, SourceError, "a fault of its own .500."),
        (503, SourceError, "a fault of its own"),
        (408, SourceError, "a fault of its own"),
    ],
)
async def test_a_status_is_a_typed_fault_with_its_mend(site, status, kind, text):
    site.raises("/x", status)
    with pytest.raises(kind, match=text) as caught:
        await get(site.url("/x"))
    assert type(caught.value) is kind
    assert caught.value.mend


@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (429, {"Retry-After": "17"}, 17),
        (503, {"Retry-After": "17"}, 17),
        (403, {"Retry-After": "17"}, 17),
        (429, {}, 60),
        (429, {"Retry-After": "soon"}, 60),
        (429, {"Retry-After": "-5"}, 60),
        (429, {"Retry-After": "99999999"}, 24 * 3600),
        # A host whose clock is a year late: the wait counts from its own date.
        (429, {"Retry-After": "Wed, 01 Jan 2025 00:00:30 GMT", "Date": "Wed, 01 Jan 2025 00:00:00 GMT"}, 30),
        (429, {"Retry-After": "Tue, 31 Dec 2024 00:00:00 GMT", "Date": "Wed, 01 Jan 2025 00:00:00 GMT"}, 0),
        (
            403,
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1735689690", "Date": "Wed, 01 Jan 2025 00:00:00 GMT"},
            90,
        ),
    ],
)
async def test_a_wait_is_told_as_it_came(site, status, headers, wait):
    site.page("/x", status=status, headers=headers)
    with pytest.raises(SourceRateLimited) as caught:
        await get(site.url("/x"))
    assert caught.value.retry_after == wait


async def test_what_is_too_large_is_not_read_to_its_end(site):
    sent = 0

    async def endless(request):
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while sent < 2_000_000_000:
                await response.write(b"x" * 100_000)
                sent += 100_000
        return response

    site.pages["/"] = endless
    with pytest.raises(SourceBadReply, match="larger than the limit of 1 MB; ask for less"):
        await get(site.url())
    assert sent < 20_000_000


async def test_what_says_that_it_is_too_large_is_not_begun(site):
    async def large(request):
        response = web.StreamResponse(headers={"Content-Length": "2000000000"})
        await response.prepare(request)
        return response

    site.pages["/"] = large
    with pytest.raises(SourceBadReply, match="larger than the limit"):
        await get(site.url())


async def test_a_bomb_is_not_unpacked(site):
    site.page("/", gzip.compress(b"\0" * 200_000_000, 1), headers={"Content-Encoding": "gzip"})
    with pytest.raises(SourceBadReply, match="larger than the limit"):
        await get(site.url())


async def test_what_is_not_wanted_is_not_read(site):
    site.page("/", b"x" * 10_000_000, media_type="video/mp4")
    reply = await get(site.url(), wanted=lambda head: head.media_type == "text/html")
    assert (reply.media_type, reply.content) == ("video/mp4", b"")


async def answering(bytes_sent):
    """Serve these bytes to whoever connects, and close."""

    async def answer(reader, writer):
        with contextlib.suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(bytes_sent)
            await writer.drain()
        writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", 0)


@pytest.mark.parametrize(
    ("sent", "kind", "text"),
    [
        (b"", SourceUnreachable, "broke off"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", SourceUnreachable, "broke off"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", SourceBadReply, "something that is not HTTP"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://[broken/\r\nContent-Length: 0\r\n\r\n", None, ""),
    ],
)
async def test_a_broken_answer_is_told(sent, kind, text):
    async with await answering(sent) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        if kind is None:
            assert (await get(url)).target == ""
            return
        with pytest.raises(kind, match=text):
            await get(url)


async def test_who_does_not_answer_is_not_waited_for(site):
    site.delay = 5
    with pytest.raises(SourceUnreachable, match="did not answer in time"):
        await get(site.url(), silence=0.05)


async def test_who_sends_a_byte_now_and_then_is_not_waited_for(site):
    async def dripping(request):
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            for _ in range(200):
                await response.write(b"x")
                await asyncio.sleep(0.02)
        return response

    site.pages["/"] = dripping
    with pytest.raises(SourceUnreachable, match="did not answer in time"):
        await get(site.url(), timeout=0.2)


async def test_nobody_there_is_told():
    with pytest.raises(SourceUnreachable, match=r"cannot be reached: .*; check the address"):
        await get(f"http://127.0.0.1:{free_port()}/")
    with pytest.raises(SourceUnreachable, match=r"the host name of http://nobody\.invalid/ is not known"):
        await get("http://nobody.invalid/")


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http:///x", "http://[::1/", "nothing", "http://127.0.0.1:99999/"])
async def test_what_is_no_address_is_told(url):
    with pytest.raises(SourceBadReply, match="no address"):
        await get(url)


async def test_a_certificate_that_nobody_vouches_for_is_told():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    async with Website(tls=context) as site:
        with pytest.raises(
            SourceUnreachable, match=r"is not trusted: .*; renew the certificate, or name .* SSL_CERT_FILE"
        ):
            await get(site.url())
        assert not site.requests


async def test_plain_http_where_tls_was_due_is_told(site):
    with pytest.raises(SourceUnreachable, match="does not speak TLS"):
        await get(site.url().replace("http:", "https:"))


async def test_json_is_read_and_anything_else_is_told(site):
    site.page("/ok", json.dumps({"a": [1]}), media_type="application/json")
    site.page("/login", "<!doctype html><title>Log in</title>")
    site.page("/half", '{"a": [1', media_type="application/json")
    site.page("/deep", "[" * 200_000, media_type="application/json")
    async with client() as http:
        assert (await http.json(site.url("/ok"), limit=LIMIT)).value == {"a": [1]}
        with pytest.raises(SourceBadReply, match=r"a web page where JSON was due; .* check the credential"):
            await http.json(site.url("/login"), limit=LIMIT)
        for path in ("/half", "/deep"):
            with pytest.raises(SourceBadReply, match="something else where JSON was due"):
                await http.json(site.url(path), limit=LIMIT)


async def test_json_is_sent(site):
    async def echo(request):
        return web.json_response({"got": await request.json(), "by": request.method})

    site.pages["/"] = echo
    async with client() as http:
        reply = await http.json(site.url(), method="POST", body={"q": 1}, limit=LIMIT)
    assert reply.value == {"got": {"q": 1}, "by": "POST"}


async def test_the_credential_goes_to_the_trusted_origin_alone(site):
    async with Website() as other:
        site.redirect("/a", other.url("/b"))
        site.redirect("/c", "/d")
        site.page("/d", "text")
        other.page("/b", "text")
        options = {"headers": {"Authorization": SecretStr("Bearer s3cret")}, "trusted": (f"{site.origin}/wiki/",)}
        await get(site.url("/a"), **options)
        await get(site.url("/c"), **options)
        assert {request.headers.get("Authorization") for request in site.requests} == {"Bearer s3cret"}
        assert [request.headers.get("Authorization") for request in other.requests] == [None]


async def test_no_secret_is_told(site, caplog):
    caplog.set_level(logging.DEBUG)
    options = HttpOptions(headers={"Authorization": SecretStr("s3cret")}, trusted=(site.origin,), addresses=LOOPBACK)
    faults = [repr(options), repr(HttpClient(options))]
    site.redirect("/circle?key=s3cret", "/circle?key=s3cret")
    site.raises("/x?key=s3cret", 500)
    urls = [site.url("/x?key=s3cret"), site.url("/circle?key=s3cret"), f"http://u:s3cret@127.0.0.1:{free_port()}/"]
    urls += ["http://127.0.0.1:0x1/?s3cret", f"https://127.0.0.1:{site.port}/?key=s3cret", "http://no.invalid/?s3cret"]
    async with HttpClient(options) as http:
        for url in urls:
            with pytest.raises(SourceError) as caught:
                await http.get(url, limit=LIMIT)
            assert caught.value.__cause__ is None
            assert caught.value.__suppress_context__ or caught.value.__context__ is None
            faults.append(str(caught.value))
    assert "s3cret" not in "\n".join(faults)
    ours = [
        record for record in caplog.records if not record.name.startswith("aiohttp.access")
    ]  # the test's own server
    assert "s3cret" not in "\n".join(record.getMessage() for record in ours)


async def test_a_host_is_asked_at_most_so_often(site):
    from connectors.http.pace import Pace

    now, begun = [100.0], []

    async def sleep(seconds):
        now[0] += seconds

    pace = Pace(interval=0.5, clock=lambda: now[0], sleep=sleep)
    for _ in range(3):
        await pace.turn()
        begun.append(now[0])
    now[0] += 10
    pace.slow_down(2)
    for _ in range(3):
        await pace.turn()
        begun.append(now[0])
    assert begun == [100, 100.5, 101, 111, 113, 115]


async def test_few_connections_at_once(site):
    site.delay = 0.02
    for number in range(12):
        site.page(f"/{number}", "text")
    async with client(connections=3) as http:
        await asyncio.gather(*(http.get(site.url(f"/{number}"), limit=LIMIT) for number in range(12)))
    assert site.busiest == 3


def test_an_error_shows_no_more_than_host_and_path():
    from connectors.http import shown

    assert shown("https://u:p@Example.org:8443/a/b?q=1#f") == "https://example.org:8443/a/b"
    assert shown("http://[2001:db8::1]:80/") == "http://[2001:db8::1]:80/"
    assert not re.search("secret", shown("http://[broken?secret"))
