"""Runs as result files of tau2-bench, which its own tools and leaderboard read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from pydantic import BaseModel

from greenroom.domains.domain import Domain
from greenroom.domains.editions import DONE, Edition
from greenroom.domains.plugins import TAU2, find_plugin
from greenroom.domains.tasks import STOP, Task
from greenroom.domains.tau2.grading import NAMES
from greenroom.domains.tau2.recorded import SOLO_AGENT, SOLO_USER, WORKFLOW_DOMAIN
from greenroom.domains.tau2.tasks import PARTIES
from greenroom.errors import InputError
from greenroom.store import (
    NO_RESULT,
    ActionRecord,
    EpisodeRecord,
    Outcome,
    RewardRecord,
    RunRecord,
    UserCallRecord,
)
from greenroom.trajectories import RESPOND

ROLES: Final = {ours: name for name, ours in PARTIES.items()}
_ENDS: Final[Mapping[Outcome, str]] = {
    "success": "user_stop",
    "failure": "user_stop",
    "max_steps": "max_steps",
    "max_time": "timeout",
    "too_many_errors": "too_many_errors",
    "context_window": "context_window_exceeded",
    NO_RESULT: "infrastructure_error",
}
"""tau2's words for how an episode ended; all other ends are errors of the agent."""


def results_file(run: RunRecord, domain: Domain, episodes: Sequence[EpisodeRecord]) -> Any:
    """The content of tau2's results.json for a run of one of its domains."""
    if domain.pack.info.edition != TAU2:
        raise InputError(
            f"'{run.name}' was played on {domain.pack.info.name}: tau2's files hold runs on data "
            "of tau2-bench."
        )
    tasks = domain.tasks(run.task_split)
    played = [tasks[index] for index in sorted({one.task_index for one in episodes})]
    return {
        "timestamp": run.created_at.isoformat(),
        "info": _info(run, domain),
        "tasks": [dict(task.raw or {}) for task in played],
        "simulations": [
            _simulation(run, domain, tasks[episode.task_index], episode) for episode in episodes
        ],
        "simulation_index": None,
    }


def _info(run: RunRecord, domain: Domain) -> dict[str, Any]:
    config, solo = run.config, domain.edition.solo
    user = config.get("user_strategy", "scripted")
    return {
        "git_commit": domain.pack.info.commit or "unknown",
        "num_trials": run.num_trials,
        "max_steps": config.get("max_num_steps") or domain.edition.max_steps,
        "max_errors": domain.edition.max_errors,
        "user_info": {
            "implementation": SOLO_USER if solo else f"greenroom_{user}",
            "llm": config.get("user_model"),
            "llm_args": {},
            "global_simulation_guidelines": None,
            "voice_settings": None,
            "persona_config": None,
        },
        "agent_info": {
            "implementation": SOLO_AGENT if solo else f"greenroom_{run.agent_strategy}",
            "llm": config.get("model"),
            "llm_args": _agent_arguments(config),
            "voice_settings": None,
        },
        "environment_info": {
            "domain_name": WORKFLOW_DOMAIN if follows_workflow(run) else domain.name,
            "policy": run.policy,
            "tool_defs": None,
        },
        "seed": config.get("seed"),
        "text_streaming_config": {"chunk_by": "words", "chunk_size": 1},
        "speech_complexity": None,
        "audio_native_config": None,
        "retrieval_config": retrieval_of(run),
        "retrieval_config_kwargs": None,
    }


def retrieval_of(run: RunRecord) -> str | None:
    """How the agent of a run looks up documents; None for a domain without any."""
    return getattr(_settings(run), "retrieval", None)


def follows_workflow(run: RunRecord) -> bool:
    """Whether a run is of telecom with the policy that tau2 has as a domain of its own."""
    return getattr(_settings(run), "policy", None) == "workflow"


def _settings(run: RunRecord) -> BaseModel:
    # Settings are kept as far as they differ from the defaults.
    return find_plugin(run.env).check(run.config.get("env_options") or {})


def _agent_arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    names = ("max_tokens", "reasoning_effort")
    given = {name: config[name] for name in names if config.get(name) is not None}
    return {"temperature": config.get("temperature", 0.0), **given}


def _simulation(
    run: RunRecord, domain: Domain, task: Task, episode: EpisodeRecord
) -> dict[str, Any]:
    started = episode.started_at
    broken = not episode.has_result
    end = _ENDS.get(episode.outcome, "agent_error")
    if end == "user_stop" and domain.edition.solo:
        end = "agent_stop"
    unset = ("ticks", "speech_environment", "review", "user_only_review", "auth_classification")
    more = ("hallucination_check", "provider_session_id", "policy", "effect_timeline")
    return {
        "id": str(uuid5(NAMESPACE_URL, f"{run.id}/{episode.task_index}/{episode.trial}")),
        "task_id": task.id,
        "timestamp": started.isoformat(timespec="microseconds"),
        "start_time": started.isoformat(timespec="microseconds"),
        "end_time": (started + timedelta(seconds=episode.seconds)).isoformat(
            timespec="microseconds"
        ),
        "duration": episode.seconds,
        "termination_reason": end,
        "agent_cost": _cost(episode, "agent"),
        "user_cost": _cost(episode, "user"),
        "agent_usage": None,
        "reward_info": None if broken else _reward_info(domain, task, episode, end),
        "messages": [] if broken else _Messages(episode, task, domain.edition).all(),
        "trial": episode.trial,
        "seed": episode.seed,
        "mode": "half_duplex",
        "info": {"error": episode.error} if broken else None,
        "hallucination_retries_used": 0,
        **dict.fromkeys([*unset, *more]),
    }


