"""What is known of a judge, beside the figures that rest on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from greenroom.analysis.figures import Estimate
from greenroom.analysis.judge_checks import (
    FEWEST_CASES,
    MIN_AGREEMENT,
    JudgeCheck,
    JudgeFigures,
    Verdict,
    evaluator_prompt,
    judge_key,
    measure_check,
)
from greenroom.config import JudgeConfig
from greenroom.reports.texts import date_text, plural
from greenroom.store import (
    EvaluationRecord,
    JudgingRecord,
    RegradingRecord,
    RunRecord,
    Store,
    Usage,
)
from greenroom.util.json_values import as_dict, as_list

ALIAS: Final = "agreement"
"""What the evaluator of a check is called."""
CASE: Final = "case"
"""The column with the cases of a check."""
JUDGING_EVALUATORS: Final = ("llm_judge", "goal_reached")
"""Evaluators whose score is a model's opinion."""


def measured(store: Store, evaluation: EvaluationRecord) -> JudgeFigures:
    """The figures of a check, from its results."""
    verdicts: list[Verdict] = []
    people: dict[str, list[str]] = {}
    usages: list[Usage] = []
    problems: list[str] = []
    for result in store.evaluations.results(evaluation.id):
        usages += [used for purse, used in result.usage.items() if purse == "judge"]
        case = as_dict(result.outputs)
        if not case or ALIAS not in result.scores:
            continue
        said = as_list(result.scores[ALIAS].compared)
        problems += [result.scores[ALIAS].reason] if result.scores[ALIAS].score is None else []
        number, variant = str(case["number"]), case["variant"]
        for place, label in enumerate(as_list(case["labels"])):
            people[f"{number}/{place}"] = list(as_list(as_list(case["people"])[place]))
            answer = said[place] if place < len(said) else None
            verdicts.append(Verdict(number, variant, result.repeat, label, answer, place))
    settings: Mapping[str, Any] = evaluation.evaluators[0]["settings"]
    undecided = [
        labels for count, *labels in settings.get("undecided", ()) for _ in range(int(count))
    ]
    return measure_check(
        verdicts,
        people=people,
        undecided=undecided,
        unlabelled=settings.get("unlabelled", 0),
        usage=Usage.total(usages),
        problems=problems,
    )


def check_of(store: Store, evaluation: EvaluationRecord) -> JudgeCheck:
    """A stored check with its figures."""
    settings: Mapping[str, Any] = evaluation.evaluators[0]["settings"]
    kept = evaluation.judge_check
    figures = measured(store, evaluation) if kept is None else JudgeFigures.model_validate(kept)
    provider = settings.get("provider")
    model = f"{provider}/{settings['model']}" if provider else settings["model"]
    return JudgeCheck(
        name=evaluation.name,
        judge=f"{settings['judge']}, {model}",
        checked_at=evaluation.created_at,
        figures=figures,
        min_agreement=settings.get("min_agreement", MIN_AGREEMENT),
        builtin_cases=settings.get("builtin", False),
    )


def latest_check(store: Store, key: str) -> JudgeCheck | None:
    """The latest check of a judge that is over; None if nobody has checked it."""
    for standing in store.evaluations.pages.jobs(text=key):
        found = standing.job
        if found.workflow == key and is_over(found):
            check = check_of(store, found)
            if check.figures.verdicts:  # a judge that was out of order says nothing of itself
                return check
    return None


def is_check(evaluation: EvaluationRecord) -> bool:
    """Whether an evaluation is the check of a judge."""
    return any(one.get("alias") == ALIAS for one in evaluation.evaluators) and (
        evaluation.workflow.startswith("judge-")
    )


def is_over(evaluation: EvaluationRecord) -> bool:
    """Whether an evaluation is a check with all of its verdicts."""
    done = evaluation.judge_check is not None or evaluation.status == "complete"
    return done and is_check(evaluation)


def check_of_sentences(store: Store, job: RunRecord | RegradingRecord) -> JudgeCheck | None:
    """The check of the judge that decides about sentences of tasks."""
    return _of_config(store, "statements", job.config, job.judge_prompt)


def check_of_judging(store: Store, judging: JudgingRecord) -> JudgeCheck | None:
    """The check of the judge that says who was at fault."""
    return _of_config(store, "identify", judging.config, judging.judge_prompt)


