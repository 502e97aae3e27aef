"""What banking's tools have in common: failed checks are normal results, money, names of values.

In tau2-bench's banking almost every failure is a normal result whose text begins with "Error: ".
A tool here raises `Answer` to give such a text at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache, wraps
from typing import Any, Final, NoReturn, ParamSpec

from greenroom.domains.tau2.banking.tables import TODAY
from greenroom.domains.tau2.rendering import tau2_text
from greenroom.domains.tools import Toolset
from greenroom.domains.world import Record, World

P = ParamSpec("P")

AGENT_OWNER: Final = "KnowledgeTools"
USER_OWNER: Final = "KnowledgeUserTools"
_DATE: Final = "%m/%d/%Y"


class Answer(Exception):
    """The text that a tool gives at once, as a normal result."""


def answering(function: Callable[P, str]) -> Callable[P, str]:
    """Make a raised `Answer` the result."""

    @wraps(function)
    def answered(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return function(*args, **kwargs)
        except Answer as answer:
            return str(answer)

    return answered


def agent_tools() -> Toolset:
    """An empty set for tools of the agent."""
    return Toolset(owner=AGENT_OWNER, render=tau2_text)


def user_tools() -> Toolset:
    """An empty set for tools of the user."""
    return Toolset(owner=USER_OWNER, render=tau2_text)


def discoverable(
    tools: Toolset, *, writes: bool = False, generic: bool = False
) -> Callable[[Callable[P, str]], Callable[P, str]]:
    """Make the decorated function a tool that documents tell about; models are not told."""
    kind = "generic" if generic else "write" if writes else "read"
    register = tools.add(writes=writes, kind=kind, listed=False, schema=False)
    return lambda function: register(answering(function))


def fail(text: str) -> NoReturn:
    """Answer that something is wrong."""
    raise Answer(f"Error: {text}")


def need(*values: Any, text: str = "Missing required parameters.") -> None:
    """Answer with the text if a value is empty, null or 0."""
    if not all(values):
        fail(text)


def need_one(name: str, value: Any) -> None:
    """Answer that a parameter is missing if it is empty, null or 0."""
    need(value, text=f"Missing required parameter: {name}")


def one_of(name: str, value: Any, choices: Sequence[str]) -> None:
    """Answer which values there are if it is none of them."""
    if value not in choices:
        fail(f"Invalid {name}. Must be one of: {list(choices)}")


def number(value: Any, complaint: str) -> float:
    """The value as a number; answer with the complaint if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        fail(complaint)


def row(world: World, table: str, key: Any, complaint: str) -> Record:
    """A record for reading; answer with the complaint if there is none."""
    content = world[table]
    if key not in content:
        fail(complaint)
    return content.read(key)


def account_of(world: World, key: Any) -> Record:
    """A bank account for reading."""
    return row(world, "accounts", key, f"Account '{key}' not found.")


def card_account_of(world: World, key: Any) -> Record:
    """A credit card account for reading."""
    return row(world, "credit_card_accounts", key, f"Credit card account '{key}' not found.")


def debit_card_of(world: World, key: Any) -> Record:
    """A debit card for reading."""
    return row(world, "debit_cards", key, f"Debit card '{key}' not found.")


def belongs(record: Record, noun: str, key: Any, user_id: Any) -> None:
    """Answer that a record belongs to somebody else, if it does."""
    if record.get("user_id") != user_id:
        fail(f"{noun} '{key}' does not belong to user '{user_id}'.")


def balance_of(account: Record) -> float:
    """How much is on a bank account, however it is written."""
    held: Any = account.get("current_holdings", account.get("balance", 0))
    if isinstance(held, str):
        return plain_number(held)
    return float(held) if isinstance(held, (int, float)) else 0.0


def plain_number(text: str) -> float:
    """The number in an amount such as $1,250.00."""
    return float(text.replace("$", "").replace(",", ""))


def dollars(amount: Any) -> str:
    """An amount with two decimals."""
    return f"${amount:.2f}"


def titled(value: str) -> str:
    """The name of a value, for people: lost_card is Lost Card."""
    return value.replace("_", " ").title()


def listing(heading: str, *lines: tuple[str, Any]) -> str:
    """A heading and named values below it, as a list."""
    return "".join([heading, *(f"\n  - {name}: {value}" for name, value in lines)])


@lru_cache(maxsize=4096)
def days_since(date: str) -> int:
    """How many days ago a date was; raise ValueError if it cannot be read."""
    return (datetime.strptime(TODAY, _DATE) - datetime.strptime(date, _DATE)).days
