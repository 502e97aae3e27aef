"""Starting and reopening evaluations: everything is checked before anything is called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio.to_thread

from greenroom._version import __version__
from greenroom.analysis.evaluations import gate_names
from greenroom.analysis.gates import parse_gates
from greenroom.analysis.roles import EVALUATORS_COLUMN
from greenroom.errors import InputError
from greenroom.evaluation.config import EvaluationConfig, check_evaluation_config
from greenroom.evaluation.context import EvaluationContext, find_user
from greenroom.evaluation.evaluators import (
    EvaluatorSpec,
    ExpectingSettings,
    evaluator_names,
    load_kind,
    make_evaluators,
    parse_spec,
)
from greenroom.evaluation.recorded import MEASURES, RecordedTarget, open_recordings
from greenroom.evaluation.row_calls import BRIEF_COLUMNS, Form, RowPlan, plan_rows
from greenroom.evaluation.row_evaluators import row_evaluators
from greenroom.evaluation.test_sets import find_version, import_file
from greenroom.evaluation.test_sets.files import FORMATS
from greenroom.models import Prices
from greenroom.options import stored_settings
from greenroom.store import EvaluationRecord, Store, TestSetVersion
from greenroom.users import UserStrategy
from greenroom.util.imports import absolute_target
from greenroom.util.json_values import as_dict
from greenroom.workflows.call.addresses import is_address
from greenroom.workflows.call.as_completion import AsCompletion
from greenroom.workflows.call.opening import check_takes_messages, open_target
from greenroom.workflows.calls import Profile, Target

_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


async def start_evaluation(
    store: Store,
    config: EvaluationConfig,
    *,
    name: str | None = None,
    stem: str | None = None,
    target: Target | None = None,
) -> tuple[EvaluationRecord, EvaluationContext]:
    """Keep a new evaluation in the store, ready to be run. Nothing is kept if anything is amiss.

    Without a name, one is made of the `stem`, or of the workflow and the test set. A `target` that
    is open already is taken as the workflow, whatever its address.
    """
    specs, typed = _specs(config), config.workflow
    # Files are found again from wherever their owner stands then.
    config = config.model_copy(update={"workflow": absolute_target(config.workflow)})
    opened = await open_workflow(config) if target is None else target
    try:
        version = await anyio.to_thread.run_sync(find_test_set, store, config.test_set)
        config = config.model_copy(update={"test_set": str(version)})
        context = await _prepare(store, config, version, opened, specs)
        evaluators = [*await _kept_specs(specs), *context.own_evaluators]
        parse_gates(config.gates, gate_names(str(one["alias"]) for one in evaluators))
        profile = opened.profile
        stem = stem or _NOT_IN_NAMES.sub("-", f"{profile.name}-{version.name}").strip("-")
        evaluation = EvaluationRecord(
            id=uuid4().hex[:12],
            name=name or "",
            created_at=datetime.now(UTC),
            greenroom_version=__version__,
            config=context.config.model_dump(mode="json"),
            workflow=profile.address if is_address(typed) else typed,
            is_chat=context.rows.is_chat,
            test_set_id=version.test_set_id,
            test_set_name=version.name,
            test_set_version=version.version,
            evaluators=evaluators,
            row_count=context.row_count,
            repeats=config.repeats,
        )
        create = partial(store.evaluations.create, evaluation, stem=None if name else stem)
        evaluation = await anyio.to_thread.run_sync(create)
    except BaseException:
        await opened.close()
        raise
    return evaluation, context


async def reopen_evaluation(
    store: Store,
    name: str,
    changes: Mapping[str, Any] | None = None,
    *,
    target: Target | None = None,
) -> tuple[EvaluationRecord, EvaluationContext]:
    """An evaluation that was kept before, ready to go on.

    `changes` to its configuration hold for what is called from here on: a larger budget, say.
    """
    evaluation = store.evaluations.find(name)
    set_since = store.evaluations.controls.of(evaluation.id).config
    config = check_evaluation_config({**evaluation.config, **set_since, **(changes or {})})
    version = store.test_sets.find(evaluation.test_set_id, evaluation.test_set_version)
    opened = await open_workflow(config) if target is None else target
    try:
        specs = [parse_spec(one) for one in evaluation.evaluators if "rows" not in one]
        context = await _prepare(store, config, version, opened, specs)
        _check_same_kind(evaluation, context.rows)
    except BaseException:
        await opened.close()
        raise
    return evaluation, context


def find_test_set(store: Store, reference: str) -> TestSetVersion:
    """The version that NAME, NAME@VERSION or a file means; a file's rows are kept under its name.

    If the test set has these rows already, no new version is made.
    """
    path = Path(reference)
    if path.suffix.lower().removeprefix(".") in (*FORMATS, "ndjson"):
        return import_file(store, path)[0]
    if path.is_file():
        raise InputError(
            f"The name of {path} does not tell its format: let it end in .csv, .json or .jsonl, or "
            "import it by 'greenroom testset import --format'."
        )
    return find_version(store, reference)


async def open_workflow(config: EvaluationConfig) -> Target:
    """The workflow that a configuration names. Close it after use."""
    if config.outputs is not None:
        return RecordedTarget(Profile(name=config.workflow, is_chat=False))
    return await open_target(config.workflow, model=config.model, timeout=config.timeout)


async def _prepare(
    store: Store,
    config: EvaluationConfig,
    version: TestSetVersion,
    target: Target,
    specs: Sequence[EvaluatorSpec],
) -> EvaluationContext:
    columns = {column.name: column for column in version.columns}
    if not specs and EVALUATORS_COLUMN not in columns:
        raise InputError(
            "Say how outputs are scored: --evaluator exact_match, for one. There are: "
            f"{', '.join(evaluator_names())}."
        )
    user = None
    if config.user_options:
        user = find_user(config)
        config = _with_settings(config, user)
    others, recordings = _expected_columns(specs), None
    if config.outputs is not None:
        target, recordings = open_recordings(store, config, version, target.profile)
        others += [name for name in (config.outputs, *MEASURES) if name in columns]
    elif config.treat_as == "completion" and target.profile.is_chat:
        target = AsCompletion(target)
    if user is not None and user.columns is not None:
        takes = as_dict(as_dict(target.profile.schemas.inputs).get("properties"))
        used = user.columns(user.check(config.user_options)) - {*BRIEF_COLUMNS, *takes, *others}
        others += [name for name in columns if name in used and name != config.message]
    plan = plan_rows(
        target.profile,
        version.columns,
        _form(config, target),
        expected=config.expected,
        inputs=config.input_columns,
        others=others,
        message_column=config.message,
    )
    count = min(version.row_count, config.rows or version.row_count)
    context = EvaluationContext(config, target, version, plan, count, user, recordings)
    check = partial(_check_rows, context, store, specs)
    conversations, own = await anyio.to_thread.run_sync(check)
    if user is None and conversations and recordings is None:
        user = find_user(config)
        config = _with_settings(config, user)
    if user is not None and user.interactive:
        config = config.model_copy(update={"max_concurrency": 1})
    Prices.load(Path(config.prices) if config.prices else None)  # refused now, if it is broken
    return replace(context, config=config, user_strategy=user, own_evaluators=own)


def _with_settings(config: EvaluationConfig, user: UserStrategy) -> EvaluationConfig:
    settings = stored_settings(user.check(config.user_options))
    return config.model_copy(update={"user_options": settings})


def _check_same_kind(evaluation: EvaluationRecord, plan: RowPlan) -> None:
    if plan.is_chat != evaluation.is_chat:
        before, now = ("chat", "no longer") if evaluation.is_chat else ("completion", "now")
        raise InputError(
            f"The workflow of '{evaluation.name}' has changed: it was evaluated as {before}, and "
            f"{now} chats. Evaluate it anew."
        )


def _check_rows(
    context: EvaluationContext, store: Store, specs: Sequence[EvaluatorSpec]
) -> tuple[bool, list[dict[str, Any]]]:
    """Look at every row before the first one is paid for.

    Whether any is a conversation, and the evaluators that only rows name.
    """
    conversations, own = False, dict[str, dict[str, Any]]()
    need_goals = [spec.alias for spec in specs if load_kind(spec.name).needs_goals(spec.settings)]
    names = {spec.alias: spec.name for spec in specs}
    in_column = context.config.outputs in [column.name for column in context.version.columns]
    for position, row in enumerate(store.test_sets.rows(context.version, limit=context.row_count)):
        talks = context.rows.call(row, position).brief is not None
        conversations |= talks
        if talks:
            context.check_user(row, position)
        if need_goals and not context.goals_of(row):
            raise InputError(
                f"Row {position + 1}: nothing tells {need_goals[0]} when the goal is reached. Name "
                "a judge by --judge-model, or give the user a script with goals for this row, by "
                "--user-option script=FILE."
            )
        if in_column and context.recordings is not None:
            context.recordings(row, (position, 0))
        found = row_evaluators(row, position, context.rows.roles)
        if not found and not specs:
            raise InputError(
                f"Row {position + 1} has no evaluator: fill its column {EVALUATORS_COLUMN}, or "
                "give one for all rows by --evaluator."
            )
        for one in found:
            if names.setdefault(one.alias, one.name) != one.name:
                raise InputError(
                    f"Row {position + 1}: '{one.alias}' is {one.name} here and "
                    f"{names[one.alias]} elsewhere. Give it another name, such as "
                    f"my_{one.name}={one.name}."
                )
            if one.alias not in [spec.alias for spec in specs]:
                new = EvaluatorSpec(one.name, one.alias).as_dict() | {"rows": 0}
                own.setdefault(one.alias, new)["rows"] += 1
    return conversations, list(own.values())


def _form(config: EvaluationConfig, target: Target) -> Form:
    profile = target.profile
    if isinstance(target, RecordedTarget):
        return "recorded"
    if isinstance(target, AsCompletion):
        return "one message"
    if config.treat_as == "chat" and not profile.is_chat:
        check_takes_messages(profile)
        return "chat"
    return "chat" if profile.is_chat else "plain"


def _specs(config: EvaluationConfig) -> list[EvaluatorSpec]:
    """The evaluators as they were written."""
    return [_with_model(parse_spec(one), config) for one in config.evaluators]


def _expected_columns(specs: Sequence[EvaluatorSpec]) -> list[str]:
    """The columns that single evaluators compare with."""
    return [
        str(spec.settings["expected"])
        for spec in specs
        if spec.settings.get("expected")
        and issubclass(load_kind(spec.name).settings, ExpectingSettings)
    ]


def _with_model(spec: EvaluatorSpec, config: EvaluationConfig) -> EvaluatorSpec:
    """An evaluator that asks a model, and names none, asks the judges' model."""
    takes = load_kind(spec.name).settings.model_fields
    if config.judge_model is None or "model" not in takes or "model" in spec.settings:
        return spec
    judge = {
        "model": config.judge_model,
        "provider": config.judge_model_provider,
        "api_base": config.judge_api_base,
    }
    given = {name: value for name, value in judge.items() if value is not None}
    return EvaluatorSpec(spec.name, spec.alias, {**given, **spec.settings})


async def _kept_specs(specs: list[EvaluatorSpec]) -> list[dict[str, Any]]:
    """The evaluators as they are kept: complete, whatever becomes of the files they name."""
    evaluators = make_evaluators(specs)
    kept = [evaluator.spec for evaluator in evaluators]
    for evaluator in evaluators:
        await evaluator.close()
    return kept
