"""Our agents inside Tau Bench: its environments, its users, its runner and its result file.

    python -m greenroom.integrations.tau_bench --agent-strategy fastworkflow --env retail ...

Where the package `tau_bench` is installed, this takes its flags, puts an agent of ours in the place
of its own, and calls its `run`. None of its files is changed, and nothing stays changed in its
modules when the run is over.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from anyio.from_thread import start_blocking_portal
from pydantic import ValidationError

from greenroom.agents import AgentStrategy, find_strategy
from greenroom.benchmark import RunConfig, RunContext, check_config
from greenroom.benchmark.context import check_models
from greenroom.domains import Domain, PackInfo, Toolset, pack_in_memory
from greenroom.domains.editions import Edition
from greenroom.domains.tools import ToolInfo
from greenroom.errors import GreenroomError, InputError
from greenroom.integrations.tau_bench_agent import RunStopped, UpstreamAgent
from greenroom.integrations.tau_bench_flags import parse_flags

ALLOWED_STRATEGY = "tool-calling"
"""A strategy of Tau Bench's own, which its `run` lets pass."""


class StrategyName(str):
    """The name of a strategy of ours, which Tau Bench accepts like one of its own.

    Its `run` first looks the strategy up in a list, then names the result file after it. This name
    equals one in that list, but is printed as it is.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return other == ALLOWED_STRATEGY or super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def main(arguments: Sequence[str] | None = None) -> None:
    """Run Tau Bench with an agent of ours; the exit status is 2 for an error of the input."""
    try:
        play(parse_flags(arguments))
    except GreenroomError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)


def play(flags: argparse.Namespace) -> Any:
    """Play a run in Tau Bench; return what its `run` returns and writes to its result file."""
    upstream = _upstream("tau_bench.run")
    types = _upstream("tau_bench.types")
    our_config = _our_config(flags)
    strategy = find_strategy(our_config.agent_strategy)
    strategy.check(our_config.agent_options)
    if any(isinstance(one, str) for one in our_config.task_ids or ()):
        raise InputError("Tau Bench's tasks have no ids: --task-ids takes their places, from 0.")
    flags.task_ids = our_config.task_ids
    _check_strategy(strategy)
    check_models(our_config, strategy)
    its_config = _its_config(types.RunConfig, flags, strategy)
    with start_blocking_portal() as portal, ExitStack() as open_things:

        def factory(tools_info: list[ToolInfo], wiki: str, config: Any) -> UpstreamAgent:
            domain = _domain(flags.env, wiki, tools_info)
            opened = RunContext(domain, strategy, our_config).opened()
            context = open_things.enter_context(portal.wrap_async_context_manager(opened))
            return UpstreamAgent(context, types, portal)

        try:
            with _replaced_factory(upstream, factory):
                return upstream.run(its_config)
        except AssertionError as refusal:
            raise InputError(f"Tau Bench refuses this run: {refusal}.") from refusal
        except RunStopped as stopped:
            raise stopped.reason from None


def _domain(name: str, policy: str, tool_infos: list[ToolInfo]) -> Domain:
    """Tau Bench's domain as far as agents may know it: no tasks, no data."""
    info = PackInfo(name="tau_bench", version="", source="the installed tau_bench", licence="")
    pack = pack_in_memory(info, name, tables={}, tasks={}, policy=policy, tool_infos=tool_infos)
    return Domain(Edition(Toolset()), pack)


def _upstream(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "tau_bench":
            raise InputError(
                f"Tau Bench cannot be imported: it needs '{error.name}', which is not installed."
            ) from error
        raise InputError(
            "Tau Bench is not installed here: no package 'tau_bench' is found. Install it from its "
            "repository: pip install git+https://github.com/sierra-research/tau-bench. To play "
            "without it: greenroom run."
        ) from error


@contextmanager
def _replaced_factory(upstream: Any, factory: Any) -> Generator[None]:
    its_own = upstream.agent_factory
    upstream.agent_factory = factory
    try:
        yield
    finally:
        upstream.agent_factory = its_own


def _check_strategy(strategy: AgentStrategy) -> None:
    if strategy.reads_script:
        raise InputError(
            f"The {strategy.name} agent knows the ground truth, which Tau Bench's run does not "
            f"hand out. Play it here: greenroom run --agent-strategy {strategy.name}."
        )
    if strategy.create_user is not None:
        raise InputError(
            f"The {strategy.name} agent brings a user of its own, and Tau Bench's run has its "
            f"own too. Play it here: greenroom run --agent-strategy {strategy.name}."
        )


def _our_config(flags: argparse.Namespace) -> RunConfig:
    """Our side of the run: the agent. The user is Tau Bench's."""
    fields = {
        name: value
        for name, value in vars(flags).items()
        if value is not None and name in RunConfig.model_fields and not name.startswith("user_")
    }
    return check_config({**fields, "user_strategy": "scripted"})


def _its_config(run_config: Any, flags: argparse.Namespace, strategy: AgentStrategy) -> Any:
    """Tau Bench's configuration of the run."""
    known = vars(flags).keys() & run_config.model_fields.keys()
    fields = {name: vars(flags)[name] for name in known if vars(flags)[name] is not None}
    if not strategy.needs_model:
        # Its configuration requires a model, even if no model is asked.
        fields = {"model": "none", "model_provider": flags.user_model_provider, **fields}
    elif flags.api_base is not None:
        fields.setdefault("model_provider", "openai")
    fields["agent_strategy"] = ALLOWED_STRATEGY
    try:
        config = run_config(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).replace("_", "-")
        if first["type"] == "missing":
            raise InputError(f"Tau Bench needs --{name}.") from error
        raise InputError(f"Tau Bench does not take this --{name}: {first['msg']}.") from error
    # Set directly: pydantic would make a plain str of it.
    vars(config)["agent_strategy"] = StrategyName(strategy.name)
    return config


if __name__ == "__main__":
    main()
