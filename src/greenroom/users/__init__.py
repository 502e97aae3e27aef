"""Simulated users, found by name."""

from __future__ import annotations

from greenroom.users.conditions import Condition, Goal
from greenroom.users.prompts import PERSONAS
from greenroom.users.scripted import ScriptedUser
from greenroom.users.scripts import Answer, Otherwise, Reply, UserScript, UserScripts
from greenroom.users.strategies import (
    UserContext,
    UserStrategy,
    find_user_strategy,
    name_of_user_strategy,
    user_strategy_names,
)

__all__ = [
    "PERSONAS",
    "Answer",
    "Condition",
    "Goal",
    "Otherwise",
    "Reply",
    "ScriptedUser",
    "UserContext",
    "UserScript",
    "UserScripts",
    "UserStrategy",
    "find_user_strategy",
    "name_of_user_strategy",
    "user_strategy_names",
]
