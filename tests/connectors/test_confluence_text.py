"""Confluence's storage format becomes Markdown that says the same."""

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from connectors.confluence.inline import Place
from connectors.confluence.storage import accounts, markdown
from ragcore.parsing.markup.markdown import markdown_sections
from ragcore.types import SectionKind

PLACE = Place(base="https://x.example/wiki", space="HR", page="12", title="My page", names={"u1": "Ann Lee"})


def shown(storage, place=PLACE):
    return "\n".join(markdown(storage, place).lines)


def macro(name, body="", **parameters):
    told = "".join(f'<ac:parameter ac:name="{key}">{value}</ac:parameter>' for key, value in parameters.items())
    return f'<ac:structured-macro ac:name="{name}">{told}{body}</ac:structured-macro>'


def rich(text):
    return f"<ac:rich-text-body>{text}</ac:rich-text-body>"


def code(text):
    return f"<ac:plain-text-body><![CDATA[{text}]]></ac:plain-text-body>"


def test_paragraphs_and_marks():
    assert shown("<p>Hello&nbsp;<strong>bold </strong>and <em>so</em> <code>x=1</code>.</p>") == (
        "Hello **bold** and *so* `x=1`."
    )
    assert shown("<p>one<br/>two</p><p>three</p>") == "one\ntwo\n\nthree"
    assert shown("loose <b>text</b> beside <p>a block</p> and after") == "loose **text** beside\n\na block\n\nand after"


def test_what_only_looks_like_markup_stays_text():
    assert shown("<p># no heading</p>") == "\\# no heading"
    assert shown("<p>a &lt;b&gt; c &amp;nbsp; &lt;!-- d --&gt; [e](f)</p>") == "a &lt;b> c &nbsp; &lt;!-- d --> [e] (f)"
    assert shown("<p><code>a &lt;b&gt;</code></p>") == "`a <b>`"


def test_code_keeps_every_character():
    text = 'if a < 3 && b:\n    print("&nbsp;")  # ```'
    assert shown(macro("code", code(text), language="py", title="Look")) == f"**Look**\n\n````py\n{text}\n````"
    assert shown(macro("noformat", code("a  b"))) == "```\na  b\n```"
    assert shown("<pre>a\n  b</pre>") == "```\na\n  b\n```"


def test_panels_and_expands_keep_title_and_body():
    assert shown(macro("warning", rich("<p>Hot.</p>"), title="Mind")) == "**Warning: Mind**\n\nHot."
    assert shown(macro("info", rich("<p>So.</p>"))) == "**Info**\n\nSo."
    assert shown(macro("expand", rich("<p>Hidden.</p>"), title="More")) == "**More**\n\nHidden."
    assert shown(macro("panel", rich("<p>In.</p>"))) == "In."


def test_a_macro_that_is_not_known_keeps_its_body_and_drops_its_settings():
    assert shown(macro("their-own", rich("<h2>A</h2><p>Body.</p>"), colour="red")) == "## A\n\nBody."
    assert shown(macro("their-code", code("a\nb"))) == "```\na\nb\n```"
    assert shown(f"<p>a {macro('toc', maxLevel='2')} b</p>{macro('children')}") == "a b"
    assert shown(macro("excerpt", rich("<p>Short.</p>"))) == "Short."


def test_status_and_issues_stand_in_the_line():
    line = f"<p>It is {macro('status', colour='Green', title='DONE')} by {macro('jira', key='AB-1', server='S')}.</p>"
    assert shown(line) == "It is DONE by AB-1."


def test_what_shows_another_page_leads_to_it():
    page = '<ac:link><ri:page ri:space-key="DEV" ri:content-title="How to"/></ac:link>'
    for name in ("include", "excerpt-include"):
        assert shown(macro(name, **{"": page})) == "[How to](https://x.example/wiki/display/DEV/How+to)"


def test_links_lead_to_pages_people_files_and_addresses():
    page = '<ac:link ac:anchor="Two words"><ri:page ri:content-title="Other"/>'
    body = "<ac:plain-text-link-body><![CDATA[the [other]]]></ac:plain-text-link-body></ac:link>"
    assert shown(page + body) == "[the \\[other\\]](https://x.example/wiki/display/HR/Other#Two-words)"
    assert shown('<ac:link><ri:user ri:account-id="u1"/></ac:link>') == "@Ann Lee"
    assert shown('<ac:link><ri:user ri:userkey="u2"/></ac:link>') == "@somebody"
    file = '<ac:link><ri:attachment ri:filename="a b.pdf"/></ac:link>'
    assert shown(file) == "[a b.pdf](https://x.example/wiki/download/attachments/12/a%20b.pdf)"
    assert shown('<a href="https://y.example/(a)">y</a>') == "[y](<https://y.example/(a)>)"
    assert shown('<a href="javascript:x">y</a>') == "y"
    assert shown('<ac:image ac:alt="A plan"><ri:url ri:value="https://y.example/a.png"/></ac:image>') == (
        "![A plan](https://y.example/a.png)"
    )


def test_who_is_mentioned_is_told():
    assert accounts('<ri:user ri:account-id="a:1"/><ri:user ri:userkey="k"/>') == {"a:1", "k"}


def test_lists_within_lists_and_tasks():
    assert shown("<ul><li>a<ol><li>b</li><li>c</li></ol></li><li><p>d</p></li></ul>") == "- a\n  1. b\n  2. c\n- d"
    task = "<ac:task><ac:task-id>1</ac:task-id><ac:task-status>{}</ac:task-status><ac:task-body>{}</ac:task-body></ac:task>"
    tasks = task.format("complete", "Done") + task.format("incomplete", "<span>Due</span>")
    assert shown(f"<ac:task-list>{tasks}</ac:task-list>") == "- [x] Done\n- [ ] Due"


