"""Serves an environment by OpenEnv and plays in it by its client: see `test_other_tools.py`."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import sys
import threading
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn
from openenv import GenericEnvClient

from greenroom.training import Training
from greenroom.training.openenv_env import ConversationAction, ConversationClient, create_app


@contextmanager
def served(app: Any) -> Generator[str]:
    started = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, *arguments: Any, **named: Any) -> None:
            await super().startup(*arguments, **named)
            started.set()

    server = Server(uvicorn.Config(app, port=0, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    started.wait()
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def play(url: str, episodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    with ConversationClient(base_url=url).sync() as env:
        for one in episodes:
            result = env.reset(task=one["task"], trial=0)
            seen, ends = [result.observation.text], [result.done]
            for action in one["actions"]:
                if action["name"] == "respond":
                    action = {"message": action["arguments"]["content"]}
                result = env.step(ConversationAction(**action))
                seen.append(result.observation.text)
                ends.append(result.done)
            told = [env.state().model_dump(), result.observation.model_dump()]
            found.append({"seen": seen, "ends": ends, "reward": result.reward, "told": told})
    return found


async def begin_many(url: str, count: int) -> list[list[str]]:
    async def two_times(seed: int) -> list[str]:
        async with ConversationClient(base_url=url) as env:
            first = await env.reset(seed=seed)
            await env.step(ConversationAction(name="think", arguments={"thought": str(seed)}))
            again = await env.reset(seed=seed)
            return [first.observation.text, again.observation.text]

    return await asyncio.gather(*(two_times(seed) for seed in range(count)))


def refused(url: str) -> dict[str, str]:
    found: dict[str, str] = {}
    with GenericEnvClient(base_url=url).sync() as env:

        def tried(name: str, work: Any) -> None:
            try:
                work()
            except Exception as error:
                found[name] = str(error)

        tried("no reset", lambda: env.step({"message": "Hi."}))
        tried("unknown task", lambda: env.reset(task=9999))
        tried("unknown option", lambda: env.reset(tsk=5))
        env.reset(seed=1)
        tried("both", lambda: env.step({"message": "Hi.", "name": "think"}))
        tried("neither", lambda: env.step({}))
        result = env.step({"message": "Bye."})
        found["last"] = json.dumps([result.observation, result.reward, result.done])
        tried("over", lambda: env.step({"message": "Bye?"}))
    return found


def main(given: dict[str, Any]) -> dict[str, Any]:
    with Training(**given["training"]) as training, served(create_app(training)) as url:
        with urllib.request.urlopen(f"{url}/metadata") as answer:
            metadata = json.load(answer)
        with urllib.request.urlopen(f"{url}/schema") as answer:
            schema = json.load(answer)
        played = play(url, given["episodes"])
        begun = asyncio.run(begin_many(url, given["sessions"]))
    with (
        Training("retail", max_num_steps=1) as short,
        served(create_app(short, max_sessions=1)) as url,
        ConversationClient(base_url=url).sync() as env,
    ):
        env.reset(seed=1)
        cut = env.step(ConversationAction(name="think", arguments={"thought": "Hm."}))
    with Training("retail") as plain, served(create_app(plain)) as url:
        told = refused(url)
    return {
        "metadata": metadata,
        "fields": sorted(schema["action"]["properties"]),
        "played": played,
        "begun": begun,
        "cut": [cut.done, cut.observation.truncated, cut.reward, cut.observation.outcome],
        "refused": told,
    }


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.stdin.read()))))
