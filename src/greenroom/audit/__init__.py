"""The audit of simulated users: what is wrong with what they said, found without a model."""

from __future__ import annotations

from greenroom.audit.checks import CHECKS, Check, findings_of
from greenroom.audit.figures import (
    AuditTally,
    FaultyTalk,
    UserAudit,
    audit_episodes,
    findings_by_turn,
)
from greenroom.audit.findings import KINDS, Finding, FindingKind
from greenroom.audit.instructions import Instruction, read_instruction, with_persona
from greenroom.audit.talks import Talk, UserCall, UserTurn, talk_of, talk_of_messages

__all__ = [
    "CHECKS",
    "KINDS",
    "AuditTally",
    "Check",
    "FaultyTalk",
    "Finding",
    "FindingKind",
    "Instruction",
    "Talk",
    "UserAudit",
    "UserCall",
    "UserTurn",
    "audit_episodes",
    "findings_by_turn",
    "findings_of",
    "read_instruction",
    "talk_of",
    "talk_of_messages",
    "with_persona",
]
