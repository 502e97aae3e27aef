"""Simulated users, found by name."""

from __future__ import annotations

from greenroom.users.scripted import ScriptedUser
from greenroom.users.strategies import (
    UserContext,
    UserStrategy,
    find_user_strategy,
    name_of_user_strategy,
    user_strategy_names,
)

__all__ = [
    "ScriptedUser",
    "UserContext",
    "UserStrategy",
    "find_user_strategy",
    "name_of_user_strategy",
    "user_strategy_names",
]
