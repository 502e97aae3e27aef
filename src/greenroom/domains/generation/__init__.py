"""The parts that generators of tasks share: wording, plans, wishes, acceptance and figures."""

from __future__ import annotations

from greenroom.domains.generation.acceptance import Acceptance
from greenroom.domains.generation.composing import (
    Pools,
    Unsuitable,
    Wish,
    draw_planned_tasks,
    draw_wishes,
    named_actions,
    needed,
    outputs_of,
    tell,
    without_repeats,
)
from greenroom.domains.generation.generators import TaskGenerator
from greenroom.domains.generation.plans import Mix, TaskPlan, draw_plans
from greenroom.domains.generation.profiles import FIGURES, Profile, figures_apart, profile_tasks
from greenroom.domains.generation.wording import Wording, shared_wording

__all__ = [
    "FIGURES",
    "Acceptance",
    "Mix",
    "Pools",
    "Profile",
    "TaskGenerator",
    "TaskPlan",
    "Unsuitable",
    "Wish",
    "Wording",
    "draw_planned_tasks",
    "draw_plans",
    "draw_wishes",
    "figures_apart",
    "named_actions",
    "needed",
    "outputs_of",
    "profile_tasks",
    "shared_wording",
    "tell",
    "without_repeats",
]
