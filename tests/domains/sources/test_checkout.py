from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from greenroom.domains.packs import load_pack, read_json
from greenroom.domains.sources import ImportResult, import_checkout
from greenroom.domains.tasks import parse_tasks
from greenroom.errors import DataError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"

TASKS_TEST = """
from tau_bench.types import Action, Task

TASKS_TEST = [
    Task(
        annotator="0",
        user_id="ada_1",
        instruction="You are Ada. "
        "You want your lamp" + " back" + ", and no \\d excuses.",
        actions=[
            Action(name="find_user_id_by_email", kwargs={"email": "ada@shop.test"}),
            Action("refund", {"amount": -1.5, "items": ("a", "b"), "now": True, "why": None}),
        ],
        outputs=["12", (7)],
    ),
]
"""

TASKS_TRAIN = """
tasks = [
    {
        "annotator": 3,
        "user_id": "max_2",
        "instruction": "You are Max.",
        "actions": [{"name": "think", "arguments": {"thought": "+1", "count": +1}}],
    },
]
"""

TOOL = '''
class Refund(Tool):
    @staticmethod
    def invoke(data, order_id):
        return json.dumps(data["orders"][order_id])

    @staticmethod
    def get_info() -> Dict[str, Any]:
        """What it is."""
        return {
            "type": "function",
            "function": {
                "name": "refund",
                "description": ("Give money " "back."),
                "parameters": {"type": "object", "properties": {}, "required": []},
            },
        }
'''

USERS: dict[str, Any] = {"ada_1": {"email": "ada@shop.test"}, "max_2": {}}


def write_files(root: Path, files: Mapping[str, str | None]) -> Path:
    for name, content in files.items():
        path = root / name
        if content is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    return root


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    envs = "tau_bench/envs"
    return write_files(
        tmp_path / "checkout",
        {
            "LICENSE": "MIT License\n\nCopyright (c) somebody\n",
            "tau_bench/__init__.py": "raise SystemExit('this must not be run')",
            f"{envs}/__init__.py": "",
            f"{envs}/base.py": "class Env: ...",
            f"{envs}/retail/__init__.py": "",
            f"{envs}/retail/data/__init__.py": "import json",
            f"{envs}/retail/data/users.json": json.dumps(USERS),
            f"{envs}/retail/data/orders.json": "{}",
            f"{envs}/retail/wiki.md": "# How we sell\n",
            f"{envs}/retail/wiki.py": "WIKI = open('wiki.md').read()",
            f"{envs}/retail/rules.py": 'RULES = [\n    "Be kind.",\n    "Be " "quick.",\n]\n',
            f"{envs}/retail/tasks_test.py": TASKS_TEST,
            f"{envs}/retail/tasks_train.py": TASKS_TRAIN,
            f"{envs}/retail/tools/__init__.py": "from .refund import Refund",
            f"{envs}/retail/tools/refund.py": TOOL,
        },
    )


def retail(checkout: Path, name: str) -> Path:
    return checkout / "tau_bench" / "envs" / "retail" / name


