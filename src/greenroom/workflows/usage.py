"""What a call used, tokens and cost: reported by a handler, read and written on each wire."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from greenroom.util.json_values import amount_of, as_dict, count_of
from greenroom.workflows.calls import Answer

_PROMPT = ("prompt_tokens", "input_tokens", "input", "prompt")
_COMPLETION = ("completion_tokens", "output_tokens", "output", "completion")


@dataclass
class ReportedUsage:
    """What a call reported so far; None if nobody reported it."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None

    def add(self, step: ReportedUsage) -> None:
        """Add what a step of the call used."""
        for name, reported in step.to_json().items():
            used = amount_of(reported) if name == "cost" else count_of(reported)
            if used is not None:
                setattr(self, name, (getattr(self, name) or 0) + used)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


class UsageTaker(Protocol):
    """Whoever counts what is reported."""

    def add(self, step: ReportedUsage) -> None:
        """Add what a step used."""
        ...


current_usage: ContextVar[UsageTaker | None] = ContextVar("current_usage", default=None)


def report_usage(
    *,
    prompt_tokens: int | None = None,
    completion_tokens: int | None = None,
    cost: float | None = None,
) -> None:
    """Report what a step of a call or of an episode used; several reports are added up.

    It is called within a workflow's handler, or within an agent that plays. There it counts towards
    the run's budget at once, and raises BudgetExhausted once that is spent. Anywhere else nothing
    happens, so a handler can still be called as a function.
    """
    usage = current_usage.get()
    if usage is not None:
        usage.add(ReportedUsage(prompt_tokens, completion_tokens, cost))


def read_usage(fields: dict[str, Any]) -> ReportedUsage:
    """The usage in a JSON object; the names of OpenAI, Anthropic and Agenta are known."""
    return ReportedUsage(
        count_of(_number(fields, *_PROMPT)),
        count_of(_number(fields, *_COMPLETION)),
        _number(fields, "cost"),
    )


def find_usage(*answers: Any) -> ReportedUsage:
    """The usage of the first answer that has one, under `usage` or `cost`."""
    for answer in answers:
        fields = as_dict(answer)
        usage = read_usage(as_dict(fields.get("usage")))
        if usage.cost is None:
            usage.cost = _number(fields, "cost")
        if usage != ReportedUsage():
            return usage
    return ReportedUsage()


def openai_usage(answer: Answer) -> dict[str, Any] | None:
    """The usage as OpenAI writes it; None if the tokens are unknown."""
    tokens = _tokens(answer, "prompt_tokens", "completion_tokens", "total_tokens")
    return tokens | _cost(answer) if tokens else None


def agenta_usage(answer: Answer) -> dict[str, Any] | None:
    """The usage as Agenta writes it; None if it is unknown."""
    return _tokens(answer, "input", "output", "total") | _cost(answer) or None


def _number(fields: dict[str, Any], *names: str) -> float | None:
    for name in names:
        if (value := amount_of(fields.get(name))) is not None:
            return value
    return None


def _tokens(answer: Answer, prompt: str, completion: str, total: str) -> dict[str, Any]:
    if answer.prompt_tokens is None and answer.completion_tokens is None:
        return {}
    sent, received = answer.prompt_tokens or 0, answer.completion_tokens or 0
    return {prompt: sent, completion: received, total: sent + received}


def _cost(answer: Answer) -> dict[str, Any]:
    return {} if answer.cost is None else {"cost": answer.cost}