def _cost(episode: EpisodeRecord, purse: str) -> float | None:
    usage = episode.usage.get(purse)
    return None if usage is None else usage.cost


def _reward_info(domain: Domain, task: Task, episode: EpisodeRecord, end: str) -> dict[str, Any]:
    details = episode.details
    if details is None:
        note = f"Simulation terminated prematurely. Termination reason: {end}"
        checks = ("db_check", "env_assertions", "action_checks", "nl_assertions")
        rest = ("communicate_checks", "reward_basis", "reward_breakdown")
        return {"reward": 0.0, **dict.fromkeys([*checks, *rest]), "info": {"note": note}}
    criteria: Mapping[str, Any] = (task.raw or {}).get("evaluation_criteria") or {}
    judged = [one for one in details.judged if one.met is not None]
    return {
        "reward": episode.reward,
        "db_check": {"db_match": details.database, "db_reward": float(details.database)},
        "env_assertions": [
            {"env_assertion": raw, "met": one.met, "reward": float(one.met)}
            for raw, one in zip(
                criteria.get("env_assertions") or (), details.assertions, strict=True
            )
        ],
        "action_checks": [
            {
                "action": raw,
                "action_match": one.found,
                "action_reward": float(one.found),
                "tool_type": None if tool is None else tool.kind,
            }
            for raw, one in zip(criteria.get("actions") or (), details.actions, strict=True)
            for tool in (domain.named_tool(one.action.name),)
        ],
        "nl_assertions": [
            {"nl_assertion": one.sentence, "met": one.met, "justification": one.reason}
            for one in judged
        ]
        or None,
        "communicate_checks": [
            {"info": text, "met": met, "justification": ""} for text, met in details.outputs.items()
        ],
        "reward_basis": [NAMES[part] for part in details.basis],
        "reward_breakdown": _breakdown(details),
        "info": {"env": None, "nl": _nl_note(details), "communicate": None, "action": None},
    }


def _breakdown(details: RewardRecord) -> dict[str, float]:
    parts = details.parts
    return {NAMES[part]: float(met) for part in details.basis if (met := parts[part]) is not None}


def _nl_note(details: RewardRecord) -> str | None:
    if "judged" in details.basis and not details.judged:
        return "No nl_assertions to evaluate"
    return f"{details.unjudged} nl_assertions were not judged" if details.unjudged else None


@dataclass
class _Messages:
    """The messages of an episode, numbered and a millisecond apart."""

    episode: EpisodeRecord
    task: Task
    edition: Edition
    _made: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _calls: int = 0
    _batch: list[dict[str, Any]] | None = None
    """The calls of the last message that has any."""

    def all(self) -> list[dict[str, Any]]:
        episode = self.episode
        history = () if self.task.initial is None else self.task.initial.messages
        for message in history:
            self._add(dict(message))
        if not history and self.edition.greeting is not None:
            self._say("agent", self.edition.greeting)
        self._user_calls(episode.opening_calls)
        if episode.opening and not self.edition.solo:  # a ticket is no message
            self._say("user", episode.opening)
        for step in episode.steps:
            if step.action.name == RESPOND:
                self._say("agent", str(step.action.kwargs.get("content", "")))
            elif step.action.name == DONE and self.edition.solo:
                self._say("agent", STOP)
            else:
                self._call(step.action, step.observation, failed=step.failed)
            self._user_calls(step.user_calls)
            if step.action.name == RESPOND and step.observation:
                self._say("user", step.observation)
        return self._made

    def _user_calls(self, calls: Sequence[UserCallRecord]) -> None:
        for call in calls:
            self._call(call.action, call.observation, failed=call.failed)

    def _say(self, party: str, text: str) -> None:
        self._add({"role": ROLES[party], "content": text, "tool_calls": None, **_UNSET})

    def _call(self, action: ActionRecord, observation: str, *, failed: bool) -> None:
        self._calls += 1
        requestor, call_id = ROLES[action.party], f"call_{self._calls}"
        call = {
            "id": call_id,
            "name": action.name,
            "arguments": action.kwargs,
            "requestor": requestor,
        }
        if action.joined and self._batch is not None:
            self._batch.append(call)
        else:
            content, self._batch = action.aside or None, [call]
            self._add({"role": requestor, "content": content, "tool_calls": self._batch, **_UNSET})
        self._add(
            {
                "id": call_id,
                "role": "tool",
                "content": observation,
                "requestor": requestor,
                "error": failed,
            }
        )

    def _add(self, message: dict[str, Any]) -> None:
        number = len(self._made)
        at = self.episode.started_at + timedelta(milliseconds=number, microseconds=1)
        stamp = at.isoformat(timespec="microseconds")
        self._made.append(message | {"turn_idx": number, "timestamp": stamp})


_UNSET: Final = dict.fromkeys(("cost", "usage", "raw_data", "generation_time_seconds"))


def in_order(episodes: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
    """The episodes in the order of tau2's files: trial by trial, task by task."""
    return sorted(episodes, key=lambda one: (one.trial, one.task_index))
