"""The agent's policy: general rules, and how to solve technical problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from greenroom.domains.packs import read_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PolicyKind = Literal["manual", "workflow"]
"""tau2's domain telecom has a descriptive manual, telecom-workflow numbered decision paths."""

_FILES: Final = {
    ("manual", False): ("main_policy.md", "tech_support_manual.md"),
    ("manual", True): ("main_policy_solo.md", "tech_support_manual.md"),
    ("workflow", False): ("main_policy.md", "tech_support_workflow.md"),
    ("workflow", True): ("main_policy_solo.md", "tech_support_workflow_solo.md"),
}


def policy_reader(kind: PolicyKind, *, solo: bool) -> Callable[[Path], str]:
    """Reads the policy from the folder of the domain's files."""
    main, support = _FILES[kind, solo]

    def read(root: Path) -> str:
        return (
            f"<main_policy>\n{read_text(root / main)}\n</main_policy>\n"
            f"<tech_support_policy>\n{read_text(root / support)}\n</tech_support_policy>"
        )

    return read
