"""A submission for tau2-bench's public leaderboard: figures, methods and trajectories."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from greenroom._version import __version__
from greenroom.benchmark.simulation_files import follows_workflow, retrieval_of
from greenroom.domains.domain import Domain
from greenroom.domains.plugins import TAU2
from greenroom.domains.tau2.packs import BASE
from greenroom.store import EpisodeRecord, RunRecord

DOMAINS: Final = ("retail", "airline", "telecom", "banking_knowledge")
"""The domains of the leaderboard."""
KS: Final = (1, 2, 3, 4)
_SOLVED: Final = 1 - 1e-6
_SAME: Final = {
    "model": "models",
    "user_model": "users' models",
    "temperature": "temperatures",
    "reasoning_effort": "reasoning efforts",
}
"""What all runs of a submission have in common."""
Percent = Annotated[float, Field(ge=0, le=100)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Contact(_Strict):
    """Whom to ask."""

    email: str | None = None
    name: str | None = None
    github: str | None = None


class DomainResult(_Strict):
    """The figures of one domain, in percent."""

    pass_1: Percent | None = None
    pass_2: Percent | None = None
    pass_3: Percent | None = None
    pass_4: Percent | None = None
    cost: float | None = None
    """The mean cost of the agent for a trajectory, in US dollars."""
    retrieval_config: str | None = None


class Results(_Strict):
    """The figures by domain."""

    retail: DomainResult | None = None
    airline: DomainResult | None = None
    telecom: DomainResult | None = None
    banking_knowledge: DomainResult | None = None

    @model_validator(mode="after")
    def _banking_names_its_retrieval(self) -> Results:
        if self.banking_knowledge is not None and not self.banking_knowledge.retrieval_config:
            raise ValueError("banking_knowledge needs its retrieval_config")
        return self


class Verification(_Strict):
    """What has to be known to trust the figures."""

    modified_prompts: bool
    omitted_questions: bool
    details: str = ""


class Methodology(_Strict):
    """How the figures were measured."""

    evaluation_date: str
    tau2_bench_version: str
    user_simulator: str | None
    notes: str
    verification: Verification


class Submission(BaseModel):
    """The content of submission.json."""

    model_name: Annotated[str, Field(min_length=1)]
    model_organization: Annotated[str, Field(min_length=1)]
    submitting_organization: Annotated[str, Field(min_length=1)]
    submission_date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    submission_type: Literal["standard", "custom"] = "custom"
    modality: Literal["text"] = "text"
    contact_info: Contact
    results: Results
    reasoning_effort: str | None = None
    is_new: bool = False
    trajectories_available: bool = True
    trajectory_files: dict[str, str]
    methodology: Methodology

    @property
    def folder(self) -> str:
        """The name of its folder: lower case, with digits, -, _ and . only."""
        words = (self.model_name, self.submitting_organization, self.submission_date)
        return "_".join(_plain_word(word) for word in words)


def _plain_word(text: str) -> str:
    """Letters without accents, digits, - and . of a name."""
    letters = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9.-]+", "-", letters).strip("-.")


@dataclass(frozen=True)
class SubmittedRun:
    """A run of a domain with its episodes."""

    run: RunRecord
    domain: Domain
    episodes: Sequence[EpisodeRecord]


def name_problems(**names: str) -> list[str]:
    """Names that cannot be part of a folder's, by the option that gives them."""
    return [
        f"--{option.replace('_', '-')} should have a Latin letter or a digit, unlike '{name}'."
        for option, name in names.items()
        if not _plain_word(name)
    ]


