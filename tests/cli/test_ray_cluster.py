"""What `--executor ray` asks of a cluster, and what it refuses, on a double of Ray."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from greenroom import __version__
from greenroom.agents import find_strategy
from greenroom.cli.following import Standing
from greenroom.cli.long_cells import LongCells
from greenroom.cli.processes import Ending
from greenroom.cli.ray_actor import Order, WorkerActor
from greenroom.cli.ray_cluster import (
    LONGEST_WITHOUT_HEAD,
    LONGEST_WITHOUT_ROOM,
    ActorWorker,
    RayCluster,
)
from greenroom.cli.ray_connection import knocked
from greenroom.cli.worker_options import WorkerOptions
from greenroom.errors import InputError
from tests.cli.running import Greenroom

IDLE = Standing(0, None, None, (), paused=False, long=LongCells())
RUN = ("run", "--agent-strategy", "synthetic", "--end-index", 1, "--executor", "ray")


class FakeRay:
    """A cluster whose nodes are as they are told to be."""

    def __init__(self, *nodes: dict[str, float], machine: str | None = None) -> None:
        self._machine = machine or socket.gethostname()
        self.given = list(nodes)
        self.folder = Path()
        self.starting: Callable[[], object] = lambda: None
        self.ending: Callable[[], object] = lambda: None

    def init(self, *, _temp_dir: str, **_: Any) -> None:
        self.folder = Path(_temp_dir)
        assert self.folder.is_dir()
        self.starting()

    def get_runtime_context(self) -> SimpleNamespace:
        return SimpleNamespace(gcs_address="head:6379")

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {
                "NodeID": str(number),
                "Alive": bool(resources),
                "NodeManagerHostname": self._machine,
                "Resources": resources,
            }
            for number, resources in enumerate(self.given)
        ]

    def shutdown(self) -> None:
        self.ending()

    def remote(self, _: type) -> FakeRay:
        return self

    def options(self, **_: Any) -> FakeRay:
        return self


@pytest.fixture(autouse=True)
def head(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Why the head node does not answer, and what Ray reads, which is as before after a test."""
    for name in list(os.environ):
        if name.startswith("RAY_"):
            monkeypatch.delenv(name)
    for name in (
        *("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED", "RAY_BACKEND_LOG_LEVEL"),
        *("RAY_gcs_rpc_server_reconnect_timeout_s", "RAY_NUM_REDIS_GET_RETRIES"),
    ):
        monkeypatch.setenv(name, "")
        os.environ.pop(name)
    said = SimpleNamespace(reason="")

    def knocked(_: str) -> str:
        return said.reason

    monkeypatch.setattr("greenroom.cli.ray_cluster.knocked", knocked)
    return said


def order(machine: str | None = None, version: str = "0") -> Order:
    return Order(1, (), ".", version, machine, {"PGPASSWORD": "planted-7f3e"})


def cluster_of(ray: FakeRay, most: int = 100, machine: str | None = None, **options: Any) -> Any:
    return RayCluster(ray, WorkerOptions(executor="ray", **options), order(machine), lambda: most)


def test_there_are_as_many_workers_as_there_is_room_for() -> None:
    ray = FakeRay({"CPU": 4.0, "memory": 8e9}, {"CPU": 3.5, "GPU": 1.0, "memory": 1e9}, {})
    assert cluster_of(ray).wanted(IDLE) == 7
    assert cluster_of(ray, worker_cpus=2).wanted(IDLE) == 3
    assert cluster_of(ray, worker_memory=2).wanted(IDLE) == 4
    assert cluster_of(ray, worker_gpus=0.25, worker_cpus=0.1).wanted(IDLE) == 4
    assert cluster_of(ray, most=5).wanted(IDLE) == 5, "more would have nothing to do"
    growing = cluster_of(ray)
    ray.given.append({"CPU": 2.0})
    assert growing.wanted(IDLE) == 9
    ray.given[0] = {}
    assert growing.wanted(IDLE) == 5


def test_so_many_are_asked_for_wherever_they_will_be() -> None:
    assert cluster_of(FakeRay({"CPU": 2.0}), processes=40).wanted(IDLE) == 40


