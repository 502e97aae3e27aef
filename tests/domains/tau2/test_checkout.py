"""Importing checkouts of tau2-bench: files as they are, tools read from source that never runs."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from greenroom.domains.domain import load_domain
from greenroom.domains.packs import PackInfo, pack_info
from greenroom.domains.plugins import find_pack, find_plugin
from greenroom.domains.tau2.checkout import checkout_name, import_tau2, is_tau2_checkout
from greenroom.errors import DataError, InputError
from tests.conftest import TAU2_DATA
from tests.domains.tau2.checkouts import DATA_MODEL, TOOLS, build_checkout, task

MOCK = "data/tau2/domains/mock"


def imported(tmp_path: Path, **changes: Any) -> Path:
    """The pack of a made-up checkout."""
    return import_tau2(
        build_checkout(tmp_path / "checkout", **changes), tmp_path / "pack"
    ).directory


def content(path: Path) -> Any:
    return json.loads(path.read_text())


def test_files_are_copied_as_they_are(tmp_path: Path) -> None:
    checkout = build_checkout(tmp_path / "checkout")
    result = import_tau2(checkout, tmp_path / "pack")
    assert result.tasks == {"mock": {"base": 2, "test": 1}}
    assert result.notes == ()
    copied = {
        path.relative_to(tmp_path / "pack").as_posix()
        for path in (tmp_path / "pack").rglob("*")
        if path.is_file()
    }
    assert copied == {
        "pack.json",
        "user_simulator/simulation_guidelines.md",
        *(
            f"mock/{name}"
            for name in (
                *("db.json", "user_db.json", "policy.md", "tasks.json", "split_tasks.json"),
                *("tools.json", "user_tools.json", "tool_facts.json", "discoverable_tools.json"),
            )
        ),
    }
    for name in ("db.json", "tasks.json", "split_tasks.json", "policy.md"):
        original = checkout / "data/tau2/domains/mock" / name
        assert (tmp_path / "pack" / "mock" / name).read_bytes() == original.read_bytes()
    assert [task.id for task in load_domain("mock", tmp_path / "pack").tasks("test")] == ["b"]


def test_the_pack_knows_version_commit_and_source(tmp_path: Path) -> None:
    info = pack_info(imported(tmp_path), [])
    assert info == PackInfo(
        name="tau2-bench",
        version="1.0.1 (012345678901)",
        source="checkout of sierra/tau2-bench",
        licence="MIT License",
        edition="tau2",
        commit="0123456789" * 4,
    )


def test_the_corrected_set_is_known_by_its_repository_or_its_list_of_corrections(
    tmp_path: Path,
) -> None:
    config = '[remote "origin"]\n url = git@host.test:amazon-agi/tau2-bench-verified.git\n'
    one = build_checkout(tmp_path / "one", **{".git/config": config})
    two = build_checkout(tmp_path / "two", **{".git/config": None, "FIXES.md": "One."})
    assert checkout_name(one) == checkout_name(two) == "tau2-bench-verified"


def test_schemas_are_what_pydantic_makes_of_the_source(tmp_path: Path) -> None:
    infos = content(imported(tmp_path) / "mock" / "tools.json")
    light, unlock, look, think = (info["function"] for info in infos)
    assert light["description"] == (
        "Light a lamp. If it is lit already,\n\nnothing happens.\n\nAsk first:\n -  always"
    )
    parameters = light["parameters"]
    assert (parameters["title"], parameters["type"]) == ("parameters", "object")
    assert parameters["required"] == ["lamp", "places", "colour"]
    assert parameters["properties"] == {
        "lamp": {
            "description": "Which lamp, such as 'hall'.",
            "title": "Lamp",
            "type": "string",
        },
        "places": {
            "description": "Where it hangs.\nEach place counts: all of them.",
            "items": {
                "anyOf": [
                    {"$ref": "#/$defs/Place"},
                    {"additionalProperties": True, "type": "object"},
                ]
            },
            "title": "Places",
            "type": "array",
        },
        "colour": {"anyOf": [{"$ref": "#/$defs/Colour"}, {"type": "string"}], "title": "Colour"},
        "speed": {
            "default": "fast",
            "description": "How fast: slow or fast.",
            "enum": ["slow", "fast"],
            "title": "Speed",
            "type": "string",
        },
        "when": {
            "anyOf": [{"type": "string"}, {"type": "null"}],
            "default": None,
            "title": "When",
        },
        "options": {
            "additionalProperties": True,
            "default": {},
            "title": "Options",
            "type": "object",
        },
    }
    assert parameters["$defs"]["Colour"] == {
        "enum": ["red", "green"],
        "title": "Colour",
        "type": "string",
    }
    place = parameters["$defs"]["Place"]
    assert (place["description"], place["additionalProperties"]) == ("Where a lamp hangs.", False)
    assert place["required"] == ["room"]
    assert place["properties"]["colour"] == {
        "$ref": "#/$defs/Colour",
        "default": "red",
        "description": "Of the wall.",
    }
    assert place["properties"]["note"]["description"] == "A remark."
    assert "default" not in place["properties"]["tags"]
    assert unlock["parameters"]["properties"]["names"]["items"] == {"type": "string"}
    assert look == {
        "name": "look",
        "description": "look",
        "parameters": {"properties": {}, "title": "parameters", "type": "object"},
    }
    assert think["name"] == "think"


def test_facts_and_unlock_texts(tmp_path: Path) -> None:
    pack = imported(tmp_path) / "mock"
    facts = content(pack / "tool_facts.json")
    kinds = {one["name"]: (one["type"], one["mutates_state"]) for one in facts["assistant"]}
    assert kinds == {
        "light": ("write", True),
        "unlock": ("generic", True),
        "look": ("read", False),
        "dim_1234": ("write", True),
        "count_1235": ("read", False),
        "think": ("think", False),
    }
    assert [one["name"] for one in facts["assistant"] if one["discoverable"]] == [
        "dim_1234",
        "count_1235",
    ]
    assert facts["assistant"][1] == {
        "name": "unlock",
        "type": "generic",
        "mutates_state": True,
        "qualname": "LampTools.unlock",
        "signature": "(names: list[str], count: int=3) -> str".replace("=3", " = 3"),
        "discoverable": False,
    }
    assert [one["name"] for one in facts["user"]] == ["feel"]
    assert content(pack / "discoverable_tools.json") == {
        "agent": {
            "count_1235": {
                "name": "count_1235",
                "description": "Count the lamps.",
                "parameters": {},
                "success_message": "Action completed successfully.",
            },
            "dim_1234": {
                "name": "dim_1234",
                "description": "Dim a lamp.\n\nSlowly.",
                "parameters": {
                    "lamp": {"type": "string", "description": "Which lamp", "required": True},
                    "level": {
                        "type": "number",
                        "description": "How bright: 0 to 1",
                        "required": False,
                    },
                },
                "success_message": "The lamp is dimmed.",
            },
        },
        "user": {},
    }


def test_ways_of_searching_bring_tools_of_their_own(tmp_path: Path) -> None:
    mixins = '''
from tau2.environment.toolkit import ToolType, is_tool

class KBSearchMixin:
    @is_tool(ToolType.READ)
    def KB_search(self, query: str) -> str:
        """Search."""

class GrepMixin:
    @is_tool(ToolType.READ)
    def grep(self, pattern: str) -> str:
        """Search by pattern."""
'''
    pack = imported(tmp_path, **{"src/tau2/domains/mock/retrieval_mixins.py": mixins}) / "mock"
    names = {
        path.stem.removeprefix("tools_retrieval_"): [
            info["function"]["name"] for info in content(path)
        ]
        for path in pack.glob("tools_retrieval_*.json")
    }
    assert names == {
        "bm25": ["KB_search"],
        "grep_only": ["grep"],
        "bm25_grep": ["KB_search", "grep"],
    }


@pytest.mark.parametrize(
    ("changes", "splits"),
    [
        ({f"{MOCK}/split_tasks.json": None}, {"base": 2}),
        (
            {
                f"{MOCK}/split_tasks.json": None,
                f"{MOCK}/tasks_full.json": [task("a"), task("b"), task("c")],
                f"{MOCK}/tasks_small.json": [task("c")],
            },
            {"base": 2, "full": 3, "small": 1},
        ),
        (
            {
                f"{MOCK}/split_tasks.json": None,
                f"{MOCK}/tasks.json": [task("stale")],
                f"{MOCK}/tasks/task_001.json": task("task_001"),
                f"{MOCK}/tasks/task_002.json": task("task_002"),
            },
            {"base": 2},
        ),
        (
            {
                f"{MOCK}/db.json": None,
                f"{MOCK}/db.toml": "[tasks]\n[users]\n",
                f"{MOCK}/user_db.json": None,
                f"{MOCK}/user_db.toml": "[notifications]\n",
            },
            {"base": 2, "test": 1},
        ),
        ({"src/tau2/domains/mock/tools.py": None, ".git/HEAD": None}, {"base": 2, "test": 1}),
    ],
    ids=["no splits", "a file per split", "a file per task", "toml", "no tools, no commit"],
)
def test_each_layout_is_read(
    tmp_path: Path, changes: dict[str, Any], splits: dict[str, int]
) -> None:
    result = import_tau2(build_checkout(tmp_path / "checkout", **changes), tmp_path / "pack")
    assert result.tasks == {"mock": splits}
    assert load_domain("mock", tmp_path / "pack").pack.task_counts == splits


def test_data_without_its_source_is_a_pack_without_descriptions(tmp_path: Path) -> None:
    build_checkout(tmp_path / "checkout")
    data = tmp_path / "checkout/data/tau2/domains"
    result = import_tau2(data, tmp_path / "pack")
    assert "no source beside the data" in result.notes[0]
    assert not (tmp_path / "pack/mock/tools.json").exists()
    assert pack_info(tmp_path / "pack", []).version == "unknown"


def test_other_domains_are_left_out_and_named(tmp_path: Path) -> None:
    hotel: dict[str, Any] = {
        "data/tau2/domains/hotel/db.json": {},
        "data/tau2/domains/hotel/tasks.json": [],
    }
    result = import_tau2(build_checkout(tmp_path / "checkout", **hotel), tmp_path / "pack")
    assert result.notes == ("left out, because they are not played here: hotel.",)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (TOOLS.replace("Union[Colour, str]", "Sound"), "this type is not known: Sound"),
        (TOOLS.replace("Union[Colour, str]", "make()"), "not a type that can be read: make()"),
        (TOOLS.replace('Speed = "fast"', "Speed = chosen()"), "is not a plain value: chosen()"),
        (TOOLS + "\n    def broken(:", "is not valid Python"),
        (TOOLS.replace("List[Place | dict]", "List[LampTools]"), "neither a pydantic model"),
        (
            TOOLS.replace("import Colour", "import Circle, Colour").replace("Speed =", "Circle ="),
            "nested too deeply: Circle",
        ),
    ],
)
def test_a_tool_that_cannot_be_read_is_named_and_no_schema_is_kept(
    tmp_path: Path, source: str, words: str
) -> None:
    circle = "from tau2.domains.mock.tools import Circle\n"
    changes = {
        "src/tau2/domains/mock/tools.py": source,
        "src/tau2/domains/mock/data_model.py": circle + DATA_MODEL,
    }
    result = import_tau2(build_checkout(tmp_path / "checkout", **changes), tmp_path / "pack")
    (note,) = result.notes
    assert note.startswith("mock: the pack has no tool descriptions. ")
    assert words in note
    assert not (tmp_path / "pack/mock/tools.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "bases",
    [
        "class Circle(LampTools): ...\n",
        "from tau2.domains.mock.data_model import Circle\n",
        "class Line0: ...\n"
        + "".join(f"class Line{n + 1}(Line{n}): ...\n" for n in range(2000))
        + "class Circle(Line2000): ...\n",
    ],
)
def test_classes_may_inherit_from_each_other_or_in_a_long_line(tmp_path: Path, bases: str) -> None:
    changes = {
        "src/tau2/domains/mock/tools.py": bases + TOOLS.replace("(CommonTools)", "(Circle)"),
        "src/tau2/domains/mock/data_model.py": (
            "from tau2.domains.mock.tools import Circle\n" + DATA_MODEL
        ),
    }
    tools = content(imported(tmp_path, **changes) / "mock/tools.json")
    assert [tool["function"]["name"] for tool in tools] == ["light", "unlock", "look"]


def test_a_model_that_names_itself_is_refused(tmp_path: Path) -> None:
    model = """
