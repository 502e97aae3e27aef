"""`greenroom identify`: a language model says who was at fault in failed episodes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.config_options import takes
from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json, progress
from greenroom.judging.config import JudgingConfig, check_judging_config

if TYPE_CHECKING:
    from greenroom.judging import FaultJudgement
    from greenroom.judging.run import MakeModel
    from greenroom.models import Model, ModelSettings
    from greenroom.models.purses import Ledger
    from greenroom.store import EpisodeRecord, RunRecord, Store


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(identify)


@takes(
    JudgingConfig,
    only=(
        "judge_model",
        "judge_model_provider",
        "judge_api_base",
        "env",
        "max_concurrency",
        "max_failures",
    ),
)
def identify(
    fields: dict[str, Any],
    target: Annotated[
        str,
        typer.Argument(
            help="The name or id of a run, or a Tau Bench result file.", metavar="RUN|FILE"
        ),
    ],
    examples: Annotated[
        int, typer.Option("--examples", help="How many judgements to show in full.", min=0)
    ] = 10,
    again: Annotated[
        bool, typer.Option("--again", help="Ask anew about what this judge has judged already.")
    ] = False,
    json: Json = False,
) -> None:
    """Have a model judge the failures of a run: whose fault, and what the agent did wrong.

    The judgements of a run are kept with it, each as soon as it is there; those that this judge
    gave before are not asked for again.
    """
    from greenroom.judging import failed_episodes
    from greenroom.models import ModelSettings

    config = check_judging_config(fields)
    settings = ModelSettings(
        model=config.judge_model,
        provider=config.judge_model_provider,
        api_base=config.judge_api_base,
    )
    title, policy, episodes, place = _read(target, config.env)
    failures = failed_episodes(episodes)
    chosen = failures[: config.max_failures]
    known = [] if again or place is None else _known(place, judge_name(settings), chosen)
    at_once = config.max_concurrency
    judgements = _judge(chosen, known, settings, policy, place, at_once, shown=not json)
    if json:
        print_json(_as_json(title, len(episodes), len(failures), judgements))
    else:
        _print(title, len(failures), judgements, examples)


def _read(
    target: str, env: str
) -> tuple[str, str, list[EpisodeRecord], tuple[Store, RunRecord] | None]:
    """A name to show, the policy, the episodes, and where judgements are kept, if anywhere."""
    from greenroom.judging import policy_seen

    path = Path(target)
    if path.is_file():
        from greenroom.domains.plugins import find_plugin
        from greenroom.reports.tau_bench import read_tau_bench

        tools = find_plugin(env).tools
        writing = [name for name, tool in tools.items() if tool.writes]
        episodes = read_tau_bench(path, write_tools=writing)
        return path.name, policy_seen(episodes), episodes, None

    from greenroom.store import open_store

    store = open_store()
    run = store.runs.find(target)
    episodes = list(store.runs.results(run.id))
    return run.name, run.policy or policy_seen(episodes), episodes, (store, run)


def _known(
    place: tuple[Store, RunRecord], judge: str, chosen: Sequence[EpisodeRecord]
) -> list[FaultJudgement]:
    from greenroom.judging import load_judgements

    store, run = place
    wanted = {(episode.task_index, episode.trial) for episode in chosen}
    return [
        judgement
        for judgement in load_judgements(store.engine, run.id, judge=judge)
        if judgement.error is None and (judgement.task_index, judgement.trial) in wanted
    ]


def _judge(
    chosen: Sequence[EpisodeRecord],
    known: list[FaultJudgement],
    settings: ModelSettings,
    policy: str,
    place: tuple[Store, RunRecord] | None,
    max_concurrency: int,
    *,
    shown: bool,
) -> list[FaultJudgement]:
    import anyio

    from greenroom.judging import judge_episodes, save_judgements

    judged = {(judgement.task_index, judgement.trial) for judgement in known}
    open_ones = [e for e in chosen if (e.task_index, e.trial) not in judged]
    if not open_ones:
        return known
    with progress("Failures judged", len(open_ones), shown=shown) as advance:

        def keep(judgement: FaultJudgement) -> None:
            if place is not None:
                save_judgements(place[0].engine, place[1].id, [judgement])
            advance("")

        async def run() -> list[FaultJudgement]:
            async with open_judge(settings) as make_model:
                return await judge_episodes(
                    open_ones,
                    make_model,
                    policy=policy,
                    max_concurrency=max_concurrency,
                    on_judgement=keep,
                    name=judge_name(settings),
                )

        fresh = anyio.run(run)
    return sorted([*known, *fresh], key=lambda one: (one.task_index, one.trial))


def judge_name(settings: ModelSettings) -> str:
    """What a judge is recorded as."""
    return f"{settings.provider}/{settings.model}" if settings.provider else settings.model


@asynccontextmanager
async def open_judge(settings: ModelSettings) -> AsyncGenerator[MakeModel]:
    """What makes the judge of an episode, for as long as it is open."""
    from greenroom.models.local import PROVIDER, LocalModel

    if settings.provider == PROVIDER:
        local = LocalModel.from_settings(settings)
        yield lambda _, ledger: ledger.model("judge", local)
        return

    from greenroom.models.client import ModelClient

    client = ModelClient(settings)

    def make(episode: EpisodeRecord, ledger: Ledger) -> Model:
        scope = f"identify {episode.task_index} {episode.trial}"
        return client.for_episode("judge", ledger, scope, episode.seed)

    try:
        yield make
    finally:
        await client.close()


def _as_json(
    title: str, episodes: int, failures: int, judgements: Sequence[FaultJudgement]
) -> dict[str, Any]:
    from greenroom.judging import summarise

    return {
        "source": title,
        "episodes": episodes,
        "failures": failures,
        "summary": summarise(judgements).model_dump(),
        "judgements": [judgement.model_dump() for judgement in judgements],
    }


def _print(title: str, failures: int, judgements: Sequence[FaultJudgement], examples: int) -> None:
    from rich.table import Table

    from greenroom.judging import summarise

    out = console()
    if not judgements:
        out.print(f"No failures to judge in {title}.", markup=False)
        return
    summary = summarise(judgements)
    heading = f"{title}: {summary.judged} of {failures} failures judged by {judgements[0].model}"
    out.print(heading, markup=False, soft_wrap=True)
    table = Table()
    table.add_column("At fault")
    table.add_column("Episodes", justify="right")
    table.add_column("Share", justify="right")
    for author, count in summary.by_author.items():
        table.add_row(author, str(count), f"{count / summary.judged:.0%}")
        kinds = summary.by_kind if author == "agent" else {}
        for kind, number in kinds.items():
            name = kind.replace("_", " ")
            table.add_row(f"  {name}", str(number), f"{number / summary.judged:.0%}")
    out.print(table)
    if summary.without_verdict:
        out.print(f"Without a verdict: {summary.without_verdict} (the judge gave no usable answer)")
    for one in judgements[:examples]:
        _print_one(one)
    if len(judgements) > examples:
        out.print(f"... and {len(judgements) - examples} more: --examples or --json shows them")
    usage = summary.usage
    cost = f", {usage.cost:.4f} US dollars" if usage.cost is not None else ""
    tokens = usage.prompt_tokens + usage.completion_tokens
    out.print(f"Judging took {usage.calls} calls, {tokens} tokens{cost}.")


def _print_one(one: FaultJudgement) -> None:
    out = console()
    kind = f", {one.kind.replace('_', ' ')}" if one.kind else ""
    verdict = f"{one.author}{kind}" if one.author else "no verdict"
    out.print(f"task {one.task_index}, trial {one.trial}: {verdict}", markup=False, soft_wrap=True)
    for text in (one.author_description, one.kind_description, one.error):
        if text:
            out.print(f"    {text}", markup=False, soft_wrap=True, style="dim")
