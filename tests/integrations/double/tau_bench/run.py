"""The runner: checks the configuration, makes one agent, and has threads solve the tasks."""

from __future__ import annotations

import json
import random
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

from .envs import get_env
from .envs.user import UserStrategy
from .types import EnvRunResult, RunConfig

provider_list = ["openai", "anthropic", "mistral"]


def run(config: RunConfig) -> list[EnvRunResult]:
    assert config.env in ["retail", "airline"], "Only retail and airline envs are supported"
    assert config.model_provider in provider_list, "Invalid model provider"
    assert config.user_model_provider in provider_list, "Invalid user model provider"
    assert config.agent_strategy in ["tool-calling", "act", "react", "few-shot"], (
        "Invalid agent strategy"
    )
    assert config.task_split in ["train", "test", "dev"], "Invalid task split"
    assert config.user_strategy in [one.value for one in UserStrategy], "Invalid user strategy"

    random.seed(config.seed)
    written = Path(config.log_dir) / (
        f"{config.agent_strategy}-{config.model.split('/')[-1]}-{config.temperature}"
        f"_range_{config.start_index}-{config.end_index}"
        f"_user-{config.user_model}-{config.user_strategy}_{datetime.now():%m%d%H%M%S}.json"
    )
    written.parent.mkdir(parents=True, exist_ok=True)
    env = get_env(
        config.env,
        user_strategy=config.user_strategy,
        user_model=config.user_model,
        user_provider=config.user_model_provider,
        task_split=config.task_split,
    )
    agent = agent_factory(tools_info=env.tools_info, wiki=env.wiki, config=config)
    end = len(env.tasks) if config.end_index == -1 else min(config.end_index, len(env.tasks))
    results: list[EnvRunResult] = []
    lock = threading.Lock()
    for trial in range(config.num_trials):
        indices = config.task_ids or list(range(config.start_index, end))
        if config.shuffle:
            random.shuffle(indices)

        def play(index: int, trial: int = trial) -> EnvRunResult:
            own_env = get_env(
                config.env,
                user_strategy=config.user_strategy,
                user_model=config.user_model,
                task_split=config.task_split,
                user_provider=config.user_model_provider,
                task_index=index,
            )
            print(f"Running task {index}")
            try:
                solved = agent.solve(env=own_env, task_index=index)
                result = EnvRunResult(
                    task_id=index,
                    reward=solved.reward,
                    info=solved.info,
                    traj=solved.messages,
                    trial=trial,
                )
            except Exception as error:
                broken = {"error": str(error), "traceback": traceback.format_exc()}
                result = EnvRunResult(task_id=index, reward=0.0, info=broken, traj=[], trial=trial)
            with lock:
                rows: list[Any] = json.loads(written.read_text()) if written.exists() else []
                written.write_text(json.dumps([*rows, result.model_dump()], indent=2))
            return result

        with ThreadPoolExecutor(max_workers=config.max_concurrency) as executor:
            results.extend(executor.map(play, indices))

    written.write_text(json.dumps([result.model_dump() for result in results], indent=2))
    print(f"Average reward: {sum(result.reward for result in results) / len(results)}")
    return results


def agent_factory(tools_info: list[dict[str, Any]], wiki: str, config: RunConfig) -> Any:
    raise ValueError(f"Unknown agent strategy: {config.agent_strategy}")
