"""`greenroom notes`: what people noted about episodes, rows and turns."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic import Field

from greenroom.cli.config_options import takes
from greenroom.cli.options import Json, Run
from greenroom.cli.output import console, echo, print_json, print_table, printable
from greenroom.errors import InputError
from greenroom.options import Config, Flag, checked

if TYPE_CHECKING:
    from greenroom.playground.note_files import NoteRow
    from greenroom.store import NoteFilter, Store

app = typer.Typer(
    help="List, export and import what people noted, and measure how far they agree.",
    no_args_is_help=True,
)

FileFormat = Annotated[
    str | None,
    typer.Option("--format", help="csv, json or jsonl, where the file's name does not tell."),
]

_STANDARD_OUTPUT = "-"
_SHOWN_CHARACTERS = 120


class NoteOptions(Config):
    """Which notes are wanted."""

    evaluation: Annotated[str | None, Flag(metavar="NAME")] = Field(
        default=None, description="Only notes about the rows of an evaluation."
    )
    thread: Annotated[str | None, Flag(metavar="ID")] = Field(
        default=None, description="Only notes about a thread."
    )
    tag: str | None = Field(default=None, description="Only notes with this tag.")
    verdict: Literal["agent", "user", "task", "environment", "any", "none"] | None = Field(
        default=None, description="Only notes with this verdict, any verdict, or none."
    )
    author: str | None = Field(default=None, description="Only notes of this person.")
    search: str | None = Field(
        default=None, description="Only notes with this in their text, tag or author."
    )


RunName = Annotated[
    str | None,
    typer.Argument(help="The name or id of a run; without it, all notes.", metavar="RUN"),
]


@app.command("list")
@takes(NoteOptions)
def list_notes(
    fields: dict[str, Any],
    run: RunName = None,
    limit: Annotated[int, typer.Option("--limit", help="How many to list at most.", min=1)] = 100,
    json: Json = False,
) -> None:
    """List notes, the newest first."""
    from greenroom.playground.note_files import note_row
    from greenroom.store import open_store

    store = open_store()
    wanted = _wanted(store, run, fields)
    rows = [note_row(note) for note in islice(store.notes.each(wanted), limit)]
    if json:
        print_json([row.model_dump() for row in rows])
    elif rows:
        headings = ("About", "Verdict", "Tag", "Note", "Author")
        print_table(f"Notes in {store.location}", headings, map(_cells, rows))
    else:
        console().print("No such notes. People write them in the pages of: greenroom playground")


@app.command()
@takes(NoteOptions)
def export(
    fields: dict[str, Any],
    file: Annotated[str, typer.Argument(help="The file to write; - prints the notes instead.")],
    run: Annotated[
        str | None, typer.Option("--run", help="Only notes about the episodes of a run.")
    ] = None,
    format: FileFormat = None,  # noqa: A002
) -> None:
    """Write notes to a file, as CSV, JSON or JSON Lines; JSON Lines where they are printed."""
    from greenroom.evaluation.test_sets.files import format_of
    from greenroom.playground.note_files import write_notes
    from greenroom.store import open_store
    from greenroom.util.files import write_whole

    store = open_store()
    wanted = _wanted(store, run, fields)
    if file == _STANDARD_OUTPUT:
        for piece in write_notes(store, wanted, format_of(Path(), format or "jsonl")):
            # A file gets what there is; a terminal would obey it.
            sys.stdout.write(printable(piece) if sys.stdout.isatty() else piece)
        return
    path = Path(file)
    write_whole(path, "".join(write_notes(store, wanted, format_of(path, format))))
    echo(f"Wrote {file}")


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="A file that 'greenroom notes export' wrote.")],
    format: FileFormat = None,  # noqa: A002
    json: Json = False,
) -> None:
    """Add the notes of another store, so that several people can mark the same run.

    Runs and evaluations are found by name. A note that is here already is replaced if the other was
    changed later.
    """
    from greenroom.evaluation.test_sets import read_rows
    from greenroom.playground.note_files import check_rows, import_notes
    from greenroom.store import open_store

    rows = list(check_rows(read_rows(file, format), str(file)))
    kept = import_notes(open_store(), rows)
    if json:
        print_json({"read": len(rows), "kept": kept})
    else:
        echo(f"Read {len(rows)} notes: {kept} are new here or newer")


@app.command()
def agreement(run: Run, json: Json = False) -> None:
    """Show how far people, and judges, agree about the episodes of a run."""
    from greenroom.analysis.agreement import count_raters, load_opinions, measure_agreement
    from greenroom.store import open_store

    store = open_store()
    opinions, _ = load_opinions(store, store.runs.find(run).id)
    figures = measure_agreement(opinions)
    if json:
        raters = [
            {"kind": rater.kind, "name": rater.name, "episodes": number}
            for rater, number in count_raters(opinions)
        ]
        print_json({"raters": raters, "figures": [one.model_dump() for one in figures]})
        return
    rows = [
        (
            one.value or "who is at fault",
            "people and judges" if one.with_judges else "people",
            "" if one.alpha is None else f"{one.alpha:.2f}",
            str(one.raters),
            f"{one.agreed} of {one.episodes}",
            one.words,
        )
        for one in figures
    ]
    headings = ("About", "Among", "Alpha", "Raters", "Same", "Meaning")
    print_table(f"Agreement about {run}", headings, rows, right=("Alpha", "Raters", "Same"))


def _wanted(store: Store, run: str | None, fields: dict[str, Any]) -> NoteFilter:
    from greenroom.store import NoteFilter

    options = checked(NoteOptions, fields)
    if run is not None and options.evaluation is not None:
        raise InputError("Name a run or an evaluation, not both.")
    job = None
    if run is not None:
        job = store.runs.find(run).id
    elif options.evaluation is not None:
        job = store.evaluations.find(options.evaluation).id
    return NoteFilter(
        job_id=job,
        thread_id=options.thread,
        tag=options.tag,
        verdict=options.verdict,
        author=options.author,
        q=options.search,
    )


def _cells(row: NoteRow) -> tuple[str, ...]:
    if row.thread is not None:
        about = f"thread {row.thread}"
    elif row.run is not None:
        about = f"{row.run}, task {row.item}, trial {row.trial}"
        about += "" if row.step is None else f", step {row.step}"
    else:
        about = f"{row.evaluation}, row {row.item}"
    text = " ".join(row.text.split())
    if len(text) > _SHOWN_CHARACTERS:
        text = f"{text[:_SHOWN_CHARACTERS]} ..."
    return about, row.verdict or "", row.tag, text, row.author
