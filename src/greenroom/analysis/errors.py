"""Why episodes failed: the agent's writes and words compared with the ground truth's.

Kinds, those that weigh more first. An episode has the first that applies as its kind, and all that
apply as its kinds.

infrastructure     something other than the agent broke
crashed            the agent's own code raised an error
call_as_text       wrote a tool call as text instead of making it
max_time           it was cut off when its time was up
max_steps          it was cut off when its steps were used up
too_many_errors    it was ended because too many calls had failed
model_limit        the agent's model could not or would not answer any more
invalid_action     the agent gave no further action, or a needed write only in a call that was not
                   a valid one
wrong_tool         another tool was used where a needed write was due, on the same target
wrong_arguments    a needed write was made, or tried and refused, with other arguments
extra_write        something was changed that was not to be
user_ended_early   the user left while the agent was waiting for an answer, and a needed write had
                   not been tried by then
missing_write      a needed write was not made
user_action        the user did not do what they had to, or not so
call_missing       the task wants a call that nobody made
outputs_missing    the user was not told what they should be
assertion_unmet    a function of the task does not find what it should in a party's world
judged_unmet       a judge says that a sentence about the conversation does not hold
other              nothing of all this

What an agent did wrong weighs more than what it left undone, because it cannot be made good by
going on; and a user who leaves early weighs more than the writes that are missing for it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from greenroom.analysis import wording
from greenroom.analysis.aligned_steps import aligned_writes
from greenroom.analysis.alignment import Alignment, Pair, Write
from greenroom.analysis.arguments import ArgumentDifference, target_of
from greenroom.analysis.figures import Diagnosis, ErrorBreakdown
from greenroom.store.episode_counts import EpisodeCounts
from greenroom.store.outcomes import FailureKind, outcome_info
from greenroom.store.records import CellKey, EpisodeRecord
from greenroom.store.trajectory_records import DifferenceRecord
from greenroom.trajectories import RESPOND, call_in_text
from greenroom.util.raw_json import record_of

T = TypeVar("T")

PRECEDENCE: tuple[FailureKind, ...] = get_args(FailureKind)
"""All kinds, those that weigh more first."""


@dataclass(frozen=True)
class _Finding:
    """One reason why an episode failed."""

    kind: FailureKind
    explanation: str
    expected: Write | None = None
    actual: Write | None = None
    arguments: tuple[ArgumentDifference, ...] = ()
    remark: str = ""
    """What ends the explanation."""

    @property
    def targets(self) -> set[str]:
        """The records that it is about."""
        writes = (write for write in (self.expected, self.actual) if write is not None)
        targets = (target_of(write.kwargs) for write in writes)
        return {target.value for target in targets if target is not None}


def diagnose(episode: EpisodeRecord) -> Diagnosis | None:
    """Why an episode failed; None for one that did not."""
    if episode.pruned is not None:
        return kept_diagnosis(episode.pruned.counts)
    if _succeeded(episode):
        return None
    alignment, _ = aligned_writes(episode)
    findings = sorted(_findings(episode, alignment), key=lambda f: PRECEDENCE.index(f.kind))
    first = findings[0]
    return Diagnosis(
        task_index=episode.task_index,
        trial=episode.trial,
        kind=first.kind,
        kinds=list(dict.fromkeys(finding.kind for finding in findings)),
        explanation=wording.sentence(first.explanation + _others(findings) + first.remark),
        expected=_as_json(first.expected),
        actual=_as_json(first.actual),
        arguments=[difference.name for difference in first.arguments],
        differences=[difference_line(difference) for difference in _differences(episode)],
    )


def kept_diagnosis(counts: EpisodeCounts) -> Diagnosis | None:
    """Why an episode failed, as it was found when the episode was kept."""
    return record_of(Diagnosis, counts.diagnosis) if counts.diagnosis else None


class FailureTally:
    """Counts failures by kind, episode by episode.

    Infrastructure errors are counted and explained too, as a kind of their own. `most` is how many
    are explained at most, those of the first trials of every task.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._counts = Counter[FailureKind]()
        self._explained: list[Diagnosis] = []

    def add(self, diagnosis: Diagnosis | None) -> None:
        """Count an episode: why it failed, if it did."""
        if diagnosis is not None:
            self._counts[diagnosis.kind] += 1
            self._explained.append(diagnosis)
            if self._most is not None and len(self._explained) >= 2 * self._most + 100:
                self._explained = first_trials(self._explained, self._most, _place)

    def breakdown(self) -> ErrorBreakdown:
        """What was counted so far."""
        return ErrorBreakdown(
            failures=self._counts.total(),
            by_kind={kind: self._counts[kind] for kind in PRECEDENCE if self._counts[kind]},
            diagnoses=first_trials(self._explained, self._most, _place),
        )


