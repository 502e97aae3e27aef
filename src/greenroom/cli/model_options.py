"""Options about language models, spelt and explained once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Transport(StrEnum):
    """How models are reached."""

    auto = "auto"
    litellm = "litellm"


Model = Annotated[str | None, typer.Option("--model", help="The agent's model.")]
ModelProvider = Annotated[
    str | None,
    typer.Option("--model-provider", "--provider", help="Its provider, as litellm names it."),
]
ApiBase = Annotated[
    str | None,
    typer.Option("--api-base", help="An OpenAI-compatible server for the agent, with its /v1."),
]
UserModel = Annotated[str | None, typer.Option("--user-model", help="The simulated user's model.")]
UserModelProvider = Annotated[
    str | None, typer.Option("--user-model-provider", help="The provider of the user's model.")
]
UserApiBase = Annotated[
    str | None, typer.Option("--user-api-base", help="An OpenAI-compatible server for the user.")
]
UserStrategyName = Annotated[
    str | None,
    typer.Option(
        "--user-strategy",
        help="Who the agent talks to: llm, react, verify, reflection, human or scripted. "
        "By default llm with a user model, scripted without.",
    ),
]
Temperature = Annotated[
    float, typer.Option("--temperature", help="The sampling temperature of the agent's model.")
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", help="The most tokens that an answer may have.")
]
ReasoningEffort = Annotated[
    str | None, typer.Option("--reasoning-effort", help="low, medium or high, where it applies.")
]
TransportName = Annotated[
    Transport, typer.Option("--transport", help="litellm forces the way over litellm.")
]
ModelTimeout = Annotated[
    float, typer.Option("--model-timeout", help="Seconds to wait for an answer of a model.")
]
ModelRetries = Annotated[
    int, typer.Option("--model-retries", help="Further attempts at a call of a model.")
]
TauCompatible = Annotated[
    bool,
    typer.Option("--tau-compatible", help="Of several tool calls at once, run only the first."),
]
UseReasoning = Annotated[
    bool | None,
    typer.Option(
        "--use-reasoning/--no-use-reasoning",
        help="Let the act agent think aloud first (react); have the fastworkflow agent reason "
        "before plans and answers, which it does by default.",
    ),
]
PlannerModel = Annotated[
    str | None,
    typer.Option("--planner-model", help="A model of its own for the fastworkflow agent's plans."),
]
ExtractionModel = Annotated[
    str | None,
    typer.Option("--extraction-model", help="A model of its own that extracts parameters."),
]
Workflow = Annotated[
    str | None,
    typer.Option(
        "--workflow", help="The chat workflow that the workflow agent plays: URL or file.py:name."
    ),
]
WorkflowPath = Annotated[
    str | None,
    typer.Option("--workflow-path", help="The folder of the FastWorkflow workflow to evaluate."),
]
Bridge = Annotated[
    str | None,
    typer.Option(
        "--bridge",
        help="internal: FastWorkflow's commands step the environment; decision-only: they are "
        "planned first and stepped later, for debugging.",
    ),
]
FewShotPath = Annotated[
    str | None,
    typer.Option("--few-shot-displays-path", help="Example conversations, as JSON Lines."),
]
Cache = Annotated[
    bool, typer.Option("--cache/--no-cache", help="Keep answers of models, and use them again.")
]
ClearCache = Annotated[
    str,
    typer.Option("--clear-cache", help="Forget all kept answers first.", metavar="[true|false]"),
]
PricesFile = Annotated[
    str | None, typer.Option("--prices", help="A JSON file of prices that come before the known.")
]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", help="Stop, resumably, at so many US dollars.")
]
MaxTokensTotal = Annotated[
    int | None, typer.Option("--max-tokens-total", help="Stop, resumably, at so many tokens.")
]
