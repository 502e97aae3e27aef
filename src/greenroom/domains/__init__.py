"""Domains: databases, tools, policies and tasks, and the environments that agents play in."""

from __future__ import annotations

from greenroom.domains.diff import ABSENT, FieldDifference
from greenroom.domains.domain import Domain, GroundTruth, load_domain
from greenroom.domains.editions import Edition
from greenroom.domains.environment import Environment, SimulatedUser, UserTools
from greenroom.domains.pack_writer import pack_in_memory, write_pack
from greenroom.domains.packs import Pack, PackInfo, load_pack
from greenroom.domains.plugins import DomainPlugin, domain_names
from greenroom.domains.policy_checks import Moment, PolicyCheck
from greenroom.domains.reward import Reward
from greenroom.domains.steps import Step, Trajectory, UserCall
from greenroom.domains.task_audit import TaskFinding, audit_tasks
from greenroom.domains.tasks import (
    RESPOND,
    STOP,
    Action,
    Assertion,
    InitialState,
    Party,
    SetUpCall,
    Task,
    respond,
)
from greenroom.domains.tools import Refused, Tool, Toolset
from greenroom.domains.validation import TaskProblem, validate_tasks
from greenroom.domains.world import Base, Record, Table, World
from greenroom.domains.worlds import Worlds

__all__ = [
    "ABSENT",
    "RESPOND",
    "STOP",
    "Action",
    "Assertion",
    "Base",
    "Domain",
    "DomainPlugin",
    "Edition",
    "Environment",
    "FieldDifference",
    "GroundTruth",
    "InitialState",
    "Moment",
    "Pack",
    "PackInfo",
    "Party",
    "PolicyCheck",
    "Record",
    "Refused",
    "Reward",
    "SetUpCall",
    "SimulatedUser",
    "Step",
    "Table",
    "Task",
    "TaskFinding",
    "TaskProblem",
    "Tool",
    "Toolset",
    "Trajectory",
    "UserCall",
    "UserTools",
    "World",
    "Worlds",
    "audit_tasks",
    "domain_names",
    "load_domain",
    "load_pack",
    "pack_in_memory",
    "respond",
    "validate_tasks",
    "write_pack",
]
