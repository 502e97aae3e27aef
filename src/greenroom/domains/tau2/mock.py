"""tau2's mock domain: a list of tasks for the agent, an inbox for the user.

It is small enough to try every feature of an edition: two databases, tools of both parties, set-up
functions, assertions and initial data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from greenroom.domains.packs import read_text
from greenroom.domains.plugins import TAU2, DomainPlugin
from greenroom.domains.tau2 import shared_tools
from greenroom.domains.tau2.edition import tau2_edition
from greenroom.domains.tau2.hashing import hash_world
from greenroom.domains.tau2.packs import pack_loader
from greenroom.domains.tau2.records import Database, data_merger, table_reader
from greenroom.domains.tools import Refused, Toolset, own_record
from greenroom.domains.world import Record, Table, World
from greenroom.options import Settings

if TYPE_CHECKING:
    from greenroom.domains.editions import Edition

tools = Toolset(owner="MockTools")
user_tools = Toolset(owner="MockUserTools")
tools.add(kind="generic", schema=False)(shared_tools.transfer_to_human_agents)


class Task(BaseModel):
    """Something to do."""

    model_config = ConfigDict(extra="forbid")

    task_id: str
    title: str
    description: str | None = None
    status: Literal["pending", "completed"]


class User(BaseModel):
    """Somebody with tasks."""

    model_config = ConfigDict(extra="forbid")

    user_id: str
    name: str
    tasks: list[str]


class Notification(BaseModel):
    """A message in the user's inbox."""

    model_config = ConfigDict(extra="forbid")

    notification_id: str
    message: str
    status: Literal["unread", "read"] = "unread"
    task_id: str | None = None


class MockDB(Database):
    """The agent's database."""

    tasks: dict[str, Task]
    users: dict[str, User]


class MockUserDB(Database):
    """The user's database."""

    notifications: dict[str, Notification] = Field(default_factory=dict[str, Notification])


@tools.add(writes=True, schema=False)
def create_task(world: World, user_id: Any, title: Any, description: Any = None) -> str:
    """Create a task for somebody."""
    users = _table(world, "users")
    if user_id not in users:
        raise Refused(f"User {user_id} not found")
    task_id = f"task_{len(world['tasks']) + 1}"
    task = Task(task_id=task_id, title=title, description=description, status="pending")
    world["tasks"][task_id] = record = task.model_dump()
    users[user_id]["tasks"].append(task_id)
    return json.dumps(record)


@tools.add(schema=False)
def get_users(world: World) -> str:
    """List everybody."""
    return _listed(_table(world, "users"))


@tools.add(writes=True, schema=False)
def update_task_status(world: World, task_id: Any, status: Any) -> str:
    """Change the status of a task; it is stored as it comes."""
    task = _task(world, task_id)
    task["status"] = status
    return json.dumps(task)


@user_tools.add(schema=False)
def check_notifications(world: World) -> str:
    """List all notifications."""
    return _listed(_table(world, "notifications"))


@user_tools.add(writes=True, schema=False)
def dismiss_notification(world: World, notification_id: Any) -> str:
    """Mark a notification as read."""
    _notification(world, notification_id)["status"] = "read"
    return f"Notification {notification_id} dismissed"


def assert_number_of_tasks(world: World, user_id: Any, expected_number: Any) -> bool:
    """Whether somebody has that many tasks."""
    user = own_record(_table(world, "users"), user_id, f"User {user_id} not found")
    return len(user["tasks"]) == expected_number


def assert_task_status(world: World, task_id: Any, expected_status: Any) -> bool:
    """Whether a task has a status."""
    return _task(world, task_id)["status"] == expected_status


def add_notification(
    world: World, notification_id: Any, message: Any, task_id: Any = None
) -> Record:
    """Put a notification into the user's inbox."""
    notification = Notification(notification_id=notification_id, message=message, task_id=task_id)
    _table(world, "notifications")[notification_id] = record = notification.model_dump()
    return record


def assert_notification_status(world: World, notification_id: Any, expected_status: Any) -> bool:
    """Whether a notification has a status."""
    return _notification(world, notification_id)["status"] == expected_status


agent_functions: Final[Mapping[str, Callable[..., Any]]] = {
    "assert_number_of_tasks": assert_number_of_tasks,
    "assert_task_status": assert_task_status,
}
user_functions: Final[Mapping[str, Callable[..., Any]]] = {
    "add_notification": add_notification,
    "assert_notification_status": assert_notification_status,
}


class MockSettings(Settings):
    """How mock is played."""

    solo: bool = Field(
        default=False,
        description="The agent works alone on the task's ticket, with the tools of both parties.",
    )


def mock_edition(settings: BaseModel) -> Edition:
    """The rules of tau2's mock domain."""
    assert isinstance(settings, MockSettings)
    policy = "policy_solo.md" if settings.solo else "policy.md"
    load = pack_loader(
        table_reader(MockDB),
        read_user_tables=table_reader(MockUserDB),
        policy=lambda root: read_text(root / policy),
    )
    return tau2_edition(
        tools,
        load,
        user_tools=user_tools,
        functions={"agent": agent_functions, "user": user_functions},
        merge=data_merger(MockDB, MockUserDB),
        hash_world=hash_world,
        solo=settings.solo,
    )


plugin = DomainPlugin("mock", settings=MockSettings, editions={TAU2: mock_edition})


def _table(world: World, name: str) -> Table:
    # A task with initial data gives one party's database to both, as in tau2. Then the other party
    # looks for tables that are not there.
    if name not in world.base.tables:
        owner = MockUserDB if "notifications" in world.base.tables else MockDB
        raise AttributeError(f"{owner.__name__!r} object has no attribute {name!r}")
    return world[name]


def _task(world: World, task_id: Any) -> Record:
    return own_record(_table(world, "tasks"), task_id, f"Task {task_id} not found")


def _notification(world: World, notification_id: Any) -> Record:
    refusal = f"Notification {notification_id} not found"
    return own_record(_table(world, "notifications"), notification_id, refusal)


def _listed(table: Table) -> str:
    return f"[{', '.join([table.text(key) for key in table])}]"