class TestImport:
    def test_writes_a_pack(self, checkout: Path, tmp_path: Path) -> None:
        result = import_checkout(checkout, tmp_path / "pack")

        assert result.directory == tmp_path / "pack"
        assert result.tasks == {"retail": {"test": 1, "train": 1}}
        assert result.notes == ()
        pack = load_pack(tmp_path / "pack", "retail")
        assert pack.load_tables() == {"users": USERS, "orders": {}}
        assert pack.policy == "# How we sell\n"
        assert pack.rules == ("Be kind.", "Be quick.")
        (info,) = pack.tool_infos
        assert info["function"]["name"] == "refund"
        assert info["function"]["description"] == "Give money back."

    def test_reads_tasks_in_both_forms(self, checkout: Path, tmp_path: Path) -> None:
        import_checkout(checkout, tmp_path / "pack")

        pack = load_pack(tmp_path / "pack", "retail")
        (test,), (train,) = pack.tasks("test"), pack.tasks("train")
        assert test.user_id == "ada_1"
        assert test.annotator == "0"
        assert test.instruction == "You are Ada. You want your lamp back, and no \\d excuses."
        assert [(action.name, action.kwargs) for action in test.actions] == [
            ("find_user_id_by_email", {"email": "ada@shop.test"}),
            ("refund", {"amount": -1.5, "items": ["a", "b"], "now": True, "why": None}),
        ]
        assert test.outputs == ("12", "7")
        assert (train.annotator, train.outputs) == ("3", ())
        assert train.actions[0].kwargs == {"thought": "+1", "count": 1}

    @pytest.mark.parametrize("below", ["", "tau_bench", "tau_bench/envs"])
    def test_takes_the_root_or_a_folder_below_it(
        self, checkout: Path, tmp_path: Path, below: str
    ) -> None:
        result = import_checkout(checkout / below, tmp_path / "pack")

        assert load_pack(result.directory, "retail").info.licence == "MIT License"

    def test_every_folder_with_data_and_tasks_is_a_domain(
        self, checkout: Path, tmp_path: Path
    ) -> None:
        write_files(
            checkout / "tau_bench" / "envs" / "library",
            {"data/books.json": "{}", "wiki.md": "Lend.", "tasks_dev.py": "TASKS_DEV = []"},
        )

        result = import_checkout(checkout, tmp_path / "pack")

        assert result.tasks["library"] == {"dev": 0}
        assert result.notes == ("library: there is no rules.py, so the pack has no rules.",)

    def test_the_older_file_of_tasks_is_the_test_split_if_there_is_no_newer(
        self, checkout: Path, tmp_path: Path
    ) -> None:
        write_files(checkout, {"tau_bench/envs/retail/tasks.py": TASKS_TRAIN})
        import_checkout(checkout, tmp_path / "newer")
        retail(checkout, "tasks_test.py").unlink()
        import_checkout(checkout, tmp_path / "older")

        users = [
            load_pack(tmp_path / name, "retail").tasks("test")[0].user_id
            for name in ("newer", "older")
        ]
        assert users == ["ada_1", "max_2"]

    def test_replaces_a_pack_only_if_told_to(self, checkout: Path, tmp_path: Path) -> None:
        import_checkout(checkout, tmp_path / "pack")

        with pytest.raises(InputError, match="--replace"):
            import_checkout(checkout, tmp_path / "pack")
        import_checkout(checkout, tmp_path / "pack", replace=True)

    def test_fields_of_tasks_that_are_not_kept_are_noted(
        self, checkout: Path, tmp_path: Path
    ) -> None:
        retail(checkout, "tasks_test.py").write_text("TASKS = [Task(instruction='x', mood='sad')]")

        result = import_checkout(checkout, tmp_path / "pack")

        assert result.notes == ("retail: tasks_test.py: not kept of the tasks: mood.",)


