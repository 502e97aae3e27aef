"""Environments for training: reset and step, as Gymnasium has them, without its package.

`gymnasium_env`, `openenv_env` and `verifiers_env` give the same environments to the packages of
these names. Each is imported by whoever uses it.
"""

from __future__ import annotations

from greenroom.training.env import TrainingEnv, Transition
from greenroom.training.shared import Training

__all__ = ["Training", "TrainingEnv", "Transition"]
