"""What a page asks for when it starts an evaluation, and what it may ask for.

A page names evaluators that are installed, test sets of the store and workflows of the playground.
Whatever reads files of this machine or its environment is left to the command line.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Container
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from greenroom.errors import InputError, UnknownName
from greenroom.evaluation import (
    EvaluationConfig,
    check_evaluation_config,
    evaluator_names,
    find_version,
    load_kind,
    open_workflow,
)
from greenroom.options import Settings
from greenroom.playground.evaluation_jobs import OpenTarget
from greenroom.playground.state import Playground
from greenroom.playground.targets import opener_of
from greenroom.store import Store
from greenroom.util.hosts import is_off_limits, names_metadata
from greenroom.util.json_values import as_dict, as_list
from greenroom.workflows.call.addresses import is_address
from greenroom.workflows.call.opening import open_target

OPTIONS = (
    "rows",
    "repeats",
    "treat_as",
    "message",
    "expected",
    "input_columns",
    "parameters",
    "model",
    "gates",
    "strict",
    "judge_model",
    "judge_model_provider",
    "judge_api_base",
    "user_model",
    "user_model_provider",
    "user_persona",
    "user_api_base",
    "max_turns",
    "max_concurrency",
    "max_retries",
    "timeout",
    "model_timeout",
    "model_retries",
    "max_cost",
    "max_tokens_total",
    "seed",
    "cache",
)
"""The options of an evaluation that pages have; `EvaluationConfig` explains them."""

_ONLY_IN_A_TERMINAL = ("prompt_file", "token_variable")
"""Settings of evaluators that name a file or a variable of this machine."""
_PATHS = ("path", "file-path", "directory-path")
_ADDRESSES = ("api_base", "url")
_LONGEST = 2000


def _schema_of(model: type[BaseModel], names: Container[str]) -> dict[str, Any]:
    whole = model.model_json_schema()
    properties = {
        name: _without_null(one) for name, one in whole["properties"].items() if name in names
    }
    required = [name for name in whole.get("required", ()) if name in properties]
    found: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        found["required"] = required
    return found | ({"$defs": whole["$defs"]} if "$defs" in whole else {})


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A setting that may be left out is one that is not filled in."""
    rest = dict(schema)
    if rest.get("default", 0) in (None, ""):
        del rest["default"]
    choices = [one for one in as_list(schema.get("anyOf")) if one != {"type": "null"}]
    if len(choices) != 1:
        return rest
    del rest["anyOf"]
    return {**as_dict(choices[0]), **rest}


OPTIONS_SCHEMA = _schema_of(EvaluationConfig, OPTIONS)
"""The options as a JSON schema."""


class _Request(BaseModel):
    """A body that a page sends: a field that nobody knows is a mistake."""

    model_config = ConfigDict(extra="forbid")


class EvaluatorChoice(_Request):
    """An evaluator with its settings."""

    name: str = Field(max_length=_LONGEST)
    alias: str | None = Field(default=None, max_length=200)
    """What its scores are called; by default its name."""
    settings: dict[str, Any] = Field(default_factory=dict[str, Any])


class EvaluationRequest(_Request):
    """An evaluation that is to be started."""

    workflow: str = Field(max_length=_LONGEST)
    """The address of one of the playground's workflows."""
    test_set: str = Field(max_length=_LONGEST)
    """NAME for the latest version, or NAME@VERSION."""
    evaluators: list[EvaluatorChoice] = Field(max_length=100)
    name: str | None = Field(default=None, max_length=200)
    """A name for the evaluation; one is made up otherwise."""
    options: dict[str, Any] = Field(
        default_factory=dict[str, Any],
        description="What differs from the defaults; `GET /evaluators` has its JSON schema.",
    )


class EvaluatorInfo(BaseModel):
    """An installed evaluator."""

    name: str
    summary: str
    """What it checks, in a line."""
    settings: dict[str, Any]
    """Its settings as a JSON schema."""


def evaluator_info(name: str) -> EvaluatorInfo:
    """What is known of an installed evaluator."""
    kind = load_kind(name)
    return EvaluatorInfo(
        name=name,
        summary=kind.summary,
        settings=_schema_of(kind.settings, _settings_of_pages(kind.settings)),
    )


def _settings_of_pages(settings: type[Settings]) -> dict[str, Any]:
    properties = settings.model_json_schema().get("properties", {})
    return {
        name: one
        for name, one in properties.items()
        if name not in _ONLY_IN_A_TERMINAL and _without_null(one).get("format") not in _PATHS
    }


def config_of(store: Store, wanted: EvaluationRequest, workflow: str) -> EvaluationConfig:
    """The configuration that a page asks for; an InputError says what it may not ask for."""
    for name in wanted.options:
        if name not in OPTIONS:
            raise UnknownName("option", name, OPTIONS)
    for choice in wanted.evaluators:
        _check_evaluator(choice)
    for name, value in wanted.options.items():
        _check_address(name, value)
    version = find_version(store, wanted.test_set)
    given = {name: value for name, value in wanted.options.items() if value is not None}
    return check_evaluation_config(
        {
            **given,
            "workflow": workflow,
            "test_set": str(version),
            "evaluators": [one.model_dump(exclude_none=True) for one in wanted.evaluators],
        }
    )


def _check_evaluator(choice: EvaluatorChoice) -> None:
    if choice.name not in evaluator_names():
        raise UnknownName("evaluator", choice.name, evaluator_names())
    settings = load_kind(choice.name).settings
    allowed = _settings_of_pages(settings)
    for name, value in choice.settings.items():
        if name in settings.model_fields and name not in allowed:
            raise InputError(
                f"{choice.name}: {name} can only be given at the command line, by 'greenroom eval'."
            )
        _check_address(name, value)


def _check_address(name: str, value: Any) -> None:
    """Refuse addresses that give a machine its credentials."""
    if not name.endswith(_ADDRESSES) or not isinstance(value, str):
        return
    host = urlsplit(value).hostname or ""
    try:
        found = {str(one[4][0]) for one in socket.getaddrinfo(host, None)} if host else set[str]()
    except OSError:
        found = set[str]()  # who calls it is told that it cannot be reached
    if names_metadata(host) or any(map(is_off_limits, found)):
        raise InputError(
            f"{name}: {host} cannot be used: link-local addresses and metadata services are off "
            "limits for addresses of pages."
        )


_FLAG = re.compile(r"--([a-z][a-z-]+)")


def in_page_words(error: InputError) -> InputError:
    """An error about options, which a page calls by their names and not by their flags."""
    text = _FLAG.sub(lambda found: found[1].replace("-", " "), str(error))
    return error if text == str(error) else InputError(f"{text[:1].upper()}{text[1:]}")


async def workflow_of(playground: Playground, address: str) -> str:
    """The address of one of the playground's workflows, as it is kept."""
    if opener_of(address) is not None:
        raise InputError(
            f"'{address}' is an agent of the benchmark: 'greenroom run' measures it on tasks."
        )
    return await playground.workflows.check(address)


def target_of(playground: Playground, config: EvaluationConfig) -> OpenTarget:
    """Opens the workflow of an evaluation."""
    address = config.workflow
    if config.outputs is not None:
        return partial(open_workflow, config)  # they were recorded, and nothing is called
    guarded = is_address(address) and not playground.workflows.named_at_start(address)
    return partial(
        open_target, address, model=config.model, timeout=config.timeout, guarded=guarded
    )
