"""dspy: a module, or a function that builds one, answers each message of the user."""
# dspy carries no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from greenroom.agents.frameworks.agent import (
    FrameworkAgent,
    Subject,
    about,
    framework_agent,
    label,
)
from greenroom.agents.frameworks.blocking import Threads
from greenroom.agents.frameworks.building import Builder, builder_of
from greenroom.agents.frameworks.offers import Offer, OfferedTool, need
from greenroom.agents.frameworks.parts import is_text, media_parts, unreadable
from greenroom.errors import InputError
from greenroom.messages import text_of
from greenroom.util.json_values import encoded
from greenroom.workflows.declare.outputs import json_value

if TYPE_CHECKING:
    from greenroom.models import ChatMessage

Build = Callable[[Offer, Threads], Any]

_GIVEN = ("instructions", "tools")
_HISTORY = "history"
_BESIDE = frozenset({"reasoning", "trajectory"})
"""Fields of a prediction that no user reads."""
_SPEAKERS = {"assistant": "You", "user": "User"}


def from_dspy(
    module: Any, /, *, name: str | None = None, description: str | None = None
) -> FrameworkAgent:
    """A dspy module as a chat workflow and as an agent for runs.

    `module` is a `dspy.ReAct`, which gets the domain's tools and the policy beside its own; or a
    function that builds a module from `tools` and `instructions`, by name. The conversation goes to
    the module's input field as text, and its last output field is said. With a field `history` of
    the type dspy.History, the other field gets the last message alone.
    """
    dspy = need("dspy", "dspy", "from_dspy")
    if isinstance(module, dspy.Module):
        react = isinstance(module, dspy.ReAct)
        build: Build = partial(_equipped, module) if react else lambda _offer, _threads: module
        takes_tools = react
    elif callable(module):
        builder = builder_of(module, _GIVEN, "from_dspy")
        build, takes_tools = partial(_built, builder), builder.takes("tools")
    else:
        raise InputError(
            f"from_dspy takes a module, or a function that builds one, not {module!r}."
        )
    own = label(name, module)
    return framework_agent(
        Subject(
            name=own,
            description=about(description, module),
            open=lambda offer: _Conversation(build, offer),
            takes_callers_tools=False,
            refuses_runs=""
            if takes_tools
            else f"'{own}' takes no tools, so it cannot play. Give from_dspy a dspy.ReAct, or a "
            "function that builds the module:\n  def build(tools, instructions):",
            asks_in_chat=False,
        )
    )


def _built(builder: Builder, offer: Offer, threads: Threads) -> Any:
    tools = [_tool(tool, threads) for tool in offer.tools]
    module = builder.function(**builder.arguments(tools=tools, instructions=offer.instructions))
    if offer.model is not None and any(one.lm for one in module.predictors()):
        raise InputError(
            "The module has a model of its own (set_lm), which would be asked in the place of the "
            "run's: leave it out, or run without --model."
        )
    return module


def _equipped(module: Any, offer: Offer, threads: Threads) -> Any:
    """A ReAct with more tools, and with the policy behind its own instructions."""
    import dspy

    if not offer.tools and not offer.instructions:
        return module
    signature = module.signature
    if offer.instructions:
        made_up: Any = dspy.Signature  # its call is another one than its type says
        plain = made_up(signature.fields).instructions  # what dspy writes if nobody does
        own = "" if signature.instructions == plain else signature.instructions
        signature = signature.with_instructions(_joined(own, offer.instructions))
    own_tools = [tool for key, tool in module.tools.items() if key != "finish"]
    offer.check_names(tool.name for tool in own_tools)
    tools = [_tool(tool, threads) for tool in offer.tools]
    made = copy(module)  # with whatever a class of its own has
    fresh = dspy.ReAct(signature, tools=[*own_tools, *tools], max_iters=module.max_iters)
    made.signature, made.tools = signature, fresh.tools
    made.react, made.extract = fresh.react, fresh.extract
    _keep_what_was_learned(made, module, own_tools, offer, tools)
    return made


def _keep_what_was_learned(
    made: Any, module: Any, own_tools: list[Any], offer: Offer, tools: list[Any]
) -> None:
    """Keep the examples and the instructions that an optimizer has chosen."""
    import dspy

    unlearned = dspy.ReAct(module.signature, tools=own_tools)
    more_tools = "\n".join(["There are these tools, too:", *(f"- {tool}" for tool in tools)])
    for name, added in (("react", more_tools if tools else ""), ("extract.predict", "")):
        at = attrgetter(name)
        mine, learned = at(made), at(module)
        mine.demos = learned.demos
        if offer.model is None:
            mine.lm = learned.lm
        instructions = learned.signature.instructions
        if instructions != at(unlearned).signature.instructions:
            told = _joined(instructions, offer.instructions, added)
            mine.signature = mine.signature.with_instructions(told)


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


