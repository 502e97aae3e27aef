"""tau2-bench's own result files, read and written, and submissions for its leaderboard."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import anyio
import pytest
from pydantic import ValidationError

from greenroom.agents import find_strategy
from greenroom.benchmark import RunContext, episode_record, play_episode, submissions
from greenroom.benchmark.config import RunConfig
from greenroom.benchmark.simulation_files import results_file
from greenroom.benchmark.simulations import load_simulations, replay_simulations
from greenroom.domains.domain import load_domain
from greenroom.domains.tau2.grading import GRADED_ENDS, hashes, replay_calls
from greenroom.domains.tau2.recorded import read_messages
from greenroom.errors import DataError
from greenroom.store import open_store
from tests.benchmark.test_tau2_conformance import DATA
from tests.cli.running import Greenroom
from tests.store.samples import sample_run

RECORDED = DATA / "trajectories-tau2.json.gz"


@pytest.fixture
def airline_run(greenroom: Greenroom, any_database: str) -> str:
    """A run of all base tasks whose agent does not know the answers, as far as the store knows."""
    command = ("run", "--env", "airline", "--data", DATA, "--agent-strategy", "synthetic")
    assert greenroom(*command, "--num-trials", 2, "--name", "mine").status == 0
    store = open_store()
    run = store.runs.find("mine")
    store.runs.update(run.model_copy(update={"reads_script": False}))
    store.close()
    return "mine"


@pytest.mark.slow
@pytest.mark.tau2_data
def test_recorded_episodes_get_their_recorded_rewards() -> None:
    simulations = load_simulations(RECORDED)
    assert simulations is not None
    assert len(simulations) == 60
    entries = json.loads(gzip.decompress(RECORDED.read_bytes()))
    found = replay_simulations(simulations, lambda name: load_domain(name, DATA))
    for episode, entry in zip(found, entries, strict=True):
        assert episode.agrees, (entry["task_id"], episode.explanation)
        assert episode.reward == entry["recorded_reward"] == entry["reward_today_embedded_task"]


@pytest.mark.slow
@pytest.mark.tau2_data
def test_they_lead_to_the_recorded_databases() -> None:
    simulations = load_simulations(RECORDED)
    assert simulations is not None
    domains = {name: load_domain(name, DATA) for name in {one.domain for one in simulations}}
    entries = json.loads(gzip.decompress(RECORDED.read_bytes()))
    for one, entry in zip(simulations, entries, strict=True):
        domain = domains[one.domain]
        trajectory = one.trajectory(domain.edition.greeting)
        replayed = replay_calls(domain, one.task, trajectory)
        assert replayed.differences == ()
        assert hashes(domain, replayed.worlds) == entry["hash_final"]


@pytest.mark.tau2_data
def test_a_difference_is_explained(greenroom: Greenroom, tmp_path: Path) -> None:
    entries = json.loads(gzip.decompress(RECORDED.read_bytes()))
    solved = next(
        one for one in entries if one["domain"] == "mock" and one["recorded_reward"] == 1.0
    )
    solved["simulation"]["reward_info"]["reward"] = 0.0
    ended = json.loads(json.dumps(solved))
    ended["simulation"]["termination_reason"] = "max_steps"
    ended["simulation"]["reward_info"]["reward"] = 1.0
    never = json.loads(json.dumps(solved))
    never["simulation"]["reward_info"] = None
    file = tmp_path / "results.json"
    file.write_text(json.dumps([solved, ended, never]))
    result = greenroom("replay", file, "--data", DATA)
    assert result.status == 1
    assert "recorded 0.0, replayed 1.0: all that counts is met" in result.out
    assert "recorded 1.0, replayed 0.0: it ended by max_steps" in result.out
    assert "Left out: 1 episodes without a recorded reward" in result.out
    assert "0/2 rewards agree" in result.out


_OF_MOCK = '"info": {"environment_info": {"domain_name": "mock"}}, "tasks": []'

_NAMELESS_CALL = (
    '[{"task": {"id": "x"}, "simulation": {"task_id": "x", "messages": [{"role": "user", '
    '"tool_calls": [{"arguments": {}}]}]}}]'
)
_CALL_OF_NOBODY = (
    '[{"task": {"id": "x", "initial_state": {"message_history": [{"role": "user", '
    '"tool_calls": [{"name": "a", "requestor": "nobody"}]}]}}, "simulation": {}}]'
)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"info": {}, "tasks": []}', "it names no domain"),
        (f"{{{_OF_MOCK}}}", "has no episodes: its list of simulations is missing"),
        (f'{{{_OF_MOCK}, "simulations": [{{"task_id": "x"}}]}}', "task 'x', and no such task"),
        ('[{"task": {}, "simulation": {}}]', "id: Field required"),
        ("{", "cannot be read as JSON"),
        (_NAMELESS_CALL, "messages: Value error, 0.tool_calls.0.name: Field required"),
        (_CALL_OF_NOBODY, "message_history: Value error, 0.tool_calls.0.requestor"),
    ],
)
def test_broken_files(tmp_path: Path, content: str, problem: str) -> None:
    file = tmp_path / "results.json"
    file.write_text(content)
    with pytest.raises(DataError, match=problem):
        load_simulations(file)


def test_a_packed_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "no.json.gz").write_bytes(b"nothing")
    with pytest.raises(DataError, match="cannot be unpacked"):
        load_simulations(tmp_path / "no.json.gz")


@pytest.mark.slow
@pytest.mark.tau2_data
def test_a_written_file_is_read_again(
    greenroom: Greenroom, any_database: str, tmp_path: Path
) -> None:
    for env in ("mock", "telecom"):
        run = ("run", "--env", env, "--data", DATA, "--end-index", 8, "--name", env)
        assert greenroom(*run).status == 0
        file = tmp_path / f"{env}.json"
        assert greenroom("runs", "export", env, "--format", "tau2", "-o", file).status == 0
        result = greenroom("replay", file, "--data", DATA)
        assert result.status == 0, result.out
        assert "8/8 rewards agree" in result.out
        assert "Observations that differ: 0" in result.out
        content = json.loads(file.read_text())
        assert content["info"]["environment_info"]["domain_name"] == env
        assert len(content["tasks"]) == len(content["simulations"]) == 8
        for simulation in content["simulations"]:
            assert simulation["termination_reason"] in GRADED_ENDS
            messages = simulation["messages"]
            stamps = [message["timestamp"] for message in messages]
            assert stamps == sorted(stamps)
            assert [message["turn_idx"] for message in messages] == list(range(len(messages)))
            info = simulation["reward_info"]
            product = all(info["reward_breakdown"].values())
            assert info["reward"] == float(product)


@pytest.mark.slow
@pytest.mark.tau2_data
@pytest.mark.parametrize("met", [True, False])
def test_the_verdicts_of_a_file_count_when_it_is_graded_again(
    greenroom: Greenroom, any_database: str, tmp_path: Path, met: bool
) -> None:
    tasks = load_domain("retail", DATA).tasks()
    judged = next(place for place, task in enumerate(tasks) if len(task.judged) > 1)
    run = ("run", "--env", "retail", "--data", DATA, "--task-ids", judged, "--name", "judged")
    assert greenroom(*run).status == 0
    file = tmp_path / "judged.json"
    assert greenroom("runs", "export", "judged", "--format", "tau2", "-o", file).status == 0
    awaited = greenroom("replay", file, "--data", DATA, "--json").json
    sentences = tasks[judged].judged
    assert (awaited["judged_in_file"], awaited["unjudged"]) == (0, len(sentences))
    content = json.loads(file.read_text())
    info = content["simulations"][0]["reward_info"]
    info["nl_assertions"] = [
        {"nl_assertion": sentence, "met": met, "justification": "so it is"}
        for sentence in sentences
    ]
    info["reward"] = float(met)
    file.write_text(json.dumps(content))
    found = greenroom("replay", file, "--data", DATA)
    assert found.status == 0, found.out
    assert f"Sentences with the verdict of the file: {len(sentences)}" in found.out
    assert "await a judge" not in found.out
    assert f"pass^1 {float(met):.3f}" in found.out


@pytest.mark.slow
@pytest.mark.tau2_data
def test_telecom_with_the_other_policy_is_a_domain_of_its_own_in_files(
    greenroom: Greenroom, any_database: str, tmp_path: Path
) -> None:
    run = ("run", "--env", "telecom", "--data", DATA, "--end-index", 3, "--name", "flow")
    assert greenroom(*run, "--env-option", "policy=workflow").status == 0
    file = tmp_path / "flow.json"
    assert greenroom("runs", "export", "flow", "--format", "tau2", "-o", file).status == 0
    content = json.loads(file.read_text())
    assert content["info"]["environment_info"]["domain_name"] == "telecom-workflow"
    assert "3/3 rewards agree" in greenroom("replay", file, "--data", DATA).out
    assert "3 of 3 episodes graded again" in greenroom("regrade", file, "--data", DATA).out
    solo = ("run", "--env", "telecom", "--data", DATA, "--end-index", 1, "--name", "alone")
    assert greenroom(*solo, "--env-option", "solo=true").status == 0
    names = ("--model-organization", "a", "--submitting-organization", "b")
    for name, problem in (
        ("flow", "'flow' was played with the policy workflow, not with manual."),
        ("alone", "In 'alone' the agent worked alone, without a user."),
    ):
        refused = greenroom("runs", "submission", name, "-o", "x", *names)
        assert problem in refused.err


def test_only_runs_of_tau2s_domains(greenroom: Greenroom, any_database: str) -> None:
    assert greenroom("run", "--end-index", 1, "--name", "own").status == 0
    refused = greenroom("runs", "export", "own", "--format", "tau2")
    assert refused.status == 2
    assert "was played on greenroom-retail" in refused.err


@pytest.mark.slow
@pytest.mark.tau2_data
def test_a_submission(greenroom: Greenroom, airline_run: str, tmp_path: Path) -> None:
    command = (
        *("runs", "submission", airline_run, "-o", tmp_path, "--model-name", "Some Model 2"),
        *("--model-organization", "They", "--submitting-organization", "We & Co"),
        *("--email", "me@example.com"),
    )
    result = greenroom(*command, "--json")
    assert result.status == 0, result.err
    folder = Path(result.json["folder"])
    written = json.loads((folder / "submission.json").read_text())
    assert written == result.json["submission"]
    assert folder.name.startswith("some-model-2_we-co_20")
    assert written["submission_type"] == "custom"
    assert written["trajectory_files"] == {"airline": "airline_results.json"}
    figures = written["results"]["airline"]
    assert 0 <= figures["pass_2"] <= figures["pass_1"] <= 100
    assert figures["pass_3"] is figures["pass_4"] is figures["cost"] is None
    content = json.loads((folder / "trajectories" / "airline_results.json").read_text())
    rewards = [one["reward_info"]["reward"] for one in content["simulations"]]
    assert len(rewards) == 100
    assert figures["pass_1"] == pytest.approx(100 * sum(rewards) / 100)
    assert len(content["tasks"]) == 50
    again = greenroom(*command)
    assert again.status == 2
    assert "exists already" in again.err


@pytest.mark.slow
@pytest.mark.tau2_data
def test_what_the_leaderboard_would_not_take(greenroom: Greenroom, any_database: str) -> None:
    for env in ("mock", "airline"):
        run = ("run", "--env", env, "--data", DATA, "--end-index", 2, "--name", env)
        assert greenroom(*run).status == 0
    refused = greenroom(
        *("runs", "submission", "mock", "airline", "airline", "-o", "x"),
        *("--model-organization", "a", "--submitting-organization", "b"),
    )
    assert refused.status == 2
    for problem in (
        "mock is no domain of the leaderboard",
        "'airline' lacks 48 of 50 tasks",
        "knows the answers",
        "are both of airline",
    ):
        assert problem in refused.err
    assert not Path("x").exists()


@pytest.mark.tau2_data
def test_data_that_is_not_tau2s_is_no_submission(greenroom: Greenroom, any_database: str) -> None:
    assert greenroom("run", "--env", "telecom", "--end-index", 2, "--name", "own").status == 0
    refused = greenroom(
        *("runs", "submission", "own", "-o", "x", "--model-name", "m"),
        *("--model-organization", "a", "--submitting-organization", "b"),
    )
    assert (refused.status, "but on greenroom-telecom" in refused.err) == (2, True)
    assert not Path("x").exists()


@pytest.mark.slow
@pytest.mark.tau2_data
@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (("a", ""), "--submitting-organization should have a Latin letter"),
        (("a", "日本"), "--submitting-organization should have a Latin letter"),
        ((" ", "b"), "Name who made the model"),
    ],
)
def test_names_that_make_no_folder_are_refused(
    greenroom: Greenroom, airline_run: str, names: tuple[str, str], problem: str
) -> None:
    refused = greenroom(
        *("runs", "submission", airline_run, "-o", "x", "--model-name", "m"),
        *("--model-organization", names[0], "--submitting-organization", names[1]),
    )
    assert (refused.status, problem in refused.err) == (2, True), refused.err


@pytest.mark.tau2_data
def test_a_submission_names_the_retrieval_that_is_the_default(
    greenroom: Greenroom, any_database: str
) -> None:
    run = ("run", "--env", "banking_knowledge", "--data", DATA, "--end-index", 1, "--name", "bank")
    assert greenroom(*run).status == 0
    store = open_store()
    record, domain = store.runs.find("bank"), load_domain("banking_knowledge", DATA)
    episodes = list(store.runs.results(record.id))
    store.close()
    result = submissions.domain_result(submissions.SubmittedRun(record, domain, episodes))
    assert (
        result.retrieval_config
        == results_file(record, domain, episodes)["info"]["retrieval_config"]
    )
    assert submissions.Results(banking_knowledge=result).banking_knowledge == result


def test_the_schema_of_a_submission() -> None:
    with pytest.raises(ValidationError, match="retrieval_config"):
        submissions.Results(banking_knowledge=submissions.DomainResult(pass_1=50.0))
    with pytest.raises(ValidationError, match="less than or equal to 100"):
        submissions.DomainResult(pass_1=101.0)
    with pytest.raises(ValidationError, match="Extra inputs"):
        submissions.Results.model_validate({"golf": None})


@pytest.mark.slow
@pytest.mark.tau2_data
@pytest.mark.parametrize(("env", "count"), [("airline", 30), ("retail", 21)])
def test_recorded_episodes_by_present_tasks(
    greenroom: Greenroom, tmp_path: Path, env: str, count: int
) -> None:
    entries = [
        entry
        for entry in json.loads(gzip.decompress(RECORDED.read_bytes()))
        if entry["domain"] == env
    ]
    file = tmp_path / "episodes.json"
    file.write_text(json.dumps(entries))
    shown = greenroom("regrade", file, "--data", DATA, "--json")
    assert shown.status == 0, shown.err
    summary = shown.json["summary"]
    assert (summary["graded"], summary["refused"]) == (count, 0)
    then = sum(entry["recorded_reward"] for entry in entries)
    now = sum(entry["reward_today_current_task"] for entry in entries)
    assert summary["reward_before"] == pytest.approx(then / count)
    assert summary["reward"] == pytest.approx(now / count)
    changed = [one for one in entries if one["recorded_reward"] != one["reward_today_current_task"]]
    assert len(shown.json["flips"]) == len(changed)


@pytest.mark.tau2_data
def test_episodes_of_several_domains_are_no_run(greenroom: Greenroom) -> None:
    refused = greenroom("errors", RECORDED)
    assert refused.status == 2
    assert "several domains: airline, mock, retail, telecom" in refused.err


@pytest.mark.tau2_data
def test_calls_made_at_once_are_one_message_in_the_file() -> None:
    mock = load_domain("mock", DATA)
    context = RunContext(mock, find_strategy("oracle"), RunConfig(task_split="base"))
    record = episode_record(mock, anyio.run(play_episode, context, 0), split="base")
    first = record.steps[0]
    joined = first.model_copy(
        update={"action": first.action.model_copy(update={"joined": True, "aside": ""})}
    )
    record = record.model_copy(update={"steps": [first, joined, *record.steps[1:]]})
    file = results_file(sample_run(env="mock", task_split="base"), mock, [record])
    messages = file["simulations"][0]["messages"]
    (calling,) = [one for one in messages if one.get("tool_calls")]
    ids = [call["id"] for call in calling["tool_calls"]]
    assert len(ids) == 2
    assert [one["id"] for one in messages if one["role"] == "tool"] == ids
    trajectory = read_messages(messages, mock.task(0, "base"), mock.edition.greeting)
    assert [call.action.joined for call in trajectory.calls()] == [False, True]
