"""Planted judges at the command line: each is found out, and its figures are what was planted."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from greenroom.judges import JUDGES, builtin_cases, read_cases
from greenroom.judges.kinds import PADDING
from greenroom.reports.judge_checks import latest_check
from greenroom.store import NoteSubject, Verdict, open_store
from tests.chat_server import ChatServer, OutOfOrder, running_chat_server
from tests.cli.running import Greenroom, Result

pytestmark = pytest.mark.slow

Judging = Callable[[str], Any]
"""What a judge says of a question, as the JSON that is asked for."""

MODEL = ("--judge-model", "m", "--judge-api-base", "http://127.0.0.1:9/v1")
WORDS = [f"Answer {n}." for n in range(20)]
RIGHT = WORDS[::2]


@contextmanager
def judging(judge: Judging) -> Generator[ChatServer]:
    """A server whose model is this judge."""

    def answering(body: dict[str, Any]) -> dict[str, Any]:
        return {"content": json.dumps(judge(body["messages"][1]["content"]))}

    with running_chat_server(answering) as server:
        yield server


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "x")


def cases(name: str = "cases.csv") -> str:
    """Twenty answers, of which people say that every second is right."""
    lines = [f"{word},{'yes' if word in RIGHT else 'no'}" for word in WORDS]
    Path(name).write_text("\n".join(["output,label", *lines]) + "\n")
    return name


def check(greenroom: Greenroom, server: ChatServer, judge: str, *more: object) -> Result:
    given = ("--judge-model", "m", "--judge-model-provider", "openai")
    given = (*given, "--judge-api-base", server.api_base)
    return greenroom("judges", "check", judge, *given, *more)


def passes(question: str, wanted: list[str] = RIGHT) -> bool:
    output = question.partition("<output>")[2].partition("</output>")[0]
    return any(word in output for word in wanted)


def scored(score: float) -> dict[str, Any]:
    return {"reason": "so", "score": score}


def found(result: Result) -> Any:
    return result.json["figures"]


def test_a_judge_that_is_right_is_not_marked(greenroom: Greenroom) -> None:
    with judging(lambda asked: scored(float(passes(asked)))) as server:
        result = check(greenroom, server, "llm_judge", "--cases", cases(), "--json")
        figures = found(result)
        assert result.status == 0
        assert figures["agreement"]["value"] == 1
        assert figures["kappa"]["value"] == pytest.approx(1)
        assert figures["self_agreement"]["value"] == 1
        assert (figures["cases"], figures["verdicts"]) == (20, 60)
        assert result.json["flaws"] == []
        # Twenty cases, in three ways, three times.
        assert len(server.asked) == figures["usage"]["calls"] == 180
        assert figures["usage"]["prompt_tokens"] == 180 * 100
        orders = Counter(
            said.index("<output>") < said.index("<expected_output>")
            for said in (one["messages"][-1]["content"] for one in server.asked)
        )
        assert orders == {True: 60, False: 120}
        padded = [one for one in server.asked if PADDING in one["messages"][-1]["content"]]
        assert len(padded) == 60


def test_a_judge_that_always_says_yes_agrees_with_half(greenroom: Greenroom) -> None:
    with judging(lambda _: scored(1)) as server:
        result = check(greenroom, server, "llm_judge", "--cases", cases(), "--json")
    figures = found(result)
    assert result.status == 1
    assert figures["agreement"]["value"] == 0.5
    assert figures["kappa"]["value"] == 0
    assert result.json["below"] is True
    assert result.json["flaws"] == ["agrees with people less than 0.8"]
    assert figures["confusion"]["fail"] == {"pass": 30}


def test_a_judge_that_likes_long_answers_is_swayed_by_length(greenroom: Greenroom) -> None:
    with judging(lambda asked: scored(float(passes(asked) or PADDING in asked))) as server:
        result = check(greenroom, server, "llm_judge", "--cases", cases(), "--json")
    figures = found(result)
    assert result.json["biased"] == {"order": False, "length": True}
    assert figures["agreement"]["value"] == 1
    assert figures["length"]["changed"]["value"] == pytest.approx(0.5)
    assert figures["length"]["towards_pass"] == pytest.approx(0.5)


def test_a_judge_that_prefers_the_first_answer_is_swayed_by_order(greenroom: Greenroom) -> None:
    lines = ["first,second,output,label", *(f"A{n},B{n},-,pass" for n in range(10))]
    lines += [f"C{n},D{n},-,fail" for n in range(10)]
    Path("pairs.csv").write_text("\n".join(lines) + "\n")
    Path("prompt.txt").write_text("Is the first better?\n\n{{first}}\n\n{{second}}")
    judge = "llm_judge:prompt_file=prompt.txt"
    with judging(lambda _: scored(1)) as server:
        swap = ("--cases", "pairs.csv", "--swap", "first,second", "--json")
        result = check(greenroom, server, judge, *swap)
    figures = found(result)
    assert figures["order"]["changed"]["value"] == 1
    assert result.json["biased"] == {"order": True, "length": False}

    def better(asked: str) -> dict[str, Any]:
        first = re.findall(r"[ABCD]\d", asked)[0]
        return scored(float(first[0] in "AD"))

    with judging(better) as server:
        result = check(greenroom, server, judge, *swap)
    assert found(result)["agreement"]["value"] == 1
    assert result.json["biased"] == {"order": False, "length": False}


def test_a_judge_that_changes_its_mind_does_not_agree_with_itself(greenroom: Greenroom) -> None:
    asked: Counter[str] = Counter()

    def wavering(question: str) -> dict[str, Any]:
        asked[question] += 1
        return scored(float(asked[question] % 2))

    with judging(wavering) as server:
        more = ("--cases", cases(), "--repeats", 4, "--max-concurrency", 1, "--json")
        result = check(greenroom, server, "llm_judge", *more)
    figures = found(result)
    # Of the six pairs of four repeats, two say the same.
    assert figures["self_agreement"]["value"] == pytest.approx(1 / 3)
    assert figures["agreement"]["value"] == 0.5
    assert result.json["biased"] == {"order": False, "length": False}


def test_the_fault_judge_that_names_the_first_answer_is_found_out(greenroom: Greenroom) -> None:
    def first(asked: str) -> dict[str, Any]:
        choice = re.search(r'"author": "(\w+)"', asked)
        assert choice is not None
        return {"description": "so", "author": choice[1]}

    with judging(first) as server:
        result = check(greenroom, server, "identify", "--json")
    figures = found(result)
    assert result.status == 1
    assert figures["cases"] == len(builtin_cases("identify"))
    assert figures["agreement"]["value"] == pytest.approx(1 / 3)
    assert figures["order"]["changed"]["value"] == 1
    assert result.json["builtin_cases"] is True


def test_sentences_of_a_conversation_are_judged_together(greenroom: Greenroom) -> None:
    rows = builtin_cases("statements")
    true = {row["statement"] for row in rows if row["label"] == "pass"}

    def right(asked: str) -> dict[str, Any]:
        listed = asked.partition("<statements>\n")[2].partition("\n</statements>")[0]
        return {
            "results": [
                {"number": int(number), "reason": "so", "met": text in true}
                for number, _, text in (line.partition(". ") for line in listed.splitlines())
            ]
        }

    with judging(right) as server:
        result = check(greenroom, server, "statements", "--json")
        figures = found(result)
        assert len(server.asked) == 4 * 3 * 3
    assert result.status == 0
    assert figures["cases"] == len(rows) == 12
    assert figures["agreement"]["value"] == 1
    assert figures["order"]["changed"]["value"] == 0


def test_an_evaluator_of_conversations_is_checked_by_them(greenroom: Greenroom) -> None:
    rows = builtin_cases("goal_reached")
    done = [row["conversation"][-1]["content"] for row in rows if row["label"] == "pass"]

    def right(asked: str) -> dict[str, Any]:
        return {"reason": "so", "reached": any(one in asked for one in done), "turn": 1}

    with judging(right) as server:
        result = check(greenroom, server, "goal_reached", "--json")
        padded = [one for one in server.asked if PADDING in one["messages"][1]["content"]]
    assert result.status == 0
    figures = found(result)
    assert (figures["cases"], figures["agreement"]["value"]) == (len(rows), 1)
    assert figures["order"] is None
    assert len(padded) == 3 * len(rows)


def test_broken_answers_are_no_verdicts(greenroom: Greenroom) -> None:
    def broken(asked: str) -> dict[str, Any]:
        return {} if passes(asked, WORDS[:2]) else scored(float(passes(asked)))

    with judging(broken) as server:
        result = check(greenroom, server, "llm_judge", "--cases", cases(), "--json")
    figures = found(result)
    assert figures["agreement"]["value"] == 1
    assert figures["cases"] == 18
    assert figures["without_verdict"] == 2 * 3 * 3


def test_a_judge_that_is_out_of_order_is_told_and_does_not_count(greenroom: Greenroom) -> None:
    given = ("--cases", cases(), "--repeats", 1, "--max-retries", 0, "--model-retries", 0)

    def down(_: str) -> Any:
        raise OutOfOrder("no model here")

    with judging(lambda asked: scored(float(passes(asked)))) as server:
        assert check(greenroom, server, "llm_judge", *given, "--name", "sound").status == 0
    with judging(down) as server:
        result = check(greenroom, server, "llm_judge", *given)
        shown = check(greenroom, server, "llm_judge", *given, "--json").json
    assert result.status == 1
    assert "no model here" in " ".join(result.out.split())
    assert shown["flaws"] == ["gave no verdict"]
    store = open_store()
    key = store.evaluations.find("sound").workflow
    latest = latest_check(store, key)
    store.close()
    assert latest is not None
    assert latest.name == "sound"


def test_a_check_is_an_evaluation_and_reports_find_it(greenroom: Greenroom) -> None:
    with judging(lambda asked: scored(float(passes(asked)))) as server:
        shown = check(greenroom, server, "llm_judge", "--cases", cases(), "--name", "sound")
        assert "Agreement with people" in shown.out
        assert "Kept as 'sound'" in shown.out
        assert "Agreement with people" in greenroom("judges", "show", "sound").out
        listed = greenroom("judges", "list", "--json").json
        assert [one["name"] for one in listed["checks"]] == ["sound"]
        assert [one["judge"] for one in listed["judges"]] == list(JUDGES)
        assert "sound" in greenroom("judges", "list").out
        assert greenroom("evals", "show", "sound", "--by", "variant").status == 0
        Path("rows.csv").write_text("text,out\na,Answer 0.\nb,Answer 1.\n")
        judge = {"model": "m", "provider": "openai", "api_base": server.api_base}
        spec = f"llm_judge={json.dumps(judge)}"
        done = greenroom("eval", "x", "rows.csv", "--outputs", "out", "-e", spec, "--name", "e")
        assert done.status == 0, done.err
    text = " ".join(done.out.split())
    assert "agreement with people 1.00 on 20 cases" in text
    assert "llm_judge: The judge's agreement with people: 1.00" in text
    kept = greenroom("evals", "export", "e").json
    assert kept["judges"]["llm_judge"]["name"] == "sound"
    for form in ("markdown", "html"):
        shown = greenroom("evals", "export", "e", "--format", form)
        assert "agreement with people 1.00" in shown.out
    with judging(lambda _: scored(1)) as server:
        spec = f"llm_judge={json.dumps({**judge, 'api_base': server.api_base})}"
        again = ("eval", "x", "rows.csv", "--outputs", "out", "-e", spec, "--name", "again")
        assert greenroom(*again).status == 0
    noted = greenroom("compare", "e", "again", "--json").json["notes"]
    assert noted == ["llm_judge: agreement with people 1.00 on 20 cases."]
    # Another prompt is another judge, whom nobody has checked.
    with judging(lambda asked: scored(1)) as server:
        own = {**judge, "api_base": server.api_base, "prompt": "Good? {{output}}"}
        spec = f"llm_judge={json.dumps(own)}"
        done = greenroom("eval", "x", "rows.csv", "--outputs", "out", "-e", spec, "--name", "f")
    assert "judge not checked" in " ".join(done.out.split())
    assert greenroom("evals", "export", "f").json["judges"] == {"llm_judge": None}
    assert greenroom("compare", "e", "f", "--json").json["notes"] == [
        "llm_judge of e: agreement with people 1.00 on 20 cases.",
        "llm_judge of f: judge not checked.",
    ]


def test_a_judge_below_the_threshold_is_marked_beside_its_figures(greenroom: Greenroom) -> None:
    with judging(lambda _: scored(1)) as server:
        low = check(
            greenroom, server, "llm_judge", "--cases", cases(), "--min-agreement", 0.5, "--json"
        )
        assert (low.status, low.json["below"]) == (0, False)
        assert check(greenroom, server, "llm_judge", "--cases", cases()).status == 1
        Path("rows.csv").write_text("text,out\na,Answer 0.\n")
        judge = {"model": "m", "provider": "openai", "api_base": server.api_base}
        spec = f"llm_judge={json.dumps(judge)}"
        done = greenroom("eval", "x", "rows.csv", "--outputs", "out", "-e", spec, "--name", "e")
    text = " ".join(done.out.split())
    assert "marked: agrees with people less than 0.8" in text
    for form in ("markdown", "html", "json"):
        shown = greenroom("evals", "export", "e", "--format", form).out
        assert "agrees with people less than 0.8" in shown


def test_an_interrupted_check_goes_on(greenroom: Greenroom) -> None:
    with judging(lambda asked: scored(float(passes(asked)))) as server:
        more = ("--cases", cases(), "--name", "cut", "--max-concurrency", 1)
        stopped = check(greenroom, server, "llm_judge", *more, "--max-tokens-total", 2000)
        assert stopped.status == 3
        assert greenroom("judges", "list", "--json").json["checks"] == []
        assert "Go on with: greenroom evals resume cut" in greenroom("judges", "show", "cut").err
        resumed = greenroom("evals", "resume", "cut", "--max-tokens-total", 1_000_000)
        assert resumed.status == 0, resumed.err
        assert "'greenroom judges show cut' says what it found" in " ".join(resumed.out.split())
        assert greenroom("judges", "show", "cut", "--json").json["figures"]["cases"] == 20
    (listed,) = greenroom("judges", "list", "--json").json["checks"]
    assert listed["figures"]["agreement"]["value"] == 1
    assert listed["figures"]["usage"]["calls"] == 180


@pytest.mark.parametrize(
    ("judge", "text", "problem"),
    [
        ("nobody", "output,label\na,yes\n", "There is no judge 'nobody'"),
        ("llm_judge", "output,label\na,maybe\n", "Case 1: label should be pass or fail"),
        ("llm_judge", "answer,label\na,yes\n", "Case 1 has no output"),
        ("llm_judge", "output,verdict\na,yes\n", "Case 1 has no label"),
        ("identify", "conversation,label\na,user\n", "Case 1 has no user_instruction"),
        ("identify:a=1", "x\n1\n", "identify has no settings"),
        ("exact_match", "output,label\na,yes\n", "exact_match asks no model"),
        ("llm_judge", "output,label_a,label_b\na,yes,no\n", "no cases that people agree about"),
        ("llm_judge", "output,label\na,\n", "There are no cases with a label"),
    ],
)
def test_what_cannot_be_checked_is_refused(
    greenroom: Greenroom, judge: str, text: str, problem: str
) -> None:
    Path("wrong.csv").write_text(text)
    refused = greenroom("judges", "check", judge, "--cases", "wrong.csv", *MODEL)
    assert refused.status == 2
    assert problem in " ".join(refused.err.split())
    store = open_store()
    assert store.evaluations.all() == []
    store.close()


def test_what_is_left_out_is_told_and_counts_among_people(greenroom: Greenroom) -> None:
    lines = ["output,label_ada,label_bo", *(f"{word},yes,yes" for word in RIGHT[:4])]
    lines += [f"{word},no,no" for word in WORDS[1:9:2]]
    lines += [f"{word},yes,no" for word in WORDS[12:16]] + [f"{word},," for word in WORDS[16:]]
    Path("people.csv").write_text("\n".join(lines) + "\n")
    given = ("--cases", "people.csv", "--repeats", 1, "--name", "left")
    with judging(lambda asked: scored(float(passes(asked)))) as server:
        shown = check(greenroom, server, "llm_judge", *given)
    text = " ".join(shown.out.split())
    assert "Left out: 4 cases, as people do not agree about what is right." in text
    assert "Left out: 4 cases, as nobody has labelled them." in text
    (kept,) = greenroom("judges", "list", "--json").json["checks"]
    assert kept["figures"]["cases"] == 8
    # Of 12 cases 4 differ; 12 of 24 labels are `pass`, so 12 of 23 differ by chance.
    assert kept["figures"]["people_alpha"] == pytest.approx(1 - (4 / 12) / (12 / 23))


def test_what_most_people_say_is_the_label() -> None:
    rows = [
        {"output": "a", "label_ada": "yes", "label_bo": "no", "label_cy": "yes"},
        {"output": "b", "label_ada": "yes", "label_bo": "no"},
        {"output": "c", "label": 1, "label_bo": ""},
    ]
    found = read_cases(rows, None)
    assert [(one.material["output"], one.labels) for one in found] == [
        ("a", ("pass",)),
        ("c", ("pass",)),
    ]
    assert found[0].people == (("pass", "fail", "pass"),)


@pytest.mark.parametrize("judge", ["identify", "statements", "llm_judge", "goal_reached"])
def test_the_cases_that_ship_can_be_read_and_have_every_label(judge: str) -> None:
    cases = read_cases(builtin_cases(judge), JUDGES.get(judge))
    labels = Counter(label for one in cases for label in one.labels)
    assert min(labels.values()) >= 3
    assert len(labels) == (3 if judge == "identify" else 2)


def test_failures_of_a_run_become_cases_with_the_labels_of_notes(greenroom: Greenroom) -> None:
    played = ("run", "--agent-strategy", "synthetic", "--success", 0, "--task-ids", 1, 2, 3)
    assert greenroom(*played, "--name", "failed").status == 0
    assert greenroom("judges", "cases", "failed", "-o", "open.csv").status == 0
    assert "label" in Path("open.csv").read_text().splitlines()[0].split(",")
    store = open_store()
    run = store.runs.find("failed")
    said: list[tuple[int, str, Verdict]] = [
        *((1, author, "user") for author in ("ada", "bo")),
        (2, "ada", "task"),
    ]
    for task, author, verdict in said:
        subject = NoteSubject(job_id=run.id, item=task, trial=0)
        store.notes.add(subject, author=author, verdict=verdict)
    store.close()
    made = greenroom("judges", "cases", "failed", "-o", "cases.jsonl", "--json").json
    assert made["cases"] == 3
    rows = [json.loads(line) for line in Path("cases.jsonl").read_text().splitlines()]
    assert [(one["label_ada"], one["label_bo"]) for one in rows] == [
        ("user", "user"),
        ("task", ""),
        ("", ""),
    ]
    found = read_cases(rows[:2], JUDGES["identify"])
    assert [one.labels for one in found] == [("user",), ("environment",)]
    assert "AGENT" in str(found[0].material["conversation"])
