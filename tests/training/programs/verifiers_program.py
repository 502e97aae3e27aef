"""Plays tasks with verifiers itself, and prints what it found: see `test_other_tools.py`."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import verifiers.v1 as vf
from verifiers.v1.utils.loaders import load_environment, resolve_env_config


async def play(given: dict[str, Any]) -> list[dict[str, Any]]:
    taskset = {"id": "greenroom-verifiers", **given["taskset"]}
    config = resolve_env_config({"taskset": taskset, "agent": given.get("agent", {})})
    env = load_environment(config)
    client = vf.EvalClientConfig(base_url=given["api_base"], api_key_var="NOBODY_KNOWS_A_KEY")
    sampling = vf.SamplingConfig(temperature=0.0)
    ctx = vf.ModelContext(model=given["model"], client=client, sampling=sampling)
    async with env.serving():
        slots = [slot for task in env.taskset for slot in env.slots(task, given["rollouts"])]
        episodes = await asyncio.gather(*(env.run_slot(slot, ctx) for slot in slots))
    return [found(episode) for episode in episodes]


def found(episode: Any) -> dict[str, Any]:
    trace = episode.traces[0] if episode.traces else None
    return {
        "ok": episode.ok,
        "task": episode.task.data.task,
        "errors": [one.message for one in episode.errors],
        "reward": trace and trace.rewards.get("reward") and trace.rewards["reward"].score,
        "stop": trace and trace.stop_condition,
        "truncated": trace and trace.is_truncated,
        "info": trace and trace.info,
        "roles": [] if trace is None else [node.message.role for node in trace.nodes],
        "calls": []
        if trace is None
        else [
            [call.name, read(call.arguments)]
            for node in trace.nodes
            if node.sampled
            for call in node.message.tool_calls or ()
        ],
        "record": json.dumps(episode.task.model_dump(mode="json"))
        + json.dumps(trace and trace.to_record()),
    }


def read(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


async def main(asks: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return [await play(given) for given in asks]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.loads(sys.stdin.read())))))