from enum import Enum
from pydantic import BaseModel

Speed = str
class Colour(Enum):
    RED = 1
class Lamp(BaseModel):
    name: str
class Place(BaseModel):
    inside: "Place"
"""
    changes = {"src/tau2/domains/mock/data_model.py": model}
    result = import_tau2(build_checkout(tmp_path / "checkout", **changes), tmp_path / "pack")
    assert "nested too deeply" in result.notes[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({f"{MOCK}/tasks.json": "[{"}, "is not valid JSON"),
        ({f"{MOCK}/tasks.json": [{"no": "id"}]}, "id: Field required"),
        ({f"{MOCK}/split_tasks.json": {"base": ["z"]}}, "lists 'z', which is no task"),
        ({f"{MOCK}/split_tasks.json": {"base": "a"}}, "should hold a list of ids"),
        ({f"{MOCK}/db.json": None}, "has no domain of tau2-bench"),
        ({f"{MOCK}/split_tasks.json": {}}, "checkout/.*split_tasks.json lists no split"),
        ({f"{MOCK}/db.json": []}, "mock cannot be imported. .*checkout/.*db.json should hold"),
        ({f"{MOCK}/db.json": {"tasks": {"t": 5}, "users": {}}}, "does not fit MockDB: tasks.t"),
        ({f"{MOCK}/user_db.json": "{"}, "checkout/.*user_db.json is not valid JSON"),
        ({f"{MOCK}/policy.md": None}, "checkout/.*policy.md is missing"),
    ],
)
def test_broken_data_is_refused_and_nothing_is_written(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    checkout = build_checkout(tmp_path / "checkout", **changes)
    with pytest.raises(DataError, match=words):
        import_tau2(checkout, tmp_path / "pack")
    assert [path.name for path in tmp_path.iterdir()] == ["checkout"]


def test_links_that_leave_the_checkout_are_refused(tmp_path: Path) -> None:
    checkout = build_checkout(tmp_path / "checkout")
    (tmp_path / "secret.json").write_text("{}")
    (checkout / MOCK / "extra.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(DataError, match="leads out of"):
        import_tau2(checkout, tmp_path / "pack")
    (checkout / MOCK / "extra.json").unlink()
    (checkout / "src/tau2/domains/mock/user_tools.py").symlink_to(tmp_path / "secret.json")
    with pytest.raises(DataError, match="leads out of"):
        import_tau2(checkout, tmp_path / "pack")


@pytest.mark.parametrize("name", ["LICENSE", "pyproject.toml"])
def test_no_line_of_a_file_elsewhere_gets_into_a_pack(tmp_path: Path, name: str) -> None:
    checkout = build_checkout(tmp_path / "checkout", **{name: None})
    (tmp_path / "secret").write_text("a secret\n")
    (checkout / name).symlink_to(tmp_path / "secret")
    with pytest.raises(DataError, match=f"{name} leads out of"):
        import_tau2(checkout, tmp_path / "pack")


def test_a_commit_is_not_waited_for(tmp_path: Path) -> None:
    checkout = build_checkout(tmp_path / "checkout", **{".git/HEAD": None})
    os.mkfifo(checkout / ".git/HEAD")
    assert import_tau2(checkout, tmp_path / "pack").version == "1.0.1"


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        (b"5", "tasks.json.gz should hold a list, but holds int"),
        (b" " * (257 * 2**20), "tasks.json.gz unpacks to more than 256 MB"),
    ],
)
@pytest.mark.slow
def test_packed_tasks_are_unpacked_within_limits(tmp_path: Path, tasks: bytes, words: str) -> None:
    checkout = build_checkout(tmp_path / "checkout", **{f"{MOCK}/tasks.json": None})
    (checkout / MOCK / "tasks.json.gz").write_bytes(gzip.compress(tasks, 1))
    with pytest.raises(DataError, match=words):
        import_tau2(checkout, tmp_path / "pack")


def test_a_pack_is_replaced_only_if_asked(tmp_path: Path) -> None:
    directory = imported(tmp_path)
    with pytest.raises(InputError, match="--replace"):
        import_tau2(tmp_path / "checkout", directory)
    assert import_tau2(tmp_path / "checkout", directory, replace=True).directory == directory


def test_what_is_no_checkout(tmp_path: Path) -> None:
    assert not is_tau2_checkout(tmp_path)
    assert not is_tau2_checkout(tmp_path / "nowhere")
    with pytest.raises(DataError, match="is not a directory"):
        import_tau2(tmp_path / "nowhere", tmp_path / "pack")


@pytest.mark.slow
@pytest.mark.tau2_data
@pytest.mark.parametrize("name", ["airline", "retail", "telecom", "mock"])
def test_official_files_have_equal_hashes_however_they_are_packed(
    tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "checkout/data/tau2/domains" / name
    shutil.copytree(TAU2_DATA / name, folder)
    packed = folder / "tasks.json.gz"
    if packed.exists():
        (folder / "tasks.json").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    else:
        (folder / "tasks").mkdir()
        for number, record in enumerate(content(folder / "tasks.json")):
            (folder / "tasks" / f"task_{number:03}.json").write_text(json.dumps(record))
        (folder / "tasks.json").write_text("[]")
    import_tau2(tmp_path / "checkout", tmp_path / "pack")
    plugin = find_plugin(name)
    assert find_pack(plugin, tmp_path / "pack").hashes == find_pack(plugin, TAU2_DATA).hashes


@pytest.mark.tau2_data
def test_data_without_a_pack_file_has_its_hash_as_version(tmp_path: Path) -> None:
    shutil.copytree(TAU2_DATA / "mock", tmp_path / "data" / "mock")
    info = load_domain("mock", tmp_path / "data").pack.info
    assert info.version.startswith("sha256:")
    assert info.edition == "tau2"
    (tmp_path / "data/mock/README.md").write_text("Other words.")
    assert load_domain("mock", tmp_path / "data").pack.info.version == info.version
    (tmp_path / "data/mock/policy.md").write_text("Other rules.")
    assert load_domain("mock", tmp_path / "data").pack.info.version != info.version
