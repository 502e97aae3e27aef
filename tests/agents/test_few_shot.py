from __future__ import annotations

import json
from pathlib import Path

import pytest

from greenroom.agents.few_shot import FewShotSettings, draw_examples, load_examples, strategy
from greenroom.errors import DataError, InputError
from tests.agents.test_tool_calling import LIGHT_HALL, Played, calling
from tests.domains.small import small_domain

pytestmark = pytest.mark.anyio


def examples_file(folder: Path, *texts: str) -> Path:
    path = folder / "examples.jsonl"
    path.write_text("".join(json.dumps({"messages_display": text}) + "\n" for text in texts))
    return path


def options_for(path: Path, **others: str) -> dict[str, str]:
    return {"few_shot_displays_path": str(path), **others}


def settings_for(path: Path, **others: int) -> FewShotSettings:
    return FewShotSettings.model_validate({"few_shot_displays_path": path, **others})


async def test_the_examples_stand_behind_the_policy(tmp_path: Path) -> None:
    path = examples_file(tmp_path, "user: one {x}", "user: two")
    options = options_for(path, num_few_shots="2")
    played = await Played(strategy, [calling(LIGHT_HALL), "Done."], options=options).play()
    system = played.messages[0]["content"]
    assert system.startswith("Ask first.\n")
    first, second = draw_examples(settings_for(path, num_few_shots=2), 77)
    assert {first, second} == {"user: one {x}", "user: two"}
    assert system.endswith(f"## Example 1\n\n{first}\n\n## Example 2\n\n{second}")
    assert played.reward == 1.0
    assert all(request.tools == small_domain().tool_infos for request in played.model.requests)
    assert {request.seed for request in played.model.requests} == {77}


def test_the_examples_are_a_function_of_the_seed(tmp_path: Path) -> None:
    options = settings_for(examples_file(tmp_path, *(f"example {n}" for n in range(20))))
    drawn = [tuple(draw_examples(options, seed)) for seed in range(50)]
    assert drawn == [tuple(draw_examples(options, seed)) for seed in range(50)]
    assert all(len(set(examples)) == 5 for examples in drawn)
    assert len(set(drawn)) == 50
    # Every example has its chance.
    assert len({example for examples in drawn for example in examples}) == 20


def test_the_file_is_read_once(tmp_path: Path) -> None:
    path = examples_file(tmp_path, "a", "b")
    assert load_examples(path) is load_examples(path)


def test_a_separator_within_an_example_is_no_end_of_line(tmp_path: Path) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text('{"messages_display": "a\u2028b"}\r\n\n', newline="")
    assert load_examples(path) == ("a\u2028b",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has no examples"),
        ("\n \n", "has no examples"),
        ('{"messages_display": "a"}\n{"messages', "line 2 is not a JSON object"),
        ('["a"]', "line 1 is not a JSON object: it is a list"),
        ('{"display": "a"}', "line 1 has no text 'messages_display'"),
        ('{"messages_display": " "}', "line 1 has no text 'messages_display'"),
        ('{"messages_display": ["a"]}', "line 1 has no text 'messages_display'"),
        ('{"messages_display": "a"}', "has 1 examples, and 5 should be shown"),
    ],
)
def test_a_file_that_will_not_do(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=problem):
        strategy.check(options_for(path))


def test_a_file_must_be_named_and_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--agent-option few_shot_displays_path="):
        strategy.check({})
    with pytest.raises(DataError, match="nowhere"):
        strategy.check(options_for(tmp_path / "nowhere.jsonl"))
    with pytest.raises(
        InputError, match="setting num_few_shots: Input should be greater than or equal to 1"
    ):
        strategy.check(options_for(examples_file(tmp_path, "a"), num_few_shots="0"))
