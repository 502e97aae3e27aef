"""An engine that connects dspy to Greenroom's model."""
# dspy carries no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

from dspy.lm15 import Message, Request, Response, Usage

from greenroom.agents.threads import ThreadModel
from greenroom.models import ModelRequest

_ROLES = {"developer": "system"}


class GreenroomEngine:
    """An engine for dspy.LM that asks the episode's model, and does nothing else.

    Which model it is, its temperature, limits, retries, cache and cost are Greenroom's. Only texts
    are passed on, which is all that dspy's chat adapter sends.
    """

    def __init__(self, model: ThreadModel) -> None:
        self._model = model

    def complete(self, request: Request) -> Response:
        """The model's answer, from whichever thread dspy asks."""
        completion = self._model.complete(ModelRequest(messages=_messages(request)))
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant(completion.text),
            finish_reason="length" if completion.finish_reason == "length" else "stop",
            usage=Usage(
                input_tokens=completion.prompt_tokens, output_tokens=completion.completion_tokens
            ),
        )


def _messages(request: Request) -> list[dict[str, Any]]:
    system = [{"role": "system", "content": _text(request.system)}] if request.system else []
    spoken = [
        {"role": _ROLES.get(message.role, message.role), "content": _text(message.parts)}
        for message in request.messages
    ]
    return system + spoken


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.text for part in content)