def test_a_table_keeps_what_stands_over_several_rows():
    head = "<tr><th>Who</th><th colspan='2'>What | when</th></tr>"
    rows = "<tr><td rowspan='2'>Ann</td><td>a</td><td><p>b</p><ul><li>c</li></ul></td></tr><tr><td>d</td><td/></tr>"
    assert shown(f"<table><tbody>{head}{rows}</tbody></table>").split("\n") == [
        "| Who | What \\| when |  |",
        "| --- | --- | --- |",
        "| Ann | a | b<br>• c |",
        "| Ann | d |  |",
    ]


def test_headings_and_anchors_are_found_by_their_fragment():
    told = f"<h1>Two <em>words</em></h1><p>x</p><h2>Two words</h2>{macro('anchor', **{'': 'here'})}<p>y</p>"
    found = markdown(told, PLACE)
    assert [(found.lines[line], anchor) for line, anchor in found.anchors] == [
        ("# Two *words*", "Two-words"),
        ("## Two words", "Two-words.1"),
        ("y", "here"),
    ]
    server = Place(base="https://x.example", space="HR", page="12", title="My page", is_cloud=False)
    assert [anchor for _, anchor in markdown(told, server).anchors] == [
        "Mypage-Twowords",
        "Mypage-Twowords.1",
        "Mypage-here",
    ]


def test_what_the_newer_editor_writes_is_read():
    content = "<ac:adf-content><p>New.</p></ac:adf-content>"
    node = f'<ac:adf-node type="panel"><ac:adf-attribute key="t">note</ac:adf-attribute>{content}</ac:adf-node>'
    fallback = "<ac:adf-fallback><p>Old.</p></ac:adf-fallback>"
    assert shown(f"<ac:adf-extension>{node}{fallback}</ac:adf-extension>") == "New."
    assert shown(f"<ac:adf-extension>{fallback}</ac:adf-extension>") == "Old."
    layout = "<ac:layout><ac:layout-section><ac:layout-cell><p>In.</p></ac:layout-cell></ac:layout-section></ac:layout>"
    assert shown(layout) == "In."
    assert shown('<p>a <ac:emoticon ac:name="tick" ac:emoji-fallback="✅"/> <time datetime="2026-01-02"/></p>') == (
        "a ✅ 2026-01-02"
    )


WORD = st.text("abcdefgß文", min_size=1, max_size=4)
INLINE = st.recursive(
    WORD,
    lambda inner: st.builds(
        lambda tag, text: f"<{tag}>{text}</{tag}>", st.sampled_from(["strong", "em", "u", "span", "code"]), inner
    ),
    max_leaves=3,
)
BLOCK = st.recursive(
    st.builds(lambda tag, text: f"<{tag}>{text}</{tag}>", st.sampled_from(["p", "h2", "pre", "td"]), INLINE),
    lambda inner: st.one_of(
        st.builds(lambda *parts: macro("x", rich("".join(parts))), inner, inner),
        st.builds(lambda *parts: f"<ul><li>{parts[0]}</li><li>{parts[1]}</li></ul>", inner, INLINE),
        st.builds(
            lambda *parts: f"<table><tr><th>{parts[0]}</th></tr><tr><td>{parts[1]}</td></tr></table>", inner, inner
        ),
        st.builds(lambda part: f"<ac:layout>{part}</ac:layout>", inner),
    ),
    max_leaves=6,
)


@given(st.lists(BLOCK, max_size=4).map("".join))
def test_no_word_is_lost(storage):
    words = re.findall("[abcdefgß文]+", re.sub("<[^>]*>", " ", storage))
    found = re.findall("[abcdefgß文]+", re.sub("<br>", " ", shown(storage)))
    assert sorted("".join(found)) == sorted("".join(words))


@given(st.text("<>/&;:=\"' acrilptdbu\n]![CDAT", max_size=60))
def test_whatever_stands_there_it_is_read(storage):
    found = markdown(storage, PLACE)
    assert all("\n" not in line for line in found.lines)
    assert all(line <= len(found.lines) for line, _ in found.anchors)


def test_deep_nesting_is_no_fault():
    assert "deep" in shown("<div>" * 400 + "<p>deep</p>" + "</div>" * 400)
    assert "deep" in shown("<ul><li>" * 120 + "deep" + "</li></ul>" * 120)


@given(st.lists(st.lists(WORD, min_size=1, max_size=3), min_size=2, max_size=4))
def test_tables_are_tables_to_the_parser(rows):
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    sections = markdown_sections(shown(f"<p>Before.</p><table>{cells}</table>"))
    assert [section.kind for section in sections if section.kind is SectionKind.TABLE]


def test_a_table_of_cells_that_claim_to_be_wide_costs_no_more_than_its_size():
    cells = '<td colspan="200" rowspan="1000">a</td>' * 300
    before = time.process_time()
    lines = shown(f"<table><tr>{cells}</tr>{'<tr><td>b</td></tr>' * 300}</table>").split("\n")
    assert time.process_time() - before < 5
    assert {line.count("|") for line in lines} == {201}


def test_parts_that_are_never_closed_cost_no_more_than_their_length():
    before = time.process_time()
    assert shown("<p>Fine.</p>" + "<![CDATA[" * 20_000).startswith("Fine.")
    assert time.process_time() - before < 2
