"""What the page's conversations are made from: a block of JSON per task or row.

The page's script knows nothing of runs and evaluations. It draws a list of items (what was said and
done) and a list of parts (what stands beside it). Texts that occur more than once in a block, such
as a record that several trials looked up, are kept once: items refer to them by their place in
`texts`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from greenroom.audit import Talk, findings_by_turn, findings_of, talk_of
from greenroom.messages import text_of
from greenroom.reports.evaluation_words import input_names
from greenroom.reports.html_limits import CONVERSATION_BYTES, MOST_CONVERSATIONS, within
from greenroom.reports.html_rewards import (
    Part,
    database,
    further_parts,
    ground_truth,
    outputs,
    reward_words,
)
from greenroom.reports.report import EvaluatedRow, EvaluationData, RunData, stored
from greenroom.reports.sections import Failures, Grid, Report
from greenroom.reports.texts import date_text, money, show
from greenroom.reports.user_audit import talk_of_row
from greenroom.store import EpisodeRecord, chat_of, decoded
from greenroom.store.records import CellRecord, known_cost
from greenroom.store.trajectory_records import StepRecord, UserCallRecord
from greenroom.trajectories import RESPOND
from greenroom.util.json_values import as_dict

Data = RunData | EvaluationData
Item = dict[str, Any]
Place = tuple[int, int]
"""The key of a grid's item, and the place of a trial."""

_WHO = {"user": "User", "assistant": "Assistant", "system": "System", "developer": "System"}


def conversations(
    report: Report, data: Data | None
) -> tuple[dict[Place, str], dict[int, dict[str, Any]]]:
    """What can be read: the address of each cell within the page, and a block per task or row."""
    grid = next((one for one in report.sections if isinstance(one, Grid)), None)
    links: dict[Place, str] = {}
    cells: dict[int, list[dict[str, Any]]] = {}
    if grid is None or data is None:
        return links, {}
    labels = {item.key: item.label for item in grid.items}
    reasons = _reasons(report)
    places = [(item.key, trial) for item in grid.items for trial in range(len(grid.trials))]
    # What failed comes first, then the first trials of every task.
    first = sorted(places, key=lambda place: (place not in reasons, place[1], place[0]))
    wanted = dict.fromkeys(first[:MOST_CONVERSATIONS])
    made: dict[Place, dict[str, Any]] = {}
    for place, record in _cells(data, list(wanted)):
        if place not in wanted:
            continue
        key, trial = place
        name = f"{grid.trial} {grid.trials[trial]}"
        title = f"{grid.item.capitalize()} {labels[key]}"
        shared = {
            "trial": trial,
            "name": name,
            "title": f"{title}, {name}" if len(grid.trials) > 1 else title,
            "why": reasons.get(place, []),
            "error": record.error,
        }
        found = (
            _episode(record)
            if isinstance(record, EpisodeRecord)
            else _result(record, cast("EvaluationData", data))
        )
        made[place] = shared | found
    fitting = within(
        (made[place] for place in wanted if place in made), len(made), CONVERSATION_BYTES
    )
    kept = {id(cell) for cell in fitting}
    if isinstance(data, RunData):
        _mark_findings(data, {place: cell for place, cell in made.items() if id(cell) in kept})
    for place, cell in sorted(made.items()):
        if id(cell) in kept:
            cells.setdefault(place[0], []).append(cell)
            address = f"#{grid.item} {labels[place[0]]} {cell['name']}"
            links[place] = address.replace(" ", "-")
    return links, {key: _block(found) for key, found in cells.items()}


def _cells(
    data: Data, wanted: Sequence[Place]
) -> Iterator[tuple[Place, EpisodeRecord | EvaluatedRow]]:
    """The cells that are wanted, and maybe others."""
    if isinstance(data, RunData):
        kept = stored(data.episodes)
        found = data.episodes if kept is None else kept.of(wanted)
        yield from ((episode.key, episode) for episode in found)
    else:
        # People count rows and repeats from 1.
        yield from (((result.row - 1, result.repeat - 1), result) for result in data.results)


