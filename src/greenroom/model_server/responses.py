"""Response bodies: chat completions, whole or streamed, and errors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

import orjson

from greenroom.model_server.actions import Reply
from greenroom.model_server.requests import ChatRequest

PIECE: Final = 24
"""Characters per streamed piece."""

END: Final = b"data: [DONE]\n\n"


class ChatResponse:
    """A reply with its id, model and token usage."""

    def __init__(
        self, number: int, request: ChatRequest, reply: Reply, *, choices: bool = True
    ) -> None:
        self._head: dict[str, Any] = {
            "id": f"chatcmpl-{number:012d}",
            "created": int(time.time()),
            "model": request.model,
        }
        self._request = request
        self._reply = reply
        self._choices = choices

    @property
    def _usage(self) -> dict[str, Any]:
        prompt, completion = self._request.prompt_tokens, self._reply.tokens
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }

    def whole(self) -> bytes:
        """The whole answer as one JSON object."""
        message: dict[str, Any] = {"role": "assistant", "content": self._reply.content}
        if self._reply.call:
            message["tool_calls"] = [_call(self._reply)]
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": self._reply.finish_reason,
        }
        return orjson.dumps(
            {
                **self._head,
                "object": "chat.completion",
                "choices": [choice] if self._choices else [],
                "usage": self._usage,
            }
        )

    def events(self) -> Iterator[bytes]:
        """The answer as server-sent events."""
        if self._choices:
            for delta in self._deltas():
                yield self._event([{"index": 0, "delta": delta, "finish_reason": None}])
            reason = self._reply.finish_reason
            yield self._event([{"index": 0, "delta": {}, "finish_reason": reason}])
        else:
            yield self._event([])
        if self._request.include_usage:
            yield self._event([], usage=self._usage)
        yield END

    def _event(self, choices: list[Any], usage: dict[str, Any] | None = None) -> bytes:
        chunk = {**self._head, "object": "chat.completion.chunk", "choices": choices}
        if self._request.include_usage:
            chunk["usage"] = usage
        return b"data: " + orjson.dumps(chunk) + b"\n\n"

    def _deltas(self) -> Iterator[dict[str, Any]]:
        content, call = self._reply.content, self._reply.call
        yield {"role": "assistant", "content": "" if call is None else None}
        for piece in _pieces(content or ""):
            yield {"content": piece}
        if call is None:
            return
        opened = _call(self._reply)
        opened["function"]["arguments"] = ""
        yield {"tool_calls": [{"index": 0, **opened}]}
        for piece in _pieces(call.arguments):
            yield {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


def error_body(message: str, kind: str, code: str) -> bytes:
    """An error in OpenAI's format."""
    return orjson.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}})


def _call(reply: Reply) -> dict[str, Any]:
    assert reply.call is not None, "the reply has no tool call"
    function = {"name": reply.call.name, "arguments": reply.call.arguments}
    return {"id": reply.call.id, "type": "function", "function": function}


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))
