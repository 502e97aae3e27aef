"""The files of the bundle, and what is said without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.playground import pages
from tests.cli.running import Greenroom
from tests.playground.conftest import Open


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small bundle, in place of the built one."""
    folder = tmp_path / "bundle"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>pages</title>")
    (folder / "assets" / "main-1.js").write_text("console.log(1)")
    (tmp_path / "secret.txt").write_text("kept to itself")
    monkeypatch.setattr(pages, "BUNDLE", folder)
    return folder


def test_every_path_is_a_page_but_files_and_the_api(bundle: Path, open_playground: Open) -> None:
    running = open_playground()
    for path in ("/", "/runs/one/episodes/3/0", "/boards?x=1"):
        answer = running.api.get(f"{running.address}{path}")
        assert "<title>pages" in answer.text
        assert answer.headers["cache-control"] == "no-cache"
    script = running.api.get(f"{running.address}/assets/main-1.js")
    assert script.text == "console.log(1)"
    assert script.headers["content-encoding"] == "gzip"
    assert "javascript" in script.headers["content-type"]
    assert "immutable" in script.headers["cache-control"]
    assert running.api.get(f"{running.address}/assets/other.js").status_code == 404
    assert running.api.get("nothing").json()["detail"] == "There is no /api/v1/nothing in this API."
    assert running.api.put(f"{running.address}/").status_code == 405


def test_a_new_build_takes_the_place_of_the_old_one(bundle: Path, open_playground: Open) -> None:
    running = open_playground()
    assert running.api.get(f"{running.address}/assets/main-1.js").status_code == 200
    assert running.api.get(f"{running.address}/").is_success
    (bundle / "assets" / "main-1.js").rename(bundle / "assets" / "main-2.js")
    (bundle / "index.html").write_text("<!doctype html><title>other pages</title>")
    assert running.api.get(f"{running.address}/assets/main-1.js").status_code == 404
    assert running.api.get(f"{running.address}/assets/main-2.js").status_code == 200
    assert "other pages" in running.api.get(f"{running.address}/boards").text
    # While it is built there is none.
    (bundle / "index.html").unlink()
    assert running.api.get(f"{running.address}/").status_code == 404


@pytest.mark.parametrize("path", ["/assets/../../secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt"])
def test_no_file_outside_of_the_bundle_is_given(
    path: str, bundle: Path, open_playground: Open
) -> None:
    running = open_playground()
    answer = running.api.get(f"{running.address}{path}")
    assert "kept to itself" not in answer.text


def test_an_installation_without_pages_says_how_to_get_them(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pages, "BUNDLE", tmp_path)
    ended = greenroom("playground")
    assert ended.status == 2
    assert "make playground" in ended.err
    assert len(ended.err.splitlines()) == 1
