"""A stranger's pack reads nothing but its own files, and what is wrong with it is told."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from greenroom.domains import load_domain
from greenroom.domains.pack_writer import write_pack
from greenroom.domains.packs import load_pack
from greenroom.domains.plugins import find_pack, find_plugin
from greenroom.domains.sources import import_checkout
from greenroom.domains.validation import validate_tasks
from greenroom.errors import DataError
from greenroom.util import files
from tests.cli.running import Greenroom
from tests.domains.sources.test_checkout import TASKS_TEST

SECRET = "planted-3c1f90aa7d"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    directory = tmp_path / "pack"
    write_pack(directory, [find_pack(find_plugin("retail"))])
    return directory


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "outside.json"
    file.write_text(json.dumps({"record": {"password": SECRET}}))
    return file


PLACES = ("retail/policy.md", "retail/tools.json", "retail/db/users.json", "pack.json", "LICENSE")


@pytest.mark.parametrize("place", [*PLACES, "retail/tasks/test.json", "retail/rules.json"])
def test_a_link_out_of_the_pack_is_refused(place: str, pack: Path, secret: Path) -> None:
    (pack / place).unlink(missing_ok=True)
    (pack / place).symlink_to(secret)
    with pytest.raises(DataError, match="leads out of"):
        load_pack(pack, "retail")


def test_a_folder_that_is_a_link_out_of_the_pack_is_refused(pack: Path, tmp_path: Path) -> None:
    shutil.move(pack / "retail" / "db", tmp_path / "db")
    (pack / "retail" / "db").symlink_to(tmp_path / "db")
    with pytest.raises(DataError, match="leads out of"):
        load_pack(pack, "retail")


def test_links_within_the_pack_and_a_link_to_the_pack_are_read(pack: Path, tmp_path: Path) -> None:
    (pack / "retail" / "policy.md").rename(pack / "policy.md")
    (pack / "retail" / "policy.md").symlink_to("../policy.md")
    (tmp_path / "link").symlink_to(pack)
    assert load_pack(tmp_path / "link", "retail").policy


def test_a_link_to_itself_is_told(pack: Path) -> None:
    (pack / "LICENSE").symlink_to("LICENSE")
    with pytest.raises(DataError, match=r"cannot be read|leads out"):
        load_pack(pack, "retail")


@pytest.mark.parametrize("place", ["retail/policy.md", "pack.json", "retail/db/users.json"])
def test_a_fifo_is_refused_and_not_waited_for(place: str, pack: Path) -> None:
    (pack / place).unlink()
    os.mkfifo(pack / place)
    with pytest.raises(DataError, match="not a regular file"):
        _ = load_pack(pack, "retail").base


def test_a_large_pack_is_refused(pack: Path) -> None:
    with (pack / "retail" / "db" / "large.json").open("wb") as file:
        file.truncate(files.PACK_LIMIT + 1)
    with pytest.raises(DataError, match="more than 256 MB"):
        load_pack(pack, "retail")


def test_the_environment_is_not_read_through_a_pack(pack: Path, greenroom: Greenroom) -> None:
    (pack / "retail" / "policy.md").unlink()
    (pack / "retail" / "policy.md").symlink_to("/proc/self/environ")
    done = greenroom("run", "--data", pack, "--end-index", 1)
    assert done.status == 2
    assert "leads out of" in done.err


def test_import_refuses_links_out_of_the_checkout(tmp_path: Path, secret: Path) -> None:
    checkout = tmp_path / "checkout"
    shop = checkout / "tau_bench" / "envs" / "shop"
    (shop / "data").mkdir(parents=True)
    (shop / "data" / "users.json").write_text("{}")
    (shop / "tasks_test.py").write_text(TASKS_TEST)
    (shop / "wiki.md").symlink_to(secret)
    with pytest.raises(DataError, match="leads out of"):
        import_checkout(checkout, tmp_path / "imported")
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("name", ["pack.json", "LICENSE"])
def test_a_pack_of_tau2_tells_nothing_of_files_elsewhere(
    name: str, tmp_path: Path, secret: Path
) -> None:
    mock = tmp_path / "tau2" / "mock"
    mock.mkdir(parents=True)
    for file, content in {"db.json": "{}", "tasks.json": "[]", "policy.md": ""}.items():
        (mock / file).write_text(content)
    (mock.parent / name).symlink_to(secret)
    with pytest.raises(DataError, match="leads out of"):
        load_domain("mock", mock.parent)


def test_an_empty_licence_is_unknown(pack: Path) -> None:
    (pack / "pack.json").unlink()
    (pack / "LICENSE").write_text("\n")
    assert load_domain("retail", pack).pack.info.licence == "unknown"


def test_a_password_in_the_source_is_not_shown(pack: Path) -> None:
    info = json.loads((pack / "pack.json").read_text())
    info["source"] = f"https://me:{SECRET}@git.test/pack"
    (pack / "pack.json").write_text(json.dumps(info))
    assert SECRET not in load_pack(pack, "retail").info.source


def _tool(parameters: Any, name: str = "cancel_pending_order") -> list[Any]:
    return [{"type": "function", "function": {"name": name, "parameters": parameters}}]


MALFORMED: list[Any] = [
    [1],
    [{}],
    [{"function": {"name": 1, "parameters": {}}}],
    _tool([]),
    _tool({"type": 5}),
    _tool({"properties": {"order_id": {"$ref": "#/nowhere"}}}),
    _tool({"$ref": "#"}),
    _tool({"properties": {"order_id": {"pattern": "("}}}),
    _tool({"properties": {"order_id": {"$ref": "file:///etc/passwd"}}}),
]


@pytest.mark.parametrize("content", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_tools_are_told_as_bad_input(
    content: Any, pack: Path, greenroom: Greenroom
) -> None:
    (pack / "retail" / "tools.json").write_text(json.dumps(content))
    done = greenroom("tasks", "validate", "--data", pack)
    assert "bug" not in done.err
    assert done.status == 2, done.err
    assert "error: " in done.err


def test_a_reference_to_the_network_is_never_fetched(
    pack: Path, greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def connect(*given: Any) -> None:
        asked.append(given)

    monkeypatch.setattr("socket.socket.connect", connect)
    schema = {"properties": {"order_id": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    (pack / "retail" / "tools.json").write_text(json.dumps(_tool(schema)))
    done = greenroom("tasks", "validate", "--data", pack)
    assert done.status == 2
    assert "leads out of the file" in done.err
    # Behind the check of the file, the validator itself has nowhere to fetch from.
    domain = load_domain("retail")
    monkeypatch.setattr(type(domain), "tool_infos", property(lambda _: _tool(schema)))
    with pytest.raises(DataError, match="cannot be used"):
        validate_tasks(domain)
    assert asked == []
