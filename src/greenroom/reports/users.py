"""Who the simulated users of runs and evaluations are, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from greenroom.store import EvaluationRecord, RunRecord
from greenroom.util.json_values import as_dict


def user_facts(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The line that says who the users are; none for one that only says its instruction."""
    words = _user(config)
    if words != "scripted":
        yield "User", words


def user_note(jobs: Sequence[RunRecord] | Sequence[EvaluationRecord]) -> Iterator[str]:
    """That what is compared was played with different users, where it was."""
    everybody = [(_user(one.config), _options(one.config)) for one in jobs]
    if all(one == everybody[0] for one in everybody[1:]):
        return
    told = "; ".join(f"{job.name}: {who}" for job, (who, _) in zip(jobs, everybody, strict=True))
    same = len({who for who, _ in everybody}) == 1
    yield (
        f"The simulated users differ{' in their options' if same else ''} ({told}). A difference "
        "may be theirs."
    )


def _user(config: Mapping[str, Any]) -> str:
    """Strategy, model or script, and persona: "verify (gpt-4o), terse"."""
    strategy = str(config.get("user_strategy") or "scripted")
    script = as_dict(_options(config).get("script")).get("source")
    played_by = config.get("user_model") or script
    words = f"{strategy} ({played_by})" if played_by else strategy
    persona = config.get("user_persona")
    return f"{words}, {persona}" if persona else words


def _options(config: Mapping[str, Any]) -> dict[str, Any]:
    return as_dict(config.get("user_options"))