def _place(diagnosis: Diagnosis) -> CellKey:
    return diagnosis.task_index, diagnosis.trial


def break_down(episodes: Iterable[EpisodeRecord], most: int | None = None) -> ErrorBreakdown:
    """The failures among episodes, by kind; see FailureTally."""
    return explained(map(diagnose, episodes), most)


def explained(diagnoses: Iterable[Diagnosis | None], most: int | None = None) -> ErrorBreakdown:
    """The same from what was found of each episode."""
    tally = FailureTally(most)
    for diagnosis in diagnoses:
        tally.add(diagnosis)
    return tally.breakdown()


def first_trials(failures: Iterable[T], most: int | None, place: Callable[[T], CellKey]) -> list[T]:
    """So many failures at most, those of the first trials of everything, by item and trial."""

    def first() -> list[T]:
        return sorted(found, key=lambda one: place(one)[::-1])[:most]

    found: list[T] = []
    for failure in failures:
        found.append(failure)
        if most is not None and len(found) >= 2 * most + 100:
            found = first()
    return sorted(first(), key=place)


def difference_line(difference: DifferenceRecord) -> str:
    """A difference in one line: "orders[#W1].status: expected 'cancelled', got 'pending'"."""
    path = f".{difference.path}" if difference.path else ""
    expected, actual = (
        "absent" if difference.absent == side else repr(value)
        for side, value in (("expected", difference.expected), ("actual", difference.actual))
    )
    place = f"{difference.table}[{difference.record}]{path}"
    return f"{place}: expected {expected}, got {actual}"


def _others(findings: list[_Finding]) -> str:
    first = findings[0]
    if first.kind != "missing_write" or first.actual is not None:
        return ""
    others = sum(f.kind == first.kind and f.actual is None for f in findings[1:])
    return f" (and {wording.count(others, 'more write')})" if others else ""


def _succeeded(episode: EpisodeRecord) -> bool:
    if episode.reward is None:
        return episode.outcome == "success"
    return episode.reward >= 1


def _findings(episode: EpisodeRecord, alignment: Alignment) -> list[_Finding]:
    """Everything that is wrong, at least one finding."""
    cut_off = list(_cut_off(episode, alignment))
    if not episode.has_result:
        return cut_off  # what is undone then is no doing of the agent's
    findings = [
        *cut_off,
        *_written_calls(episode),
        *_database_findings(episode, alignment),
        *_user_findings(episode),
        *_output_findings(episode),
        *_other_part_findings(episode),
    ]
    return findings or [_Finding("other", _unexplained(episode))]


def _written_calls(episode: EpisodeRecord) -> Iterator[_Finding]:
    for step in episode.steps:
        if step.action.name == RESPOND:
            name = call_in_text(str(step.action.kwargs.get("content", "")))
            if name is not None:
                yield _Finding("call_as_text", f"Wrote a call of {name} as text for the user")
                return


