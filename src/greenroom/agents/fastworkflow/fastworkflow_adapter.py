"""The fastworkflow agent: a FastWorkflow session drives the episode and steps from within.

The session runs in a worker process, which resolves commands and asks this module for a model's
answer or a step of the environment. So budget, limits and environment are the same as for every
other agent. FastWorkflow's answers and questions go to the user.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal
from uuid import uuid4

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from greenroom.agents.fastworkflow.binding import NOT_UNDERSTOOD
from greenroom.agents.fastworkflow.commands import first_word
from greenroom.agents.fastworkflow.fastworkflow_tool_map import ToolMap
from greenroom.agents.fastworkflow.folders import find_workflow, installed_version
from greenroom.agents.fastworkflow.workers import Worker, Workers, prepare_workers
from greenroom.agents.strategies import AgentContext, AgentStrategy, DomainView, Stage
from greenroom.domains.tasks import RESPOND, Action, respond
from greenroom.errors import InputError
from greenroom.models import ContextWindowExceeded, ModelRequest, Tokens
from greenroom.models.purses import Spending
from greenroom.options import ModelRole, Settings
from greenroom.util.characters import writable

log = logging.getLogger("greenroom.fastworkflow")


class FastWorkflowSettings(Settings):
    """The settings of the fastworkflow agent."""

    former_names: ClassVar[Mapping[str, str]] = {"reasoning": "use_reasoning"}

    workflow_path: Path | None = Field(
        default=None,
        description="The folder of your own workflow (default: FastWorkflow's own for retail, one "
        "made from the domain's tools otherwise).",
    )
    bridge: Literal["internal", "decision-only"] = Field(
        default="internal",
        description="internal: commands step the environment; decision-only: they are planned, "
        "and stepped when the turn has ended, for debugging.",
    )
    tool_map: Path | None = Field(
        default=None,
        description="A JSON file with the command for each tool whose command has another name.",
    )
    planner_model: Annotated[str | None, ModelRole("planner")] = Field(
        default=None, description="The model that plans and sums up (default: the agent's)."
    )
    extraction_model: Annotated[str | None, ModelRole("extraction")] = Field(
        default=None, description="The model that extracts parameters (default: the agent's)."
    )
    use_reasoning: bool = Field(default=True, description="Reason before plans and answers.")
    partial: bool = Field(
        default=False, description="Play with a workflow that has no command for some of the tools."
    )
    intent_models: bool = Field(
        default=True, description="Use trained intent models where there are some."
    )


_FLOATS: Final = "250 becomes 250.0, which is another value where the ground truth has 250"
_UNTRAINED: Final = "none: only exact command names are understood"
_ADVICE: Final = ("Provide corrected", "Enter 'abort'", "Check your command name")
"""Beginnings of the lines in which FastWorkflow says what to do about a refused command."""
_LONGEST_REASON: Final = 120
_RESOLUTIONS: Final = ("exact", "close name", "intent model", "parameter extraction", "failed")


@dataclass
class TurnMetrics:
    """The steps of a turn as callbacks report them, and what its model calls took."""

    steps: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    spent: Spending = field(default_factory=Spending)


@dataclass
class Production:
    """The shared state of a run's fastworkflow agents."""

    workers: Workers
    tool_infos: list[dict[str, Any]]
    tool_map: dict[str, str]
    max_steps: int
    facts: dict[str, str] = field(default_factory=dict[str, str])


async def open_production(
    domain: DomainView, settings: FastWorkflowSettings, max_steps: int
) -> Production:
    """Load FastWorkflow and check that the workflow has a command for every tool."""
    from greenroom.agents.fastworkflow.training import find_artifacts

    version = installed_version()
    workflow = find_workflow(domain.name, settings.workflow_path, domain.tool_infos)
    tool_map = _tool_map(settings.tool_map)
    checked = ToolMap(domain.tool_infos, tool_map)
    artifacts = find_artifacts(workflow) if settings.intent_models else None
    workers = prepare_workers(workflow, artifacts)
    try:
        await workers.load()
        if not settings.partial:
            checked.check(workers.commands, workflow.name)
    except BaseException:
        workers.close()
        raise
    facts = {
        "FastWorkflow": version,
        "workflow": workflow.name,
        "bridge": settings.bridge,
        "intent models": "trained" if workers.trained else _UNTRAINED,
    }
    floats = [one for one in workers.floats if checked.has_command(one.partition(".")[0])]
    if floats:
        facts["float parameters"] = f"{', '.join(floats)}: {_FLOATS}"
        log.warning(
            "The workflow %s has float parameters. %s", workflow.name, facts["float parameters"]
        )
    return Production(workers, domain.tool_infos, tool_map, max_steps, facts)


