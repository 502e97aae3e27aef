"""The FastWorkflow example, scene by scene; what it answers is printed as JSON.

Run by test_workflow_examples.py in a process of its own: FastWorkflow is heavy and leaves traces.
The models are behind OPENAI_BASE_URL.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio

from greenroom.agents.fastworkflow import worker as worker
from greenroom.agents.fastworkflow.folders import package_folder, place_copies
from greenroom.workflows import Answer, Call, LocalTarget, Workflow, load_workflows
from tests.workflows.serving import serving, told

RESULT = "RESULT"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def prepared(folder: Path) -> Path:
    """FastWorkflow's hello_world, as its examples lie, in copies that may be written to."""
    workflow = place_copies(package_folder() / "examples/hello_world", folder)
    settings = (package_folder() / "examples/fastworkflow.env").read_text(encoding="utf-8")
    named = settings.replace("mistral/mistral-small-latest", "openai/scripted")
    (workflow.parent / "fastworkflow.env").write_text(named, encoding="utf-8")
    # To train it takes minutes. Instead, a stand-in understands exact names, as models write them.
    worker.load_fastworkflow(folder, str(workflow))
    trained = workflow / "___command_info/global"
    trained.mkdir(parents=True, exist_ok=True)
    (trained / "threshold.json").write_text("{}")
    return workflow


def facts(answer: Answer) -> dict[str, Any]:
    tokens = [answer.prompt_tokens, answer.completion_tokens]
    return {"outputs": answer.outputs, "tokens": tokens}


async def nearby(workflow: Workflow) -> dict[str, Any]:
    target = LocalTarget(workflow)
    earlier = [user("What is 1 and 1?"), {"role": "assistant", "content": "Two."}]
    asked = Call(inputs={"messages": [user("Add 2 and 3.")]}, session_id="a")
    kinds = [event.kind async for event in target.stream(asked)]
    doubting = await target.call(Call(inputs={"messages": [user("Add them.")]}, session_id="b"))
    sure = await target.call(Call(inputs={"messages": [user("2 and 3")]}, session_id="b"))
    later = await target.call(Call(inputs={"messages": [*earlier, user("And 3 more?")]}))
    return {"kinds": kinds, "doubting": facts(doubting), "sure": facts(sure), "later": facts(later)}


def main(example: str, folder: Path) -> None:
    os.environ["FASTWORKFLOW_PATH"] = str(prepared(folder))
    (workflow,) = load_workflows(example)
    found = anyio.run(nearby, workflow)
    with serving(workflow) as server:
        found["inspected"] = told(server, {}, "/inspect")["flags"]
        found["served"] = told(server, {"messages": [user("Add 2 and 3.")]})
    print(f"{RESULT}{json.dumps(found)}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
