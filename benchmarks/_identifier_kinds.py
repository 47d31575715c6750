"""Kinds of identifiers as organisations write them: each makes one, its neighbours, and other ways to write it.

``SEEN`` are the kinds that the search was mended on; ``UNSEEN`` were written before that, and only judge it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Named:
    """An identifier, others that are easily taken for it, and how people write the same one otherwise."""

    written: str
    near: tuple[str, ...]
    others: tuple[str, ...] = ()


Maker = Callable[[Random], Named]


@dataclass(frozen=True)
class Kind:
    """What the things are called that such identifiers name, in English and in Chinese."""

    make: Maker
    noun: str
    noun_zh: str
    chinese_only: bool = False


def _digits(rng: Random, count: int) -> str:
    return str(rng.randint(10 ** (count - 1), 10**count - 1))


def _other(rng: Random, number: str) -> str:
    """Return a number of the same length that differs in one digit."""
    place = rng.randrange(len(number))
    digit = rng.choice([d for d in "123456789" if d != number[place]])
    return number[:place] + digit + number[place + 1 :]


def _two(rng: Random, choices: str) -> tuple[str, str]:
    one, two = rng.sample(choices.split(), 2)
    return one, two


def _hex(rng: Random, count: int) -> str:
    return "".join(rng.choice("0123456789abcdef") for _ in range(count))


def _error_code(rng: Random) -> Named:
    a, b = _two(rng, "CONN AUTH DISK QUOTA SYNC PARSE TLS CACHE")
    n = _digits(rng, 3)
    near = (f"ERR_{a}_{_other(rng, n)}", f"ERR_{b}_{n}", f"ERR_{a}_{n}1", f"WARN_{a}_{n}")
    return Named(f"ERR_{a}_{n}", near, (f"ERR-{a}-{n}", f"ERR {a} {n}"))


def _version(rng: Random) -> Named:
    a, b, c = rng.randint(2, 9), rng.randint(1, 9), rng.randint(1, 8)
    near = (f"v{a}.{b}.{c}0", f"v{a}.{b}", f"v{a}.{b}.{c + 1}", f"v{a}.{b}.{c}.4")
    return Named(f"v{a}.{b}.{c}", near, (f"{a}.{b}.{c}", f"V {a}.{b}.{c}"))


def _file_name(rng: Random) -> Named:
    a, b = _two(rng, "budget headcount inventory forecast churn payroll audit margin")
    year, q = rng.randint(2015, 2024), rng.randint(1, 3)
    near = (f"{a}-{year}-q{q + 1}.xlsx", f"{a}-{year + 1}-q{q}.xlsx", f"{b}-{year}-q{q}.xlsx", f"{a}-{year}-q{q}.docx")
    return Named(f"{a}-{year}-q{q}.xlsx", near, (f"{a}_{year}_q{q}.xlsx", f"{a} {year} q{q}.xlsx"))


def _path(rng: Random) -> Named:
    a, b = _two(rng, "nginx postgres grafana vault haproxy dovecot squid bind")
    n = _digits(rng, 2)
    near = (f"/etc/{a}/conf.d/{n}-site.bak", f"/etc/{b}/conf.d/{n}-site.conf", f"/etc/{a}/{n}-site.conf")
    return Named(
        f"/etc/{a}/conf.d/{n}-site.conf",
        (*near, f"/etc/{a}/conf.d/{_other(rng, n)}-site.conf"),
        (f"etc/{a}/conf.d/{n}-site.conf", f"\\etc\\{a}\\conf.d\\{n}-site.conf"),
    )


def _ticket(rng: Random) -> Named:
    a, b = _two(rng, "PROJ OPS WEB DATA PAY INFRA CORE SHOP")
    n = _digits(rng, 3)
    return Named(
        f"{a}-{n}", (f"{a}-{_other(rng, n)}", f"{b}-{n}", f"{a}-{n}7", f"{a}-{n[:2]}"), (f"{a} {n}", f"{a}{n}")
    )


def _hash_number(rng: Random) -> Named:
    n = _digits(rng, 4)
    return Named(f"#{n}", (f"#{_other(rng, n)}", f"#{n}5", f"#{n[:3]}", f"#{n[::-1]}1"), (f"# {n}", f"No. {n}"))


def _standard(rng: Random) -> Named:
    a, b = _two(rng, "ISO IEC DIN ASTM EN BS")
    n = _digits(rng, 4)
    return Named(
        f"{a} {n}", (f"{a} {_other(rng, n)}", f"{b} {n}", f"{a} {n}1", f"{a} {n[:3]}"), (f"{a}{n}", f"{a}-{n}")
    )


def _section(rng: Random) -> Named:
    n, m = rng.randint(11, 99), rng.randint(2, 8)
    near = (f"§ {n}({m + 1})", f"§ {n + 1}({m})", f"§ {m}({n})", f"§ {n}")
    return Named(f"§ {n}({m})", near, (f"§{n}({m})", f"Section {n}({m})", f"§ {n} ({m})"))


def _part_number(rng: Random) -> Named:
    a, b = _two(rng, "AX KL TR VM QS HB")
    n, letter = _digits(rng, 4), rng.choice("BCDF")
    near = (f"{a}-{n}-{chr(ord(letter) + 1)}", f"{a}-{_other(rng, n)}-{letter}", f"{b}-{n}-{letter}", f"{a}-{n}")
    return Named(f"{a}-{n}-{letter}", near, (f"{a}{n}{letter}", f"{a} {n} {letter}"))


def _cve(rng: Random) -> Named:
    y, n = rng.randint(2016, 2023), _digits(rng, 5)
    near = (f"CVE-{y}-{_other(rng, n)}", f"CVE-{y + 1}-{n}", f"CVE-{y}-{n[:4]}", f"CVE-{y}-{n[::-1]}")
    return Named(f"CVE-{y}-{n}", near, (f"CVE {y} {n}", f"{y}-{n}"))


def _ip(rng: Random) -> Named:
    a, b, c = rng.randint(2, 99), rng.randint(2, 99), rng.randint(10, 24)
    return Named(f"10.{a}.{b}.{c}", (f"10.{a}.{b}.{c}1", f"10.{a}.{b}.{c + 1}", f"10.{b}.{a}.{c}1", f"10.{a}.{b}"))


def _email(rng: Random) -> Named:
    a, b = _two(rng, "lena.vogt omar.haddad ines.duarte piotr.nowak aiko.mori tom.baker")
    n = _digits(rng, 2)
    near = (f"{b}{n}@brightwell.example", f"{a}{n}@northgate.example", f"{a}{_other(rng, n)}@brightwell.example")
    return Named(f"{a}{n}@brightwell.example", (*near, f"{a.split('.')[0]}{n}@brightwell.example"))


def _phone(rng: Random) -> Named:
    n, m = _digits(rng, 4), _digits(rng, 4)
    near = (f"+49 30 {n} {_other(rng, m)}", f"+49 40 {n} {m}", f"+49 30 {_other(rng, n)} {m}", f"+49 30 {m} {n}")
    return Named(f"+49 30 {n} {m}", near, (f"+49-30-{n}-{m}", f"030 {n} {m}", f"+49 (30) {n}-{m}"))


def _commit(rng: Random) -> Named:
    h = "a" + _hex(rng, 5) + "7"
    return Named(h, (h[:-1] + "3", "b" + h[1:], h[:3] + h[4] + h[3] + h[5:-1] + "2", h[:5] + "00"))


def _variable(rng: Random) -> Named:
    a, b = _two(rng, "CACHE QUEUE MAIL UPLOAD SESSION INDEX")
    c, d = _two(rng, "TTL LIMIT RETRIES HOST SECRET WORKERS")
    near = (f"APP_{a}_{d}", f"APP_{b}_{c}", f"APP_{a}", f"APP_{a}_{c}_MAX")
    return Named(f"APP_{a}_{c}", near, (f"APP {a} {c}", f"app-{a}-{c}".lower()))


def _function(rng: Random) -> Named:
    a, b = _two(rng, "load parse merge flush verify resolve")
    c, d = _two(rng, "config ledger invoice session token batch")
    near = (f"{a}_{d}()", f"{b}_{c}()", f"{a}_{c}_async()", f"{c}_{a}()")
    return Named(f"{a}_{c}()", near, (f"{a}_{c}", f"{a}_{c}(path)"))


def _module(rng: Random) -> Named:
    a, b = _two(rng, "billing catalog identity shipping search ledger")
    c, d = _two(rng, "export reader writer schema client worker")
    near = (f"{a}.{d}.csv_tools", f"{b}.{c}.csv_tools", f"{a}.{c}", f"{a}.{c}.csv_tools.rows")
    return Named(f"{a}.{c}.csv_tools", near, (f"{a}/{c}/csv_tools",))


def _gb_standard(rng: Random) -> Named:
    n, y = _digits(rng, 5), rng.randint(2008, 2020)
    near = (f"GB/T {_other(rng, n)}-{y}", f"GB/T {n}-{y - 7}", f"GB {n[:4]}-{y}", f"GB/T {n}.2-{y}")
    return Named(f"GB/T {n}-{y}", near, (f"GB/T{n}-{y}", f"GBT {n}-{y}", f"GB/T {n}—{y}"))


def _state_paper(rng: Random) -> Named:
    n, y = rng.randint(2, 60), rng.randint(2012, 2023)
    near = (f"国发〔{y}〕{n + 1}号", f"国发〔{y - 1}〕{n}号", f"国办发〔{y}〕{n}号", f"国发〔{y}〕{n}1号")
    return Named(f"国发〔{y}〕{n}号", near, (f"国发[{y}]{n}号", f"国发({y}){n}号", f"国发{y}年{n}号"))


def _case_number(rng: Random) -> Named:
    n, y = _digits(rng, 4), rng.randint(2014, 2022)
    near = (f"({y})京01民终{_other(rng, n)}号", f"({y + 1})京01民终{n}号", f"({y})京02民终{n}号", f"({y})京01刑终{n}号")
    return Named(f"({y})京01民终{n}号", near, (f"（{y}）京01民终{n}号", f"〔{y}〕京01民终{n}号"))


def _article(rng: Random) -> Named:
    n, m = rng.randint(11, 98), rng.randint(2, 7)
    near = (f"第{n}条第{m + 1}款", f"第{n + 1}条第{m}款", f"第{n}条", f"第{n}1条第{m}款")
    return Named(f"第{n}条第{m}款", near, (f"第 {n} 条第 {m} 款", f"{n}条{m}款"))


SEEN: Mapping[str, Kind] = {
    "error code": Kind(_error_code, "error", "错误"),
    "version": Kind(_version, "release", "版本"),
    "file name": Kind(_file_name, "file", "文件"),
    "path": Kind(_path, "configuration file", "配置文件"),
    "ticket PROJ-123": Kind(_ticket, "ticket", "工单"),
    "number #1234": Kind(_hash_number, "request", "申请"),
    "standard ISO 9001": Kind(_standard, "standard", "标准"),
    "section § 12(3)": Kind(_section, "clause", "条款"),
    "part number": Kind(_part_number, "part", "零件"),
    "CVE": Kind(_cve, "vulnerability", "漏洞"),
    "IP address": Kind(_ip, "host", "主机"),
    "e-mail address": Kind(_email, "mailbox", "邮箱"),
    "phone number": Kind(_phone, "line", "电话"),
    "commit hash": Kind(_commit, "commit", "提交"),
    "environment variable": Kind(_variable, "variable", "变量"),
    "function foo_bar()": Kind(_function, "function", "函数"),
    "dotted module": Kind(_module, "module", "模块"),
    "GB/T 19001-2016": Kind(_gb_standard, "standard", "标准", chinese_only=True),
    "国发〔2023〕5号": Kind(_state_paper, "paper", "文件", chinese_only=True),
    "(2021)京01民终1234号": Kind(_case_number, "case", "案件", chinese_only=True),
    "第12条第3款": Kind(_article, "clause", "条款", chinese_only=True),
}


def _hex_code(rng: Random) -> Named:
    h = _hex(rng, 4)
    return Named(f"0x8007{h}5", (f"0x8007{h}6", f"0x8008{h}5", f"0x8007{h}", f"0x8007{h[::-1]}1"), (f"8007{h}5",))


def _account(rng: Random) -> Named:
    a, b, c = _digits(rng, 4), _digits(rng, 4), _digits(rng, 4)
    near = (f"DE89 {a} {b} {_other(rng, c)}", f"DE89 {b} {a} {c}", f"DE88 {a} {b} {c}", f"DE89 {a} {c} {b}")
    return Named(f"DE89 {a} {b} {c}", near, (f"DE89-{a}-{b}-{c}", f"DE89{a}{b}{c}"))


def _room(rng: Random) -> Named:
    n, b = _digits(rng, 3), rng.choice("ABC")
    near = (f"{b}2.{_other(rng, n)}", f"{b}3.{n}", f"D2.{n}", f"{b}2.{n}1")
    return Named(f"{b}2.{n}", near, (f"{b}2-{n}", f"{b} 2.{n}"))


def _court_file(rng: Random) -> Named:
    n, y, c = _digits(rng, 3), rng.randint(14, 23), rng.randint(2, 29)
    near = (f"{c} O {n}/{y + 1}", f"{c} S {n}/{y}", f"{c + 1} O {n}/{y}", f"{c} O {_other(rng, n)}/{y}")
    return Named(f"{c} O {n}/{y}", near, (f"{c}-O-{n}/{y}", f"{c} O {n} / {y}"))


def _mac(rng: Random) -> Named:
    a, b = _hex(rng, 2), _hex(rng, 2)
    return Named(
        f"00:1a:{a}:3c:{b}:5e",
        (f"00:1a:{a}:3c:{b}:5f", f"00:1a:{b}9:3c:{a}:5e", f"00:1b:{a}:3c:{b}:5e", f"00:1a:{a}:3d:{b}:5e"),
        (f"00-1a-{a}-3c-{b}-5e",),
    )


def _flag(rng: Random) -> Named:
    a, b = _two(rng, "max min keep skip warm drop")
    c, d = _two(rng, "retries shards leases drafts orphans seeds")
    return Named(f"--{a}-{c}", (f"--{a}-{d}", f"--{b}-{c}", f"--{a}-{c}-only", f"--{c}"), (f"{a}-{c}", f"--{a}_{c}"))


def _class(rng: Random) -> Named:
    a, b = _two(rng, "Http Grpc Mail Disk Queue Token")
    c, d = _two(rng, "Policy Factory Watcher Broker Mapper")
    return Named(f"{a}Retry{c}", (f"{a}Retry{d}", f"{b}Retry{c}", f"{a}{c}", f"{a}Retry{c}V2"), (f"{a}_Retry_{c}",))


def _uuid(rng: Random) -> Named:
    a, b, c = _hex(rng, 8), _hex(rng, 4), _hex(rng, 12)
    near = (f"{a}-{b}-4f1e-9c3d-{c[:-1]}0", f"{a[:-1]}0-{b}-4f1e-9c3d-{c}", f"{a}-{b}-4f1e-9c3e-{c}", f"{a}-{b}")
    return Named(f"{a}-{b}-4f1e-9c3d-{c}", near, (f"{a}{b}4f1e9c3d{c}",))


def _invoice(rng: Random) -> Named:
    y, n = rng.randint(2016, 2024), _digits(rng, 3)
    near = (f"INV/{y}/0{_other(rng, n)}", f"INV/{y + 1}/0{n}", f"CRN/{y}/0{n}", f"INV/{y}/1{n}")
    return Named(f"INV/{y}/0{n}", near, (f"INV-{y}-0{n}", f"INV {y} 0{n}"))


def _flight(rng: Random) -> Named:
    a, b = _two(rng, "LH BA AF KL OS")
    n = _digits(rng, 3)
    return Named(
        f"{a} {n}", (f"{a} {_other(rng, n)}", f"{b} {n}", f"{a} {n}2", f"{a} {n[:2]}"), (f"{a}{n}", f"{a}-{n}")
    )


def _image(rng: Random) -> Named:
    a, b = _two(rng, "gateway indexer mailer reporter")
    n, m = rng.randint(1, 9), rng.randint(2, 9)
    near = (f"{a}:1.{n}.{m + 1}-alpine", f"{b}:1.{n}.{m}-alpine", f"{a}:1.{n}.{m}-slim", f"{a}:1.{n}.{m}1-alpine")
    return Named(f"{a}:1.{n}.{m}-alpine", near, (f"{a} 1.{n}.{m}-alpine",))


def _plate(rng: Random) -> Named:
    n, b = _digits(rng, 4), rng.choice("ABCD")
    near = (f"粤{b}·{_other(rng, n)}K", f"粤E·{n}K", f"湘{b}·{n}K", f"粤{b}·{n}M")
    return Named(f"粤{b}·{n}K", near, (f"粤{b}{n}K", f"粤{b} {n}K"))


def _regulation(rng: Random) -> Named:
    y, n = rng.randint(2009, 2022), _digits(rng, 3)
    near = (f"(EU) {y}/{_other(rng, n)}", f"(EU) {y + 1}/{n}", f"(EC) {y}/{n}", f"(EU) {y}/{n}3")
    return Named(f"(EU) {y}/{n}", near, (f"EU {y}/{n}", f"{y}/{n}"))


def _drawing(rng: Random) -> Named:
    n, m, r = _digits(rng, 2), _digits(rng, 3), rng.choice("BCEF")
    near = (f"DWG {n}-{m} Rev. {chr(ord(r) + 1)}", f"DWG {n}-{_other(rng, m)} Rev. {r}", f"DWG {m}-{n} Rev. {r}")
    return Named(f"DWG {n}-{m} Rev. {r}", (*near, f"DWG {n}-{m}"), (f"DWG-{n}-{m} rev {r}", f"DWG {n}.{m} Rev {r}"))


def _order(rng: Random) -> Named:
    a, b, c = _digits(rng, 4), _digits(rng, 3), _digits(rng, 2)
    near = (f"{a}-{b}-{_other(rng, c)}", f"{a}-{_other(rng, b)}-{c}", f"{a}-{b}", f"{b}-{a}-{c}")
    return Named(f"{a}-{b}-{c}", near, (f"{a} {b} {c}", f"{a}/{b}/{c}"))


UNSEEN: Mapping[str, Kind] = {
    "hexadecimal code": Kind(_hex_code, "stop code", "停止代码"),
    "account number": Kind(_account, "account", "账户"),
    "room B2.117": Kind(_room, "room", "房间"),
    "court file 12 O 345/21": Kind(_court_file, "case", "案件"),
    "MAC address": Kind(_mac, "device", "设备"),
    "command flag": Kind(_flag, "option", "选项"),
    "class name": Kind(_class, "class", "类"),
    "UUID": Kind(_uuid, "record", "记录"),
    "invoice INV/2023/0042": Kind(_invoice, "invoice", "发票"),
    "flight LH 438": Kind(_flight, "flight", "航班"),
    "image name:1.4.2-tag": Kind(_image, "image", "镜像"),
    "number plate 粤B·1234K": Kind(_plate, "car", "车辆", chinese_only=True),
    "regulation (EU) 2016/679": Kind(_regulation, "regulation", "条例"),
    "drawing DWG 30-114 Rev. C": Kind(_drawing, "drawing", "图纸"),
    "order 4500-118-22": Kind(_order, "order", "订单"),
}
