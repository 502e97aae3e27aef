"""`greenroom run` and `greenroom resume`: an agent plays tasks, and this is how well."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from greenroom.cli import model_options as models
from greenroom.cli.options import (
    AgentOptions,
    Data,
    EndIndex,
    Env,
    Json,
    ListOptionsCommand,
    Run,
    Shuffle,
    Split,
    StartIndex,
    TaskIds,
    parse_agent_options,
    parse_task_ids,
)
from greenroom.cli.playing import play_and_report


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(cls=ListOptionsCommand)(run)
    app.command()(resume)


def run(
    agent_strategy: Annotated[
        str | None,
        typer.Option(
            "--agent-strategy",
            help="Who plays: 'greenroom agents list' shows them all. By default tool-calling with "
            "a model (structured with a local one), oracle without.",
        ),
    ] = None,
    agent_option: AgentOptions = None,
    env: Env = "retail",
    data: Data = None,
    task_split: Split = "test",
    task_ids: TaskIds = None,
    start_index: StartIndex = 0,
    end_index: EndIndex = -1,
    shuffle: Shuffle = 0,
    num_trials: Annotated[int, typer.Option("--num-trials", help="Trials of each task.")] = 1,
    max_concurrency: Annotated[
        int, typer.Option("--max-concurrency", help="Episodes played at the same time.")
    ] = 10,
    max_num_steps: Annotated[
        int, typer.Option("--max-num-steps", help="Steps that an episode may take.")
    ] = 30,
    max_episode_seconds: Annotated[
        float | None, typer.Option("--max-episode-seconds", help="Time that an episode may take.")
    ] = None,
    max_retries: Annotated[
        int, typer.Option("--max-retries", help="Further attempts where something else breaks.")
    ] = 2,
    seed: Annotated[int, typer.Option("--seed", help="What chance depends on.")] = 10,
    model: models.Model = None,
    model_provider: models.ModelProvider = None,
    api_base: models.ApiBase = None,
    user_model: models.UserModel = None,
    user_model_provider: models.UserModelProvider = None,
    user_api_base: models.UserApiBase = None,
    user_strategy: models.UserStrategyName = None,
    temperature: models.Temperature = 0.0,
    max_tokens: models.MaxTokens = None,
    reasoning_effort: models.ReasoningEffort = None,
    transport: models.TransportName = models.Transport.auto,
    model_timeout: models.ModelTimeout = 120.0,
    model_retries: models.ModelRetries = 3,
    tau_compatible: models.TauCompatible = False,
    use_reasoning: models.UseReasoning = None,
    planner_model: models.PlannerModel = None,
    extraction_model: models.ExtractionModel = None,
    workflow: models.Workflow = None,
    workflow_path: models.WorkflowPath = None,
    bridge: models.Bridge = None,
    few_shot_displays_path: models.FewShotPath = None,
    cache: models.Cache = False,
    clear_cache: models.ClearCache = "false",
    prices: models.PricesFile = None,
    max_cost: models.MaxCost = None,
    max_tokens_total: models.MaxTokensTotal = None,
    name: Annotated[
        str | None, typer.Option("--name", help="A name for the run; one is made up otherwise.")
    ] = None,
    json: Json = False,
) -> None:
    """Let an agent play tasks and report how many it solves, and how reliably."""
    from greenroom.benchmark import check_config, start_run
    from greenroom.models import clear_answers
    from greenroom.store import open_store

    if agent_strategy is None and workflow is not None:
        agent_strategy = "workflow"
    strategy = _strategy(agent_strategy, model, use_reasoning=bool(use_reasoning))
    flags = {
        "tau_compatible": "1" if tau_compatible else None,
        "few_shot_displays_path": few_shot_displays_path,
        "planner_model": planner_model,
        "extraction_model": extraction_model,
        "workflow": workflow,
        "workflow_path": workflow_path,
        "bridge": bridge,
        "reasoning": _reasoning(strategy, use_reasoning),
    }
    options = {name: value for name, value in flags.items() if value is not None}
    options |= parse_agent_options(agent_option or [])
    fields: dict[str, Any] = {
        "agent_strategy": strategy,
        "agent_options": options,
        "env": env,
        "data": data,
        "task_split": task_split,
        "task_ids": parse_task_ids(task_ids),
        "start_index": start_index,
        "end_index": end_index,
        "shuffle": bool(shuffle),
        "num_trials": num_trials,
        "max_concurrency": max_concurrency,
        "max_num_steps": max_num_steps,
        "max_episode_seconds": max_episode_seconds,
        "max_retries": max_retries,
        "seed": seed,
        "model": model,
        "model_provider": model_provider,
        "api_base": api_base,
        "user_model": user_model,
        "user_model_provider": user_model_provider,
        "user_api_base": user_api_base,
        "user_strategy": user_strategy or ("llm" if user_model else "scripted"),
        "temperature": temperature,
        "max_tokens": max_tokens,
        "reasoning_effort": reasoning_effort,
        "transport": transport.value,
        "model_timeout": model_timeout,
        "model_retries": model_retries,
        "cache": cache,
        "prices": prices,
        "max_cost": max_cost,
        "max_tokens_total": max_tokens_total,
    }
    config = check_config(fields)
    if clear_cache == "true":
        clear_answers()
    store = open_store()
    record, prepared = start_run(store, config, name=name)
    play_and_report(store, record, prepared, json=json)


def resume(
    run: Run,
    max_cost: models.MaxCost = None,
    max_tokens_total: models.MaxTokensTotal = None,
    json: Json = False,
) -> None:
    """Go on with a run that was interrupted: only what has no result yet is played."""
    from greenroom.benchmark import reopen_run
    from greenroom.store import open_store

    store = open_store()
    limits = {"max_cost": max_cost, "max_tokens_total": max_tokens_total}
    record, prepared = reopen_run(
        store, run, {name: value for name, value in limits.items() if value is not None}
    )
    play_and_report(store, record, prepared, json=json)


def _reasoning(strategy: str, use_reasoning: bool | None) -> str | None:
    # To other agents the flag says which of them it is.
    if strategy != "fastworkflow" or use_reasoning is None:
        return None
    return "1" if use_reasoning else "0"


def _strategy(named: str | None, model: str | None, *, use_reasoning: bool) -> str:
    if named is None:
        if model is None:
            return "oracle"
        return "structured" if model.startswith("local/") else "tool-calling"
    return "react" if use_reasoning and named == "act" else named
