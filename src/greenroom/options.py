"""Options from models: what a field says is its flag, its Python keyword, its help and its check.

A configuration is a pydantic model. The type, default, constraints and description of a field are
those of its option. `Flag` adds what only a command line needs to know.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.fields import FieldInfo

from greenroom.errors import InputError, UnknownName, holds_credentials, redacted
from greenroom.util.imports import absolute_target

M = TypeVar("M", bound=BaseModel)

LIST_OPTIONS = ("--task-ids", "--exclude-tasks")
"""Options whose value may be several words."""


@dataclass(frozen=True)
class Flag:
    """How a field is written at the command line, where its name and type do not say it."""

    also: tuple[str, ...] = ()
    """Other spellings."""
    metavar: str | None = None
    typed: type | None = None
    """What a person types, where the model reads its own type from it."""
    variable: str | None = None
    """The environment variable that gives it."""
    derived: bool = False
    """The model finds the value where none is given; the description says how."""
    on_resume: bool = False
    """May be changed when the work is resumed."""
    positional: bool = False
    """An argument of the command, and no option."""


@dataclass(frozen=True)
class Option:
    """The command line option of a field."""

    field: str
    names: tuple[str, ...]
    kind: type
    """What one value is: str, int, float or bool."""
    choices: tuple[str, ...]
    multiple: bool
    required: bool
    default: Any
    help: str
    flag: Flag

    @property
    def is_switch(self) -> bool:
        """It takes no value: `--x` and `--no-x`."""
        return self.kind is bool and not self.multiple


class Config(BaseModel):
    """The base of configurations: frozen, and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    former_names: ClassVar[Mapping[str, str]] = {}
    """Names of fields in configurations that earlier versions stored."""

    @model_validator(mode="before")
    @classmethod
    def _read_former_names(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        fields = cast("dict[str, Any]", given)
        for name, value in fields.items():
            # What is configured is stored with the job, and shown.
            unmarked = name.endswith(("api_base", "url")) and "@" in str(value)
            if unmarked or _holds_credentials(value):
                raise InputError(
                    f"{name}: an address must not hold a name, a password or a key. Put it into "
                    "the environment: GREENROOM_API_KEY for models, GREENROOM_TOKEN for "
                    "workflows, the webhook's token_variable."
                )
        return {cls.former_names.get(name, name): value for name, value in fields.items()}


def _holds_credentials(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_credentials, cast("dict[str, Any]", value).values()))
    if isinstance(value, (list, tuple)):
        return any(map(_holds_credentials, cast("Sequence[Any]", value)))
    return isinstance(value, str) and holds_credentials(value)


class Settings(Config):
    """The base of what agents, users, domains and evaluators can be told."""


@dataclass(frozen=True)
class ModelRole:
    """Marks a setting that names the language model of one of an agent's roles."""

    role: str


def _read_pairs(given: Any, info: ValidationInfo) -> Any:
    """The names and values of words such as "success=0.8"."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        return given
    pairs: dict[str, Any] = {}
    for word in cast("Sequence[Any]", given):
        name, separator, value = str(word).partition("=")
        if not separator or not name:
            flag = f"--{(info.field_name or '').replace('_', '-').removesuffix('s')}"
            raise InputError(f"{flag} takes NAME=VALUE, not '{word}'.")
        pairs[name] = value
    return pairs


def _read_task_ids(given: Any) -> Any:
    """The tasks of a text such as "1,2,3" or "task_001": places are numbers, ids are texts."""
    if not isinstance(given, str):
        return given
    words = [word for word in re.split(r"[,\s]+", given) if word]
    if not words:
        raise InputError(f"--task-ids takes places or ids, such as 1,2,3, not '{given}'.")
    return [int(word) if word.isdecimal() else word for word in words]


def _read_excluded_tasks(given: Any) -> Any:
    """The tasks and files of a text such as "audit.json", "1,2,3" or "task_001"."""
    if not isinstance(given, str):
        return given
    if Path(given).is_file():
        return [str(Path(given).resolve())]
    words = [word for word in re.split(r"[,\s]+", given) if word]
    if not words:
        raise InputError(f"--exclude-tasks takes a file, places or ids, not '{given}'.")
    return [int(word) if word.isdecimal() else _absolute_if_there(word) for word in words]


def _absolute_if_there(given: str) -> str:
    return str(Path(given).resolve()) if Path(given).exists() else given


Count = Annotated[int, Field(ge=1)]
Pairs = Annotated[dict[str, Any], BeforeValidator(_read_pairs)]
"""Names with values: `NAME=VALUE`, repeated, at the command line."""
TaskIds = Annotated[list[int | str], BeforeValidator(_read_task_ids)]
"""Tasks by their places in the split, or by their own ids."""
ExcludedTasks = Annotated[list[int | str], BeforeValidator(_read_excluded_tasks)]
"""Tasks by places or ids, and files that list some; files are stored absolute."""
Reference = Annotated[str, AfterValidator(absolute_target)]
"""A registered name, `file.py:name` or `package.module:name`; files are stored absolute."""
PathOrName = Annotated[str, AfterValidator(_absolute_if_there)]
"""A path, or the name of something kept elsewhere; paths are stored absolute."""


def options_of(model: type[BaseModel]) -> list[Option]:
    """The options of a model's fields: its own first, then those of its bases."""
    declared = [name for kind in model.__mro__ for name in inspect.get_annotations(kind)]
    fields = model.model_fields
    return [_option(name, fields[name]) for name in dict.fromkeys(declared) if name in fields]


