"""`greenroom runs submission`: a folder for tau2-bench's public leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import echo, print_json
from greenroom.errors import InputError


def submission(
    runs: Annotated[
        list[str],
        typer.Argument(help="The names or ids of runs, one for each domain.", metavar="RUN..."),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The directory to make the folder in.", metavar="DIR"),
    ],
    model_organization: Annotated[
        str, typer.Option("--model-organization", help="Who made the model.")
    ],
    submitting_organization: Annotated[
        str, typer.Option("--submitting-organization", help="Who submits.")
    ],
    model_name: Annotated[
        str | None, typer.Option("--model-name", help="By default the agent's model.")
    ] = None,
    email: Annotated[str | None, typer.Option("--email", help="Whom to write to.")] = None,
    contact: Annotated[str | None, typer.Option("--contact", help="Whom to ask.")] = None,
    github: Annotated[str | None, typer.Option("--github", help="A name on GitHub.")] = None,
    json: Json = False,
) -> None:
    """Write a submission for tau2-bench's leaderboard: figures, methods and trajectories.

    The runs have to be complete: all base tasks, each with as many results as trials, and the same
    models. The submission is a custom one, because agent and user have prompts of Greenroom's.
    """
    from datetime import UTC, datetime

    import orjson

    from greenroom.benchmark import submissions
    from greenroom.benchmark.simulation_files import results_file
    from greenroom.store import open_store
    from greenroom.util.files import write_whole

    store = open_store()
    found = [_submitted(store, name) for name in runs]
    if problems := submissions.problems(found):
        raise InputError(" ".join(["The leaderboard would not take this.", *problems]))
    name = model_name or found[0].run.config.get("model")
    if not name:
        raise InputError("Name the model: --model-name.")
    if not model_organization.strip():
        raise InputError("Name who made the model: --model-organization.")
    names = {"model_name": name, "submitting_organization": submitting_organization}
    if wrong := submissions.name_problems(**names):
        raise InputError(" ".join(wrong))
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    made = submissions.Submission(
        model_name=name,
        model_organization=model_organization,
        submitting_organization=submitting_organization,
        submission_date=date,
        contact_info=submissions.Contact(email=email, name=contact, github=github),
        reasoning_effort=found[0].run.config.get("reasoning_effort"),
        results=submissions.Results(
            **{one.domain.name: submissions.domain_result(one) for one in found}
        ),
        trajectory_files={one.domain.name: f"{one.domain.name}_results.json" for one in found},
        methodology=submissions.methodology(found, date),
    )
    folder = output / made.folder
    if folder.exists():
        raise InputError(f"{folder} exists already: remove it, or name another directory.")
    files = {
        made.trajectory_files[one.domain.name]: orjson.dumps(
            results_file(one.run, one.domain, one.episodes), option=orjson.OPT_INDENT_2
        )
        for one in found
    }
    (folder / "trajectories").mkdir(parents=True)
    for file, content in files.items():
        write_whole(folder / "trajectories" / file, content)
    plain = made.model_dump(mode="json")
    write_whole(folder / "submission.json", orjson.dumps(plain, option=orjson.OPT_INDENT_2))
    if json:
        print_json({"folder": str(folder), "submission": plain})
    else:
        echo(f"Wrote {folder}")


def _submitted(store: Any, name: str) -> Any:
    from greenroom.benchmark.config import check_config
    from greenroom.benchmark.runner import prepare_again
    from greenroom.benchmark.simulation_files import in_order
    from greenroom.benchmark.submissions import SubmittedRun
    from greenroom.store.aggregates import pruned_digests

    run = store.runs.find(name)
    if pruned_digests(store.engine, run.id):
        raise InputError(f"Conversations of '{run.name}' were pruned: it cannot be submitted.")
    domain = prepare_again(run, check_config(run.config)).domain
    return SubmittedRun(run, domain, in_order(store.runs.results(run.id)))