def _cut_off(episode: EpisodeRecord, alignment: Alignment) -> Iterator[_Finding]:
    failure = outcome_info(episode.outcome).failure
    if failure is None:
        return
    kind, said = failure
    if not episode.has_result or episode.error:
        yield _Finding(kind, f"{said}: {episode.error or 'the cause was not recorded'}")
        return
    undone = [pair.expected for pair in alignment.pairs if pair.actual is None]
    detail = f": {wording.call(undone[0])} was still to come" if undone else ""
    if kind == "invalid_action":
        problem = next((s.invalid for s in reversed(episode.steps) if s.invalid), None)
        detail = f": {problem}" if problem else detail
    yield _Finding(kind, f"{said} after {wording.count(len(episode.steps), 'step')}{detail}")


def _database_findings(episode: EpisodeRecord, alignment: Alignment) -> list[_Finding]:
    if not _wrong_parts(episode):
        return []  # however it was reached, the worlds are right
    findings = [finding for pair in alignment.pairs for finding in _pair_findings(pair)]
    if "database" in _wrong_parts(episode):
        findings += [_extra_finding(write, alignment) for write in alignment.extra]
    untried = [pair.expected for pair in alignment.pairs if pair.actual is None]
    findings += [_missing_finding(write, episode) for write in untried]
    if _user_left_early(episode):
        findings += [
            _Finding("user_ended_early", f"The user left before {wording.call(w)} was called", w)
            for w in untried
        ]
    return _borne_out(findings, episode)


def _wrong_parts(episode: EpisodeRecord) -> set[str]:
    """The parts of the reward that depend on what was done, count, and are not as they should."""
    details = episode.details
    if details is None:
        return {"database"}
    parts = details.parts
    return {
        name
        for name in ("database", "assertions", "actions")
        if name in details.basis and parts.get(name) is False
    }


def _user_findings(episode: EpisodeRecord) -> Iterator[_Finding]:
    """What the user did not do, or did otherwise: no doing of the agent's tools."""
    if not _wrong_parts(episode):
        return
    for pair in aligned_writes(episode, "user")[0].pairs:
        wanted, made = pair.expected, pair.actual
        if made is None:
            text = f"The user never called {wording.call(wanted)}"
        elif made.refusal is not None:
            refusal = made.refusal.removeprefix("Error: ")
            text = f"The user called {wording.call(made)}, and was refused: {refusal}"
        elif pair.relation != "same":
            text = f"The user called {wording.call(made)} where {wording.call(wanted)} was right"
        else:
            continue
        yield _Finding("user_action", text, wanted, made)


def _other_part_findings(episode: EpisodeRecord) -> Iterator[_Finding]:
    details = episode.details
    if details is None:
        return
    for check in details.actions if "actions" in details.basis else ():
        if not check.found and not check.action.writes:
            call = wording.call(Write(check.action.name, check.action.kwargs))
            yield _Finding("call_missing", f"Nobody called {call}")
    for one in details.assertions if "assertions" in details.basis else ():
        if not one.met:
            said = one.message or f"{one.name} is not {str(one.expected).lower()}"
            yield _Finding("assertion_unmet", f"In the {one.party}'s world: {said}")
    for one in details.judged if "judged" in details.basis else ():
        if one.met is False:
            yield _Finding("judged_unmet", f"The judge rejects {one.sentence!r}")


def _pair_findings(pair: Pair) -> Iterator[_Finding]:
    expected, actual = pair.expected, pair.actual
    if actual is None or (pair.relation == "same" and actual.refusal is None):
        return
    refusal = (actual.refusal or "").removeprefix("Error: ")
    refused = f", and was refused: {refusal}" if actual.refusal is not None else ""
    if actual.invalid is not None and pair.relation != "tool":
        text = f"The call of {wording.call(actual)} was not valid: {actual.invalid}"
        yield _Finding("invalid_action", text, expected, actual, pair.arguments)
    elif pair.relation == "same":
        text = f"Called {wording.call(actual)} as expected, but was refused: {refusal}"
        yield _Finding("missing_write", text, expected, actual)
    elif pair.relation == "tool":
        text = f"Called {wording.call(actual)} where {expected.name} was right{refused}"
        yield _Finding("wrong_tool", text, expected, actual)
    else:
        text = wording.wrong_arguments(actual, pair.arguments, refused)
        yield _Finding("wrong_arguments", text, expected, actual, pair.arguments)


