"""Test sets: rows of inputs and expected outputs, in files and in the store."""

from __future__ import annotations

from greenroom.analysis.roles import (
    EVALUATORS_COLUMN,
    EXPECTED_COLUMNS,
    Roles,
    column_roles,
    row_expected,
    row_inputs,
)
from greenroom.evaluation.test_sets.files import (
    FORMATS,
    Format,
    add_rows,
    export_file,
    find_version,
    format_rows,
    import_file,
    parse_rows,
    read_rows,
    uploaded_rows,
)
from greenroom.evaluation.test_sets.kept import (
    kept_row,
    known_columns,
    spoken_messages,
    spoken_row,
)

__all__ = [
    "EVALUATORS_COLUMN",
    "EXPECTED_COLUMNS",
    "FORMATS",
    "Format",
    "Roles",
    "add_rows",
    "column_roles",
    "export_file",
    "find_version",
    "format_rows",
    "import_file",
    "kept_row",
    "known_columns",
    "parse_rows",
    "read_rows",
    "row_expected",
    "row_inputs",
    "spoken_messages",
    "spoken_row",
    "uploaded_rows",
]
