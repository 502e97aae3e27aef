"""`greenroom testset`: rows of inputs and expected outputs, kept in versions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import confirm, console, echo, print_json, print_table, printable
from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.store import Store, TestSetVersion

app = typer.Typer(
    help="Import, show, export and change test sets; every change makes a version.",
    no_args_is_help=True,
)

Reference = Annotated[
    str,
    typer.Argument(
        help="The name of a test set; with @ and a number, that version.", metavar="NAME[@VERSION]"
    ),
]
FileFormat = Annotated[
    str | None,
    typer.Option("--format", help="csv, json or jsonl, where the file's name does not tell."),
]
Note = Annotated[str, typer.Option("--note", help="What changed, in a few words.")]

_STANDARD_OUTPUT = "-"
_SHOWN_CHARACTERS = 200


@app.command("import")
def import_test_set(
    file: Annotated[Path, typer.Argument(help="A CSV, JSON or JSON Lines file.")],
    name: Annotated[
        str | None, typer.Option("--name", help="Its name; by default that of the file.")
    ] = None,
    format: FileFormat = None,  # noqa: A002
    note: Note = "",
    json: Json = False,
) -> None:
    """Make the rows of a file a test set, or a new version of it.

    If the test set has these rows already, nothing changes.
    """
    from greenroom.evaluation.test_sets import import_file
    from greenroom.store import open_store

    version, is_new = import_file(open_store(), file, name=name, form=format, note=note)
    words = f"Nothing to import: {version} has these rows already"
    if is_new:
        words = f"Imported {version}: {_size(version)}"
    _tell(json, _facts(version) | {"new": is_new}, words)


@app.command("list")
def list_test_sets(json: Json = False) -> None:
    """List all test sets with their latest version."""
    from greenroom.store import open_store

    store = open_store()
    latest = store.test_sets.all()
    if json:
        print_json([_facts(version) for version in latest])
        return
    if not latest:
        console().print("No test sets yet. Try: greenroom testset import FILE")
        return
    rows = [
        (
            version.name,
            str(version.version),
            str(version.row_count),
            ", ".join(column.name for column in version.columns),
            f"{version.created_at.astimezone():%Y-%m-%d %H:%M}",
        )
        for version in latest
    ]
    headings = ("Name", "Version", "Rows", "Columns", "Changed")
    print_table(f"Test sets in {store.location}", headings, rows, right=("Version", "Rows"))


@app.command()
def show(
    test_set: Reference,
    rows: Annotated[int, typer.Option("--rows", help="How many rows to show.", min=0)] = 3,
    json: Json = False,
) -> None:
    """Show a test set: what its columns hold and are for, its versions, its first rows."""
    from greenroom.evaluation.test_sets import find_version
    from greenroom.store import open_store
    from greenroom.util.raw_json import raw_text

    store = open_store()
    version = find_version(store, test_set)
    versions = store.test_sets.versions(version.test_set_id)
    first_rows = list(store.test_sets.rows(version, limit=rows))
    if json:
        told = {"version", "created_at", "note"}
        history = [
            one.model_dump(mode="json", include=told) | {"rows": one.row_count} for one in versions
        ]
        print_json(_facts(version) | {"versions": history, "first_rows": first_rows})
        return
    roles = _roles(version)
    columns = [(one.name, one.kind, roles[one.name] or "-") for one in version.columns]
    print_table(f"{version}: {_size(version)}", ("Column", "Holds", "Used as"), columns)
    out = console()
    for one in versions:
        changed = f"{one.created_at.astimezone():%Y-%m-%d %H:%M}"
        note = f": {one.note}" if one.note else ""
        words = f"Version {one.version}, {changed}, {_counted(one.row_count, 'row')}{note}"
        out.print(words, soft_wrap=True)
    for number, row in enumerate(first_rows, start=1):
        text = raw_text(row)
        if len(text) > _SHOWN_CHARACTERS:
            text = f"{text[:_SHOWN_CHARACTERS]} ..."
        out.print(f"Row {number}: {text}", soft_wrap=True, style="dim")


@app.command()
def export(
    test_set: Reference,
    file: Annotated[str, typer.Argument(help="The file to write; - prints the rows instead.")],
    format: FileFormat = None,  # noqa: A002
    json: Json = False,
) -> None:
    """Write a test set to a file, as CSV, JSON or JSON Lines; JSON Lines where it is printed."""
    from greenroom.evaluation.test_sets import export_file, find_version
    from greenroom.store import open_store

    store = open_store()
    version = find_version(store, test_set)
    if file != _STANDARD_OUTPUT:
        export_file(store, version, Path(file), form=format)
        words = f"Wrote {file}: {version}, {_size(version)}"
        _tell(json, _facts(version) | {"file": file}, words)
    elif json:
        raise InputError("The rows themselves are printed: leave --json out, or name a file.")
    else:
        _print_rows(store, version, format or "jsonl")


@app.command()
def diff(
    first: Reference,
    second: Reference,
    rows: Annotated[
        int, typer.Option("--rows", help="How many rows that differ to show.", min=0)
    ] = 20,
    json: Json = False,
) -> None:
    """Show what changed between two versions of a test set: rows, and within them cells."""
    from greenroom.cli.testset_diff import difference_facts, print_differences
    from greenroom.evaluation.test_sets import find_version
    from greenroom.store import open_store
    from greenroom.store.test_set_differences import row_differences

    store = open_store()
    before, after = find_version(store, first), find_version(store, second)
    if before.test_set_id != after.test_set_id:
        raise InputError(f"{before} and {after} are different test sets: name two versions of one.")
    found = row_differences(store.engine, before, after)
    if json:
        print_json(difference_facts(store, before, after, found, rows))
    else:
        print_differences(store, before, after, found, rows)


@app.command()
def add(
    test_set: Annotated[str, typer.Argument(help="The test set's name.", metavar="NAME")],
    row: Annotated[
        list[str], typer.Option("--row", help="A row as a JSON object; may be given several times.")
    ],
    note: Note = "",
    json: Json = False,
) -> None:
    """Add rows to a test set, which is created if there is none of that name."""
    from greenroom.evaluation.test_sets import add_rows, parse_rows
    from greenroom.store import open_store

    rows = [found for text in row for found in parse_rows([text], "jsonl", "--row")]
    version = add_rows(open_store(), test_set, rows, note=note)
    _tell(json, _facts(version), f"{version}: {_size(version)}")


@app.command()
def delete(
    test_set: Annotated[str, typer.Argument(help="The test set's name.", metavar="NAME")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete a test set with all its versions, unless an evaluation was made with it."""
    from greenroom.store import open_store

    store = open_store()
    versions = store.test_sets.versions(test_set)
    if not yes:
        confirm(f"Delete '{versions[0].name}' with {_counted(len(versions), 'version')}?")
    store.test_sets.delete(test_set)
    name = versions[0].name
    _tell(json, {"name": name, "deleted": True}, f"Deleted {name}")


