from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from greenroom.domains.domain import is_official, load_domain
from greenroom.domains.pack_writer import write_pack
from greenroom.domains.packs import load_pack
from greenroom.domains.plugins import domain_names, find_pack, find_plugin
from greenroom.errors import DataError, InputError, UnknownName
from greenroom.util.caches import pack_cache
from tests.domains.small import TASKS, small_pack


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = tmp_path / "lamps-pack"
    write_pack(path, [small_pack()])
    return path


def test_a_pack_round_trips_through_its_directory(directory: Path) -> None:
    pack = load_pack(directory, "lamps")
    assert pack.info.model_dump() == small_pack().info.model_dump()
    assert pack.tasks() == TASKS
    assert pack.base.record("lamps", "hall") == {"lit": False, "watts": 5}
    assert (pack.policy, pack.rules, pack.splits) == ("Ask first.", ("Be brief.",), ("test",))


def test_a_directory_without_a_word_about_itself(directory: Path) -> None:
    (directory / "pack.json").unlink()
    (directory / "LICENSE").write_text("Some Licence\n\nwords")
    info = load_pack(directory, "lamps").info
    assert (info.name, info.licence) == ("lamps-pack", "Some Licence")
    assert info.version.startswith("sha256:")
    (directory / "lamps/db/lamps.json").write_text("{}")
    assert load_pack(directory, "lamps").info.version != info.version


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("lamps/db/lamps.json", '{"a": {', "lamps.json is not valid JSON: .* at line 1, column 8"),
        ("lamps/db/lamps.json", "[]", "should hold an object, but holds list"),
        ("lamps/db/lamps.json", '{"a": 3}', "record 'a' should be an object, but is 3"),
        ("lamps/tasks/test.json", "{}", "should hold a list, but holds dict"),
        ("lamps/tasks/test.json", "[1]", "test.json: 0: "),
        ("lamps/rules.json", "{}", "should hold a list"),
        ("lamps/policy.md", b"\xff\xfe\xff", "is not UTF-8"),
        ("pack.json", "{}", "pack.json: name: Field required"),
        ("pack.json", "nonsense", "pack.json is not valid JSON"),
    ],
)
def test_broken_files_are_named(
    directory: Path, file: str, content: str | bytes, message: str
) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    (directory / file).write_bytes(data)

    def load() -> None:
        pack = load_pack(directory, "lamps")
        assert pack.base
        pack.tasks()

    with pytest.raises(DataError, match=message):
        load()


@pytest.mark.parametrize("missing", ["lamps/policy.md", "lamps/db", "lamps/tasks", "lamps"])
def test_missing_parts_are_named(directory: Path, missing: str) -> None:
    (directory / missing).rename(directory / "elsewhere")
    with pytest.raises(DataError, match=missing):
        load_pack(directory, "lamps")


def test_an_empty_table_directory(directory: Path) -> None:
    (directory / "lamps/db/lamps.json").unlink()
    with pytest.raises(DataError, match=r"holds no \.json file"):
        load_pack(directory, "lamps")


def test_an_unknown_split(directory: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'test'"):
        load_pack(directory, "lamps").tasks("tset")


def test_a_directory_is_written_whole_or_not_at_all(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(path.relative_to(directory) for path in directory.rglob("*"))

    def fail(self: Path, target: Path) -> Path:
        if target == directory and self.name == "pack":
            raise OSError(28, "No space left on device")
        return Path(rename(self, target))

    rename = Path.rename
    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(DataError, match="cannot be written: No space left"):
        write_pack(directory, [small_pack()], replace=True)
    assert sorted(path.relative_to(directory) for path in directory.rglob("*")) == before
    assert list(directory.parent.glob(".greenroom-*")) == []


def test_what_is_there_is_not_overwritten(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds a pack already"):
        write_pack(directory, [small_pack()])
    write_pack(directory, [small_pack(TASKS[0])], replace=True)
    assert len(load_pack(directory, "lamps").tasks()) == 1
    other = tmp_path / "other"
    other.mkdir()
    write_pack(other, [small_pack()])
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="not empty and not a pack"):
        write_pack(tmp_path / "full", [small_pack()], replace=True)
    with pytest.raises(InputError, match="is a file"):
        write_pack(tmp_path / "full/thesis.txt", [small_pack()], replace=True)


def test_domains_are_found_by_name() -> None:
    assert {"retail", "airline"} <= set(domain_names())
    assert find_plugin("retail").name == "retail"
    with pytest.raises(UnknownName, match="Did you mean 'retail'"):
        find_plugin("retial")


def test_some_domains_ship_without_data() -> None:
    with pytest.raises(DataError, match="ships without data: pass --data DIR"):
        find_pack(find_plugin("mock"))


def test_data_is_a_directory_or_a_pulled_pack(tmp_path: Path) -> None:
    retail = find_plugin("retail")
    with pytest.raises(DataError, match="no directory 'tau9' and no pulled pack"):
        find_pack(retail, "tau9")
    pack_cache().mkdir(parents=True)
    write_pack(tmp_path / "cache/packs/mine", [find_pack(retail)])
    assert find_pack(retail, "mine").info.name == "greenroom-retail"


@pytest.mark.official
def test_official_tasks_on_another_database_are_not_official(
    official_data: Path, tmp_path: Path
) -> None:
    shutil.copytree(official_data / "airline", tmp_path / "airline")
    assert is_official(load_domain("airline", tmp_path), "test")
    users = tmp_path / "airline/db/users.json"
    users.write_text(users.read_text().replace("gold", "regular", 1))
    assert not is_official(load_domain("airline", tmp_path), "test")