def checks_of_evaluators(
    store: Store, evaluation: EvaluationRecord
) -> dict[str, JudgeCheck | None]:
    """The checks of an evaluation's judges by their aliases; None for one that has none."""
    found: dict[str, JudgeCheck | None] = {}
    for spec in evaluation.evaluators:
        settings: Mapping[str, Any] = spec.get("settings") or {}
        name = str(spec["name"])
        if not settings.get("model") or is_check(evaluation):
            continue
        prompt = evaluator_prompt(name, settings)
        key = judge_key(name, str(settings["model"]), settings.get("provider"), prompt)
        check = latest_check(store, key)
        if check is not None or name in JUDGING_EVALUATORS:
            found[str(spec["alias"])] = check
    return found


def evaluator_notes(store: Store, evaluations: Sequence[EvaluationRecord]) -> Iterator[str]:
    """How far the judges behind the scores can be trusted; once where it is the same in all."""
    told: dict[str, dict[str, str]] = {}
    for one in evaluations:
        for alias, check in checks_of_evaluators(store, one).items():
            told.setdefault(alias, {})[one.name] = short_words(check)
    for alias, words in told.items():
        if len({*words.values()}) == 1:
            yield f"{alias}: {next(iter(words.values()))}."
        else:
            yield from (f"{alias} of {name}: {said}." for name, said in words.items())


def _of_config(
    store: Store, kind: str, config: Mapping[str, Any], prompt: str
) -> JudgeCheck | None:
    judge = JudgeConfig.model_validate(
        {name: config.get(name) for name in JudgeConfig.model_fields}
    )
    if not judge.judge_model:
        return None
    return latest_check(
        store, judge_key(kind, judge.judge_model, judge.judge_model_provider, prompt)
    )


def check_words(check: JudgeCheck | None, hint: str) -> Iterator[str]:
    """What is known of a judge in sentences; `hint` names the judge where nothing is."""
    if check is None:
        yield f"Nobody has checked this judge against people: greenroom judges check {hint}"
        return
    found = check.figures
    yield (
        f"The judge's agreement with people: {in_words(found.agreement)} on "
        f"{plural(found.cases, 'case')}, kappa {in_words(found.kappa)}, checked on "
        f"{date_text(check.checked_at)} ({check.name})."
    )
    yield from check_notes(check)


def check_notes(check: JudgeCheck) -> Iterator[str]:
    """What has to be known of a check, and whether the judge is marked."""
    if check.builtin_cases:
        yield (
            "These cases are Greenroom's own few: they show whether a judge works at all. Label "
            "cases of your own, and give them by --cases."
        )
    elif 0 < check.figures.cases < FEWEST_CASES:
        yield f"{plural(check.figures.cases, 'case')} are few: {FEWEST_CASES} tell more."
    left_out = {
        "people do not agree about what is right": check.figures.undecided,
        "nobody has labelled them": check.figures.unlabelled,
    }
    for reason, number in left_out.items():
        if number:
            yield f"Left out: {plural(number, 'case')}, as {reason}."
    if check.flaws:
        yield f"Marked: this judge {' and '.join(check.flaws)}. What rests on it is doubtful."


def short_words(check: JudgeCheck | None) -> str:
    """The same in a few words, beside a figure."""
    if check is None:
        return "judge not checked"
    found, mark = check.figures, f", marked: {', '.join(check.flaws)}" if check.flaws else ""
    agreed = f"{found.agreement.value:.2f}"
    return f"agreement with people {agreed} on {plural(found.cases, 'case')}{mark}"


def in_words(figure: Estimate) -> str:
    """A share with its interval."""
    if figure.value != figure.value:
        return "unknown"
    if figure.low != figure.low:
        return f"{figure.value:.2f}"
    return f"{figure.value:.2f} ({figure.low:.2f} to {figure.high:.2f})"


__all__ = [
    "ALIAS",
    "CASE",
    "check_notes",
    "check_of",
    "check_of_judging",
    "check_of_sentences",
    "check_words",
    "checks_of_evaluators",
    "evaluator_notes",
    "in_words",
    "is_check",
    "is_over",
    "latest_check",
    "measured",
    "short_words",
]
