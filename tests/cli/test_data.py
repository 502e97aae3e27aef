"""Packs at the command line: imported, pulled and listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.domains.pack_writer import pack_in_memory, write_pack
from greenroom.domains.packs import PackInfo
from greenroom.util.caches import pack_cache
from tests.cli.running import Greenroom
from tests.domains.tau2.checkouts import build_checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return build_checkout(tmp_path / "checkout")


def test_a_checkout_goes_to_the_cache_and_is_listed(greenroom: Greenroom, checkout: Path) -> None:
    shown = greenroom("data", "import", "tau2", checkout)
    assert shown.status == 0, shown.err
    assert "It is version 1.0.1 (012345678901)." in shown.out
    assert "  mock: base 2 tasks, test 1 task" in shown.out
    assert "Use it with --data tau2" in shown.out
    (row,) = [row for row in greenroom("data", "list", "--json").json if row["data"] == "tau2"]
    assert (row["edition"], row["commit"], row["env"]) == ("tau2", "0123456789" * 4, "mock")
    assert (len(row["hash"]), sorted(row["split_hashes"])) == (64, ["base", "test"])
    listed = greenroom("data", "list").out
    assert "Edition" in listed
    assert row["hash"][:12] in listed
    assert greenroom("tasks", "list", "--env", "mock", "--data", "tau2").status == 0


def test_a_checkout_may_have_another_name_or_place(
    greenroom: Greenroom, checkout: Path, tmp_path: Path
) -> None:
    assert "--data mine" in greenroom("data", "import", checkout, "--name", "mine").out
    assert (pack_cache() / "mine/mock/tasks.json").exists()
    written = greenroom("data", "import", "tau2", checkout, "-o", tmp_path / "out", "--json").json
    assert written["tasks"] == {"mock": {"base": 2, "test": 1}}
    assert (written["version"], written["notes"]) == ("1.0.1 (012345678901)", [])
    diff = greenroom("tasks", "diff", "mine", tmp_path / "out", "--json").json
    assert (diff[0]["equal"], diff[0]["changed"], diff[0]["parts"]) == (2, [], [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tau3", "."], "greenroom data import tau2 CHECKOUT"),
        (["tau2"], "Name the checkout, too: greenroom data import tau2 CHECKOUT."),
        (["tau-bench"], "Name the checkout, too: greenroom data import tau-bench CHECKOUT."),
        (["tau2", "nowhere"], "nowhere is not a directory"),
        (["nowhere"], "A checkout of tau-bench has"),
        (["tau2", ".", "--name", "../x"], "is no name for a pack"),
        (["tau2", ".", "--name", "x", "-o", "y"], "give it or --output"),
    ],
)
def test_what_cannot_be_imported_is_said(
    greenroom: Greenroom, arguments: list[str], words: str
) -> None:
    refused = greenroom("data", "import", *arguments)
    assert (refused.status, words in " ".join(refused.err.split())) == (2, True), refused.err


def test_a_pack_of_an_older_version_is_listed_with_what_to_do(greenroom: Greenroom) -> None:
    info = PackInfo(name="tau2", version="1", source="a wheel", licence="MIT")
    pack_cache().mkdir(parents=True)
    old = pack_in_memory(info, "retail", tables={"t": {}}, tasks={"base": []}, policy="")
    write_pack(pack_cache() / "tau2", [old])
    assert "run 'greenroom data pull tau2 --replace'" in greenroom("data", "list").out
    (row,) = [row for row in greenroom("data", "list", "--json").json if row["data"] == "tau2"]
    assert "problem" in row
    refused = greenroom("run", "--data", "tau2")
    assert (refused.status, "--replace" in refused.err) == (2, True)
