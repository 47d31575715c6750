"""The server: tokens, the routes, partial answers, and faults."""

import base64
import functools
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web

from tests.servers.google_drive.drive import EDITORS, FOLDER, ME, Drive, Item
from tests.servers.serving import LOGIN, served

ACCOUNT = ME
READ = "https://www.googleapis.com/auth/drive.readonly"
MEMBERS = "https://www.googleapis.com/auth/admin.directory.group.member.readonly"
_WORDS = {400: "badRequest", 401: "authError", 403: "forbidden", 404: "notFound", 410: "gone", 500: "backendError"}
_QUERY = re.compile(r"(?:\(('[\w-]+' in parents(?: or '[\w-]+' in parents)*)\) and )?trashed = false")


@functools.cache
def _private_key() -> str:
    """Return an RSA key as PEM; made once, as it takes a while."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    made = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    form = serialization.PrivateFormat.PKCS8
    return made.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def key_of(token_uri: str) -> dict[str, str]:
    """Return a service account's key as the console gives it."""
    return {
        "type": "service_account",
        "project_id": "project",
        "private_key_id": "k1",
        "private_key": _private_key(),
        "client_email": ACCOUNT,
        "client_id": "1",
        "token_uri": token_uri,
    }


def problem(
    status: int, reason: str = "", *, location: str = "", headers: dict[str, str] | None = None
) -> web.Response:
    """Return a refusal as Google words it."""
    one = {"domain": "global", "reason": reason or _WORDS.get(status, "backendError"), "message": "No."}
    if location:
        one |= {"locationType": "parameter", "location": location}
    return web.json_response(
        {"error": {"errors": [one], "code": status, "message": "No."}}, status=status, headers=headers
    )


@dataclass(frozen=True)
class Asked:
    """A request, and the status of its answer."""

    path: str
    query: dict[str, str]
    status: int

    def __str__(self) -> str:
        return self.path


