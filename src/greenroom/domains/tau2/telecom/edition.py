"""How telecom is played: the carrier's world and the user's phone, kept in step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from greenroom.domains.packs import load_pack
from greenroom.domains.tau2.edition import tau2_edition
from greenroom.domains.tau2.packs import pack_loader
from greenroom.domains.tau2.rendering import tau2_text
from greenroom.domains.tau2.telecom.account_tools import agent_tools
from greenroom.domains.tau2.telecom.app_tools import app_tools
from greenroom.domains.tau2.telecom.assertions import AGENT_ASSERTIONS, USER_ASSERTIONS
from greenroom.domains.tau2.telecom.carrier_records import read_tables
from greenroom.domains.tau2.telecom.hashing import hash_world
from greenroom.domains.tau2.telecom.network_tools import network_tools
from greenroom.domains.tau2.telecom.phone_records import read_user_tables
from greenroom.domains.tau2.telecom.policies import PolicyKind, policy_reader
from greenroom.domains.tau2.telecom.policy_checks import CHECKS
from greenroom.domains.tau2.telecom.set_up import AGENT_SET_UP, USER_SET_UP
from greenroom.domains.tau2.telecom.sync import sync
from greenroom.domains.tools import Toolset
from greenroom.errors import DataError
from greenroom.options import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from greenroom.domains.editions import Edition
    from greenroom.domains.packs import Pack
    from greenroom.domains.tasks import Party
    from greenroom.domains.tau2.packs import Tables

user_tools = Toolset(owner="TelecomUserTools", render=tau2_text)
user_tools.include(network_tools)
user_tools.include(app_tools)

FUNCTIONS: Mapping[Party, Mapping[str, Callable[..., Any]]] = {
    "agent": {**AGENT_SET_UP, **AGENT_ASSERTIONS},
    "user": {**USER_SET_UP, **USER_ASSERTIONS},
}
"""What tasks call besides tools, by party and tau2's name."""


class TelecomSettings(Settings):
    """How telecom is played."""

    policy: PolicyKind = Field(
        default="manual",
        description="How the policy treats technical problems: as a manual, which is tau2's "
        "domain telecom, or as a workflow, which is telecom-workflow.",
    )
    solo: bool = Field(
        default=False,
        description="The agent works alone on the task's ticket, with the tools of both parties.",
    )


def telecom_edition(settings: BaseModel) -> Edition:
    """The rules of tau2-bench for its own packs, with the policy that the settings name."""
    assert isinstance(settings, TelecomSettings)
    policy = policy_reader(settings.policy, solo=settings.solo)
    read = pack_loader(read_tables, read_user_tables=read_user_tables, policy=policy)

    def load(directory: Path, domain: str) -> Pack:
        pack = read(directory, domain)
        if pack.load_user_tables is None:
            raise DataError(f"{directory / domain / 'user_db.toml'} is missing: the user's phone.")
        return pack

    return _edition(settings, load)


def own_edition(settings: BaseModel) -> Edition:
    """The same rules for packs that Greenroom made, which have one policy."""
    assert isinstance(settings, TelecomSettings)
    return _edition(settings, _load_own_pack)


def _load_own_pack(directory: Path, domain: str) -> Pack:
    """A pack in Greenroom's layout; what its records leave out is filled in."""
    pack = load_pack(directory, domain)

    def load_tables() -> Tables:
        raw = pack.load_tables()
        return read_tables({table: list(rows.values()) for table, rows in raw.items()})

    def load_user_tables() -> Tables:
        raw: Tables = {} if pack.load_user_tables is None else pack.load_user_tables()
        return read_user_tables({table: next(iter(rows.values())) for table, rows in raw.items()})

    return replace(pack, load_tables=load_tables, load_user_tables=load_user_tables)


def _edition(settings: TelecomSettings, load: Callable[[Path, str], Pack]) -> Edition:
    return tau2_edition(
        agent_tools,
        load,
        user_tools=user_tools,
        functions=FUNCTIONS,
        sync=sync,
        hash_world=hash_world,
        policy_checks=CHECKS,
        solo=settings.solo,
    )
