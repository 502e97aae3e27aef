"""tau2-bench's telecom domain: a carrier's support, and a user with a phone of their own."""

from pydantic import BaseModel

from greenroom.domains.generation import TaskGenerator
from greenroom.domains.packs import DEFAULT_EDITION, Pack
from greenroom.domains.plugins import TAU2, DomainPlugin
from greenroom.domains.tau2.telecom.composition import (
    IntentTexts,
    Texts,
    compose_task,
    compose_tasks,
    selections,
    texts_of,
)
from greenroom.domains.tau2.telecom.edition import TelecomSettings, own_edition, telecom_edition
from greenroom.domains.tau2.telecom.figures import OFFICIAL_FIGURES
from greenroom.domains.tau2.telecom.issues import ISSUES, Caller


def _builtin_pack(_settings: BaseModel) -> Pack:
    from greenroom.domains.tau2.telecom.generator import builtin_pack

    return builtin_pack()


def _generate(seed: int, tasks: int, difficulty: str) -> Pack:
    from greenroom.domains.tau2.telecom.generator import generate_telecom

    return generate_telecom(seed, tasks, difficulty)


plugin = DomainPlugin(
    "telecom",
    builtin_pack=_builtin_pack,
    generate=TaskGenerator(_generate, ("official", "hard"), OFFICIAL_FIGURES),
    settings=TelecomSettings,
    editions={TAU2: telecom_edition, DEFAULT_EDITION: own_edition},
)

__all__ = [
    "ISSUES",
    "Caller",
    "IntentTexts",
    "TelecomSettings",
    "Texts",
    "compose_task",
    "compose_tasks",
    "plugin",
    "selections",
    "texts_of",
]
