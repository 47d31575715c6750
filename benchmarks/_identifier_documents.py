"""A made knowledge base around identifiers: for each the one document that has it, and many that nearly do."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from benchmarks._identifier_kinds import Kind, Named

FAMILIES = 4
"""Identifiers of each kind. The second stands in a long document, the third in a title, the fourth in Chinese text."""

_TEAMS = ("the service desk", "the finance team", "Plant Operations", "Legal", "the warehouse", "Customer Care")
_THINGS = ("the annual review", "the supplier portal", "the backup plan", "the training programme", "the price list")
_PROSE = (
    "{Team} keeps {thing} and renews it every {n} months.",
    "Questions about {thing} go to {team}, room {n}.",
    "Before {thing} changes, two people from {team} must agree.",
    "In {year} {thing} was revised after {n} comments from the branches.",
    "{Team} answers within {n} working days, and sooner when a customer waits.",
    "Whoever leaves hands {thing} over to {team} on the last day.",
    "There are {n} copies of {thing}; the one that counts is kept by {team}.",
    "Errors, versions, files and numbers that concern {thing} are noted in the log of {team}.",
    "A customer who asks about a standard, a part or a host is told what {thing} says.",
    "What does not fit into {thing} is decided by {team} case by case.",
)
_ABOUT = (
    "The {noun} {x} concerns {thing}. {Team} looks after it.",
    "When {x} comes up, first check {thing}, then tell {team}.",
    "For {thing} the {noun} {x} applies. Changes are approved by {team}.",
    "{Team} is responsible for {x} and reports on it in {thing}.",
)
_TEAMS_ZH = ("客服中心", "财务部", "设备部", "法务部", "仓库", "信息部")
_THINGS_ZH = ("年度审查", "供应商门户", "备份方案", "培训计划", "价格表")
_PROSE_ZH = (
    "{team}负责维护{thing}，每{n}个月更新一次。",
    "关于{thing}的问题请联系{team}，房间号{n}。",
    "{year}年，{thing}根据{n}条意见做了修订。",
    "{team}在{n}个工作日内答复客户。",
    "员工离职时，应把{thing}移交给{team}。",
    "涉及{thing}的标准、零件、主机和文件由{team}登记。",
)
_ABOUT_ZH = (
    "{noun}{x}与{thing}有关，由{team}负责。",
    "遇到 {x} 时，先查看{thing}，再通知{team}。",
    "{thing}适用{x}，修改须经{team}批准。",
    "{team}负责处理 {x}，并在{thing}中说明。",
)


@dataclass(frozen=True)
class Family:
    """An identifier and the name of the one document that holds it."""

    kind: str
    number: int
    named: Named
    document: str


def families(kinds: Mapping[str, Kind]) -> list[Family]:
    """Return the identifiers of each kind; none is a neighbour of another."""
    made: list[Family] = []
    for name, kind in kinds.items():
        taken: set[str] = set()
        rng = Random(name)
        while len([family for family in made if family.kind == name]) < FAMILIES:
            named = kind.make(rng)
            spelt = {named.written, *named.near}
            if len(spelt) < 5 or taken & spelt:
                continue
            taken |= spelt
            number = len([family for family in made if family.kind == name])
            made.append(Family(name, number, named, f"{_slug(name)}-{number}"))
    return made


def documents(kinds: Mapping[str, Kind]) -> Iterator[tuple[str, str]]:
    """Yield the name and the Markdown of every document, the same at each call."""
    for family in families(kinds):
        kind = kinds[family.kind]
        chinese = kind.chinese_only or family.number == 3
        rng = Random(family.document)
        about = rng.choice(_ABOUT_ZH if chinese else _ABOUT)
        yield family.document, _holding(rng, kind, family, about, chinese=chinese)
        for place, near in enumerate(family.named.near):
            yield f"{family.document}-near-{place}", _near(rng, kind, near, about, loud=place < 2, chinese=chinese)
        yield f"{family.document}-parts", _of_parts(rng, family.named.written, chinese=chinese)
    rng = Random("general")
    for number in range(60):
        yield f"general-{number}", f"# {rng.choice(_THINGS).capitalize()}\n\n{_prose(rng, 6, chinese=False)}"
        yield f"general-zh-{number}", f"# {rng.choice(_THINGS_ZH)}\n\n{_prose(rng, 6, chinese=True)}"


def _holding(rng: Random, kind: Kind, family: Family, about: str, *, chinese: bool) -> str:
    """Return the document that has the identifier: once, but for the one that has it in its title too."""
    x = family.named.written
    told = _fill(rng, about, chinese=chinese, noun=kind.noun_zh if chinese else kind.noun, x=x)
    title = rng.choice(_THINGS_ZH).strip() if chinese else rng.choice(_THINGS).capitalize()
    if family.number == 2:
        title = f"{title}: {x}"
    length = 14 if family.number == 1 else 1
    before = "\n\n".join(_prose(rng, 5, chinese=chinese) for _ in range(length))
    after = "\n\n".join(_prose(rng, 5, chinese=chinese) for _ in range(length))
    return f"# {title}\n\n{before}\n\n{told} {_prose(rng, 1, chinese=chinese)}\n\n{after}"


def _near(rng: Random, kind: Kind, near: str, about: str, *, loud: bool, chinese: bool) -> str:
    """Return a document about a neighbour in the same words; a loud one names it in its title and three times below."""
    noun = kind.noun_zh if chinese else kind.noun
    told = [_fill(rng, about, chinese=chinese, noun=noun, x=near) for _ in range(3 if loud else 1)]
    title = near if loud else rng.choice(_THINGS_ZH if chinese else _THINGS).capitalize()
    return f"# {title}\n\n{' '.join(told)}\n\n{_prose(rng, 3, chinese=chinese)}"


def _of_parts(rng: Random, written: str, *, chinese: bool) -> str:
    """Return a document that has every part of the identifier, each in a sentence of its own."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+|\d+", written)
    sentence = "{thing}中也提到了{x}，由{team}登记。" if chinese else "{Team} also lists {x} in {thing}."
    told = [_fill(rng, sentence, chinese=chinese, x=part) for part in reversed(parts)]
    return f"# {rng.choice(_THINGS_ZH if chinese else _THINGS).capitalize()}\n\n{' '.join(told * 2)}"


def _prose(rng: Random, sentences: int, *, chinese: bool) -> str:
    chosen = [rng.choice(_PROSE_ZH if chinese else _PROSE) for _ in range(sentences)]
    return ("" if chinese else " ").join(_fill(rng, sentence, chinese=chinese) for sentence in chosen)


def _fill(rng: Random, sentence: str, *, chinese: bool, **values: str) -> str:
    team = rng.choice(_TEAMS_ZH if chinese else _TEAMS)
    return sentence.format(
        team=team,
        Team=team[0].upper() + team[1:],
        thing=rng.choice(_THINGS_ZH if chinese else _THINGS),
        n=rng.randint(2, 400),
        year=rng.randint(1998, 2024),
        **values,
    )


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name).strip("-").lower()