def _extra_finding(write: Write, alignment: Alignment) -> _Finding:
    made = {pair.actual.text for pair in alignment.pairs if pair.actual is not None}
    why = ", which the task does not ask for"
    if not alignment.pairs:
        why = " although nothing was to be changed"
    elif write.text in made:
        why = " once more than needed"
    return _Finding("extra_write", f"Called {wording.call(write)}{why}", actual=write)


def _missing_finding(write: Write, episode: EpisodeRecord) -> _Finding:
    last = episode.steps[-1] if episode.steps else None
    handed_over = episode.outcome == "failure" and last is not None and last.source != "user"
    remark = f"; ended with {last.action.name} instead" if last and handed_over else ""
    return _Finding("missing_write", f"Never called {wording.call(write)}", write, remark=remark)


_CLOSING = re.compile(r"\b(else|further|other questions|more questions|in the future)\b", re.I)
_ASKING = re.compile(
    r"\?\s*$|\bplease (confirm|provide|specify|reply|share|choose|let me know (how|which|what))\b"
    r"|\bI(?:'ll| will|) need\b|\byes/no\b|\blet me know how\b|[\"'“]yes[\"'”]",
    re.I,
)


def _user_left_early(episode: EpisodeRecord) -> bool:
    """The user ended the conversation, although the agent's last words asked them for something.

    The agent asks if a sentence of its last message is a question, wants a confirmation or
    information, and is not the usual offer of further help.
    """
    if not episode.steps:
        return episode.outcome == "failure"
    last = episode.steps[-1]
    if episode.outcome != "failure" or last.source != "user":
        return False
    content: Any = last.action.kwargs.get("content")
    sentences = re.split(r"(?<=[.?!])\s+|\n+", content if isinstance(content, str) else "")
    return any(_ASKING.search(text) and not _CLOSING.search(text) for text in sentences)


def _borne_out(findings: list[_Finding], episode: EpisodeRecord) -> list[_Finding]:
    """The findings that the database's differences bear out, before or instead of the others.

    A ground-truth write may itself be refused, or an argument leave no trace: then its absence is
    no reason for the failure. Where every differing record is accounted for by some finding, the
    findings about other records are left out.
    """
    differing = {difference.record for difference in _differences(episode)}
    borne_out = [finding for finding in findings if finding.targets & differing]
    if not borne_out:
        return findings
    accounted = set[str]().union(*(finding.targets for finding in borne_out))
    if differing <= accounted | {episode.task.user_id}:
        return borne_out
    return [*borne_out, *(finding for finding in findings if finding not in borne_out)]


def _output_findings(episode: EpisodeRecord) -> Iterator[_Finding]:
    if episode.details is not None:
        counts = "outputs" in episode.details.basis
        missing = [one for one, said in episode.details.outputs.items() if counts and not said]
    else:
        missing = list(_unsaid(episode))
    if missing:
        more = f" (and {wording.count(len(missing) - 1, 'more output')})" if missing[1:] else ""
        yield _Finding("outputs_missing", f"Never told the user {missing[0]!r}{more}")


def _unsaid(episode: EpisodeRecord) -> Iterator[str]:
    # Tau Bench's own check, for episodes without a score: any place in anything that was said.
    said = [
        str(step.action.kwargs.get("content", "")).lower().replace(",", "")
        for step in episode.steps
        if step.action.name == RESPOND and step.invalid is None
    ]
    for output in episode.task.outputs:
        if not any(output.lower() in text for text in said):
            yield output


def _unexplained(episode: EpisodeRecord) -> str:
    differences = _differences(episode)
    if differences:
        return f"Made every write as expected, yet {difference_line(differences[0])}"
    return "Neither the writes nor the outputs explain the reward"


def _differences(episode: EpisodeRecord) -> list[DifferenceRecord]:
    return episode.details.differences if episode.details is not None else []


def _as_json(write: Write | None) -> dict[str, Any] | None:
    return None if write is None else {"name": write.name, "kwargs": write.kwargs}