@asynccontextmanager
async def prepare(
    domain: DomainView, settings: FastWorkflowSettings, max_steps: int
) -> AsyncGenerator[Production]:
    """The shared state while the block runs."""
    production = await open_production(domain, settings, max_steps)
    with closing(production.workers):
        yield production


class FastWorkflowAgent:
    """Plays an episode through a FastWorkflow session."""

    def __init__(self, context: AgentContext) -> None:
        assert context.model is not None, "a strategy that needs a model was made without one"
        assert isinstance(context.shared, Production), "the strategy was not prepared"
        self.messages: list[dict[str, Any]] = []
        self.facts = context.shared.facts
        self._production = context.shared
        self._models = {"agent": context.model, **context.role_models}
        self._settings: FastWorkflowSettings = context.settings
        self._session = f"{context.task_index}-{context.trial}-{uuid4().hex[:8]}"
        self._resolved: Mapping[str, int] = {}
        self.turns: list[TurnMetrics] = []
        self._asked: dict[str, Spending] = defaultdict(Spending)
        self._refused: Counter[str] = Counter()
        self._decided: list[Mapping[str, Any]] = []
        self._too_long: ContextWindowExceeded | None = None

    @property
    def tallies(self) -> dict[str, dict[str, float | None]]:
        """Extra counters for the report."""
        return {
            "commands resolved": {
                how: self._resolved[how] for how in _RESOLUTIONS if how in self._resolved
            },
            "commands not executed": dict(self._refused),
            "model calls": {role: used.calls for role, used in self._asked.items()},
            "model tokens": {role: used.tokens.total for role, used in self._asked.items()},
            "model cost": {role: used.cost for role, used in self._asked.items()},
            "model tokens by turn": {
                f"turn {number}": turn.spent.tokens.total
                for number, turn in enumerate(self.turns, 1)
            },
            "model cost by turn": {
                f"turn {number}": turn.spent.cost for number, turn in enumerate(self.turns, 1)
            },
        }

    async def play(self, stage: Stage) -> None:
        self.messages = [{"role": "system", "content": stage.policy}, *stage.opening_messages]
        async with self._production.workers.worker() as worker:
            await worker.send(
                session=self._session,
                policy=stage.policy,
                tool_infos=self._production.tool_infos,
                tool_map=self._production.tool_map,
                decision_only=self._settings.bridge == "decision-only",
                reasoning=self._settings.use_reasoning,
                trained=self._production.workers.trained,
                max_iterations=self._production.max_steps,
            )
            await worker.receive()  # it is ready
            words = stage.opening
            while not stage.over:
                answer = await self._turn(worker, stage, words)
                if stage.over or answer is None:
                    return
                words = await self._say(stage, answer)

    async def _turn(self, worker: Worker, stage: Stage, words: str) -> str | None:
        """The agent's reply to a user message; None if it gave up."""
        self._too_long = None
        self.turns.append(TurnMetrics())
        await worker.send(words=words)
        while True:
            message = await worker.receive()
            match message["kind"]:
                case "model":
                    await worker.send(**await self._answer(message))
                case "step":
                    await worker.send(**await self._step(stage, message["action"]))
                case "decision":
                    self._decided.append(message["action"])
                case "refused":
                    self._note_refusal(message["command"], message["problem"])
                case "turn":
                    self._resolved = message["resolved"]
                    await self._make_decided(stage)
                    answer = writable(message["answer"])
                    if not answer.strip() and not stage.over:
                        self._give_up("its answer is empty")
                        return None
                    return answer
                case _:
                    self._resolved = message["resolved"]
                    self._give_up(message["problem"])
                    return None

    async def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        role = message["role"]
        model = self._models.get(role, self._models["agent"])
        request = ModelRequest(messages=message["messages"], stop=message.get("stop"))
        try:
            completion = await model.complete(request)
        except ContextWindowExceeded as problem:
            # FastWorkflow shortens its trajectory and asks again.
            self._too_long = problem
            return {"kind": "context_window", "problem": str(problem)}
        tokens = Tokens(completion.prompt_tokens, completion.completion_tokens)
        for spent in (self._asked[role], self.turns[-1].spent):
            spent.add(tokens, completion.cost)
        return {
            "kind": "completion",
            "text": completion.text,
            "finish_reason": completion.finish_reason,
            "prompt_tokens": completion.prompt_tokens,
            "completion_tokens": completion.completion_tokens,
        }

    async def _step(self, stage: Stage, wanted: Mapping[str, Any]) -> dict[str, Any]:
        if stage.over:
            return {"observation": "The conversation is over.", **_metrics(stage, "none")}
        action = Action(wanted["name"], dict(wanted["arguments"]))
        call_id = f"call_{len(self.messages)}"
        function = {"name": action.name, "arguments": orjson.dumps(action.kwargs).decode()}
        self.messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": call_id, "type": "function", "function": function}],
            }
        )
        observation = await stage.step(action)
        self.messages.append(
            {
                "role": "tool",
                "tool_call_id": call_id,
                "name": action.name,
                "content": observation,
            }
        )
        return {"observation": observation, **self._note_step(stage, action)}

    async def _make_decided(self, stage: Stage) -> None:
        decided, self._decided = self._decided, []
        for wanted in decided:
            if stage.over:
                return
            await self._step(stage, wanted)

    async def _say(self, stage: Stage, answer: str) -> str:
        self.messages.append({"role": "assistant", "content": answer})
        said = respond(answer)
        words = await stage.step(said)
        self._note_step(stage, said)
        self.messages.append({"role": "user", "content": words})
        return words

    def _note_step(self, stage: Stage, action: Action) -> dict[str, Any]:
        metrics = _metrics(stage, "user" if action.name == RESPOND else action.name)
        self.turns[-1].steps.append({"action": action, **metrics})
        return metrics

    def _note_refusal(self, command: str, problem: str) -> None:
        lines = [line.strip() for line in problem.splitlines() if line.strip()]
        # FastWorkflow's first line says that it failed, the last one before its advice why.
        reasons = list(takewhile(lambda line: not line.startswith(_ADVICE), lines))
        why = reasons[-1] if reasons else NOT_UNDERSTOOD
        name = first_word(command)
        if name not in self._production.workers.commands:
            name = "(in words)" if command.strip() else "(nothing)"
        self._refused[f"{name}: {why}"[:_LONGEST_REASON]] += 1
        self.messages.append(
            {"role": "system", "content": f"FastWorkflow did not execute '{command}': {problem}"}
        )

    def _give_up(self, problem: str) -> None:
        if self._too_long is not None:
            raise self._too_long
        self.messages.append({"role": "system", "content": f"FastWorkflow gave up: {problem}"})


def _metrics(stage: Stage, source: str) -> dict[str, Any]:
    """What a step's callback is told. The reward is 0 until the last step, as in Tau Bench."""
    return {
        "reward": stage.final_reward or 0.0,
        "done": stage.over,
        # Tau Bench's info also has the task with its ground truth, which no agent may see.
        "info": {"source": source},
    }


def _tool_map(given: Path | None) -> dict[str, str]:
    if given is None:
        return {}
    try:
        return TypeAdapter(dict[str, str]).validate_json(given.read_bytes())
    except (OSError, ValidationError) as error:
        raise InputError(
            f"{given} is no tool map: it has to be a JSON object with a command's name for each "
            f"tool ({error.strerror if isinstance(error, OSError) else error.errors()[0]['msg']})."
        ) from error


strategy = AgentStrategy(
    "fastworkflow",
    FastWorkflowAgent,
    "a FastWorkflow agent: it resolves commands, the environment executes them",
    settings=FastWorkflowSettings,
    needs_model=True,
    prepare=prepare,
    takes_over="never",
    worker_memory=1.5,  # with ten episodes at once, 0.9 were seen
)
