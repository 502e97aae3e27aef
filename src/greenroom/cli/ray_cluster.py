"""Workers on a Ray cluster: Ray starts, places and ends them; the store stays the truth."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenroom import __version__
from greenroom.cli.output import echo
from greenroom.cli.processes import LONGEST_FAREWELL, REFUSED, Ending, worker_arguments
from greenroom.cli.ray_actor import Order, Place, WorkerActor
from greenroom.cli.ray_connection import connected_ray, knocked, last_line
from greenroom.errors import InputError
from greenroom.store.database import URL_VARIABLE

if TYPE_CHECKING:
    from greenroom.cli.following import Standing
    from greenroom.cli.worker_options import WorkerOptions
    from greenroom.store import JobRecord, Jobs

LONGEST_WITHOUT_ROOM = 600.0
"""Seconds: so long it is waited for a node that has room for a worker."""
LONGEST_WITHOUT_HEAD = 50.0
"""Seconds: so long it is waited for the head node. Ray ends the workers after a minute."""
_SAID_AFTER = 10.0
_NOBODY_YET = (
    "No worker has begun yet: they wait for a place on the cluster, or take long to start."
)
_NO_GREENROOM = (
    f"A node of the Ray cluster has another Greenroom, or none, in the Python of its 'ray start': "
    f"install {__version__} there."
)
_NODES_SHOWN = 5
_GB = 1e9
_HANDED = ("GREENROOM_", "PG")
"""The settings of Greenroom and of PostgreSQL's client go to the workers."""


@contextmanager
def joined_cluster(
    jobs: Jobs[Any, Any, Any], job: JobRecord, options: WorkerOptions
) -> Generator[RayCluster]:
    """Join a cluster, or start one of this machine, which ends with this process."""
    left = job.planned - len(jobs.finished(job.id))

    def most() -> int:
        """More workers would have nothing to do."""
        now = {**job.config, **jobs.controls.of(job.id).config}
        return min(left, int(now["max_concurrency"]))

    if options.worker_memory is None:
        options = options.model_copy(update={"worker_memory": _declared_memory(job)})
    with connected_ray(options.ray_address) as ray:
        cluster = RayCluster(ray, options, _order(jobs, job, options), most)
        cluster.greet()
        yield cluster


class RayCluster:
    """Starts workers as actors: so many, or as many as there is room for."""

    def __init__(
        self, ray: Any, options: WorkerOptions, order: Order, most: Callable[[], int]
    ) -> None:
        self.ray = ray
        self._order = order
        self._options = options
        self._most = most
        needs = {
            "CPU": options.worker_cpus or 1.0,
            "GPU": options.worker_gpus or 0.0,
            "memory": _GB * (options.worker_memory or 0.0),
        }
        self._reserved = {name: need for name, need in needs.items() if need}
        self._actors = ray.remote(WorkerActor).options(
            num_cpus=needs["CPU"],
            num_gpus=needs["GPU"],
            memory=needs["memory"] or None,
            max_concurrency=3,  # it works, says where it is, and stops
            scheduling_strategy="SPREAD",
        )
        self._waited_since: float | None = None
        self._said = ""
        self._head_missed_since: float | None = None

    def greet(self) -> None:
        """Say what the cluster has; refuse one whose workers cannot reach the store."""
        nodes = self.nodes()
        others = {one["NodeManagerHostname"] for one in nodes.values()} - {self._order.machine}
        if self._order.machine is not None and others:
            raise InputError(
                f"The store is a file of this machine, and the Ray cluster has others, such as "
                f"{min(others)}: use PostgreSQL, by {URL_VARIABLE}."
            )
        count = f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}"
        room = self._room(nodes)
        said = f"Ray: {count} with room for {room} worker{'' if room == 1 else 's'}."
        if len(self._reserved) > 1:
            said += f" Each reserves {_amounts(self._reserved)}."
        echo(said, err=True)

    def nodes(self) -> dict[str, Any]:
        """The nodes that are there, by id."""
        return {one["NodeID"]: one for one in self.ray.nodes() if one["Alive"]}

    def wanted(self, standing: Standing) -> int:
        """How many workers there should be just now."""
        if not self._head_answers():
            return 0
        room = self._room(self.nodes())
        self._tell_of_waiting(room, working=bool(standing.workers))
        # One at least: its request makes a cluster grow that can.
        return self._options.processes or max(min(room, self._most()), 1)

    def start(self, number: int) -> ActorWorker:
        """Ask for a place for a worker, which starts once there is one."""
        return ActorWorker(self, self._actors.remote(), replace(self._order, number=number))

    def is_ready(self, answer: Any) -> bool:
        """Whether a call has ended."""
        return bool(self.ray.wait([answer], timeout=0)[0])

    def _head_answers(self) -> bool:
        """Whether the head node is there; without it, Ray's answers do not come."""
        address = self.ray.get_runtime_context().gcs_address
        if not (reason := knocked(address)):
            if self._head_missed_since is not None:
                echo("The head node of the Ray cluster answers again.", err=True)
            self._head_missed_since = None
            return True
        gone = f"The head node of the Ray cluster does not answer at {address}: {reason}."
        if self._head_missed_since is None:
            self._head_missed_since = time.monotonic()
            echo(f"{gone} Waiting up to {LONGEST_WITHOUT_HEAD:.0f} seconds for it.", err=True)
        elif time.monotonic() - self._head_missed_since > LONGEST_WITHOUT_HEAD:
            raise InputError(gone)
        return False

    def _room(self, nodes: Mapping[str, Any]) -> int:
        return sum(
            min(
                int(one["Resources"].get(name, 0.0) / need + 1e-6)
                for name, need in self._reserved.items()
            )
            for one in nodes.values()
        )

    def _tell_of_waiting(self, room: int, *, working: bool) -> None:
        """Say why nobody works; give up where no node has enough for one worker."""
        if working:
            self._waited_since, self._said = None, ""
            return
        self._waited_since = self._waited_since or time.monotonic()
        waited = time.monotonic() - self._waited_since
        if room:
            if waited > _SAID_AFTER and self._said != "busy":
                self._said = "busy"
                echo(_NOBODY_YET, err=True)
            return
        problem = f"No node has room for a worker. {self._asked_and_there()}"
        if not self._options.ray_address or waited > LONGEST_WITHOUT_ROOM:
            raise InputError(problem)
        if self._said != "small":
            self._said = "small"
            minutes = f"{LONGEST_WITHOUT_ROOM / 60:.0f} minutes"
            echo(f"{problem} Waiting up to {minutes} for one that has.", err=True)

    def _asked_and_there(self) -> str:
        there = "; ".join(
            f"{one['NodeManagerHostname']} {_amounts(one['Resources'])}"
            for one in list(self.nodes().values())[:_NODES_SHOWN]
        )
        return f"Each needs {_amounts(self._reserved)}; the cluster has: {there or 'no node'}."


