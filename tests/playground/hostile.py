"""A store and workflows in which every text is hostile: markup, scripts, links, bidi, length."""

from __future__ import annotations

from typing import Any

from greenroom.store import (
    ActionRecord,
    DifferenceRecord,
    EpisodeRecord,
    JudgementRecord,
    JudgingRecord,
    NoteSubject,
    RewardRecord,
    ScoreRecord,
    StepRecord,
    Store,
    TaskRecord,
)
from tests.store.samples import (
    MOMENT,
    sample_episode,
    sample_evaluation,
    sample_result,
    sample_run,
)

MARK = "<script>window.hacked=1</script>"
"""Stands in every hostile text; pages show it as it is."""

NAME = '<img src=x onerror="window.hacked=1">'
OTHER = "</b><svg/onload=window.hacked=1>&amp;%41?#"

PAYLOADS = (
    MARK,
    '"><script src="https://evil.test/x.js"></script>',
    "</script></title></textarea></style><script>window.hacked=1</script>",
    '<img src=x onerror="window.hacked=1"><svg/onload=window.hacked=1>',
    '<svg><animate onbegin=window.hacked=1 attributeName=x dur=1s></svg><math href="javascript:x">',
    '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe><object data=//evil.test></object>',
    "<style>*{display:none}</style><link rel=stylesheet href=https://evil.test/x.css>",
    '<base href="https://evil.test/"><meta http-equiv="refresh" content="0;url=https://evil.test">',
    '<form action="https://evil.test"><input autofocus onfocus="window.hacked=1"></form>',
    '<a href="javascript:window.hacked=1" id=root>x</a><details open ontoggle=window.hacked=1>',
    "[one](javascript:window.hacked=1) [two](JaVaScRiPt:window.hacked=1)",
    "[three](&#106;avascript:window.hacked=1) [four](java\tscript:window.hacked=1)",
    "[five](data:text/html,<script>window.hacked=1</script>) [six](vbscript:x) [se](//evil.test)",
    "[eight][8] <javascript:window.hacked=1>\n\n[8]: javascript:window.hacked=1 'title'",
    "![nine](https://evil.test/pixel.png) ![ten](data:image/svg+xml,<svg onload=window.hacked=1>)",
    "![eleven](javascript:window.hacked=1) [![in](x)](javascript:window.hacked=1)",
    "{{constructor.constructor('window.hacked=1')()}} ${window.hacked=1} #{7*7} <%= 7 %>",
    "`<script>window.hacked=1</script>`\n\n```html\n<script>window.hacked=1</script>\n```",
    "| <b>a</b> | [x](javascript:window.hacked=1) |\n| --- | --- |\n| <i onclick=x> | 2 |",
    "\u202etpircs\u202c \u2066isolated\u2069 \u200b\u200d\ufeff \x1b[31mred \u2028 \u0000 end",
)
TEXT = "\n\n".join(PAYLOADS)
HUGE = f"{TEXT}\n\n" + "<b>long</b> " * 90_000
"""About a megabyte."""
VALUE: dict[str, Any] = {
    "__proto__": TEXT,
    "constructor": [TEXT, {"toString": TEXT}],
    NAME: TEXT,
    "dangerouslySetInnerHTML": {"__html": MARK},
}

APP = """
from greenroom import chat_workflow, workflow
from tests.playground.hostile import NAME, OTHER, TEXT, VALUE

SCHEMAS = {{
    "parameters": {{
        "type": "object",
        "title": TEXT[:500],
        "properties": {{NAME: {{"type": "string", "title": NAME, "description": TEXT}}}},
    }}
}}


@chat_workflow(name=NAME, description=TEXT, schemas=SCHEMAS, parameters={{NAME: TEXT}})
async def chat(messages):
    yield {{"type": "tool_call", "id": "<i>", "name": NAME, "input": VALUE}}
    yield {{"type": "tool_result", "id": "<i>", "output": TEXT}}
    for piece in TEXT.split(" "):
        yield piece + " "


@chat_workflow(name=OTHER, description=TEXT)
async def asking(messages):
    function = {{"name": NAME, "arguments": TEXT}}
    return {{"role": "assistant", "content": TEXT, "name": NAME, "tool_calls": [
        {{"id": NAME, "type": "function", "function": function}}
    ]}}


@workflow(name="form " + OTHER, description=TEXT)
def form(title: str) -> dict:
    return VALUE


@workflow(name="breaks " + OTHER)
def breaks(title: str) -> dict:
    raise RuntimeError(TEXT)
""".replace("{{", "{").replace("}}", "}")


