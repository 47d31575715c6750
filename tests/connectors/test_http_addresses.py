"""Addresses inside are never connected to unless a setting allows them, whatever leads there."""

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.http import AddressRule, HttpClient, HttpOptions, parse_network
from ragcore.errors import SourceBadReply, SourceUnreachable
from tests.fakes.website import Website

PUBLIC = AddressRule()
INSIDE = (
    "127.0.0.1", "127.8.9.10", "10.0.0.1", "172.16.5.4", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "192.0.0.1", "198.18.0.1",
    "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255", "192.0.2.1",
    "::", "::1", "fe80::1", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "2001:db8::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1",
    "2002:7f00:1::", "2002:c0a8:101::", "2001:0:4136:e378:8000:63bf:f5ff:fffe",
)  # fmt: skip


@pytest.mark.parametrize("text", INSIDE)
def test_what_is_inside_is_refused(text):
    assert not PUBLIC.allows(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"])
def test_what_is_public_is_allowed(text):
    assert PUBLIC.allows(ipaddress.ip_address(text))


def test_a_setting_allows_its_networks_alone():
    rule = AddressRule(networks=(parse_network("10.0.0.0/8"), parse_network("fd00::/8")))
    assert rule.allows(ipaddress.ip_address("10.1.2.3"))
    assert rule.allows(ipaddress.ip_address("::ffff:10.1.2.3"))
    assert rule.allows(ipaddress.ip_address("fd12::1"))
    assert not rule.allows(ipaddress.ip_address("127.0.0.1"))
    assert not rule.allows(ipaddress.ip_address("169.254.169.254"))


@given(st.ip_addresses(v=4))
def test_an_address_in_another_form_is_judged_as_itself(address):
    for form in (f"::ffff:{address}", f"64:ff9b::{address}"):
        assert PUBLIC.allows(ipaddress.ip_address(form)) == PUBLIC.allows(address)


async def get(url, rule=PUBLIC):
    async with HttpClient(HttpOptions(addresses=rule)) as http:
        return await http.get(url, limit=1_000)


@pytest.fixture
async def site():
    async with Website() as website:
        website.page("/", "secret")
        yield website


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])
async def test_loopback_is_refused_before_anything_is_sent(site, host):
    with pytest.raises(SourceUnreachable, match=r'no public address; if this is meant, allow it: `networks = \["'):
        await get(f"http://{host}:{site.port}/")
    assert not site.requests


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1."])
async def test_an_address_in_disguise_is_refused(site, host):
    with pytest.raises((SourceUnreachable, SourceBadReply)):
        await get(f"http://{host}:{site.port}/")
    assert not site.requests


async def test_allowed_networks_are_reached(site):
    rule = AddressRule(networks=(parse_network("127.0.0.1"),))
    assert (await get(site.url(), rule)).content == b"secret"


def resolving(monkeypatch, answers):
    """Let names resolve to these addresses, one after another, as a name server of an attacker does."""
    real, asked = socket.getaddrinfo, []

    def getaddrinfo(host, port, *how, **named):
        if host not in answers:
            return real(host, port, *how, **named)
        asked.append(host)
        found = answers[host].pop(0) if len(answers[host]) > 1 else answers[host][0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


async def test_a_redirect_inside_is_refused(site, monkeypatch):
    async with Website() as outside:
        # 127.0.0.2 stands for a public address here, the site for something inside.
        resolving(monkeypatch, {"public.example": [["127.0.0.1"]], "inside.example": [["127.0.0.3"]]})
        outside.redirect("/", f"http://inside.example:{site.port}/")
        rule = AddressRule(networks=(parse_network("127.0.0.1"),))
        with pytest.raises(SourceUnreachable, match=r"leads to 127\.0\.0\.3"):
            await get(f"http://public.example:{outside.port}/", rule)
        assert outside.requests
        assert not site.requests


async def test_a_name_that_changes_its_address_leads_nowhere(site, monkeypatch):
    asked = resolving(monkeypatch, {"rebinding.example": [["127.0.0.1"], ["127.0.0.3"]]})
    rule = AddressRule(networks=(parse_network("127.0.0.1"),))
    url = f"http://rebinding.example:{site.port}/"
    assert (await get(url, rule)).content == b"secret"
    with pytest.raises(SourceUnreachable, match="no public address"):
        await get(url, rule)
    assert len(asked) == 2, "a connection is made to what one look-up told, and no second one is asked for"
    assert len(site.requests) == 1


async def test_of_several_addresses_only_public_ones_are_tried(site, monkeypatch):
    resolving(monkeypatch, {"mixed.example": [["127.0.0.3", "127.0.0.1"]], "all.example": [["127.0.0.3", "10.0.0.1"]]})
    rule = AddressRule(networks=(parse_network("127.0.0.1"),))
    assert (await get(f"http://mixed.example:{site.port}/", rule)).content == b"secret"
    with pytest.raises(SourceUnreachable, match="which is no public address"):
        await get(f"http://all.example:{site.port}/", rule)


@pytest.mark.parametrize("host", ["[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"])
async def test_what_to_allow_is_told_in_a_form_that_allows_it(host):
    async with HttpClient(HttpOptions()) as http:
        with pytest.raises(SourceUnreachable) as caught:
            await http.get(f"http://{host}/", limit=10)
    assert caught.value.mend.endswith('`networks = ["127.0.0.1"]`')