@dataclass
class GoogleServer:
    """Serves one Drive. ``fault`` may answer a request in Google's place; ``oldest`` is the first token still taken."""

    drive: Drive = field(default_factory=Drive)
    page: int = 5
    granted: frozenset[str] = frozenset({READ, MEMBERS})
    subjects: frozenset[str] = frozenset({"boss@example.org"})
    refresh: str = "r1"
    bearer: str = "b1"
    oldest: int = 0
    cut: bool = False
    is_html: bool = False
    twice: set[str] = field(default_factory=set)
    fault: Callable[[web.Request], web.StreamResponse | None] | None = None
    before_reading: Callable[[Item], None] = lambda item: None
    asked: list[Asked] = field(default_factory=list)
    grants: list[dict[str, Any]] = field(default_factory=list)
    """What was shown for access tokens."""
    origin: str = ""

    @property
    def tokens(self) -> str:
        return f"{self.origin}/token"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["GoogleServer"]:
        app = web.Application()
        app.router.add_post("/token", self._token)
        app.router.add_get("/drive/v3/{path:.+}", self._answer)
        app.router.add_get("/admin/directory/v1/groups/{group}/members", self._answer)
        async with served(app) as place:
            self.origin = f"http://{place}"
            yield self

    async def _token(self, request: web.Request) -> web.Response:
        form = {name: values[0] for name, values in parse_qs(await request.text()).items()}
        if form["grant_type"] == "refresh_token":
            self.grants.append(form)
            wrong = form["refresh_token"] != self.refresh and "invalid_grant"
            wrong = (form["client_secret"] != "s1" and "invalid_client") or wrong
        else:
            claims = json.loads(base64.urlsafe_b64decode(form["assertion"].split(".")[1] + "=="))
            self.grants.append(claims)
            wrong = not set(claims["scope"].split()) <= self.granted and "unauthorized_client"
            wrong = ("sub" in claims and claims["sub"] not in self.subjects and "invalid_grant") or wrong
        if wrong:
            return web.json_response({"error": wrong, "error_description": "No."}, status=400)
        return web.json_response({"access_token": self.bearer, "expires_in": 3599, "token_type": "Bearer"})

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        answer = (self.fault(request) if self.fault else None) or self._judged(request)
        self.asked.append(Asked(request.path, dict(request.query), answer.status))
        return answer

    def _judged(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {self.bearer}":
            return problem(401)
        if self.is_html:
            return web.Response(text=LOGIN, content_type="text/html")
        if "group" in request.match_info:
            return self._members(request)
        found: Any = None
        match request.match_info["path"].split("/"):
            case ["files" | "changes", *_] if self._is_closed(request.query.get("driveId", "")):
                found = problem(404)
            case ["files"]:
                found = self._files(request)
            case ["changes"]:
                found = self._changes(request)
            case ["changes", "startPageToken"]:
                found = web.json_response({"startPageToken": f"t{len(self.drive.log)}"})
            case ["drives"]:
                drives = [{"id": one, "name": "D"} for one in sorted(self.drive.members) if not self._is_closed(one)]
                found = web.json_response({"kind": "drive#driveList", "drives": drives})
            case ["drives", identity] if identity in self.drive.members and not self._is_closed(identity):
                found = web.json_response({"id": identity, "name": "D"})
            case ["files", identity, *more]:
                item = self.drive.items.get("my-root" if identity == "root" else identity)
                if item is not None and self.drive.sees(item):
                    found = self._file(request, item, more)
        return found or problem(404)

    def _is_closed(self, drive: str) -> bool:
        """Tell whether the account is no member of a shared drive."""
        members = [one.get("emailAddress") for one in self.drive.members.get(drive, ())]
        return drive in self.drive.members and self.drive.me not in members

    def _file(self, request: web.Request, item: Item, more: list[str]) -> web.StreamResponse:
        if more == ["permissions"]:
            if self.drive.mine(item) not in EDITORS:
                return problem(403, "insufficientFilePermissions")
            return self._partial(request, {"kind": "drive#permissionList", "permissions": self.drive.allowed(item)})
        if more == ["export"] or request.query.get("alt") == "media":
            self.before_reading(item)
            if item.id not in self.drive.items:
                return problem(404)
            return self._content(request, self.drive.items[item.id], is_export=bool(more))
        return self._partial(request, self.drive.resource(item)) if not more else problem(404)

    def _content(self, request: web.Request, item: Item, *, is_export: bool) -> web.StreamResponse:
        if is_export != item.mime.startswith("application/vnd.google-apps."):
            return problem(403, "fileNotExportable" if is_export else "fileNotDownloadable")
        if is_export and len(item.content) > 10_000_000:
            return problem(403, "exportSizeLimitExceeded")
        body, asked = item.content, re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("Range", ""))
        if asked is None:
            return web.Response(body=body, content_type="application/octet-stream")
        first, last = int(asked[1]), min(int(asked[2]), len(body) - 1)
        if first >= len(body):
            return problem(416, "requestedRangeNotSatisfiable")
        headers = {"Content-Range": f"bytes {first}-{last}/{len(body)}"}
        return web.Response(body=body[first : last + 1], status=206, headers=headers)

    def _files(self, request: web.Request) -> web.StreamResponse:
        query = _QUERY.fullmatch(request.query["q"])
        if query is None or not {"supportsAllDrives", "includeItemsFromAllDrives"} <= request.query.keys():
            return problem(400, "invalid", location="q")
        parents = set(re.findall(r"'([\w-]+)'", query[1] or ""))
        where, drive = request.query["corpora"], request.query.get("driveId", "")
        found = [
            item
            for item in self.drive.items.values()
            if self.drive.sees(item)
            and not self.drive.in_trash(item)
            and item.id not in {"my-root", item.drive}
            and (not parents or item.parent in parents)
            and (item.drive == drive if where == "drive" else True)
        ]
        found += [item for item in found if item.id in self.twice]
        if self.cut:
            shown = [item.id for item in self.drive.items.values() if item.mime != FOLDER][:3]
            found = [item for item in found if item.mime == FOLDER or item.id in shown]
        start = int(request.query.get("pageToken", "l0")[1:])
        size = min(self.page, int(request.query["pageSize"]))
        told: dict[str, Any] = {
            "kind": "drive#fileList",
            "files": [self.drive.resource(item) for item in found[start : start + size]],
        }
        if start + size < len(found):
            told["nextPageToken"] = f"l{start + size}"
        return self._partial(request, told)

    def _changes(self, request: web.Request) -> web.StreamResponse:
        token = request.query["pageToken"]
        at = int(token[1:]) if re.fullmatch(r"t\d+", token) else -1
        if at < self.oldest:
            return problem(400, "invalid", location="pageToken")
        drive = request.query.get("driveId", "")
        last = {
            identity: number
            for number, (where, identity) in enumerate(self.drive.log)
            if where == drive or (self._is_closed(where) and not drive)
        }
        numbers = sorted(number for number in last.values() if number >= at)
        if self.cut:
            numbers = numbers[:3]
        shown, rest = numbers[: self.page], numbers[self.page :]
        told: dict[str, Any] = {
            "kind": "drive#changeList",
            "changes": [self._change(self.drive.log[number][1]) for number in shown],
        }
        if rest:
            told["nextPageToken"] = f"t{rest[0]}"
        else:
            told["newStartPageToken"] = f"t{len(self.drive.log)}"
        return self._partial(request, told)

    def _change(self, identity: str) -> dict[str, Any]:
        item = self.drive.items.get(identity)
        if item is None or not self.drive.sees(item):
            return {"fileId": identity, "removed": True, "changeType": "file"}
        return {"fileId": identity, "removed": False, "changeType": "file", "file": self.drive.resource(item)}

    def _members(self, request: web.Request) -> web.StreamResponse:
        found = self.drive.groups.get(request.match_info["group"])
        if found is None:
            return problem(404)
        start = int(request.query.get("pageToken", "m0")[1:])
        told: dict[str, Any] = {"kind": "admin#directory#members", "members": found[start : start + self.page]}
        if start + self.page < len(found):
            told["nextPageToken"] = f"m{start + self.page}"
        return web.json_response(told)

    def _partial(self, request: web.Request, value: Any) -> web.StreamResponse:
        """Answer with the fields that were asked for, as Google does."""
        return web.json_response(_picked(value, _fields(request.query["fields"])))


def _fields(text: str) -> dict[str, Any]:
    """Return a selection of fields, such as ``a,b(c)``, as nested tables."""
    found: dict[str, Any] = {}
    stack = [found]
    last = ""
    for token in re.findall(r"\w+|[(),]", text):
        if token == "(":
            stack.append(stack[-1][last])
        elif token == ")":
            stack.pop()
        elif token != ",":
            stack[-1][token], last = {}, token
    return found


def _picked(value: Any, fields: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_picked(one, fields) for one in value]
    if not fields or not isinstance(value, dict):
        return value
    return {name: _picked(inner, fields[name]) for name, inner in value.items() if name in fields}
