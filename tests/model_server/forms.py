"""Forms as dspy writes them, with the fields that FastWorkflow's have."""
# dspy carries no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

import dspy

from greenroom.model_server import RunningServer
from greenroom.model_server.fastworkflow_roles import GARBLED
from tests.model_server.wire import Answer, ask

COMMANDS = "Commands:\n- light\n  inputs:\n  - Which lamp, type: str\n- transfer_to_human_agents"


class Planner(dspy.Signature):
    """Plan."""

    user_query: str = dspy.InputField()
    next_steps: str = dspy.OutputField()


class Replanner(dspy.Signature):
    """Plan again."""

    agent_inputs: dict[str, Any] = dspy.InputField()
    agent_trajectory: dict[str, Any] = dspy.InputField()
    user_response: str = dspy.InputField()
    next_steps: str = dspy.OutputField()


class Agent(dspy.Signature):
    """Act."""

    user_query: str = dspy.InputField()
    trajectory: str = dspy.InputField()
    next_thought: str = dspy.OutputField()
    next_tool_name: Literal["what_can_i_do", "execute_workflow_query", "ask_user", "finish"] = (
        dspy.OutputField()
    )
    next_tool_args: dict[str, Any] = dspy.OutputField()


class ToolAgent(dspy.Signature):
    """Act with tools that go by their own names."""

    conversation: str = dspy.InputField()
    trajectory: str = dspy.InputField()
    next_thought: str = dspy.OutputField()
    next_tool_name: Literal["light", "finish"] = dspy.OutputField()
    next_tool_args: dict[str, Any] = dspy.OutputField()


class ToolAnswer(dspy.Signature):
    """Answer."""

    conversation: str = dspy.InputField()
    trajectory: str = dspy.InputField()
    reply: str = dspy.OutputField()


class FinalAnswer(dspy.Signature):
    """Answer."""

    user_query: str = dspy.InputField()
    trajectory: str = dspy.InputField()
    reasoning: str = dspy.OutputField()
    final_answer: str = dspy.OutputField()


class Summary(dspy.Signature):
    """Sum up."""

    user_query: str = dspy.InputField()
    workflow_actions: list[dict[str, Any]] = dspy.InputField()
    final_agent_response: str = dspy.InputField()
    conversation_summary: str = dspy.OutputField()


class Clarification(dspy.Signature):
    """Clarify."""

    original_command: str = dspy.InputField()
    error_message: str = dspy.InputField()
    agent_inputs: str = dspy.InputField()
    agent_trajectory: str = dspy.InputField()
    clarified_command: str = dspy.OutputField()
    needs_human: str = dspy.OutputField()
    clarification_question: str = dspy.OutputField()


class Parameters(dspy.Signature):
    """Extract."""

    statement: str = dspy.InputField()
    lamp: str = dspy.OutputField(
        desc="Which lamp. Default value: 'NOT_FOUND'.", default="NOT_FOUND"
    )
    colours: list[str] = dspy.OutputField(desc="Any of them.", default=None)
    watts: int | None = dspy.OutputField(
        desc="How many. If not mentioned in the query, use: 'None'.", default=None
    )


def _adapter(*, as_json: bool) -> Any:
    return dspy.JSONAdapter() if as_json else dspy.ChatAdapter()


@dataclass
class Asker:
    """Asks a server with forms and reads what is filled in."""

    server: RunningServer
    model: str = "oracle"
    seed: int | None = None
    commands: str = COMMANDS
    """Listed before the agent's forms, unless dspy asks once more for JSON."""

    def send(
        self, signature: type[dspy.Signature], *, as_json: bool = False, **inputs: Any
    ) -> Answer:
        wanted = {"type": "json_object"} if as_json else None
        messages = _adapter(as_json=as_json).format(signature, [], inputs)
        if signature in (Agent, FinalAnswer) and not as_json:
            messages[0]["content"] = f"{self.commands}\n\n{messages[0]['content']}"
        return ask(
            self.server,
            model=self.model,
            messages=messages,
            tools=None,
            response_format=wanted,
            seed=self.seed,
        )

    def fill(
        self, signature: type[dspy.Signature], *, as_json: bool = False, **inputs: Any
    ) -> dict[str, Any]:
        """The fields as dspy reads them; empty where it can not."""
        answer = self.send(signature, as_json=as_json, **inputs)
        assert answer.status == 200, answer.body
        text = answer.message["content"]
        if text == GARBLED:
            return {}
        return _adapter(as_json=as_json).parse(signature, text)


@dataclass
class Turn:
    """A turn of FastWorkflow's agent, with everything it does written down as it is there."""

    asker: Asker
    query: str
    trajectory: dict[str, Any] = field(default_factory=dict[str, Any])
    records: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def written(self) -> str:
        """The trajectory as it stands in a form."""
        if not self.trajectory:
            return ""
        make: Any = dspy.Signature
        signature = make(f"{', '.join(self.trajectory)} -> x")
        return dspy.ChatAdapter().format_user_message_content(signature, self.trajectory)

    def next(self, *, as_json: bool = False) -> tuple[str, dict[str, Any]] | None:
        """The tool that the agent wants to use; None for a reply that makes no sense."""
        given: dict[str, Any] = {"user_query": self.query, "trajectory": self.written}
        filled = self.asker.fill(Agent, as_json=as_json, **given)
        return (filled["next_tool_name"], filled["next_tool_args"]) if filled else None

    def use(self, observation: str = "Done.") -> tuple[str, dict[str, Any]]:
        """Let the agent use its next tool."""
        wanted = self.next()
        assert wanted is not None, "the reply makes no sense"
        number = len(self.trajectory) // 4
        names = ("thought", "tool_name", "tool_args", "observation")
        values = ("Hm.", *wanted, observation)
        self.trajectory |= {f"{n}_{number}": v for n, v in zip(names, values, strict=True)}
        self.records.append({**wanted[1], "response": observation})
        return wanted

    def command(self, observation: str = "Done.") -> str:
        """Let the agent give its next command; empty if it has none left."""
        return self.use(observation)[1].get("command", "")

    def answer(self) -> str:
        """What the agent says in the end."""
        given: dict[str, Any] = {"user_query": self.query, "trajectory": self.written}
        return self.asker.fill(FinalAnswer, **given)["final_answer"]

    def following(self, said: str) -> Turn:
        """The turn after this one, which knows this one by its summary."""
        summary = self.asker.fill(
            Summary,
            user_query=self.query,
            workflow_actions=self.records,
            final_agent_response=self.answer(),
        )["conversation_summary"]
        query = f"conversation summary: {summary}\nfeedback: None\nnew_user_query: {said}"
        return Turn(self.asker, f"User Query:\n{query}\n\nExecute these next steps:\n1. Go on")

    def packed(self) -> dict[str, Any]:
        """The agent's inputs and trajectory as other forms give them: as JSON."""
        inputs = {"user_query": self.query, "available_commands": COMMANDS}
        packed = {"agent_inputs": inputs, "agent_trajectory": self.trajectory}
        return {name: json.dumps(value) for name, value in packed.items()}
