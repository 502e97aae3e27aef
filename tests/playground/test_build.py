"""The pages as they are built: types that fit the API, a lock file without addresses."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

UI = ROOT / "ui"


def test_the_types_of_the_client_are_those_of_the_api() -> None:
    code = "import sys; sys.path.insert(0, 'tools'); import build_ui; build_ui.install(); "
    code += "sys.exit(build_ui.types() != build_ui.TYPES.read_text(encoding='utf-8'))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT)
    assert ended.returncode == 0, "run 'python tools/build_ui.py --types'"


def test_the_lock_file_names_no_host() -> None:
    lock = json.loads((UI / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: one for name, one in lock["packages"].items() if name}
    assert len(packages) > 50
    assert [name for name, one in packages.items() if "resolved" in one] == []
    needed = {name: one for name, one in packages.items() if not one.get("optional")}
    assert [name for name, one in needed.items() if not one.get("integrity")] == []


def test_versions_of_packages_are_exact() -> None:
    package = json.loads((UI / "package.json").read_text(encoding="utf-8"))
    for version in (package["dependencies"] | package["devDependencies"]).values():
        assert version[0].isdigit(), version