@dataclass
class ActorWorker:
    """A worker in an actor, from the request for a place to its end."""

    cluster: RayCluster
    actor: Any
    order: Order
    _place: Any = field(init=False)
    _work: Any = field(init=False)

    def __post_init__(self) -> None:
        self._place = self.actor.place.remote()
        # A call's argument goes to the actor alone; those of its creation Ray would keep.
        self._work = self.actor.work.remote(self.order)

    @property
    def number(self) -> int:
        """Which one it is, from 1."""
        return self.order.number

    @property
    def placed(self) -> bool:
        """Whether it has a node to work on."""
        return self.cluster.is_ready(self._place)

    def ending(self) -> Ending | None:
        """How it ended, once it has."""
        if not self.cluster.is_ready(self._work):
            return None
        ray = self.cluster.ray
        try:
            answer: Ending | Place = ray.get(self._work)
        except ray.exceptions.ActorUnavailableError:
            # Ray finds out what is gone, the process or its node: another call tells.
            self._work = self.actor.place.remote()
            return None
        except ray.exceptions.RayError as error:
            answer = self._lost(error)
        ray.kill(self.actor)
        if isinstance(answer, Place):
            return Ending(None, (), f"the connection to {answer.machine} broke")
        return answer

    def stop(self) -> None:
        """Ask it to stop."""
        if self.placed:
            self.actor.stop.remote()
        else:
            self.cluster.ray.kill(self.actor)

    def wait(self) -> None:
        """Wait until it has ended; end it if it does not."""
        self.cluster.ray.wait([self._work], timeout=LONGEST_FAREWELL)
        self.cluster.ray.kill(self.actor)

    def _lost(self, error: Exception) -> Ending:
        ray = self.cluster.ray
        why = last_line(error)
        if "connection error code" in why:
            why = "its actor was killed"
        try:
            place: Place = ray.get(self._place, timeout=0)
        except ray.exceptions.RayError:
            if "No module named" in why and "greenroom" in why:
                return Ending(REFUSED, (_NO_GREENROOM,), "refused")
            return Ending(None, (), f"before it began: {why}")
        if place.node not in self.cluster.nodes() or getattr(error, "preempted", False):
            gone = f"its node on {place.machine} is gone"
            return Ending(None, (), gone, with_its_machine=True)
        return Ending(None, (), f"on {place.machine}: {why}")


def _order(jobs: Jobs[Any, Any, Any], job: JobRecord, options: WorkerOptions) -> Order:
    url = jobs.workers.engine.url
    variables = {name: one for name, one in os.environ.items() if name.startswith(_HANDED)}
    variables |= {name: os.environ[name] for name in options.worker_env}
    variables[URL_VARIABLE] = url.render_as_string(hide_password=False)
    return Order(
        number=0,
        arguments=worker_arguments(jobs, job),
        folder=str(Path.cwd()),
        version=__version__,
        machine=socket.gethostname() if url.get_backend_name() == "sqlite" else None,
        variables=variables,
    )


def _declared_memory(job: JobRecord) -> float | None:
    """What the agents of a run declare that their workers need."""
    from greenroom.agents import find_strategy

    name = job.config.get("agent_strategy")
    return find_strategy(name).worker_memory if isinstance(name, str) else None


def _amounts(resources: Mapping[str, float]) -> str:
    shown = [f"{resources.get('CPU', 0.0):g} CPUs"]
    if gpus := resources.get("GPU"):
        shown.append(f"{gpus:g} GPUs")
    if memory := resources.get("memory"):
        shown.append(f"{memory / _GB:.1f} GB")
    return ", ".join(shown)