def _tell(json: bool, facts: dict[str, Any], words: str) -> None:
    if json:
        print_json(facts)
    else:
        echo(words)


def _facts(version: TestSetVersion) -> dict[str, Any]:
    roles = _roles(version)
    return {
        "name": version.name,
        "version": version.version,
        "created_at": version.created_at.isoformat(),
        "note": version.note,
        "rows": version.row_count,
        "columns": [
            column.model_dump() | {"role": roles[column.name]} for column in version.columns
        ],
        "content_hash": version.content_hash,
    }


def _roles(version: TestSetVersion) -> dict[str, str | None]:
    from greenroom.evaluation.test_sets import EVALUATORS_COLUMN, column_roles

    roles = column_roles([column.name for column in version.columns])
    found: dict[str, str | None] = {column.name: None for column in version.columns}
    found |= dict.fromkeys(roles.inputs, "input")
    if roles.expected is not None:
        found[roles.expected] = "expected"
    if EVALUATORS_COLUMN in found:
        found[EVALUATORS_COLUMN] = "evaluators"
    return found


def _print_rows(store: Store, version: TestSetVersion, wanted: str) -> None:
    from greenroom.evaluation.test_sets import format_rows
    from greenroom.evaluation.test_sets.files import format_of

    columns = [column.name for column in version.columns]
    rows = store.test_sets.rows(version)
    for piece in format_rows(rows, columns, format_of(Path(), wanted)):
        # A file gets what there is; a terminal would obey it.
        sys.stdout.write(printable(piece) if sys.stdout.isatty() else piece)


def _size(version: TestSetVersion) -> str:
    columns = _counted(len(version.columns), "column")
    return f"{_counted(version.row_count, 'row')}, {columns}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
