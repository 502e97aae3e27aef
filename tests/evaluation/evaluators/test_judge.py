from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from aiohttp import web

from greenroom.errors import InputError
from greenroom.evaluation import Case, Score, make_evaluator
from greenroom.evaluation.evaluators import OpenModel
from greenroom.models import (
    BudgetExhausted,
    ContentFiltered,
    FakeModel,
    ModelSettings,
    ModelUnavailable,
)
from greenroom.store import Usage, open_store
from tests.evaluation.evaluating import QUESTIONS, chatting, evaluated
from tests.evaluation.evaluators.scoring import said, score
from tests.models.stub_server import answer_body, running_stub

GOOD = '{"reason": "It says so.", "score": 0.75}'


def judging(fake: FakeModel) -> OpenModel:
    """Whatever model is wanted, it is this one."""
    return lambda settings: fake


def judged(fake: FakeModel, settings: str = "", **case: Any) -> Score:
    case = {"outputs": said("Paris"), "is_chat": True, "expected": "Paris"} | case
    return score(f"llm_judge:model=m{settings}", models=judging(fake), **case)


def test_a_score_with_its_reason() -> None:
    fake = FakeModel([GOOD])
    found = judged(fake, inputs={"country": "France"})
    assert (found.score, found.passed, found.reason) == (0.75, True, "It says so.")
    assert (found.compared, found.against) == ("Paris", "Paris")
    (request,) = fake.requests
    question = request.messages[-1]["content"]
    assert "country: France" in question
    assert "<output>\nParis\n</output>" in question
    assert "from 0 to 1" in question
    assert request.response_format is not None


@pytest.mark.parametrize(
    ("settings", "answer", "value", "passed"),
    [
        (",min_score=1,max_score=5", '{"score": 5, "reason": "x"}', 1.0, True),
        (",min_score=1,max_score=5", '{"score": 1, "reason": "x"}', 0.0, False),
        (",min_score=1,max_score=5", '{"score": 3.0}', 0.5, True),
        (",threshold=0.9", GOOD, 0.75, False),
        ("", f"Let me think. {{}} ```json\n{GOOD}\n```", 0.75, True),
        ("", f"First {GOOD}, no: " + '{"score": 0.25}', 0.25, False),
    ],
)
def test_scores_are_brought_to_0_to_1(
    settings: str, answer: str, value: float, passed: bool
) -> None:
    found = judged(FakeModel([answer]), settings)
    assert (found.score, found.passed) == (value, passed)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("good", "it holds no JSON object"),
        ('{"score": "high"}', "'score' is missing, or no number"),
        ('{"score": true}', "'score' is missing, or no number"),
        ('{"score": 7}', "'score' is 7, and not from 0 to 1"),
        ("", "it holds no JSON object"),
    ],
)
def test_an_answer_that_cannot_be_read_is_asked_for_again_and_never_0(
    answer: str, words: str
) -> None:
    fake = FakeModel([answer])
    found = judged(fake)
    assert (found.score, found.passed, found.broken) == (None, None, False)
    assert words in found.reason
    assert len(fake.requests) == 3
    assert words in fake.requests[1].messages[-1]["content"]
    assert judged(FakeModel([answer, GOOD])).score == 0.75


def test_a_model_that_gives_no_answer_leaves_no_score() -> None:
    for error in (ModelUnavailable("it is down"), ContentFiltered("declined")):
        found = judged(FakeModel([error]))
        assert (found.score, found.passed, found.broken) == (None, None, True)
        assert str(error) in found.reason
        assert found.compared == "Paris"


def test_a_spent_budget_and_what_a_person_can_mend_end_it() -> None:
    for error in (BudgetExhausted("spent"), InputError("no such model")):
        with pytest.raises(type(error), match=str(error)):
            judged(FakeModel([error]))


