"""Any model that litellm knows, as a chat workflow.

    export OPENAI_API_KEY=...          # and OPENAI_BASE_URL for a server of your own
    greenroom serve plain_litellm.py
    greenroom chat plain_litellm.py --param model=openai/gpt-4o

The workflow has no tools of its own: the caller may pass some, and runs them.
"""
# litellm's types are known in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from typing import Any

# Keep litellm from downloading its table of prices on import.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm

from greenroom import chat_workflow, report_usage

# Keep litellm from printing advice.
litellm.suppress_debug_info = True

# The parameters that a caller may change. Keys and addresses are excluded: litellm reads them from
# the environment.
SETTINGS = {"model": os.environ.get("MODEL", "openai/gpt-4o-mini"), "temperature": 0.0}


@chat_workflow(name="plain-litellm", parameters=SETTINGS)
async def answer(
    messages: list[dict[str, Any]],
    parameters: dict[str, Any],
    tools: list[dict[str, Any]] | None = None,
) -> AsyncGenerator[Any]:
    """Asks a model."""
    # Messages and tools have OpenAI's format on both sides and pass unchanged.
    stream: Any = await litellm.acompletion(
        **parameters,
        messages=messages,
        tools=tools or None,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks: list[Any] = []
    async for chunk in stream:
        chunks.append(chunk)
        if chunk.choices and chunk.choices[0].delta.content:
            yield chunk.choices[0].delta.content
    whole: Any = litellm.stream_chunk_builder(chunks, messages=messages)
    # The whole message ends the streamed text and has the tool calls, if any.
    said = whole.choices[0].message
    yield said.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True)
    report_usage(
        prompt_tokens=whole.usage.prompt_tokens,
        completion_tokens=whole.usage.completion_tokens,
        cost=_price(whole),
    )


def _price(response: Any) -> float | None:
    try:
        return litellm.completion_cost(response)
    except Exception:  # not in the table of prices: that is unknown, and not free
        return None
