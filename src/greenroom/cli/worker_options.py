"""How a job is shared among workers: how many, who starts them, and what each of them needs."""

from __future__ import annotations

import os
import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from greenroom.errors import InputError
from greenroom.options import Config, Flag

_SMALLEST = 1e-4


def _as_ray_counts(amount: float) -> float:
    return max(round(amount, 4), _SMALLEST)


def _whole_above_one(amount: float) -> float:
    if amount > 1 and amount != int(amount):
        raise InputError("--worker-gpus is a part of one GPU or a whole number of them.")
    return amount


Number = Annotated[float, Field(gt=0), AfterValidator(_as_ray_counts)]


def _variable_names(names: list[str]) -> list[str]:
    for name in names:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise InputError("--worker-env takes names of variables, without values.")
        if name not in os.environ:
            raise InputError(f"--worker-env names {name}, which is not set.")
    return names


class WorkerOptions(Config):
    """Who works on a job."""

    processes: Annotated[Annotated[int, Field(ge=0, le=1000)] | None, Flag(metavar="N")] = Field(
        default=None,
        description="Share the work among so many processes of this machine; with 0, among those "
        "that 'greenroom worker' starts anywhere. With --executor ray, so many workers at most.",
    )
    executor: Literal["local", "ray"] = Field(
        default="local",
        description="Where --processes are: on this machine, or on a Ray cluster.",
    )
    ray_address: Annotated[str | None, Flag(metavar="ADDRESS", variable="RAY_ADDRESS")] = Field(
        default=None,
        description="The Ray cluster, such as HOST:6379 or auto; without one, a cluster of this "
        "machine is started.",
    )
    worker_cpus: Number | None = Field(
        default=None, description="The CPUs that each worker on Ray reserves; 1 by default."
    )
    worker_gpus: Annotated[Number, AfterValidator(_whole_above_one)] | None = Field(
        default=None, description="The GPUs, or the part of one, that each of them reserves."
    )
    worker_memory: Annotated[Number | None, Flag(metavar="GB")] = Field(
        default=None,
        description="The memory that each of them reserves; by default what its agents declare, "
        "such as FastWorkflow's.",
    )
    worker_env: Annotated[list[str], AfterValidator(_variable_names), Flag(metavar="NAME")] = Field(
        default_factory=list[str],
        description="Hand this variable of your environment to workers on Ray, such as a key. May "
        "be given several times.",
    )

    @property
    def shared(self) -> bool:
        """Whether workers do the work, and not this process."""
        return self.processes is not None or self.executor == "ray"

    @model_validator(mode="after")
    def _refuse_what_cannot_be_meant(self) -> WorkerOptions:
        if self.executor == "ray":
            if self.processes == 0:
                raise InputError(
                    "--executor ray starts the workers: leave it out, or --processes 0."
                )
            return self
        # RAY_ADDRESS may be set for other programs.
        for name in ("worker_cpus", "worker_gpus", "worker_memory", "worker_env"):
            if getattr(self, name):
                raise InputError(f"--{name.replace('_', '-')} goes with --executor ray.")
        return self


ALONE = WorkerOptions()
"""This process does the work."""
