from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.agents.fastworkflow_fixtures import make_small_models, reduced_retail
from tests.cli.running import Greenroom


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A small and a large model that are trained in seconds."""
    return make_small_models(tmp_path_factory.mktemp("models"))


def test_before_anything_is_trained_there_is_nothing_to_list(greenroom: Greenroom) -> None:
    assert "Nothing is trained yet" in greenroom("fastworkflow", "list").out
    assert greenroom("fastworkflow", "list", "--json").json == []


def bert(folder: Path) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    (folder / "model.safetensors").write_bytes(b"")
    return folder


def test_what_cannot_be_trained_is_told(greenroom: Greenroom, tmp_path: Path) -> None:
    model = bert(tmp_path / "bert")
    for arguments, words in (
        (["--workflow-path", tmp_path], "is no FastWorkflow workflow"),
        (["--env", "library"], "Unknown env 'library'"),
        (["--env", "mock"], "--data"),
        (["--large-model", model], "no DistilBERT but a bert"),
        (["--api-base", "http://127.0.0.1:9/v1"], "name it by --model"),
        (["--model", "writer", "--api-base", "nowhere"], "no address of a model server"),
        (["--personas", 1], "--personas"),
    ):
        result = greenroom("fastworkflow", "train", *arguments)
        assert (result.status, words in result.err) == (2, True), (arguments, result.err)
        assert "Traceback" not in result.err


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_train_keeps_models_and_list_shows_them(
    greenroom: Greenroom, tmp_path: Path, models: tuple[Path, Path]
) -> None:
    workflow = reduced_retail(tmp_path, ("calculate", "get_user_details"))
    arguments: list[object] = ["fastworkflow", "train", "--workflow-path", workflow]
    arguments += ["--tiny-model", models[0], "--large-model", models[1]]
    arguments += ["--personas", 2, "--utterances", 2]
    trained = greenroom(*arguments, "--json")
    assert trained.status == 0, trained.err
    assert trained.json["commands"] == 2
    assert trained.json["utterances_by"] == "variations"
    assert trained.json["usage"]["calls"] == 0
    assert (trained.json["usable"], trained.json["cached"]) == (True, False)
    assert Path(trained.json["artifacts"], "global", "threshold.json").is_file()
    # Not a terminal: how far it was is told in lines.
    assert "small model: epoch 12 of 12" in trained.err

    again = greenroom(*arguments)
    assert again.status == 0
    assert "retail_workflow: was trained already" in again.out
    assert "2 commands" in again.out
    # The figure is that of unseen patterns, each with what was not understood.
    patterns = trained.json["patterns"]
    assert trained.json["held_out"] == sum(one["held_out"] for one in patterns) == 20
    assert trained.json["held_out_right"] == sum(one["right"] for one in patterns)
    assert "of 20 utterances in patterns that it was not trained with" in again.out
    for one in patterns:
        assert f"{one['pattern']}: {one['right']} of {one['held_out']}" in again.out
        assert len(one["failed"]) == one["held_out"] - one["right"]
        assert all(failed["utterance"] in again.out for failed in one["failed"][:3])
    assert trained.json["artifacts"] in again.out

    (listed,) = greenroom("fastworkflow", "list", "--json").json
    assert listed["key"] == trained.json["key"]
    table = greenroom("fastworkflow", "list").out
    assert "retail_workflow" in table
    assert "yes" in table
    (workflow / "_commands" / "calculate.py").unlink()
    (outdated,) = greenroom("fastworkflow", "list", "--json").json
    assert not outdated["usable"]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_training_that_fails_is_told_in_a_line(
    greenroom: Greenroom, tmp_path: Path, models: tuple[Path, Path]
) -> None:
    workflow = reduced_retail(tmp_path, ("calculate",))
    (workflow / "_commands" / "calculate.py").write_text("this is no Python")
    result = greenroom(
        "fastworkflow",
        "train",
        *("--workflow-path", workflow),
        *("--tiny-model", models[0]),
        *("--large-model", models[1]),
    )
    assert result.status == 2
    assert "FastWorkflow could not train retail_workflow" in result.err
    assert "Traceback" not in result.err
    assert greenroom("fastworkflow", "list", "--json").json == []