def problems(runs: Sequence[SubmittedRun]) -> list[str]:
    """What the leaderboard would not accept, in sentences."""
    found: list[str] = []
    seen: dict[str, str] = {}
    for one in runs:
        name, run = one.domain.name, one.run
        if name not in DOMAINS:
            found.append(f"'{run.name}': {name} is no domain of the leaderboard.")
        if name in seen:
            found.append(f"'{run.name}' and '{seen[name]}' are both of {name}: name one of each.")
        seen[name] = run.name
        found += _run_problems(one)
    for what, many in _SAME.items():
        values = {str(one.run.config.get(what)) for one in runs}
        if len(values) > 1:
            found.append(f"The runs have different {many}: {', '.join(sorted(values))}.")
    return found


def _run_problems(one: SubmittedRun) -> list[str]:
    run, found = one.run, list[str]()
    if one.domain.pack.info.edition != TAU2:
        return [f"'{run.name}' was not played on data of tau2-bench, but on {run.pack['name']}."]
    wanted = set(range(len(one.domain.tasks(run.task_split))))
    played: dict[int, int] = {}
    for episode in one.episodes:
        if episode.has_result:
            played[episode.task_index] = played.get(episode.task_index, 0) + 1
    if run.task_split != BASE:
        found.append(f"'{run.name}' is of the split {run.task_split}, not of base.")
    elif missing := len(wanted - played.keys()):
        found.append(f"'{run.name}' lacks {missing} of {len(wanted)} tasks.")
    if any(count != run.num_trials for count in played.values()):
        found.append(f"'{run.name}' has not {run.num_trials} results for each of its tasks.")
    if run.reads_script:
        found.append(f"The agent of '{run.name}' knows the answers.")
    if follows_workflow(run):
        found.append(f"'{run.name}' was played with the policy workflow, not with manual.")
    if one.domain.edition.solo:
        found.append(f"In '{run.name}' the agent worked alone, without a user.")
    return found


def domain_result(one: SubmittedRun) -> DomainResult:
    """The figures as tau2-bench works them out: episodes without a result are left out."""
    trials: dict[int, list[bool]] = {}
    for episode in one.episodes:
        if episode.reward is not None:
            trials.setdefault(episode.task_index, []).append(episode.reward >= _SOLVED)
    least = min((len(results) for results in trials.values()), default=0)
    figures = {
        f"pass_{k}": 100 * _mean([_pass_hat(results, k) for results in trials.values()])
        if k <= least
        else None
        for k in KS
    }
    used = [episode.usage["agent"].cost for episode in one.episodes if "agent" in episode.usage]
    known = [cost for cost in used if cost is not None]
    complete = bool(known) and len(known) == len(one.episodes)
    return DomainResult(
        **figures,
        cost=_mean(known) if complete else None,
        retrieval_config=retrieval_of(one.run),
    )


def _pass_hat(results: Sequence[bool], k: int) -> float:
    return comb(sum(results), k) / comb(len(results), k)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def methodology(runs: Sequence[SubmittedRun], date: str) -> Methodology:
    """How the runs were made. Agent and user have prompts of Greenroom's own."""
    strategies = ", ".join(sorted({one.run.agent_strategy for one in runs}))
    users = sorted({str(one.run.config.get("user_model") or "none") for one in runs})
    packs = sorted({f"{one.run.pack['name']} {one.run.pack['version']}" for one in runs})
    unjudged = sum(
        episode.details.unjudged
        for one in runs
        for episode in one.episodes
        if episode.details is not None
    )
    notes = [
        f"Played with Greenroom {__version__}: agent {strategies}, task sets {', '.join(packs)}.",
        "The prompts of the agent and of the simulated user are Greenroom's.",
    ]
    if unjudged:
        notes.append(f"{unjudged} natural-language assertions were not judged, and left out.")
    return Methodology(
        evaluation_date=date,
        tau2_bench_version=", ".join(sorted({str(one.run.pack["version"]) for one in runs})),
        user_simulator=", ".join(users),
        notes=" ".join(notes),
        verification=Verification(
            modified_prompts=True,
            omitted_questions=any(_run_problems(one) for one in runs),
            details="Trajectories are included.",
        ),
    )
