"""Claim cards: one small file with all that a published figure needs, and its verification.

A card is plain JSON. Its Markdown form is for people and ends with the same JSON, so either form
can be verified: the card is built again from the store, and any difference is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from pydantic import ValidationError

from greenroom.analysis.counts import counted_episode
from greenroom.analysis.figures import ConventionMetrics
from greenroom.errors import GreenroomError, InputError
from greenroom.reports.build import report_of
from greenroom.reports.exclusions import exclusion_words
from greenroom.reports.plain import without_secrets
from greenroom.reports.report import RunReport
from greenroom.reports.run_tally import counted_run
from greenroom.reports.texts import money, percent, plural
from greenroom.store import ExcludedTask, RunRecord, Store
from greenroom.store.aggregates import pruned_digests

KIND: Final = "greenroom.card"
FORMAT: Final = 1

_ABSENT: Final = object()
_DIGITS: Final = 16
_SETTINGS: Final = (
    *("model_provider", "temperature", "max_tokens", "reasoning_effort", "max_num_steps"),
    *("max_episode_seconds", "seed", "agent_options", "env_options"),
)
_BLOCK: Final = re.compile(r"^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def build_card(store: Store, run: RunRecord, commands: Sequence[str] = ()) -> dict[str, Any]:
    """The card of a run; `commands` are those that play it again."""
    # A claim is worked out from the records themselves, and not from what was counted of them.
    episodes = map(counted_episode, store.runs.results(run.id))
    report = report_of(counted_run(episodes, run).data(store, run))
    metrics = report.metrics
    excluded, counted = metrics.conventions["errors_excluded"], metrics.conventions
    return {
        "kind": KIND,
        "format": FORMAT,
        "run": {
            "id": run.id,
            "name": run.name,
            "created_at": run.created_at.isoformat(),
            "status": run.status,
            "greenroom": run.greenroom_version,
        },
        "task_set": _task_set(run),
        "agent": _agent(run),
        "user": {
            "strategy": run.config.get("user_strategy"),
            "model": run.config.get("user_model"),
            "persona": run.config.get("user_persona"),
            "options": without_secrets(run.config.get("user_options") or {}),
        },
        "tasks": len(run.task_indices),
        "trials": run.num_trials,
        "confidence": metrics.confidence,
        "figures": _figures(excluded),
        "figures_with_errors_as_failures": _figures(counted["errors_as_failures"]),
        "coverage": {
            "planned": metrics.planned,
            "with_result": metrics.with_result,
            "share": excluded.coverage,
            "infrastructure_errors": metrics.errors,
            "not_played": metrics.missing,
            "outcomes": dict(sorted(metrics.outcomes.items())),
        },
        # A later check of the judge changes nothing of what was claimed.
        "judge": None
        if report.judged is None
        else report.judged.model_dump(mode="json", exclude={"check"}),
        "cost": _cost(report),
        "commands": list(commands),
        "episodes": _episodes(store, run),
    }


def _task_set(run: RunRecord) -> dict[str, Any]:
    kept = run.task_set
    hashes = {} if kept is None else kept.model_dump(exclude={"task_hashes"}, exclude_defaults=True)
    excluded = [one.model_dump(mode="json") for one in run.excluded]
    pack = {name: run.pack.get(name) for name in ("name", "version", "commit", "edition", "source")}
    return {"env": run.env, "split": run.task_split, **pack, "hashes": hashes} | {
        "official": run.official_tasks and not run.excluded,
        "caveats": [*map(str, run.pack.get("caveats", ())), *run.warnings],
        **({"excluded": excluded} if excluded else {}),
    }


def _agent(run: RunRecord) -> dict[str, Any]:
    settings = {name: run.config[name] for name in _SETTINGS if run.config.get(name) is not None}
    return {
        "strategy": run.agent_strategy,
        "model": run.config.get("model"),
        "knows_the_answers": run.reads_script,
        "settings": without_secrets(settings),
    }


def _figures(metrics: ConventionMetrics) -> dict[str, Any]:
    return {
        f"pass^{k}": {
            **estimate.model_dump(mode="json"),
            "tasks": metrics.pass_tasks.get(k, metrics.tasks),
        }
        for k, estimate in metrics.pass_hat_k.items()
    }


def _cost(report: RunReport) -> dict[str, Any]:
    metrics = report.metrics
    return {
        "dollars": metrics.total_cost,
        "dollars_per_episode": metrics.average_cost,
        "tokens": dict(metrics.tokens),
        "is_told": metrics.costs_are_told,
    }


def _episodes(store: Store, run: RunRecord) -> dict[str, dict[str, str]]:
    episodes: dict[str, dict[str, str]] = {}
    # An episode that lost its conversation is known by the digest that was noted just before.
    digests = store.runs.digests(run.id) | pruned_digests(store.engine, run.id)
    left_out = {one.task_index for one in run.excluded}
    for (task, trial), digest in sorted(digests.items()):
        if task in left_out:
            continue
        episodes.setdefault(str(task), {})[str(trial)] = digest[:_DIGITS]
    return episodes


def card_json(card: Mapping[str, Any]) -> str:
    """The card as a JSON file."""
    return json.dumps(card, indent=1, ensure_ascii=False) + "\n"


def card_markdown(card: Mapping[str, Any]) -> str:
    """The card for people, with its JSON at the end."""
    return "\n".join([*_lines(card), "", "```json", card_json(card).rstrip("\n"), "```", ""])


def _lines(card: Mapping[str, Any]) -> Iterator[str]:
    run, tasks, agent, user = (card[name] for name in ("run", "task_set", "agent", "user"))
    coverage, cost = card["coverage"], card["cost"]
    yield f"# {run['name']}"
    yield ""
    commit = f", commit {tasks['commit'][:12]}" if tasks.get("commit") else ""
    digest = tasks["hashes"].get("hash", "")[:12]
    left_out = len(tasks.get("excluded", ()))
    without = f" ({left_out} excluded)" if left_out else ""
    facts = {
        "Task set": f"{tasks['env']}, split {tasks['split']}, of {tasks['name']} "
        f"{tasks['version']}{commit}; hash {digest or 'unknown'}",
        "Tasks and trials": f"{plural(card['tasks'], 'task')}{without}, "
        f"{plural(card['trials'], 'trial')} each",
        "Agent": _who(agent) + (" (it knows the answers)" if agent["knows_the_answers"] else ""),
        "User": _who(user),
        "Coverage": f"{percent(coverage['share'])}: {coverage['with_result']:,} of "
        f"{coverage['planned']:,} episodes have a result",
        "Judge": _judge(card["judge"]),
        "Cost": _cost_words(cost),
        "Greenroom": f"{run['greenroom']}, run {run['id']} of {run['created_at']}",
    }
    yield from ("| | |", "| --- | --- |")
    yield from (f"| {name} | {_cell(text)} |" for name, text in facts.items())
    yield ""
    share = percent(card["confidence"])
    yield f"| Figure | Value | {share} interval | Tasks | With errors as failures |"
    yield "| --- | --- | --- | --- | --- |"
    otherwise = card["figures_with_errors_as_failures"]
    for name, figure in card["figures"].items():
        between = (
            "none"
            if figure["low"] is None
            else f"{_share(figure['low'])} to {_share(figure['high'])}"
        )
        yield (
            f"| {name} | {_share(figure['value'])} | {between} | {figure['tasks']} | "
            f"{_share(otherwise.get(name, {}).get('value'))} |"
        )
    for sentence in exclusion_words(excluded_on(card)):
        yield from ("", f"- {sentence}")
    for caveat in tasks["caveats"]:
        yield from ("", f"- {caveat}")
    if card["commands"]:
        yield from ("", "```sh", *card["commands"], "```")


def _who(side: Mapping[str, Any]) -> str:
    return f"{side['strategy']} ({side['model']})" if side.get("model") else str(side["strategy"])


def _judge(judge: Mapping[str, Any] | None) -> str:
    if judge is None:
        return "none needed"
    unjudged = judge["unjudged"]
    left = f"; {plural(unjudged, 'sentence')} not judged" if unjudged else ""
    return (judge["judge"] or "none") + left


def _cost_words(cost: Mapping[str, Any]) -> str:
    if cost["dollars"] is not None:
        return money(cost["dollars"])
    return (
        "unknown" if any(cost["tokens"].values()) or not cost["is_told"] else "no model was asked"
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:.1f} %"


def read_card(text: str, place: str) -> dict[str, Any]:
    """The card in a file of either form; raises InputError for anything else."""
    text = text.replace("\r\n", "\n")  # as some editors and checkouts write lines
    blocks = _BLOCK.findall(text)
    try:
        found: Any = json.loads(blocks[-1] if blocks else text, object_pairs_hook=_once_each)
    except ValueError as error:
        raise InputError(f"{place} is no claim card: it holds no JSON ({error}).") from error
    card = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if card.get("kind") != KIND or not isinstance(card.get("run"), dict):
        raise InputError(f"{place} is no claim card: 'greenroom runs card RUN -o FILE' writes one.")
    if card.get("format") != FORMAT:
        raise InputError(
            f"{place} has the format {card.get('format')}; this version reads {FORMAT}."
        )
    if blocks and text != _as_markdown(card):
        raise InputError(f"{place} says in words something else than in its JSON: do not trust it.")
    episodes = card.get("episodes")
    if not isinstance(episodes, dict) or not all(
        isinstance(trials, dict) for trials in cast("dict[str, Any]", episodes).values()
    ):
        raise InputError(f"{place} is no claim card: it lists no episodes.")
    return card


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a name that it has twice could be read as either value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"'{twice}' is there twice")
    return found


def _as_markdown(card: Mapping[str, Any]) -> str | None:
    try:
        return card_markdown(card)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # a part is missing, or is something else


def excluded_on(card: Mapping[str, Any]) -> list[ExcludedTask]:
    """The tasks that a card leaves out; raises InputError if it lists something else."""
    try:
        return [ExcludedTask.model_validate(one) for one in card["task_set"].get("excluded", ())]
    except (AttributeError, KeyError, TypeError, ValidationError) as error:
        raise InputError("The card does not list its excluded tasks as it should.") from error


def verify_card(
    store: Store, run: RunRecord, card: Mapping[str, Any], commands: Sequence[str] = ()
) -> list[str]:
    """What differs between a card and the store, a line each; nothing for a card that holds."""
    claimed = card["run"].get("id")
    if claimed != run.id:
        return [f"The card is of the run {claimed}, and '{run.name}' is the run {run.id}."]
    problems = list(_episode_differences(card["episodes"], _episodes(store, run), run))
    try:
        fresh = json.loads(card_json(build_card(store, run, commands)))
    except (GreenroomError, ValueError) as error:
        return [*problems, f"The figures cannot be built again: {error}"]
    for name in dict.fromkeys((*card, *fresh)):
        if name != "episodes":
            problems += _differences(name, card.get(name, _ABSENT), fresh.get(name, _ABSENT))
    return problems


def _episode_differences(
    card: Mapping[str, Mapping[str, str]], kept: Mapping[str, Mapping[str, str]], run: RunRecord
) -> Iterator[str]:
    for task in sorted({*card, *kept}, key=lambda name: (len(name), name)):
        there, here = card.get(task, {}), kept.get(task, {})
        for trial in sorted({*there, *here}, key=lambda name: (len(name), name)):
            place = f"The episode of task {task}, trial {trial}, of '{run.name}'"
            if trial not in here:
                yield f"{place} is on the card, but not in the store."
            elif trial not in there:
                yield f"{place} is in the store, but not on the card."
            elif there[trial] != here[trial]:
                yield f"{place} is not what it was: {there[trial]} on the card, {here[trial]} now."


def _differences(place: str, card: Any, fresh: Any) -> Iterator[str]:
    if isinstance(card, dict) and isinstance(fresh, dict):
        there, here = cast("dict[str, Any]", card), cast("dict[str, Any]", fresh)
        for name in dict.fromkeys((*there, *here)):
            yield from _differences(
                f"{place}.{name}", there.get(name, _ABSENT), here.get(name, _ABSENT)
            )
    elif card != fresh:
        yield f"{place}: {_short(card)} on the card, {_short(fresh)} from the store."


def _short(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


__all__ = ["build_card", "card_json", "card_markdown", "excluded_on", "read_card", "verify_card"]