def test_what_fits_nowhere_is_refused_or_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = FakeRay({"CPU": 2.0, "memory": 4e9}, {})
    with pytest.raises(InputError, match=r"Each needs 1 CPUs, 8\.0 GB; the cluster has: .* 2 CPUs"):
        cluster_of(small, worker_memory=8).wanted(IDLE)
    waiting = cluster_of(small, worker_memory=8, ray_address="auto")
    assert waiting.wanted(IDLE) == 1, "one asks for a place, so that a cluster may grow"
    assert waiting.wanted(IDLE) == 1
    assert capsys.readouterr().err.count("Waiting up to 10 minutes") == 1
    monkeypatch.setattr("time.monotonic", lambda: 1e9 + LONGEST_WITHOUT_ROOM)
    with pytest.raises(InputError, match="No node has room"):
        waiting.wanted(IDLE)


def test_a_head_node_that_is_gone_is_waited_for_and_told(
    head: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 1e6
    monkeypatch.setattr("time.monotonic", lambda: now)
    cluster = cluster_of(FakeRay({"CPU": 2.0}), ray_address="auto")
    for _ in range(2):
        head.reason = "Connection refused"
        assert [cluster.wanted(IDLE) for _ in range(3)] == [0, 0, 0]
        assert capsys.readouterr().err.count("does not answer at head:6379: Connection") == 1
        now += LONGEST_WITHOUT_HEAD - 1
        assert cluster.wanted(IDLE) == 0
        head.reason = ""
        assert cluster.wanted(IDLE) == 2, "it is back"
    head.reason = "Connection refused"
    assert cluster.wanted(IDLE) == 0
    now += LONGEST_WITHOUT_HEAD + 1
    with pytest.raises(InputError, match="The head node of the Ray cluster does not answer"):
        cluster.wanted(IDLE)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("moment", ["starting", "ending"])
def test_a_signal_waits_until_ray_has_started_or_ended(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, moment: str
) -> None:
    ray = FakeRay({"CPU": 0.0})
    done: list[str] = []

    def end(*_: object) -> None:
        sys.exit(15)

    def disturbed() -> None:
        signal.signal(number, end)  # as Ray does
        os.kill(os.getpid(), number)
        done.append(moment)

    setattr(ray, moment, disturbed)
    before = signal.getsignal(number)
    monkeypatch.setitem(sys.modules, "ray", ray)
    asked = greenroom(*RUN, "--name", "early")
    assert asked.status == 128 + number, asked.err
    assert done == [moment], "it was not broken off"
    assert "Go on with: greenroom resume early" in asked.err
    assert not ray.folder.exists()
    assert signal.getsignal(number) == before


@pytest.mark.parametrize(
    ("address", "raised", "told"),
    [
        (None, "The current node timed out", "Ray cannot be started: The current node timed out."),
        ("auto", "Could not find any running Ray instance.", "No Ray cluster runs on this machine"),
        ("auto", "authentication token is missing", "asks for its token: set RAY_AUTH_TOKEN"),
        ("auto", "Python 3.12 is there", "cannot be joined: Python 3.12 is there. Is RAY_AUTH"),
    ],
)
def test_why_ray_cannot_be_had(
    greenroom: Greenroom,
    monkeypatch: pytest.MonkeyPatch,
    address: str | None,
    raised: str,
    told: str,
) -> None:
    def fail(**_: Any) -> None:
        raise Exception(raised)  # noqa: TRY002

    ray = FakeRay()
    monkeypatch.setattr(ray, "init", fail)
    monkeypatch.setitem(sys.modules, "ray", ray)
    asked = greenroom(*RUN, *(("--ray-address", address) if address else ()))
    assert asked.status == 2
    assert told in asked.err


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (bytes([0, 0, 6, 4, 0, 0, 0, 0, 0]), ""),
        (b"220 mail.example\r\n", "what answers is no head node"),
        (b"", "what answers is no head node"),
    ],
)
def test_who_answers_at_an_address(said: bytes, told: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            line, _ = server.accept()
            with line:
                line.recv(100)
                line.sendall(said)

        answering = threading.Thread(target=answer)
        answering.start()
        assert knocked(f"127.0.0.1:{server.getsockname()[1]}") == told
        answering.join()


def test_an_empty_address_is_none(greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = FakeRay({"CPU": 0.0})
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setenv("RAY_ADDRESS", "")
    asked = greenroom(*RUN)
    assert "No node has room for a worker" in asked.err
    assert "Waiting" not in asked.err
    assert ray.folder.name.startswith("greenroom-ray-")
    assert not ray.folder.exists()


def test_workers_reserve_the_memory_that_agents_declare(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code = tmp_path / "large.py"
    code.write_text("class Large:\n    worker_memory = 1.5\n    async def play(self, stage): ...\n")
    monkeypatch.setitem(sys.modules, "ray", FakeRay({"CPU": 4.0, "memory": 1e9}))
    words = ("run", "--agent-strategy", f"{code}:Large", "--executor", "ray", "--end-index", 9)
    asked = greenroom(*words)
    assert asked.status == 2, asked.err
    assert "Ray: 1 node with room for 0 workers. Each reserves 1 CPUs, 1.5 GB." in asked.err
    assert "No node has room for a worker. Each needs 1 CPUs, 1.5 GB" in asked.err
    own = greenroom(*words, "--worker-memory", 3)
    assert "Each reserves 1 CPUs, 3.0 GB." in own.err
    assert (find_strategy("fastworkflow").worker_memory or 0) > 1


def test_a_file_of_this_machine_is_no_store_for_others() -> None:
    here = socket.gethostname()
    cluster_of(FakeRay({"CPU": 1.0}), machine=here).greet()
    with pytest.raises(InputError, match=r"has others, such as far: use PostgreSQL"):
        cluster_of(FakeRay({"CPU": 1.0}, machine="far"), machine=here).greet()
    cluster_of(FakeRay({"CPU": 1.0}, machine="far")).greet()


def test_an_actor_refuses_what_its_node_cannot_do() -> None:
    other = WorkerActor().work(order(version="0.0.1"))
    assert other.status == 2
    assert f"has Greenroom {__version__}, and this is 0.0.1: install the same" in other.said[0]
    far = WorkerActor().work(order(machine="far", version=__version__))
    assert far.status == 2
    assert "use PostgreSQL" in far.said[0]


class LostError(Exception):
    """What a call gives whose actor is gone."""


def lost(said: str) -> Ending | None:
    """How a worker ended whose actor never began, for a reason of Ray's."""

    def get(_: object, **__: object) -> None:
        raise LostError(said)

    def wait(calls: list[object], **_: object) -> tuple[list[object], list[object]]:
        return calls, []

    def nothing(*_: object) -> None:
        pass

    call = SimpleNamespace(remote=nothing)
    kinds = SimpleNamespace(RayError=LostError, ActorUnavailableError=TimeoutError)
    cluster = cluster_of(FakeRay())
    cluster.ray = SimpleNamespace(wait=wait, get=get, kill=nothing, exceptions=kinds)
    return ActorWorker(cluster, SimpleNamespace(place=call, work=call), order()).ending()


def test_why_a_worker_was_lost_before_it_began() -> None:
    ending = lost("The actor died.\n\nModuleNotFoundError: No module named 'greenroom.cli'")
    assert ending is not None
    assert ending.status == 2, "no other one would begin, either"
    assert f"install {__version__} there" in ending.said[0]
    killed = lost("Worker unexpectedly exits with a connection error code 2. End of file.")
    assert killed is not None
    assert killed.how == "before it began: its actor was killed"
    assert lost("Long story.\nThe node is out of memory.") == Ending(
        None, (), "before it began: The node is out of memory"
    )


def test_what_is_handed_over_is_not_shown() -> None:
    assert "7f3e" not in repr(order())


def test_ray_has_to_be_installed(greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    asked = greenroom(*RUN)
    assert asked.status == 2
    assert "pip install 'greenroom[ray]'" in asked.err
    assert "No runs yet" in greenroom("runs", "list").out, "nothing was begun"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--ray-address", "ray://127.0.0.1:10001"), "HOST:PORT of its head node"),
        (("--ray-address", "http://me:planted7f3e@x"), "must not hold a name, a password"),
        (("--ray-address", "local"), "at local: give HOST:PORT of its head node, or auto"),
        (("--worker-gpus", "1.5"), "a part of one GPU or a whole number of them"),
        (("--ray-address", "127.0.0.1:1"), "No Ray cluster answers at 127.0.0.1:1"),
        (("--processes", "0"), "--executor ray starts the workers"),
        (("--worker-cpus", "0"), "--worker-cpus should be greater than 0"),
        (("--worker-env", "A=b"), "names of variables, without values"),
        (("--worker-env", "NOBODY_SET_THIS"), "NOBODY_SET_THIS, which is not set"),
        (("--executor", "local", "--worker-gpus", "1"), "--worker-gpus goes with --executor ray"),
    ],
)
def test_options_that_cannot_be_meant(
    greenroom: Greenroom,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.setitem(sys.modules, "ray", FakeRay({"CPU": 1.0}))
    asked = greenroom(*RUN, *words)
    assert asked.status == 2, asked.err
    assert told in asked.err
    assert "7f3e" not in asked.err