class TestVersion:
    def imported(self, checkout: Path, tmp_path: Path) -> str:
        result = import_checkout(checkout, tmp_path / "pack", replace=True)
        assert load_pack(tmp_path / "pack", "retail").info.version == result.version
        return result.version

    @pytest.mark.parametrize(
        "files",
        [
            {".git/HEAD": f"{COMMIT}\n"},
            {".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": f"{COMMIT}\n"},
            {
                ".git/HEAD": "ref: refs/heads/main\n",
                ".git/packed-refs": f"# pack-refs\n{'f' * 40} refs/heads/old\n"
                f"{COMMIT} refs/heads/main\n",
            },
            {
                ".git": "gitdir: store/worktrees/here\n",
                "store/worktrees/here/HEAD": "ref: refs/heads/main\n",
                "store/worktrees/here/commondir": "../..\n",
                "store/refs/heads/main": f"{COMMIT}\n",
            },
        ],
        ids=["detached", "branch", "packed", "worktree"],
    )
    def test_is_the_commit_if_it_can_be_read(
        self, checkout: Path, tmp_path: Path, files: dict[str, str]
    ) -> None:
        write_files(checkout, files)

        assert self.imported(checkout, tmp_path) == f"commit {COMMIT[:12]}"
        info = load_pack(tmp_path / "pack", "retail").info
        assert (info.name, info.source) == ("tau-bench", "tau-bench checkout of unknown origin")
        assert "sha256:" in info.notes[0]

    @pytest.mark.parametrize(
        ("url", "source"),
        [
            ("https://github.com/sierra-research/tau-bench", "sierra-research/tau-bench"),
            ("https://me:secret@github.com/someone/tau-bench.git", "someone/tau-bench"),
            ("git@github.com:someone/their-fork.git", "someone/their-fork"),
        ],
    )
    def test_a_fork_is_labelled_by_what_it_is(
        self, checkout: Path, tmp_path: Path, url: str, source: str
    ) -> None:
        config = f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n\tfetch = +x\n'
        write_files(checkout, {".git/HEAD": f"{COMMIT}\n", ".git/config": config})
        self.imported(checkout, tmp_path)
        assert load_pack(tmp_path / "pack", "retail").info.source == f"checkout of {source}"

    @pytest.mark.parametrize(
        "files",
        [
            {},
            {".git/HEAD": "ref: refs/heads/gone\n"},
            {".git/HEAD": "something else\n"},
            {".git/HEAD": ""},
        ],
    )
    def test_is_the_digest_of_the_content_otherwise(
        self, checkout: Path, tmp_path: Path, files: dict[str, str]
    ) -> None:
        write_files(checkout, files)

        first = self.imported(checkout, tmp_path)
        retail(checkout, "wiki.md").write_text("# Otherwise\n")
        second = self.imported(checkout, tmp_path)

        assert first.startswith("sha256:")
        assert second.startswith("sha256:")
        assert first != second

    def test_says_nothing_of_a_repository_that_it_was_copied_into(
        self, checkout: Path, tmp_path: Path
    ) -> None:
        (checkout / "tau_bench").rename(checkout / "vendored")
        write_files(checkout, {".git/HEAD": f"{COMMIT}\n"})

        result = import_checkout(checkout / "vendored", tmp_path / "pack")

        assert result.version.startswith("sha256:")
        assert load_pack(tmp_path / "pack", "retail").info.licence == "unknown"

    def test_a_checkout_without_a_licence_has_an_unknown_one(
        self, checkout: Path, tmp_path: Path
    ) -> None:
        (checkout / "LICENSE").unlink()

        self.imported(checkout, tmp_path)

        assert load_pack(tmp_path / "pack", "retail").info.licence == "unknown"


class TestTools:
    def imported(self, checkout: Path, tmp_path: Path, **tools: str) -> ImportResult:
        for name, content in tools.items():
            retail(checkout, f"tools/{name}.py").write_text(content)
        return import_checkout(checkout, tmp_path / "pack")

    def test_a_file_that_describes_no_tool_is_passed_over(
        self, checkout: Path, tmp_path: Path
    ) -> None:
        result = self.imported(checkout, tmp_path, helpers="def add(a, b):\n    return a + b\n")

        assert len(load_pack(tmp_path / "pack", "retail").tool_infos) == 1
        assert result.notes == (
            "retail: tools/helpers.py was skipped: it describes no tool with get_info().",
        )

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            ("def get_info():\n    return describe()\n", "odd.py, line 2"),
            ("def get_info():\n    x = 1\n    return {'a': x}\n", "does more than return"),
            ("def get_info():\n    return\n", "does more than return"),
            ("def get_info():\n    return {'name': 'x'}\n", "not a function description"),
            ("def get_info(:\n", "not valid Python"),
        ],
    )
    def test_one_that_cannot_be_read_leaves_the_descriptions_to_the_domain(
        self, checkout: Path, tmp_path: Path, content: str, reason: str
    ) -> None:
        result = self.imported(checkout, tmp_path, odd=content)

        assert load_pack(tmp_path / "pack", "retail").tool_infos == ()
        skipped, consequence = result.notes
        assert skipped.startswith("retail: tools/odd.py was skipped: ")
        assert reason in skipped
        assert "the domain's own descriptions are used" in consequence


