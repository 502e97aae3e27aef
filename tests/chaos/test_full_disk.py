"""No room on the disk, in the middle of a job and where its files are written."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.chaos.jobs import Process, Scene
from tests.chaos.test_store_outages import unstored, wait_until_all_wait

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


class SmallDisk:
    """A file system of a few megabytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        """Leave no room at all."""
        with suppress(OSError), self._filler.open("ab", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)

    def make_room(self) -> None:
        self._filler.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Generator[SmallDisk]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small file system can be mounted by root alone")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def no_larger_files(process: Process) -> Generator[Callable[[], None]]:
    """Let a process write no file beyond where it is now, as a quota does."""
    pid, unlimited = process.popen.pid, resource.RLIM_INFINITY
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, unlimited))

    def back() -> None:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))

    yield back


def test_room_is_made_in_time(
    scene: Scene, disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_DATABASE_URL", f"sqlite:///{disk.folder}/runs.db")
    process = scene.run()
    scene.wait_for_results(3, process)
    disk.fill()
    process.wait_for("the disk is full. Make room. Waiting for it")
    wait_until_all_wait(scene)
    disk.make_room()
    assert process.end() == 0, process.stderr
    assert "The database is back" in process.stderr
    scene.assert_nothing_is_lost_or_twice_or_unpaid()


def test_the_disk_stays_full(
    scene: Scene, disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_DATABASE_URL", f"sqlite:///{disk.folder}/runs.db")
    scene.env["GREENROOM_DATABASE_WAIT"] = "1"
    process = scene.run()
    scene.wait_for_results(3, process)
    disk.fill()
    assert process.end() == 2, process.stderr
    assert "the disk is full" in process.stderr
    assert "go on with: greenroom resume disturbed" in process.stderr
    disk.make_room()
    before, since = scene.assert_it_goes_on()
    scene.assert_nothing_is_lost_or_twice_or_unpaid(
        before, since=since, cancelled=scene.at_once, untold=unstored(process)
    )


def test_a_quota_in_the_middle_of_a_run(scene: Scene) -> None:
    """It needs no right to mount: writes fail, and SQLite names another error."""
    process = scene.run()
    scene.wait_for_results(3, process)
    # Output goes to files too, which are not what is tested here.
    with no_larger_files(process) as back:
        wait_until_all_wait(scene)
        assert process.alive
        assert len(scene.finished()) < scene.planned
        back()
    assert process.end() == 0, process.stderr
    scene.assert_nothing_is_lost_or_twice_or_unpaid()


def test_no_room_for_the_cache_of_answers(scene: Scene, disk: SmallDisk) -> None:
    scene.env["GREENROOM_CACHE"] = str(disk.folder)
    process = scene.run("--cache")
    scene.wait_for_results(3, process)
    disk.fill()
    assert process.end() == 2, process.stderr
    assert "cannot be used as a cache of answers: database or disk is full" in process.stderr
    assert "Go on with: greenroom resume disturbed" in process.stderr
    disk.make_room()
    before, since = scene.finished(), len(scene.provider.seen)
    cached = scene.resume()
    assert cached.end() == 0, cached.stderr
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since, cancelled=scene.at_once)


def test_no_room_for_a_report(scene: Scene, disk: SmallDisk) -> None:
    report = disk.folder / "report.html"
    report.write_text("the last one")
    disk.fill()
    process = scene.run("-o", report)
    assert process.end() == 2
    assert "report.html cannot be written: No space left on device" in process.stderr
    assert "Stored as 'disturbed'" in process.stdout
    assert report.read_text() == "the last one"
    assert sorted(one.name for one in disk.folder.iterdir()) == ["filler", "report.html"]
    disk.make_room()
    assert scene.start("runs", "report", "disturbed", "-o", report).end() == 0
    assert report.read_text().endswith("</html>\n")
    scene.assert_nothing_is_lost_or_twice_or_unpaid()


def test_nothing_that_is_printed_is_silently_lost(scene: Scene) -> None:
    with Path("/dev/full").open("w") as full:
        process = scene.run(stdout=full)
        assert process.end() == 2
        assert "No space left on device" in process.stderr
        device = scene.start("runs", "export", "disturbed", "--format", "json", "-o", "/dev/full")
        assert device.end() == 2
        assert "/dev/full cannot be written: No space left on device" in device.stderr
    scene.assert_nothing_is_lost_or_twice_or_unpaid()
