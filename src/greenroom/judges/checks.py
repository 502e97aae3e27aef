"""Checks of judges: an evaluation of labelled cases, and the figures that come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread

from greenroom.analysis.judge_checks import Variant, evaluator_prompt, judge_key
from greenroom.errors import InputError
from greenroom.evaluation import EvaluationConfig, start_evaluation
from greenroom.evaluation.context import EvaluationContext
from greenroom.evaluation.evaluators import (
    evaluator_names,
    load_kind,
    make_evaluators,
    parse_spec,
)
from greenroom.evaluation.test_sets import find_version, read_rows
from greenroom.evaluation.test_sets.files import FORMATS
from greenroom.judges.cases import LabelledCase, builtin_cases, read_labelled
from greenroom.judges.config import CheckConfig
from greenroom.judges.kinds import JudgeKind, find_judge
from greenroom.judges.labelled import KIND, turned_evaluator
from greenroom.reports.judge_checks import ALIAS, CASE, measured
from greenroom.store import EvaluationRecord, Store

_WORK = ("instrument", "cases", "swap", "min_agreement", "judge_model")


async def start_check(
    store: Store, config: CheckConfig, *, name: str | None = None
) -> tuple[EvaluationRecord, EvaluationContext]:
    """Keep a new check in the store, ready to be run as the evaluation that it is."""
    settings = await _settings(config)
    kind, evaluator = find_judge(settings["judge"], evaluator_names()), settings.get("evaluator")
    rows = await anyio.to_thread.run_sync(_rows, store, config, kind, str(settings["judge"]))
    if config.swap is not None and kind is not None:
        raise InputError("--swap is for evaluators that compare two answers.")
    cases, undecided, unlabelled = read_labelled(rows, kind)
    often = Counter(tuple(sorted(labels)) for labels in undecided)
    settings["undecided"] = [[count, *labels] for labels, count in often.items()]
    settings["unlabelled"] = unlabelled
    for column in config.swapped or ():
        if any(column not in one.material for one in cases):
            raise InputError(f"--swap names the column {column}, which not every case has.")
    variants: list[Variant] = ["plain", "length"]
    turns = kind is not None or config.swap is not None
    if turns or (evaluator is not None and turned_evaluator(evaluator) is not None):
        variants.insert(1, "order")
    key = judge_key(
        settings["judge"], settings["model"], settings.get("provider"), settings["prompt"]
    )
    saved = await anyio.to_thread.run_sync(
        store.test_sets.save, f"{Path(settings['judge']).stem}-cases", _shown(cases, variants)
    )
    work = config.model_dump(exclude={*_WORK})
    evaluation = EvaluationConfig.model_validate(
        {
            **work,
            "workflow": key,
            "test_set": str(saved[0]),
            "outputs": CASE,
            "evaluators": [{"name": KIND, "alias": ALIAS, "settings": settings}],
        }
    )
    stem = f"{Path(settings['judge']).stem}-check"
    return await start_evaluation(store, evaluation, name=name, stem=stem)


def finish_check(store: Store, evaluation: EvaluationRecord) -> EvaluationRecord:
    """Keep the figures of a check that is over with it, where reports find them."""
    figures = measured(store, evaluation)
    done = store.evaluations.find(evaluation.id)
    kept = done.model_copy(update={"judge_check": figures.model_dump(mode="json")})
    store.evaluations.update(kept)
    return kept


async def _settings(config: CheckConfig) -> dict[str, Any]:
    """The settings of the evaluator behind the check: all that says which judge it is."""
    spec = parse_spec(config.instrument)
    kind = find_judge(spec.name, evaluator_names())
    given: dict[str, Any] = {
        "judge": spec.alias if kind is None else kind.name,
        "model": config.judge_model,
        "provider": config.judge_model_provider,
        "api_base": config.judge_api_base,
        "min_agreement": config.min_agreement,
        "swap": config.swapped,
        "builtin": config.cases is None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if kind is not None:
        if spec.settings:
            raise InputError(f"{kind.name} has no settings: it is asked as it is.")
        if config.judge_model is None:
            raise InputError("Name the model that judges: --judge-model MODEL.")
        return {**given, "prompt": kind.prompt()}
    if "model" not in load_kind(spec.name).settings.model_fields:
        raise InputError(f"{spec.name} asks no model: only judges are checked.")
    asked = {name: given[name] for name in ("model", "provider", "api_base") if name in given}
    named = {**spec.as_dict(), "settings": {**asked, **spec.settings}}
    (made,) = make_evaluators([named])
    complete = made.spec
    await made.close()
    own: dict[str, Any] = complete["settings"]
    return {
        **given,
        **{name: own[name] for name in ("model", "provider", "api_base") if own.get(name)},
        "judge": spec.name,
        "evaluator": complete,
        "prompt": evaluator_prompt(spec.name, own),
    }


def _rows(
    store: Store, config: CheckConfig, kind: JudgeKind | None, judge: str
) -> Sequence[dict[str, Any]]:
    if config.cases is None:
        found = builtin_cases(kind.name if kind is not None else judge)
        if not found:
            raise InputError(
                f"Greenroom has no cases of its own for {judge}: give labelled cases by --cases."
            )
        return found
    path = Path(config.cases)
    if path.suffix.lower().removeprefix(".") in (*FORMATS, "ndjson"):
        return list(read_rows(path))
    version = find_version(store, config.cases)
    return [dict(row) for row in store.test_sets.rows(version)]


def _shown(cases: Sequence[LabelledCase], variants: Sequence[Variant]) -> list[dict[str, Any]]:
    """The rows of the check's test set: each case in each way of showing it."""
    return [
        {
            "variant": variant,
            CASE: {
                "number": number,
                "name": one.name,
                "variant": variant,
                "labels": list(one.labels),
                "people": [list(labels) for labels in one.people],
                "material": dict(one.material),
            },
        }
        for variant in variants
        for number, one in enumerate(cases)
    ]


__all__ = ["finish_check", "start_check"]