class TestCheckoutThatCannotBeUsed:
    def refused(self, checkout: Path, tmp_path: Path, message: str) -> None:
        with pytest.raises(DataError, match=message):
            import_checkout(checkout, tmp_path / "pack")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["checkout"]

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("tasks_test.py", r"retail/tasks_test\.py is missing\. A checkout of tau-bench has"),
            ("wiki.md", r"retail/wiki\.md is missing\. A checkout of tau-bench has"),
            ("data/users.json", r"retail/data holds no \.json file\. A checkout of tau-bench has"),
        ],
    )
    def test_what_is_missing_is_named(
        self, checkout: Path, tmp_path: Path, name: str, message: str
    ) -> None:
        for other in ("data/orders.json", "tasks_train.py"):
            retail(checkout, other).unlink()
        retail(checkout, name).unlink()

        self.refused(checkout, tmp_path, message)

    def test_a_folder_of_something_else(self, tmp_path: Path) -> None:
        write_files(tmp_path / "checkout", {"README.md": "Hello"})

        self.refused(tmp_path / "checkout", tmp_path, "checkout has no domain of tau-bench. A ")

    def test_no_folder_at_all(self, checkout: Path, tmp_path: Path) -> None:
        self.refused(checkout / "nowhere", tmp_path, "nowhere is not a directory. A checkout")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{", r"users\.json is not valid JSON"),
            ("[]", r"users\.json should hold an object"),
            ('{"u": 1}', r"users\.json: record 'u' should be an object, but is 1"),
        ],
    )
    def test_a_broken_table(
        self, checkout: Path, tmp_path: Path, content: str, message: str
    ) -> None:
        retail(checkout, "data/users.json").write_text(content)

        self.refused(checkout, tmp_path, message)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("RULES = 'be kind'", r"rules\.py, line 1: this should be a list of texts"),
            ("RULES = [1]", r"rules\.py, line 1: this should be a list of texts"),
            ("OTHER = []", r"rules\.py holds no list of rules"),
        ],
    )
    def test_broken_rules(self, checkout: Path, tmp_path: Path, content: str, message: str) -> None:
        retail(checkout, "rules.py").write_text(content)

        self.refused(checkout, tmp_path, message)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("TASKS = [\n", r"line 1 is not valid Python"),
            ("\x00", r"is not valid Python"),
            ("x = 1", r"holds no list of tasks"),
            ("A = [Task()]\nB = [Task()]", r"more than one list of tasks, on the lines 1 and 2"),
            ("TASKS = build()", r"line 1: .* not a plain value: build\(\)"),
            ("TASKS = {'a': 1}", r"line 1: this should be a list of tasks"),
            ("TASKS = [\n    Task(),\n    *MORE,\n]", r"line 3: .*: \*MORE"),
            ("TASKS = [Task('x')]", r"line 1: arguments have to be given by name"),
            ("TASKS = [Task(**kind)]", r"line 1: arguments have to be written out"),
            ("TASKS = [Task(instruction=f'{name}')]", r"line 1: .* not a plain value"),
            ("TASKS = [Task(instruction=open('x').read())]", r"line 1: .* not a plain value"),
            ("TASKS = [Task(instruction='a' + NAME)]", r"line 1: .* not a plain value: NAME"),
            ("TASKS = [Task(instruction='a' + 1)]", r"line 1: .* not a plain value: 'a' \+ 1"),
            ("TASKS = [Task(instruction=b'a')]", r"line 1: .* not a plain value"),
            ("TASKS = [Task(outputs={1, 2})]", r"line 1: .* not a plain value"),
            ("TASKS = [Task(outputs=[-True])]", r"line 1: .* not a plain value"),
            ("TASKS = [Task(outputs=[-'a'])]", r"line 1: .* not a plain value"),
            ("TASKS = [Task(outputs=[1e999])]", r"line 1: .* not a plain value"),
            (f"TASKS = [Task(outputs=[{10**30}])]", r"line 1: .* not a plain value"),
            (r"TASKS = [Task(instruction='\ud800')]", r"line 1: .* not a plain value"),
            ("TASKS = [{1: 2}]", r"line 1: keys have to be texts: 1"),
            ("TASKS = [{**other}]", r"line 1: keys have to be texts"),
            ("TASKS = [Task(actions=[Action('a', 'b', 'c')])]", r"have to be given by name"),
            ("TASKS = [Task(actions=[Action(kwargs={})])]", r"0\.actions\.0\.name: Field required"),
            ("TASKS = [Task()]\nTASKS += more()", r"line 2: .* may differ: TASKS \+= more\(\)"),
            ("TASKS = [Task()]\nTASKS.pop()", r"line 2: .* may differ"),
            ("TASKS = [Task()]\nfor task in TASKS:\n    change(task)", r"line 2: .* may differ"),
        ],
    )
    def test_tasks_that_are_no_plain_values(
        self, checkout: Path, tmp_path: Path, content: str, message: str
    ) -> None:
        retail(checkout, "tasks_test.py").write_text(content)

        self.refused(checkout, tmp_path, message)

    @pytest.mark.parametrize(
        "content",
        [
            "TASKS: list[Task] = [types.Task(instruction='x')]",
            "tasks = TASKS = [Task(instruction='x')]",
            "TASKS = [Task(instruction='x')]\nTASKS_TEST = TASKS",
            "EXAMPLES = [{'a': 1}]\nTASKS = [Task(instruction='x')]",
            "\ufeff# a mark\nEXAMPLES = [Task(instruction='x')]\nLIMIT = 3\nNAMES = ['a']",
        ],
    )
    def test_harmless_variations_are_understood(
        self, checkout: Path, tmp_path: Path, content: str
    ) -> None:
        retail(checkout, "tasks_test.py").write_text(content, encoding="utf-8")

        import_checkout(checkout, tmp_path / "pack")

        (task,) = load_pack(tmp_path / "pack", "retail").tasks("test")
        assert task.instruction == "x"

    def test_nothing_of_a_checkout_is_run(self, checkout: Path, tmp_path: Path) -> None:
        mark = tmp_path / "checkout" / "was-run"
        code = f"open({str(mark)!r}, 'w')\n"
        for name in ("tasks_test.py", "rules.py", "tools/refund.py"):
            path = retail(checkout, name)
            path.write_text(code + path.read_text())

        import_checkout(checkout, tmp_path / "pack")

        assert not mark.exists()


