"""Addresses of pages: one form for each, and which belong to a source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.http.urls import normalised
from connectors.web.addresses import Scope, twin


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("HTTPS://Example.ORG", "https://example.org/"),
        ("https://example.org:443/a/../b/./c#part", "https://example.org/b/c"),
        ("http://example.org:8080?x=1", "http://example.org:8080/?x=1"),
        ("https://user:pass@example.org/a", "https://example.org/a"),
        ("https://münchen.example/ü b", "https://xn--mnchen-3ya.example/%C3%BC%20b"),
        ("https://example.org/%7Euser/%2F?q=a+b&", "https://example.org/~user/%2F?q=a+b"),
        (" https://example.org/a\n/b ", "https://example.org/a/b"),
        ("http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("//example.org/a", ""),
        ("mailto:a@example.org", ""),
        ("javascript:void(0)", ""),
        ("http://[broken", ""),
        ("https://example.org/" + "x" * 3_000, ""),
        ("", ""),
    ],
)
def test_an_address_has_one_form(url, form):
    assert normalised(url) == form


@pytest.mark.parametrize(
    ("link", "form"),
    [
        ("b", "https://example.org/docs/b"),
        ("/b", "https://example.org/b"),
        ("../b?x", "https://example.org/b?x"),
        ("?page=2", "https://example.org/docs/a?page=2"),
        ("#part", "https://example.org/docs/a"),
        ("//other.example/b", "https://other.example/b"),
    ],
)
def test_a_link_is_read_where_it_stands(link, form):
    assert normalised(link, "https://example.org/docs/a") == form


@given(st.text(max_size=60), st.sampled_from(("", "https://example.org/docs/a?x=1")))
def test_the_one_form_of_a_form_is_itself(text, base):
    for url in (text, f"http://example.org/{text}"):
        form = normalised(url, base)
        assert normalised(form) == form
        assert twin(twin(form)) == twin(form)


def scope(start="https://example.org/docs/", **patterns):
    made = Scope.of(patterns.get("include", ()), patterns.get("exclude", ()), patterns.get("ignored", ()))
    made.widen(start)
    return made


def test_a_host_that_is_known_by_https_is_never_asked_without():
    assert scope().page("http://example.org/docs/a") == "https://example.org/docs/a"
    assert scope("http://example.org/docs/").page("http://example.org/docs/a") == "http://example.org/docs/a"
    assert not scope().page("http://example.org:8080/docs/a")


def test_a_folder_holds_itself_and_what_is_in_it():
    one = scope()
    assert one.page("https://example.org/docs")
    assert one.page("https://example.org/docs/")
    assert one.page("https://example.org/docs/a/b")
    assert not one.page("https://example.org/docs2")
    assert not one.page("https://example.org/")
    assert not one.page("https://example.org.evil.example/docs/")
    assert not one.page("https://evil.example/example.org/docs/")


def test_patterns_are_compared_with_what_a_reader_sees():
    one = scope(include=("/über uns/**", "*.pdf"))
    assert one.page("https://example.org/%C3%BCber%20uns/a")
    assert one.page("https://example.org/files/a.PDF")
    assert not one.page("https://example.org/docs/a")
    assert not one.page("https://other.example/files/a.pdf")


def test_a_pattern_with_a_host_means_that_host_alone():
    one = scope(
        include=("docs/**", "other.example/pub/**", "*.example.net:8080/**"), exclude=("other.example/pub/x", "y")
    )
    assert one.page("https://example.org/docs/a")
    assert not one.page("https://example.org/other.example/pub/a")
    assert one.page("https://other.example/pub/a")
    assert not one.page("https://other.example/docs/a")
    assert not one.page("https://other.example/pub/x/z")
    assert not one.page("https://other.example/pub/y/z")
    assert one.page("http://a.example.net:8080/z")
    assert not one.page("http://a.example.net/z")


def test_ignored_parameters_are_patterns():
    one = scope(ignored=("utm_*", "S?D"))
    assert one.page("https://example.org/docs/?utm_source=a&id=1&sid=2&x") == "https://example.org/docs/?id=1&x"
    assert scope(ignored=("*",)).page("https://example.org/docs/?a=1&b") == "https://example.org/docs/"
