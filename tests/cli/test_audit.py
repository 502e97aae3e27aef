from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.domains import Domain
from greenroom.model_server import running_server
from greenroom.reports.json_report import parse_report
from greenroom.reports.report import RunReport
from greenroom.store import JudgementRecord, JudgingRecord, ResultRecord, open_store
from tests.audit.talking import called, episode, said
from tests.cli.running import Greenroom
from tests.reports.sample import START, run_record

INSTRUCTION = "You are mia_kim_4397. Ask for a refund."
FAULTY = (called("ok"), said("Your mail?", "It is z@example.com."), said("Done.", "###STOP###"))
FINE = (called("ok"), said("Done.", "###STOP###"))


@pytest.fixture
def run() -> str:
    store = open_store()
    record = store.runs.create(run_record(3, 1), stem="audited")
    failed = {"outcome": "failure", "reward": 0.0}
    store.runs.add(
        record.id,
        [
            episode(INSTRUCTION, "Hi", *FAULTY, **failed),
            episode(INSTRUCTION, "Hi", *FINE, task_index=1),
            episode(INSTRUCTION, "Hi", *FAULTY, task_index=2),
        ],
    )
    return record.name


def test_findings_of_a_run(greenroom: Greenroom, run: str) -> None:
    result = greenroom("audit", run)
    assert result.status == 0
    assert "3 conversations of simulated users were read" in result.out
    assert "Failures that may be the user's" in result.out
    assert "z@example.com" in result.out
    assert "the official figure" in result.out
    found = greenroom("audit", run, "--json").json
    assert (found["source"], found["with_fault"], found["user_failures"]) == (run, 2, 1)
    assert [one["item"] for one in found["faulty"]] == [0, 2]
    (finding,) = found["faulty"][0]["findings"]
    assert (finding["kind"], finding["turn"], finding["source"]) == ("invented_fact", 2, "check")


def test_a_list_is_cut_and_says_so(greenroom: Greenroom, run: str) -> None:
    shown = greenroom("audit", run, "--limit", 0).out
    assert "1 more: --limit or --json shows them." in shown
    assert "It is z@example.com." not in shown


def test_a_report_has_the_audit_where_it_is_asked_for(
    greenroom: Greenroom, run: str, tmp_path: Path
) -> None:
    assert "Simulated users" not in greenroom("runs", "show", run).out
    assert "pass^1, without user faults" in greenroom("runs", "show", run, "--audit").out
    page, text, data = (tmp_path / f"report.{end}" for end in ("html", "md", "json"))
    for file in (page, text, data):
        assert greenroom("runs", "report", run, "--audit", "-o", file).status == 0
    assert "Failures that may be the user" in page.read_text()
    assert "| With a user fault |" in text.read_text()
    read = parse_report(data.read_text())
    assert isinstance(read, RunReport)
    assert read.user_audit is not None
    assert read.user_audit.with_fault == 2