def _block(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """The cells of one task or row, and each of their texts once."""
    texts: dict[str, int] = {}
    for cell in cells:
        for one in (*cell["parts"], *cell["items"]):
            if isinstance(one.get("text"), str):
                one["text"] = texts.setdefault(one["text"], len(texts))
    return {"cells": cells, "texts": list(texts)}


def _reasons(report: Report) -> dict[Place, list[dict[str, Any]]]:
    """Why cells failed, as the report's failures say."""
    found: dict[Place, list[dict[str, Any]]] = {}
    for section in report.sections:
        if isinstance(section, Failures):
            labels = {kind.kind: kind.label for kind in section.kinds}
            for one in section.failures:
                reason = {"kind": labels.get(one.kind, one.kind), "text": one.sentence}
                found.setdefault((one.item, one.trial), []).append(reason)
    return found


# Episodes of a run


def _episode(episode: EpisodeRecord) -> dict[str, Any]:
    details = episode.details
    return {
        "outcome": episode.outcome,
        "items": list(episode_items(episode)),
        "parts": [
            {"title": "The user's task", "text": episode.task.instruction},
            *([] if details is None else [database(details), *outputs(details)]),
            *([] if details is None else further_parts(details)),
            ground_truth(episode),
            {"title": "Episode", "facts": episode_facts(episode)},
            *(
                [{"title": "What the agent printed", "text": episode.printed}]
                * bool(episode.printed)
            ),
        ],
    }


def _mark_findings(data: RunData, cells: Mapping[Place, dict[str, Any]]) -> None:
    """Findings of the audit in the conversations that are shown: no others are audited."""
    for place, episode in _cells(data, list(cells)) if cells else ():
        if place in cells and isinstance(episode, EpisodeRecord):
            cell = cells[place]
            talk = talk_of(episode, data.run.config.get("user_persona"))
            cell["items"] = list(_with_findings(cell["items"], talk))


def _with_findings(items: Iterable[Item], talk: Talk) -> Iterator[Item]:
    """What the audit finds stands with the messages of the user that it is of."""
    found, number = findings_by_turn(findings_of(talk)), 0
    for item in items:
        if item.get("who") == "User":
            number += 1
            if number in found:
                item |= {"finding": " ".join(one.sentence for one in found[number])}
        yield item


def episode_items(episode: EpisodeRecord) -> Iterator[Item]:
    """What was said and done. A turn begins with the message of the user that it answers."""
    steps = episode.steps
    turn = steps[0].turn if steps else None
    if turn is not None:
        yield {"turn": turn}
    yield from (_tool_call(call) for call in episode.opening_calls)
    if episode.opening:
        yield _said("User", episode.opening)
    for place, step in enumerate(steps):
        if step.turn != turn:
            turn = step.turn
            yield {"turn": turn}
        content = step.action.kwargs.get("content")
        if step.action.name != RESPOND or not isinstance(content, str):
            yield _tool_call(step)
            continue
        yield _said("Agent", content, problem=step.invalid)
        following = steps[place + 1].turn if place + 1 < len(steps) else turn
        if following != turn:
            turn = following
            yield {"turn": turn}
        yield from (_tool_call(call) for call in step.user_calls)
        if step.source == "user" and step.invalid is None:
            yield _said("User", step.observation)


def _said(who: str, text: str, *, problem: str | None = None) -> Item:
    return {"who": who, "text": text, "problem": problem}


def _tool_call(step: StepRecord | UserCallRecord) -> Item:
    return {
        "tool": step.action.name,
        "by_user": step.action.party == "user",
        "kwargs": step.action.kwargs,
        "writes": step.action.writes,
        "invalid": step.invalid,
        "text": step.observation,
    }


def episode_facts(episode: EpisodeRecord) -> list[tuple[str, str]]:
    """What is known of an episode beside what was said."""
    return [
        ("Reward", "none" if episode.reward is None else f"{episode.reward:g}"),
        *reward_words(episode.details),
        ("Steps", str(len(episode.steps))),
        ("Turns", str(episode.turns)),
        *_cell_facts(episode),
        *([] if episode.pruned is None else [("Conversation", str(episode.pruned))]),
        ("Seed", str(episode.seed)),
        ("Played", date_text(episode.started_at)),
        *([("Task", episode.task.id)] if episode.task.id else []),
    ]


def _cell_facts(record: CellRecord) -> Iterator[tuple[str, str]]:
    """Time, cost and attempts."""
    used = [usage for usage in record.usage.values() if usage.calls or usage.cost is not None]
    if record.seconds > 0:
        yield "Time", show(record.seconds, "seconds")
    if used:
        cost = known_cost(record.usage.values())
        yield "Cost", "unknown" if cost is None else money(cost)
        yield "Tokens", f"{sum(one.prompt_tokens + one.completion_tokens for one in used):,}"
    if record.attempts > 1:
        yield "Attempts", str(record.attempts)


# Results of an evaluation


def _result(result: EvaluatedRow, data: EvaluationData) -> dict[str, Any]:
    names = input_names(result.inputs, data.evaluation)
    given = {name: result.inputs[name] for name in names if name in result.inputs}
    rest = {name: value for name, value in result.inputs.items() if name not in given}
    parts: list[Part] = [{"title": "Scores", "id": "scores", "checks": list(_scores(result))}]
    if rest:
        parts.append({"title": "Also in the row", "values": rest})
    facts = [*_cell_facts(result), ("Called", date_text(result.started_at))]
    if result.trace_id:
        facts.append(("Trace", result.trace_id))
    return {
        "outcome": result.shown_outcome,
        "items": list(_result_items(result, given, data.evaluation.config)),
        "parts": [*parts, {"title": "Result", "facts": facts}],
    }


def _result_items(
    result: EvaluatedRow, given: Mapping[str, Any], config: Mapping[str, Any]
) -> Iterator[Item]:
    """The conversation, or what went in and what came out."""
    if result.conversation:
        items = _messages(result.conversation)
        talk = talk_of_row(result, config.get("user_persona"))
        yield from items if talk is None else _with_findings(items, talk)
        return
    values: dict[str, Any] = {}
    chats: list[dict[str, Any]] = []
    for name, value in given.items():
        chat = chat_of(value)
        if chat is None:
            values[name] = value
        else:
            chats += chat
    if values:
        yield {"who": "Input", "values": values}
    yield from _messages(chats)
    outputs = result.outputs
    said = chat_of(outputs) or chat_of([outputs])
    if said:
        yield from _messages(said)
    elif outputs is not None:
        is_text = isinstance(outputs, str)
        text = outputs if is_text else json.dumps(outputs, ensure_ascii=False, default=str)
        yield _said("Output", text)


def _messages(messages: Iterable[Mapping[str, Any]]) -> Iterator[Item]:
    """Chat messages as they were said; calls of tools and their answers among them."""
    for message in messages:
        role, text = str(message.get("role", "")), text_of(message.get("content"))
        if role == "tool":
            name = message.get("name") or message.get("tool_call_id") or "tool"
            yield {"tool": f"{name} answered", "text": text, "kwargs": {}}
            continue
        if text or not message.get("tool_calls"):
            yield _said(_WHO.get(role, role.capitalize()), text)
        for call in cast("list[Any]", message.get("tool_calls") or []):
            yield _requested(call)


def _requested(call: Any) -> Item:
    """A call of a tool that a message asks for, whatever shape it has."""
    found = as_dict(as_dict(call).get("function"))
    given = decoded(found.get("arguments"))
    return {
        "tool": str(found.get("name", "tool")),
        "kwargs": given if isinstance(given, dict) else {"arguments": given},
        "text": None,
    }


def _scores(result: EvaluatedRow) -> Iterator[dict[str, Any]]:
    for alias, score in result.scores.items():
        points = "no score" if score.score is None else f"score {score.score:.3g}"
        compared = {"compared": score.compared, "against": score.against}
        yield {
            "good": score.passed,
            "name": alias,
            "note": f"{points}; {score.reason}" if score.reason else points,
            "values": {name: value for name, value in compared.items() if value is not None},
        }
