"""FastWorkflow's language models as dspy models whose calls go to the episode.

Only workers import this module, as it needs dspy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from greenroom.models.litellm_transport import keep_litellm_local

if TYPE_CHECKING:
    from greenroom.agents.fastworkflow.session import Complete

keep_litellm_local()
_dspy: Any = importlib.import_module("dspy")
_litellm: Any = importlib.import_module("litellm")


class RelayedModel(_dspy.BaseLM):
    """A model whose answers come over the wire."""

    def __init__(self, complete: Complete, role: str) -> None:
        # No cache: the trials of a task would be copies of each other.
        super().__init__(model=f"greenroom/{role}", cache=False)  # pyright: ignore[reportUnknownMemberType]
        self._complete = complete
        self._role = role

    def forward(self, prompt: Any = None, messages: Any = None, **settings: Any) -> Any:
        """The answer in a provider's format."""
        asked = messages or [{"role": "user", "content": prompt}]
        reply = self._complete(self._role, {"messages": asked, "stop": settings.get("stop")})
        return _litellm.ModelResponse(
            model=self.model,
            choices=[
                {
                    "index": 0,
                    "finish_reason": reply["finish_reason"],
                    "message": {"role": "assistant", "content": reply["text"]},
                }
            ],
            usage={
                "prompt_tokens": reply["prompt_tokens"],
                "completion_tokens": reply["completion_tokens"],
                "total_tokens": reply["prompt_tokens"] + reply["completion_tokens"],
            },
        )

    def copy(self, **settings: Any) -> RelayedModel:
        """The same model, because the episode decides on its settings."""
        return self
