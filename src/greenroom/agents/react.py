"""The react agent: the model writes a thought, then an action, both as text."""

from __future__ import annotations

from greenroom.agents.text_protocol import written_action_strategy

strategy = written_action_strategy(
    "react",
    "a language model that writes a thought and then its action as text",
    use_reasoning=True,
)
