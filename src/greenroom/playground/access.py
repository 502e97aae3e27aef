"""The keys of a playground: one-time links, signed cookies, and a token for programs."""

from __future__ import annotations

import hmac
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Self
from uuid import uuid4

from platformdirs import user_data_path

from greenroom.errors import InputError

ENTRY = "/enter"
"""Where one-time links lead."""

SECONDS_OF_A_COOKIE = 30 * 24 * 3600

_CODE_BYTES = 24
_SECRET_BYTES = 32


@dataclass
class Access:
    """The keys of a playground: a secret that signs cookies, one-time codes, perhaps a token."""

    secret: bytes = field(repr=False)
    token: str | None = field(default=None, repr=False)
    """Programs may send it as a bearer token."""
    _codes: set[str] = field(default_factory=set[str], repr=False)

    @classmethod
    def of_person(cls, token: str | None = None) -> Self:
        """The keys that a token gives; without one, those in the person's data directory."""
        if token is not None:
            return cls(sha256(b"greenroom playground " + token.encode()).digest(), token)
        return cls(_kept_secret(user_data_path("greenroom", appauthor=False) / "playground.key"))

    def new_link(self, address: str) -> str:
        """A link that lets one browser in, once."""
        code = secrets.token_urlsafe(_CODE_BYTES)
        self._codes.add(code)
        return f"{address}{ENTRY}?code={code}"

    def redeem(self, code: str) -> bool:
        """Whether a code is good; it is used up from now on."""
        found = next((one for one in self._codes if same(one, code)), None)
        if found is not None:
            self._codes.discard(found)
        return found is not None

    def new_cookie(self) -> str:
        """The value of a cookie that lets a browser in for a month."""
        until = str(int(time.time()) + SECONDS_OF_A_COOKIE)
        return f"{until}.{self._signature(until)}"

    def knows_cookie(self, value: str) -> bool:
        """Whether this playground made the cookie, or another one with the same secret."""
        until, _, signature = value.partition(".")
        good = same(signature, self._signature(until))
        return good and until.isdecimal() and int(until) > time.time()

    def knows_token(self, authorization: str) -> bool:
        """Whether the header carries the token."""
        scheme, _, given = authorization.partition(" ")
        return (
            self.token is not None
            and scheme.lower() == "bearer"
            and same(given.strip(), self.token)
        )

    def _signature(self, until: str) -> str:
        return hmac.new(self.secret, until.encode(), sha256).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two texts are equal; it takes as long for all texts of a length."""
    return hmac.compare_digest(one.encode(), other.encode())


def _kept_secret(path: Path) -> bytes:
    """The secret of this person's playgrounds: a browser stays in when a server starts again."""
    if path.is_file():
        return path.read_bytes()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.{uuid4().hex}")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(_SECRET_BYTES))
        # Of two playgrounds that start at once, one makes the file and both read it.
        with suppress(FileExistsError):
            os.link(fresh, path)
        fresh.unlink()
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}. It holds the secret that signs the "
            "cookies of browsers."
        ) from error
