from __future__ import annotations

from greenroom.messages import Message
from greenroom.trajectories import NOTICE, read_conversation


def conversation(*pairs: tuple[str, str]) -> list[Message]:
    opening = [Message(role="system", content="Policy."), Message(role="user", content="Hello.")]
    return opening + [
        Message(role="assistant" if who == "agent" else "user", content=text) for who, text in pairs
    ]


def test_a_reply_that_could_not_be_used_is_no_step() -> None:
    messages = conversation(
        ("agent", "Action:\n{broken"),
        ("user", f"{NOTICE}it is no JSON."),
        ("agent", 'Action:\n{"name": "light", "arguments": {"lamp": "hall"}}'),
        ("user", "API output: lit"),
        ("agent", 'Action:\n{"name": "respond", "arguments": {"content": "Done."}}'),
        ("user", "Thanks."),
    )
    steps = read_conversation(messages).steps
    assert [(step.name, step.observation) for step in steps] == [
        ("light", "lit"),
        ("respond", "Thanks."),
    ]


def test_replies_held_to_a_schema_are_read_as_actions() -> None:
    messages = conversation(
        ("agent", '{"action": {"name": "light", "arguments": {"lamp": "hall"}}}'),
        ("user", "API output: lit"),
        ("agent", '{"action": {"name": "respond", "arguments": {"content": "Done."}}}'),
        ("user", "Thanks."),
    )
    steps = read_conversation(messages).steps
    assert [(step.name, step.kwargs) for step in steps] == [
        ("light", {"lamp": "hall"}),
        ("respond", {"content": "Done."}),
    ]


def test_plain_words_are_said() -> None:
    steps = read_conversation(conversation(("agent", "Hi."), ("user", "Hello."))).steps
    assert [(step.name, step.kwargs) for step in steps] == [("respond", {"content": "Hi."})]