def test_placeholders_are_filled_and_what_is_put_in_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("{{ output }}|{{expected}}|{{country}}|{{parameters}}|{{conversation}}|{json}")
    fake = FakeModel([GOOD])
    evaluator = {"name": "llm_judge", "settings": {"model": "m", "prompt_file": str(file)}}
    score(
        evaluator,
        models=judging(fake),
        outputs=[said(None, tool_calls=[{"id": "1"}]), said("{{country}}")],
        is_chat=True,
        inputs={"messages": [{"role": "user", "content": "Hi"}], "country": {"name": "Peru"}},
        parameters={"tone": "kind"},
    )
    question = fake.requests[0].messages[-1]["content"]
    assert question.startswith(
        '{{country}}|(none given)|{"name":"Peru"}|{"tone":"kind"}|USER: Hi\nASSISTANT:  [calls '
        '[{"id":"1"}]]\nASSISTANT: {{country}}|{json}'
    )


def test_the_prompt_of_a_file_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("Is it kind?")
    made = make_evaluator(f"llm_judge:model=m,prompt_file={file}", models=judging(FakeModel([])))
    assert made.settings == {"model": "m", "prompt": "Is it kind?"}
    again = make_evaluator(made.spec, models=judging(FakeModel([])))
    assert again.spec == made.spec


def test_an_unknown_placeholder_is_told() -> None:
    with pytest.raises(InputError, match=r"has \{\{colour\}\}.*There are: output, .*, country"):
        judged(FakeModel([GOOD]), ",prompt={{colour}}", inputs={"country": "x"})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("", "setting model: Field required"),
        (":model=m,min_score=1", "min_score has to be less than max_score"),
        (":model=m,prompt=x,prompt_file=y", "exclude each other"),
        (":model=m,prompt_file=none.txt", r"none\.txt cannot be read"),
        (":model=m,threshold=2", "setting threshold"),
    ],
)
def test_settings_that_will_not_do(settings: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_evaluator(f"llm_judge{settings}", models=judging(FakeModel([])))


def test_which_model_is_asked_and_how() -> None:
    wanted: list[ModelSettings] = []

    def models(settings: ModelSettings) -> FakeModel:
        wanted.append(settings)
        return FakeModel([GOOD])

    make_evaluator(
        "llm_judge:model=gpt,provider=openai,api_base=http://x/v1,temperature=0.5,max_tokens=9,"
        "timeout=3",
        models=models,
    )
    assert wanted == [
        ModelSettings(
            model="gpt",
            provider="openai",
            api_base="http://x/v1",
            temperature=0.5,
            max_tokens=9,
            timeout=3.0,
        )
    ]


def test_secrets_of_the_environment_do_not_go_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hush-hush")
    fake = FakeModel(['{"score": 1, "reason": "I saw hush-hush"}'])
    found = judged(fake, outputs=said("The key is hush-hush"))
    assert "hush-hush" not in json.dumps(fake.requests[0].messages)
    assert found.reason == "I saw [SOME_API_KEY]"


def test_a_judge_over_http_is_paid_from_the_judges_purse() -> None:
    async def run() -> tuple[Score, dict[str, Usage]]:
        async with running_stub() as stub:

            async def answer(_: web.Request) -> web.StreamResponse:
                return web.json_response(answer_body(GOOD))

            stub.replies.append(answer)
            made = make_evaluator(f"llm_judge:model=m,api_base={stub.api_base}")
            case = Case(outputs="Paris", expected="Paris")
            try:
                return await made.evaluate(case), case.ledger.usage()
            finally:
                await made.close()

    found, usage = anyio.run(run)
    assert found.score == 0.75
    assert list(usage) == ["judge"]
    assert (usage["judge"].calls, usage["judge"].prompt_tokens) == (1, 100)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("model=gpt-x,provider=nonsense", "Nobody is known to offer 'nonsense/gpt-x'"),
        ("model=nobodys", "Nobody is known to offer 'nobodys'"),
        ("model=gpt-4o", "OpenAI wants a key: set OPENAI_API_KEY"),
    ],
)
def test_a_judge_that_cannot_be_asked_is_told_before_the_evaluation_begins(
    monkeypatch: pytest.MonkeyPatch, settings: str, words: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    store = open_store()
    with pytest.raises(InputError, match=words):
        evaluated(store, chatting, QUESTIONS, "exact_match", f"llm_judge:{settings}")
    assert store.evaluations.all() == []