def hostile_episode(task: int, trial: int) -> EpisodeRecord:
    """An episode whose every text is hostile; one of them is very long."""
    action = ActionRecord(name=NAME, kwargs=VALUE, writes=True)
    said = ActionRecord(name="respond", kwargs={"content": TEXT})
    observation = HUGE if task == trial == 0 else TEXT
    return sample_episode(
        task,
        trial,
        outcome="success" if trial else "failure",
        reward=float(trial),
        task=TaskRecord(
            instruction=TEXT, actions=[action], outputs=[TEXT], id=NAME, tags=[NAME], user_id=NAME
        ),
        opening=TEXT,
        steps=[
            StepRecord(action=action, observation=observation, source=NAME, turn=1, invalid=TEXT),
            StepRecord(action=said, observation=f"{TEXT} ###STOP###", source="user", turn=1),
        ],
        messages=[{"role": "user", "content": TEXT}],
        details=RewardRecord(
            database=False,
            outputs={TEXT: False},
            differences=[
                DifferenceRecord(table=NAME, record=TEXT, path=NAME, expected=VALUE, actual=[TEXT])
            ],
        ),
        error=TEXT,
        facts={NAME: TEXT},
    )


def fill(store: Store) -> None:
    """Runs, test sets, evaluations, judgements and notes."""
    for name in (NAME, OTHER):
        run = store.runs.create(
            sample_run(
                name, id=f"run-{len(name)}", agent_strategy=NAME, policy=TEXT, warnings=[TEXT]
            )
        )
        store.runs.add(run.id, [hostile_episode(n // 2, n % 2) for n in range(4)])
        _judge(store, run.id, name)
    rows: list[dict[str, Any]] = [
        {NAME: TEXT, "value": VALUE, "expected": TEXT},
        {NAME: HUGE, "value": MARK, "expected": VALUE},
    ]
    version, _ = store.test_sets.save(NAME, rows, note=TEXT)
    store.test_sets.save(NAME, rows[:1], note=TEXT)
    talk = [
        {"role": NAME, "content": TEXT},
        {"role": "user", "content": [{"type": "text", "text": TEXT}]},
    ]
    store.test_sets.save(OTHER, [{"messages": talk, "expected": {"role": "x", "content": TEXT}}])
    for number, name in enumerate((NAME, OTHER)):
        evaluation = store.evaluations.create(
            sample_evaluation(
                version,
                id=f"evaluation-{number}",
                name=name,
                workflow=f"http://127.0.0.1:9/{NAME}",
                evaluators=[{"name": "exact_match", "alias": NAME, "settings": {NAME: TEXT}}],
            )
        )
        score = ScoreRecord(
            score=number, passed=bool(number), compared=VALUE, against=TEXT, reason=TEXT
        )
        outputs = {"role": "assistant", "content": TEXT, "tool_calls": [VALUE]}
        store.evaluations.add(
            evaluation.id,
            [
                sample_result(0, 0, outputs=outputs, scores={NAME: score}),
                sample_result(1, 0, outputs=VALUE, scores={NAME: score}),
                sample_result(0, 1, outcome="crashed", error=TEXT, outputs=None, scores={}),
            ],
        )
        store.notes.add(
            NoteSubject(job_id=evaluation.id, item=0, trial=0), text=TEXT, tag=NAME, author=NAME
        )
    _note(store)


def _judge(store: Store, run_id: str, run: str) -> None:
    judging = store.judgings.create(
        JudgingRecord(
            id=f"judging-{run_id}",
            name=f"judging {run}",
            created_at=MOMENT,
            greenroom_version="0",
            run_id=run_id,
            run_name=run,
            judge=NAME,
            episodes=[(0, 0)],
        )
    )
    said = JudgementRecord(
        task_index=0,
        trial=0,
        outcome="answered",
        started_at=MOMENT,
        author="agent",
        author_description=TEXT,
        kind="other",
        kind_description=TEXT,
    )
    store.judgings.add(judging.id, [said])


def _note(store: Store) -> None:
    run = store.runs.find(NAME)
    for task in (0, 1):
        for author, verdict in ((NAME, "agent"), (OTHER, "task")):
            subject = NoteSubject(job_id=run.id, item=task, trial=0, step=0)
            store.notes.add(subject, text=TEXT, tag=TEXT[:190], verdict=verdict, author=author)
