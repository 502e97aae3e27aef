"""Agents that do what they should not; the first argument says which one this is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

GIGABYTE = 1 << 30
PIECE = b"x" * (1 << 20)


def print_much(file: int, piece: bytes) -> None:
    for _ in range(GIGABYTE // len(piece)):
        os.write(file, piece)


def speak(words: str = "Hello.") -> None:
    print(json.dumps({"message": words}), flush=True)


def one_line() -> None:
    print_much(1, PIECE)
    speak()


def many_lines() -> None:
    print_much(1, b"not JSON\n" * 10_000)
    speak()


def empty_lines() -> None:
    print_much(1, b"\n" * (1 << 20))
    speak()


def many_reports() -> None:
    report = {"usage": {"prompt_tokens": 1}, "why": "x" * 500_000}
    print_much(1, json.dumps(report).encode() + b"\n")
    speak()


def deaf() -> None:
    """Makes calls that are refused, and reads none of the answers."""
    call: dict[str, object] = {
        "tool_call": {"id": "x" * 500_000, "name": "respond", "arguments": {}}
    }
    print_much(1, json.dumps(call).encode() + b"\n")
    speak()


def many_errors() -> None:
    print_much(2, PIECE)
    speak()


def silent() -> None:
    time.sleep(600)


def ends() -> None:
    raise SystemExit(0)


def crash() -> None:
    print("about to fail", file=sys.stderr)
    raise RuntimeError(f"no good: {os.environ['OPENAI_API_KEY']}")


def killed() -> None:
    """Ends as a process does that takes too much memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def polite() -> None:
    """Goes on after its last message, until it is told to end."""

    def end(*_: object) -> None:
        Path(sys.argv[2]).write_text("ended")
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    speak()
    time.sleep(600)


def half() -> None:
    """Writes half a line, and ends."""
    sys.stdout.write('{"message": "Hel')


def pretty() -> None:
    """Spreads its message over several lines, and waits for the answer."""
    print(json.dumps({"message": "Hello."}, indent=2), flush=True)
    time.sleep(600)


def sloppy() -> None:
    """Asks what no provider takes, mends it if it may, and tells what it got."""
    base, key = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
    told: list[int] = []
    for role in sys.argv[2:]:
        body = json.dumps({"messages": [{"role": role, "content": "Hello"}]})
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{base}/chat/completions", body.encode(), headers)
        try:
            urllib.request.urlopen(request)
            told.append(200)
        except urllib.error.HTTPError as error:
            told.append(error.code)
    if told[-1] != 200:
        raise RuntimeError("no answer")
    speak(json.dumps(told))


def forks() -> None:
    """Leaves processes behind: in its group, in one of their own, and with nothing of its own."""
    asleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    nowhere = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    left = [
        subprocess.Popen(asleep),
        subprocess.Popen(asleep, start_new_session=True),
        subprocess.Popen(asleep, start_new_session=True, **nowhere),
        subprocess.Popen(asleep, start_new_session=True, env={}, cwd="/", **nowhere),
    ]
    told = Path(sys.argv[2])
    part = told.with_name(f"{os.getpid()}.part")
    part.write_text(json.dumps([os.getpid(), *(one.pid for one in left)]))
    part.rename(told)
    if sys.argv[3:] == ["hang"]:
        time.sleep(600)
    speak()
    if sys.argv[3:] == ["end"]:
        os._exit(0)
    sys.stdin.read()


def asked_by_mcp() -> list[str]:
    """All that the MCP server lists, and what it says of a task."""
    told: list[str] = []
    for method, params in (
        ("resources/list", {}),
        ("prompts/list", {}),
        ("tools/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "greenroom://task"}),
        ("prompts/get", {"name": "task"}),
    ):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": "2025-06-18",
        }
        address = os.environ["GREENROOM_MCP_URL"]
        request = urllib.request.Request(address, body.encode(), headers)
        try:
            told.append(urllib.request.urlopen(request).read().decode())
        except urllib.error.HTTPError as error:
            told.append(error.read().decode())
    return told


def looks() -> None:
    """Tells all that it can see of the episode."""
    seen = {
        "variables": dict(os.environ),
        "arguments": sys.argv,
        "mcp": asked_by_mcp(),
        "folder": sorted(one.name for one in Path().iterdir()),
        "around": [str(one) for one in Path.home().rglob("*")],
        "lines": [sys.stdin.readline(), sys.stdin.readline()],
    }
    Path(sys.argv[2]).write_text(json.dumps(seen))
    speak()


def elsewhere() -> None:
    """Asks another model, and at the address of another episode."""
    told: list[tuple[int, str]] = []
    shared = Path(sys.argv[2])
    base, key = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
    (shared / f"{os.getpid()}.txt").write_text(f"{base} {key}")
    while len(found := sorted(shared.glob("*.txt"))) < 2:
        time.sleep(0.01)
    time.sleep(0.2)
    other = next(one.read_text().split() for one in found if one.stem != str(os.getpid()))
    for address, bearer, model in (
        (base, key, "gpt-5"),
        (other[0], key, "oracle"),
        (base, other[1], "oracle"),
        (f"{other[0].removesuffix('/v1')}/mcp", key, "oracle"),
    ):
        body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hello"}]})
        headers = {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{address}/chat/completions", body.encode(), headers)
        try:
            urllib.request.urlopen(request)
            told.append((200, ""))
        except urllib.error.HTTPError as error:
            told.append((error.code, json.loads(error.read())["error"]["code"]))
    speak(json.dumps(told))


def locked() -> None:
    """Makes its folder hard to remove."""
    inner = Path("locked", "inner")
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    Path("link").symlink_to("/etc")
    inner.chmod(0)
    inner.parent.chmod(0)
    speak()


KINDS: dict[str, Callable[[], None]] = {
    one.__name__: one
    for one in (
        *(one_line, many_lines, many_errors, silent, ends, crash, forks, looks),
        *(empty_lines, many_reports, deaf),
        *(elsewhere, locked, killed, half, polite, pretty, sloppy),
    )
}
KINDS[sys.argv[1]]()
