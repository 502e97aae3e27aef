"""The act agent: the model writes each action as text, without a thought."""

from __future__ import annotations

from greenroom.agents.text_protocol import written_action_strategy

strategy = written_action_strategy(
    "act", "a language model that writes its actions as text", use_reasoning=False
)
