"""Databases as tau2's pydantic models store them: converted, complete and in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from greenroom.domains.world import World
from greenroom.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from greenroom.domains.packs import Pack
    from greenroom.domains.tasks import Task
    from greenroom.domains.world import Record
    from greenroom.domains.worlds import Worlds


Tables = dict[str, dict[str, "Record"]]


class Database(BaseModel):
    """A whole database: each field is a table, a mapping of records by id."""

    model_config = ConfigDict(extra="forbid")


def read_database(model: type[Database], raw: Any) -> Tables:
    """The tables of a raw database; numbers, defaults and field order as the models say."""
    try:
        return model.model_validate(raw).model_dump()
    except ValidationError as error:
        raise DataError(f"The database does not fit {model.__name__}: {_problem(error)}") from error


def table_reader(model: type[Database]) -> Callable[[Mapping[str, Any]], Tables]:
    """Reads the tables of a raw database."""
    return lambda raw: read_database(model, raw)


def data_merger(*models: type[Database]) -> Callable[[Worlds, Task, Pack], None]:
    """Applies the data of a task's initial state to databases of these models.

    As in tau2, the other party gets the changed database, too, even if theirs was another one.
    """

    def merge(worlds: Worlds, task: Task, pack: Pack) -> None:
        initial = task.initial
        if initial is not None and initial.agent_data is not None:
            worlds.agent = merged_world(worlds.agent, models, initial.agent_data)
            worlds.user = None if worlds.user is None else worlds.agent
        if initial is not None and initial.user_data is not None:
            if worlds.user is None:
                raise DataError(f"Task {task.id} has data for the user, who has no database.")
            worlds.user = worlds.agent = merged_world(worlds.user, models, initial.user_data)

    return merge


def merged_world(world: World, models: Iterable[type[Database]], data: Mapping[str, Any]) -> World:
    """A world over a base into which data is merged: mappings merge, other values replace.

    tau2 validates the whole database afterwards. Only the records that the data names can differ,
    so only they are validated here. They are part of the base, because tools keep indexes of it.
    """
    model = next(one for one in models if one.model_fields.keys() == set(world))
    problem = f"The initial data of a task does not fit {model.__name__}"
    changed: Tables = {}
    for name, rows in data.items():
        if name not in model.model_fields or not isinstance(rows, dict):
            raise DataError(f"{problem}: {name}")
        table, updates = world[name], cast("dict[str, Any]", rows)
        present = {key: table.read(key) for key in updates if key in table}
        adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", model.model_fields[name].annotation))
        try:
            valid = adapter.validate_python(_merged(present, updates))
        except ValidationError as error:
            raise DataError(f"{problem}: {name}.{_problem(error)}") from error
        changed[name] = adapter.dump_python(valid)
    return World(world.base.updated(changed))


def _merged(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        fields = cast("dict[str, Any]", old)
        updates = cast("dict[str, Any]", new)
        return fields | {key: _merged(fields.get(key), value) for key, value in updates.items()}
    return new


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