def _render_task(record: Mapping[str, Any]) -> str:
    actions = ", ".join(
        f"Action(name={action['name']!r}, kwargs={action['kwargs']!r})"
        for action in record["actions"]
    )
    return (
        f"    Task(annotator='0', user_id={record['user_id']!r}, "
        f"instruction={record['instruction']!r}, actions=[{actions}], "
        f"outputs={record['outputs']!r}),\n"
    )


def _render_tasks(name: str, records: Sequence[Mapping[str, Any]]) -> str:
    return f"{name} = [\n{''.join(_render_task(record) for record in records)}]\n"


def _render_checkout(data: Path, root: Path) -> Path:
    """Official data in the shape of the repository that it is published in."""
    for domain in ("retail", "airline"):
        files: dict[str, str] = {
            "wiki.md": (data / domain / "policy.md").read_text(),
            "rules.py": f"RULES = {read_json(data / domain / 'rules.json', list)!r}\n",
        }
        for table in (data / domain / "db").glob("*.json"):
            files[f"data/{table.name}"] = table.read_text()
        for split in (data / domain / "tasks").glob("*.json"):
            records = read_json(split, list)
            files[f"tasks_{split.stem}.py"] = _render_tasks(f"TASKS_{split.stem.upper()}", records)
        for info in read_json(data / domain / "tools.json", list):
            name = info["function"]["name"]
            files[f"tools/{name}.py"] = (
                f"class Tool:\n    def get_info():\n        return {info!r}\n"
            )
        write_files(root / "tau_bench" / "envs" / domain, files)
    return root


@pytest.mark.slow
@pytest.mark.official
def test_official_data_comes_through_a_checkout_unchanged(
    official_data: Path, tmp_path: Path
) -> None:
    root = _render_checkout(official_data, tmp_path / "checkout")

    result = import_checkout(root, tmp_path / "pack")

    assert result.notes == ()
    assert result.tasks["retail"] == {"test": 115, "train": 500, "dev": 20}
    for domain, splits in result.tasks.items():
        ours = load_pack(result.directory, domain)
        theirs = load_pack(official_data, domain)
        assert ours.load_tables() == theirs.load_tables()
        assert (ours.policy, ours.rules) == (theirs.policy, theirs.rules)
        # Airline's rules are an empty list, which is written, too.
        files = [data / domain / "rules.json" for data in (result.directory, official_data)]
        assert read_json(files[0], list) == read_json(files[1], list)
        assert sorted(ours.tool_infos, key=str) == sorted(theirs.tool_infos, key=str)
        for split in splits:
            path = official_data / domain / "tasks" / f"{split}.json"
            records = [record | {"annotator": "0"} for record in read_json(path, list)]
            assert ours.tasks(split) == parse_tasks(records, path)
