"""The configuration of a run: the source of its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self, cast

from pydantic import Field, model_validator

from greenroom.config import DEFAULT_SPLIT, JudgeConfig, Seconds, UserConfig, WorkConfig
from greenroom.errors import InputError
from greenroom.options import (
    Count,
    ExcludedTasks,
    Flag,
    Pairs,
    PathOrName,
    Reference,
    TaskIds,
    checked,
)

NamedValue = Flag(metavar="NAME=VALUE")
MOST_TRIALS = 10_000


class RunConfig(JudgeConfig, UserConfig, WorkConfig):
    """The configuration of a run. All of it is kept with the run."""

    agent_strategy: Annotated[Reference, Flag(derived=True)] = Field(
        default="oracle",
        description="Who plays: a name of 'greenroom agents list', or file.py:name. By default "
        "tool-calling with a model (structured with a local one), oracle without.",
    )
    agent_options: Annotated[Pairs, NamedValue] = Field(
        default_factory=dict[str, Any],
        description="A setting of the agent; each is a flag of its own, too.",
    )
    env: Reference = Field(
        default="retail",
        description="The domain: retail, airline, an installed one, or file.py:name.",
    )
    env_options: Annotated[Pairs, NamedValue] = Field(
        default_factory=dict[str, Any], description="A setting of the domain."
    )
    data: Annotated[PathOrName | None, Flag(metavar="DIR", variable="GREENROOM_DATA")] = Field(
        default=None,
        description="A pack directory, or the name of a pulled pack; by default the built-in data.",
    )
    task_split: str = Field(
        default=DEFAULT_SPLIT,
        description="The split of the tasks; by default base where a pack has it, else test.",
    )
    task_ids: Annotated[TaskIds | None, Flag(metavar="N,N,... | N N ...", typed=str)] = Field(
        default=None,
        description="Only these tasks: 1,2,3 or 1 2 3. A number is a place in the split, anything "
        "else a task's own id; id:7 is the task with the id 7.",
    )
    start_index: int = Field(default=0, description="The first task of a range.")
    end_index: int = Field(
        default=-1, description="The end of the range, not included; -1 for all."
    )
    exclude_tasks: Annotated[ExcludedTasks | None, Flag(metavar="FILE | N,N,...", typed=str)] = (
        Field(
            default=None,
            description="Leave these tasks out: the findings of 'greenroom tasks audit -o FILE', a "
            "file that lists places or ids, or these themselves. Reports and claim cards say so.",
        )
    )
    shuffle: Annotated[bool, Flag(typed=int)] = Field(
        default=False, description="1 to shuffle the tasks by the seed."
    )
    num_trials: Count = Field(default=1, le=MOST_TRIALS, description="Trials of each task.")
    max_num_steps: Annotated[Count | None, Flag(also=("--max-steps",))] = Field(
        default=None,
        description="Steps that an episode may take; by default 30, and 200 messages in tau2's "
        "domains.",
    )
    max_episode_seconds: Seconds | None = Field(
        default=None, description="Time that an episode may take."
    )
    model: str | None = Field(default=None, description="The agent's model.")
    model_provider: Annotated[str | None, Flag(also=("--provider",))] = Field(
        default=None, description="Its provider, as litellm names it."
    )
    api_base: Annotated[str | None, Flag(metavar="URL")] = Field(
        default=None, description="An OpenAI-compatible server for the agent, with its /v1."
    )
    temperature: float = Field(
        default=0.0, ge=0, description="The sampling temperature of the agent's model."
    )
    max_tokens: Count | None = Field(
        default=None, description="The most tokens that an answer may have."
    )
    reasoning_effort: str | None = Field(
        default=None, description="low, medium or high, where it applies."
    )

    judge_model: str | None = Field(
        default=None,
        description="The model that judges sentences of tasks that have some; without one, they "
        "stay unjudged and the reward leaves them out.",
    )

    @model_validator(mode="before")
    @classmethod
    def _choose_agent(cls, given: Any) -> Any:
        fields = dict(cast("Mapping[str, Any]", given))
        return fields | {"agent_strategy": fields.get("agent_strategy") or default_agent(fields)}

    @model_validator(mode="after")
    def _check_tasks(self) -> Self:
        if self.task_ids and (self.start_index != 0 or self.end_index != -1):
            raise InputError(
                "--task-ids names single tasks, --start-index and --end-index a range: give one "
                "or the other."
            )
        return self


def default_agent(fields: Mapping[str, Any]) -> str:
    """Who plays where nobody says."""
    model = fields.get("model")
    if not model:
        return "oracle"
    return "structured" if str(model).startswith("local/") else "tool-calling"


def check_config(fields: Mapping[str, Any]) -> RunConfig:
    """A configuration from what a person gave; what is wrong is told in a line."""
    return checked(RunConfig, fields)