def _option(name: str, field: FieldInfo) -> Option:
    flag = next((one for one in field.metadata if isinstance(one, Flag)), Flag())
    kind, choices, multiple = _typed(flag.typed or field.annotation)
    own = f"--{(name.removesuffix('s') if multiple else name).replace('_', '-')}"
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    if flag.derived or multiple:
        default = None
    elif kind is int and isinstance(default, bool):
        default = int(default)
    elif isinstance(default, Path):
        default = str(default)
    return Option(
        name,
        (own, *flag.also),
        kind,
        choices,
        multiple,
        field.is_required(),
        default,
        field.description or "",
        flag,
    )


def _typed(annotation: Any) -> tuple[type, tuple[str, ...], bool]:
    """What is typed for a value of this type: its kind, its choices, whether several are."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _typed(inner[0])
    if origin in (Union, UnionType):
        return _typed(next(one for one in inner if one is not type(None)))
    if origin is Literal:
        return str, tuple(str(one) for one in inner), False
    if origin in (list, tuple, dict) or annotation in (list, tuple, dict):
        return str, (), True
    return (annotation if annotation in (bool, int, float) else str), (), False


def add_arguments(
    parser: argparse._ActionsContainer,  # pyright: ignore[reportPrivateUsage]
    options: Iterable[Option],
    *,
    defaults: Mapping[str, Any] | None = None,
    choices: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Give a parser of the standard library the options; what is not given is None."""
    for option in options:
        default = (defaults or {}).get(option.field)
        if default is None and option.flag.variable:
            default = os.environ.get(option.flag.variable)
        shown = option.default if default is None else default
        about = option.help if shown in (None, False) else f"{option.help} (default {shown})"
        more: dict[str, Any] = {"metavar": option.flag.metavar, "type": option.kind}
        if option.is_switch:
            more = {"action": argparse.BooleanOptionalAction}
        elif option.multiple:
            more["action"] = "append"
        else:
            more["choices"] = (choices or {}).get(option.field) or option.choices or None
        parser.add_argument(
            *option.names,
            dest=option.field,
            default=default,
            help=about.replace("%", "%%"),
            **more,
        )


def joined_lists(arguments: Sequence[str]) -> list[str]:
    """The words of a command with the values of each list option joined into one.

    >>> joined_lists(["--task-ids", "1", "2", "--json", "--task-ids", "3"])
    ['--task-ids', '1,2,3', '--json']
    """
    joined: list[str] = []
    collecting = False
    for word in arguments:
        is_value = not word.startswith("-")
        if collecting and is_value and joined[-1] not in LIST_OPTIONS:
            joined[-1] += f",{word}"
        else:
            collecting = word in LIST_OPTIONS or (collecting and is_value)
            joined.append(word)
    return each_list_once(joined)


def each_list_once(arguments: Sequence[str]) -> list[str]:
    """The words of a command in which a list option that is given again adds to its values."""
    kept: list[str] = []
    places: dict[str, int] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name not in LIST_OPTIONS:
            kept.append(word)
            continue
        given = value if equals else next(words, None)
        if given is not None and name in places:
            kept[places[name]] += f",{given}"
            continue
        kept += [word] if equals or given is None else [word, given]
        places[name] = len(kept) - 1
    return kept


def checked(model: type[M], fields: Mapping[str, Any]) -> M:
    """The configuration that a person gave; what is wrong with it is told in a line."""
    known = {option.field: option.names[0] for option in options_of(model)}
    try:
        return model.model_validate(dict(fields))
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        if first["type"] == "extra_forbidden":
            raise UnknownName("option", name, known) from error
        flag = known.get(name, f"--{name.replace('_', '-')}")
        if first["type"] == "missing":
            raise InputError(f"{flag} is missing.") from error
        message = str(first["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
        given = redacted(f"{first['input']!r}")
        raise InputError(f"{flag} should be {message}, not {given}.") from error


def check_settings(
    owner: str,
    model: type[M],
    given: Mapping[str, Any] | BaseModel | None = None,
    *,
    option: str = "",
) -> M:
    """The settings of an agent, user, domain or evaluator; what is wrong is told in a line.

    Paths become absolute, so that stored settings hold from any folder. `option` is what gives a
    setting at the command line.
    """
    if isinstance(given, model):
        return given
    fields = dict(given.model_dump() if isinstance(given, BaseModel) else given or {})
    former: Mapping[str, str] = getattr(model, "former_names", {})
    for name in fields:
        if name not in model.model_fields and name not in former:
            raise UnknownName(f"setting of {owner}", name, model.model_fields)
    try:
        settings = model.model_validate(fields)
    except ValidationError as error:
        # What was given is not repeated: it may hold a password.
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        where = f"{owner[0].upper()}{owner[1:]}{f', setting {name}' if name else ''}"
        hint = f" Give {option}{name}=VALUE." if first["type"] == "missing" else ""
        raise InputError(
            f"{where}: {str(first['msg']).removeprefix('Value error, ')}.{hint} Its settings: "
            f"{', '.join(model.model_fields)}."
        ) from error
    paths = {name: one.expanduser().resolve() for name, one in settings if isinstance(one, Path)}
    return settings.model_copy(update=paths)


def stored_settings(settings: BaseModel) -> dict[str, Any]:
    """Settings as they are stored: what differs from the defaults, as JSON."""
    return settings.model_dump(mode="json", exclude_defaults=True)


def role_models(settings: BaseModel) -> dict[str, str]:
    """The roles of an agent that have a model of their own, each with the model's name."""
    return {
        mark.role: getattr(settings, name)
        for name, field in type(settings).model_fields.items()
        for mark in field.metadata
        if isinstance(mark, ModelRole) and getattr(settings, name)
    }
