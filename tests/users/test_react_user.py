from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.environment import Environment
from greenroom.domains.tasks import STOP, respond
from greenroom.models import FakeModel, ModelUnavailable
from greenroom.users import prompts
from greenroom.users.llm import ReactUser, spoken_part
from tests.domains.small import small_domain

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("Thought: hm\nUser Response: Hi there", "Hi there"),
        ("Thought: hm\n\nUser Response:\nHi there\nyou", "Hi there\nyou"),
        ("Thought: one\nThought: two\nUser Response: Hi", "Hi"),
        ("Thought: one\nUser Response: Hi\nThought: two\nUser Response: Ho", "Ho"),
        ("Thought: one\nUser Response: Hi\nThought: two", "Hi"),
        ("Thought: one\nUser Response: Hi Thought: two", "Hi"),
        ("Thought: one. User Response: Hi", "Hi"),
        ("Thought: one. Thought: two. User Response: Hi", "Hi"),
        ("User Response: Hi\nUser Response:\n", "Hi"),
        ("User Response: Hi User Response: Ho", "Ho"),
        ("User Response: Hi\nThought: my next User Response: must be short", "Hi"),
        ("Thought: my User Response: must be short\nUser Response: Hi", "Hi"),
        ("**Thought:** hm\n**User Response:** Hi", "Hi"),
        ("## thought : hm\n> user response: Hi\r\nthought: more", "Hi"),
        ("Thought：hm\nUser Response：Hi", "Hi"),
        ("Hi there", "Hi there"),
        ("Thought: hm, long\nand longer\n\nHi there\n\nThought: more", "Hi there"),
        ("Hi. Thought: should I say more?", "Hi."),
        ("I thought: why not ask?", "I thought: why not ask?"),
        ("Thought: nothing to say", ""),
        ("Thought: hm\nUser Response:", ""),
        ("", ""),
    ],
)
def test_what_the_agent_gets_of_an_answer(raw: str, said: str) -> None:
    assert spoken_part(raw) == said


async def test_thoughts_stay_in_the_users_memory_alone() -> None:
    first = "Thought: begin\nUser Response: Hello"
    model = FakeModel([first, "Thought: go on\nThought: really\nUser Response: Number 7"])
    user = ReactUser(model, seed=3)
    assert await user.open("x") == "Hello"
    assert await user.reply("Which one?") == "Number 7"
    assert [request.messages for request in model.requests][1] == [
        {"role": "system", "content": prompts.part("x", thoughts=True)},
        {"role": "user", "content": prompts.AGENT_GREETING},
        {"role": "assistant", "content": first},
        {"role": "user", "content": "Which one?"},
    ]
    assert len(model.requests) == 2


def test_the_prompt_names_both_parts_and_ends_with_the_instruction() -> None:
    prompt = prompts.part("x y z", thoughts=True)
    assert "\nThought: " in prompt
    assert "\nUser Response: " in prompt
    assert prompt.startswith(prompts.part("")[:500])
    assert prompt.endswith("x y z")


@pytest.mark.parametrize(
    "raw",
    [
        f"Thought: all done\nUser Response: {STOP}",
        f"Thought: all done {STOP}\nUser Response: Bye",
        f"Thought: all done\n{STOP}",
        f"Thought: all done\nUser Response: Bye {STOP}\nThought: well",
    ],
)
async def test_a_stop_anywhere_is_a_stop(raw: str) -> None:
    assert await ReactUser(FakeModel([raw])).open("x") == STOP


async def test_an_answer_of_thoughts_alone_is_asked_for_again() -> None:
    model = FakeModel(["Thought: hm", "Thought: hm\nUser Response: Hi"])
    assert await ReactUser(model).open("x") == "Hi"
    assert prompts.REMINDER in model.requests[1].messages[-1]["content"]
    with pytest.raises(ModelUnavailable):
        await ReactUser(FakeModel(["Thought: hm"])).open("x")


async def test_an_agent_sees_responses_alone_and_a_stop_ends_the_episode() -> None:
    thought = "Thought: I am secretive.\n"
    model = FakeModel([f"{thought}User Response: Hello", f"{thought}{thought}User Response: Go on"])
    environment = Environment(small_domain(), ReactUser(model))
    assert await environment.reset(0) == "Hello"
    assert (await environment.step(respond("Shall I?"))).observation == "Go on"
    model.answers = [f"{thought}User Response: {STOP}"]
    assert (await environment.step(respond("Done."))).observation == STOP
    assert environment.done


WORDS = st.text(st.characters(categories=["L", "N"], max_codepoint=0x24F), min_size=1, max_size=8)
LABELS = st.sampled_from(["Thought:", "**Thought:**", "thought:", "Thoughts :", "Reflection:"])


@given(
    st.lists(st.tuples(LABELS, WORDS.map("secret{}".format)), min_size=1, max_size=4),
    st.lists(st.tuples(LABELS, WORDS.map("secret{}".format)), max_size=3),
    WORDS,
    st.sampled_from(["User Response: ", "**User Response:** ", "user response:\n", "\n"]),
)
def test_no_thought_reaches_the_agent(
    before: list[tuple[str, str]], after: list[tuple[str, str]], words: str, label: str
) -> None:
    def written(thoughts: list[tuple[str, str]]) -> str:
        return "".join(f"{name} {thought}\n" for name, thought in thoughts)

    raw = f"{written(before)}{label}{words}\n{written(after)}"
    assert spoken_part(raw) == words