def _tool(tool: OfferedTool, threads: Threads) -> Any:
    import dspy

    return dspy.Tool(
        threads.either(tool),
        name=tool.name,
        desc=tool.description,
        args=dict(tool.parameters.get("properties") or {}),
        arg_types={},
    )


class _Conversation:
    def __init__(self, build: Build, offer: Offer) -> None:
        self._offer = offer
        self._threads = Threads(offer)
        self._module = build(offer, self._threads)
        self._lines: list[str] = []
        self._past: list[tuple[str, str]] = []

    async def take_turn(self, messages: list[ChatMessage]) -> AsyncGenerator[Any]:
        from dspy.utils.exceptions import AdapterParseError

        heard = self._hear(messages)
        inputs = self._inputs(heard)
        try:
            prediction = await self._predict(inputs)
        except AdapterParseError:
            return  # what the model wrote makes no sense to dspy: the agent gives up
        reply = _reply(self._module, prediction)
        self._lines += [*_calls(getattr(prediction, "trajectory", None)), f"You: {reply}"]
        self._past.append((heard, reply))
        yield {"role": "assistant", "content": reply}

    def _hear(self, messages: list[ChatMessage]) -> str:
        """Note what was said; returns the last message."""
        heard = ""
        for message in messages:
            for part in media_parts(message.get("content")):
                if not is_text(part):
                    raise unreadable(part, "A module of dspy, which reads text,")
            text = text_of(message.get("content"))
            if message["role"] == "assistant" and heard:
                self._past.append((heard, text))
            speaker = _SPEAKERS.get(message["role"], message["role"].capitalize())
            self._lines.append(f"{speaker}: {text}")
            heard = text if message["role"] == "user" else heard
        return heard

    def _inputs(self, heard: str) -> dict[str, Any]:
        import dspy

        names = _input_names(self._module)
        fields = [name for name in names if name != _HISTORY]
        if len(fields) != 1:
            raise InputError(
                f"The module takes {', '.join(names) or 'nothing'}: it should take one field for "
                "what the user says, and may take one named history."
            )
        if _HISTORY not in names:
            return {fields[0]: "\n".join(self._lines)}
        said = _output_name(self._module) or "reply"
        past = [{fields[0]: asked, said: reply} for asked, reply in self._past]
        return {fields[0]: heard, _HISTORY: dspy.History(messages=past)}

    async def _predict(self, inputs: dict[str, Any]) -> Any:
        with self._settings() as used:
            if hasattr(self._module, "aforward"):
                prediction = await self._module.acall(**inputs)
            else:
                prediction = await self._threads.run(partial(self._module, **inputs))
        for tokens in used.get_total_tokens().values() if used is not None else ():
            self._offer.report(tokens.get("prompt_tokens"), tokens.get("completion_tokens"))
        return prediction

    @contextmanager
    def _settings(self) -> Generator[Any]:
        import dspy

        if self._offer.model is None:
            with dspy.track_usage() as used:
                yield used
            return
        model = self._offer.model
        # The run caches, tries again and records; dspy would keep the history of all episodes.
        lm = dspy.LM(
            f"openai/{model.name}",
            api_base=model.base_url,
            api_key=model.api_key,
            cache=False,
            num_retries=0,
        )
        with dspy.context(lm=lm, disable_history=True, trace=None):
            yield None


def _input_names(module: Any) -> list[str]:
    parameters = inspect.signature(type(module).forward).parameters.values()
    named = [
        one.name
        for one in parameters
        if one.name != "self" and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    ]
    return named or list(_signature(module).input_fields)


def _output_name(module: Any) -> str | None:
    signature = _signature(module)
    return None if signature is None else list(signature.output_fields)[-1]


def _signature(module: Any) -> Any:
    """The signature of a module of dspy; None for a module of somebody else."""
    found = getattr(module, "signature", None)
    predict = getattr(module, "predict", None)
    return found if found is not None else getattr(predict, "signature", None)


def _reply(module: Any, prediction: Any) -> str:
    name = _output_name(module)
    if name is None and hasattr(prediction, "keys"):
        name = [key for key in prediction if key not in _BESIDE][-1]
    reply = prediction if name is None else getattr(prediction, name)
    if reply is None:
        return ""
    return reply.strip() if isinstance(reply, str) else encoded(json_value(reply)).decode()


def _calls(trajectory: Mapping[str, Any] | None) -> list[str]:
    """The actions before a reply, for the next message: a module starts without history."""
    lines: list[str] = []
    for number in range(len(trajectory or {})):
        name = (trajectory or {}).get(f"tool_name_{number}")
        if trajectory is None or name is None or name == "finish":
            break
        arguments = json.dumps(trajectory[f"tool_args_{number}"])
        lines.append(f"You called {name} with {arguments}: {trajectory[f'observation_{number}']}")
    return lines
