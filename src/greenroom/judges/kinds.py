"""The judges that can be checked: what each reads of a case, and how it is asked.

A case is shown plain, with the order of what is read turned round, and with padded answers. The
verdicts are read back as if nothing had been turned.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from greenroom.analysis.judge_checks import PASS, Variant
from greenroom.benchmark import sentences
from greenroom.errors import InputError
from greenroom.judging import evidence, faults
from greenroom.models import Model

FAIL: Final = "fail"

PADDING: Final = (
    " I hope that this is of some use to you. There is no hurry at all with any of it, so please "
    "take as much time as you like. Thank you very much for your patience and for your kind words."
)
"""What an answer is padded with: it says nothing about the matter."""

_YES: Final = frozenset({"pass", "passed", "yes", "true", "1", "1.0", "met", "good", "right"})
_NO: Final = frozenset({"fail", "failed", "no", "false", "0", "0.0", "not met", "bad", "wrong"})

Ask = Callable[[Model, Mapping[str, Any], Variant], Awaitable[list[str]]]


@dataclass(frozen=True)
class JudgeKind:
    """A judge that Greenroom has, and how labelled cases are put to it."""

    name: str
    summary: str
    columns: tuple[str, ...]
    """The columns that its cases need, besides the label."""
    read_label: Callable[[Any], str]
    """A person's label as a verdict; raises ValueError for what is none."""
    ask: Ask
    """Its verdicts on a case, one for each label."""
    prompt: Callable[[], str]
    """What tells versions of its prompt apart."""
    shared: str = ""
    """Cases with the same value in this column are judged together, as the judge does."""
    optional: tuple[str, ...] = ()


def read_yes_or_no(given: Any) -> str:
    """A label of a judge that passes or fails.

    >>> read_yes_or_no("Not met"), read_yes_or_no(True)
    ('fail', 'pass')
    """
    word = str(given).strip().lower().replace("_", " ")
    if word in _YES:
        return PASS
    if word in _NO:
        return FAIL
    raise ValueError("pass or fail (yes or no, met or not met, true or false)")


def _read_author(given: Any) -> str:
    word = str(given).strip().lower()
    # To the judge, the task is a part of the environment.
    word = "environment" if word == "task" else word
    if word not in ("user", "agent", "environment"):
        raise ValueError("user, agent, environment or task")
    return word


def padded(conversation: str) -> str:
    """A conversation in which everything that the agent says is longer, and says no more."""
    return "\n".join(
        line + PADDING if _is_said(line) else line for line in conversation.splitlines()
    )


def _is_said(line: str) -> bool:
    return line.lstrip("0123456789. ").startswith("AGENT:")


async def _ask_statements(model: Model, case: Mapping[str, Any], variant: Variant) -> list[str]:
    conversation, statements = str(case["conversation"]), list(map(str, case["statement"]))
    if variant == "length":
        conversation = padded(conversation)
    turned = variant == "order"
    found = await sentences.ask_about(
        model, conversation, statements[::-1] if turned else statements
    )
    said = [PASS if one.met else FAIL for one in found]
    return said[::-1] if turned else said


async def _ask_identify(model: Model, case: Mapping[str, Any], variant: Variant) -> list[str]:
    parts = {name: str(case.get(name) or "") for name in _EVIDENCE}
    if variant == "length":
        parts["conversation"] = padded(parts["conversation"])
    shown = evidence.in_sections(parts.items())
    found = await faults.ask_author(model, shown, turned=variant == "order")
    return [found.author]


_EVIDENCE: Final = (
    *("policy", "user_instruction", "ground_truth_actions", "required_outputs"),
    *("conversation", "automatic_check"),
)

STATEMENTS: Final = JudgeKind(
    "statements",
    "natural-language assertions: does the conversation show that a sentence is true?",
    ("conversation", "statement"),
    read_yes_or_no,
    _ask_statements,
    sentences.prompt_digest,
    shared="conversation",
)
IDENTIFY: Final = JudgeKind(
    "identify",
    "whose doing a failed episode is: user, agent or environment",
    ("user_instruction", "conversation"),
    _read_author,
    _ask_identify,
    faults.prompt_digest,
    optional=("policy", "ground_truth_actions", "required_outputs", "automatic_check"),
)
JUDGES: Final[Mapping[str, JudgeKind]] = {one.name: one for one in (IDENTIFY, STATEMENTS)}
"""Those that are no evaluators. Any evaluator with a model can be checked, too."""


def turned_prompt(prompt: str) -> str | None:
    """A prompt whose parts with material stand in the other order; None where it has but one.

    >>> turned_prompt("Right?\\n\\n{{expected}}\\n\\nThe answer:\\n{{output}}")
    'Right?\\n\\nThe answer:\\n{{output}}\\n\\n{{expected}}'
    """
    parts = prompt.split("\n\n")
    places = [place for place, part in enumerate(parts) if "{{" in part]
    if len(places) < 2:
        return None
    turned = list(parts)
    for place, other in zip(places, reversed(places), strict=True):
        turned[place] = parts[other]
    return "\n\n".join(turned)


def inverted(verdict: str) -> str:
    """The verdict on two answers that changed places."""
    return FAIL if verdict == PASS else PASS


def find_judge(name: str, known: Sequence[str]) -> JudgeKind | None:
    """The judge of that name, or None for an evaluator; raises for what is neither."""
    if name in JUDGES:
        return JUDGES[name]
    if name in known or ":" in name or name.endswith(".py"):
        return None
    raise InputError(
        f"There is no judge '{name}'. Judges: {', '.join(JUDGES)}, and every evaluator that asks a "
        "model, such as llm_judge."
    )


__all__ = [
    "FAIL",
    "IDENTIFY",
    "JUDGES",
    "PADDING",
    "STATEMENTS",
    "JudgeKind",
    "find_judge",
    "inverted",
    "padded",
    "read_yes_or_no",
    "turned_prompt",
]