def test_a_finding_stands_beside_its_turn_on_the_page(
    greenroom: Greenroom, run: str, tmp_path: Path
) -> None:
    greenroom("runs", "report", run, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.count('"finding":') == 2, "with the user's message, without being asked for"


def test_what_a_judge_blames_on_the_user_is_listed_and_in_no_figure(
    greenroom: Greenroom, run: str
) -> None:
    store = open_store()
    record = store.runs.find(run)
    before = greenroom("audit", run, "--json").json
    store.runs.add(
        record.id,
        [episode(INSTRUCTION, "Hi", *FINE, task_index=1, trial=1, outcome="failure", reward=0.0)],
    )
    judging = store.judgings.create(
        JudgingRecord(
            id="judging",
            name="judged",
            created_at=START,
            greenroom_version="0",
            run_id=record.id,
            run_name=run,
            judge="a-judge",
            episodes=[(0, 0), (1, 1)],
        )
    )
    verdicts = ((0, 0, "agent"), (1, 1, "user"))
    store.judgings.add(
        judging.id,
        [
            JudgementRecord.model_validate(
                {
                    "task_index": task,
                    "trial": trial,
                    "author": author,
                    "author_description": "It never said which.",
                    "author_words": "hi",
                    "outcome": "answered",
                    "started_at": START,
                }
            )
            for task, trial, author in verdicts
        ],
    )
    found = greenroom("audit", run, "--json").json
    assert found["by_kind"]["blamed_by_judge"] == 1
    assert found["with_fault"] == before["with_fault"]
    assert found["user_failures"] == before["user_failures"]
    (blamed,) = [one for one in found["faulty"] if (one["item"], one["trial"]) == (1, 1)]
    (finding,) = blamed["findings"]
    assert (finding["source"], finding["turn"], finding["words"]) == ("judge", 1, "Hi")
    assert finding["sentence"] == "a-judge: It never said which."
    shown = greenroom("audit", run).out
    assert "Blamed by a judge" in shown
    assert "The judge, a-judge: judge not checked." in shown


def test_an_evaluation_of_simulated_conversations(greenroom: Greenroom, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "from greenroom import chat_workflow\n\n\n@chat_workflow\ndef echo(messages):\n"
        '    return {"role": "assistant", "content": "Noted."}\n'
    )
    (tmp_path / "rows.csv").write_text("goal,expected\nAsk for a refund.,refund\n")
    greenroom(
        *("eval", f"{tmp_path}/app.py:echo", tmp_path / "rows.csv", "-e", "contains"),
        *("--user-strategy", "scripted", "--name", "talked"),
    )
    store = open_store()
    evaluation = store.evaluations.find("talked")
    said_so = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Your mail?"},
        {"role": "user", "content": "z@example.com"},
    ]
    record = ResultRecord(
        row=0, repeat=1, outcome="answered", started_at=START, conversation=said_so, outputs="no"
    )
    store.evaluations.add(evaluation.id, [record])
    found = greenroom("audit", "talked", "--json").json
    assert [one["item"] for one in found["faulty"]] == [1], "rows count from 1, as in reports"
    assert found["passes"] is None
    assert "Row" in greenroom("audit", "talked").out
    assert "With a user fault" in greenroom("evals", "show", "talked", "--audit").out


def test_what_is_none_to_audit(greenroom: Greenroom, tmp_path: Path) -> None:
    missing = greenroom("audit", "nobody")
    assert missing.status == 2
    assert "nobody" in missing.err
    greenroom("run", "--agent-strategy", "oracle", "--end-index", 2, "--name", "recited")
    recited = greenroom("audit", "recited")
    assert recited.status == 0
    assert "No conversations of simulated users to read" in recited.out


@pytest.mark.official
def test_recorded_airline_episodes(greenroom: Greenroom, official_data: Path) -> None:
    file = official_data / "trajectories/gpt-4o-airline.json"
    found = greenroom("audit", file, "--env", "airline", "--json").json
    assert (found["talks"], found["failures"]) == (200, 116)
    assert found["by_kind"]["denied_fact"] == 16
    assert found["with_fault"] == 26
    denied = {
        (one["item"], one["trial"])
        for one in found["faulty"]
        if any(finding["kind"] == "denied_fact" for finding in one["findings"])
    }
    assert {(23, 0), (24, 1), (32, 2)} <= denied, "their users have an id, and say that they do not"


@pytest.mark.slow
@pytest.mark.parametrize("user", ["verify", "reflection"])
def test_a_run_shows_what_its_checked_users_counted(
    greenroom: Greenroom, retail: Domain, tmp_path: Path, user: str
) -> None:
    run = ["run", "--agent-strategy", "oracle", "--task-ids", "1", "--name", "checked"]
    with running_server(retail) as server:
        who = ["--user-strategy", user, "--user-model", "user", "--user-api-base", server.api_base]
        assert greenroom(*run, *who).status == 0
    shown = greenroom("runs", "show", "checked").out
    assert "What the user counted" in shown
    data = tmp_path / "checked.json"
    assert greenroom("runs", "export", "checked", "-o", data).status == 0
    report = parse_report(data.read_text(encoding="utf-8"))
    (episode,) = report.episodes
    assert report.user_tallies == episode.user_tallies
    # A draft, its review and nothing else: no check failed.
    checked = report.user_tallies["drafts"]["checked"]
    assert checked is not None
    assert 2 * checked == episode.usage["user"].calls
    assert list(report.user_tallies) == ["drafts"]
    assert report.run.config["user_options"] == {"checks": True}
    refused = greenroom(*run[:-1], "other", *who, "--user-option", "checks=maybe")
    assert refused.status == 2
    assert "checks" in refused.err
