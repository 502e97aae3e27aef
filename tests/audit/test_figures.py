from __future__ import annotations

from collections.abc import Iterator

import pytest

from greenroom.audit import audit_episodes, figures, findings_by_turn, findings_of
from greenroom.audit.talks import talk_of
from greenroom.store import EpisodeRecord
from tests.audit.talking import called, episode, said

ASKED = "You are mia_kim_4397. Ask for a refund."
FINE = (called("ok"), said("Done.", "###STOP###"))
INVENTED = (called("ok"), said("Your mail?", "z@example.com"), said("Done.", "###STOP###"))


def _played(*trials: tuple[int, int, bool, bool]) -> Iterator[EpisodeRecord]:
    """Episodes: task, trial, solved, with a fault."""
    for task, trial, solved, faulty in trials:
        outcome = (
            {"outcome": "success", "reward": 1.0}
            if solved
            else {"outcome": "failure", "reward": 0.0}
        )
        steps = INVENTED if faulty else FINE
        yield episode(ASKED, "Hi", *steps, task_index=task, trial=trial, **outcome)


TRIALS = (
    (0, 0, True, False),
    (0, 1, False, True),
    (1, 0, True, True),
    (1, 1, True, False),
    (2, 0, False, False),
    (2, 1, False, True),
)


def test_pass_k_without_user_faults_stands_beside_the_official_one() -> None:
    found = audit_episodes(_played(*TRIALS), task_indices=[0, 1, 2], num_trials=2)
    assert (found.talks, found.with_fault, found.failures, found.user_failures) == (6, 3, 3, 2)
    assert found.by_kind == {"invented_fact": 3}
    assert found.share.value == 0.5
    assert found.share.low < 0.5 < found.share.high
    passes = found.passes
    assert passes is not None
    assert passes.official[1].value == pytest.approx(0.5)
    assert passes.without[1].value == pytest.approx(2 / 3)
    assert passes.without[1].low < 2 / 3 < passes.without[1].high
    assert passes.tasks[1] == 3
    assert passes.coverage == 0.5
    # No task has two trials left: nothing is claimed of pass^2.
    assert 2 in passes.official
    assert 2 not in passes.without


def test_failures_that_may_be_the_users_come_first() -> None:
    found = audit_episodes(_played(*TRIALS), task_indices=[0, 1, 2], num_trials=2)
    assert [(one.item, one.trial, one.failed) for one in found.faulty] == [
        (0, 1, True),
        (2, 1, True),
        (1, 0, False),
    ]


def test_what_cannot_be_read_stays_in_every_figure() -> None:
    recited = episode(ASKED, ASKED, *INVENTED, task_index=1)
    broken = episode(ASKED, "", task_index=2, outcome="infrastructure_error", reward=None)
    found = audit_episodes(
        [*_played((0, 0, True, False)), recited, broken], task_indices=[0, 1, 2], num_trials=1
    )
    assert (found.talks, found.unread, found.with_fault) == (1, 2, 0)
    assert found.passes is not None
    assert found.passes.without == found.passes.official


def test_no_conversation_no_figure() -> None:
    found = audit_episodes([], task_indices=[0], num_trials=1)
    assert (found.talks, found.with_fault, found.faulty) == (0, 0, [])
    assert found.share.value != found.share.value


def test_what_is_kept_is_bounded_and_all_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MOST_SHOWN", 2)
    trials = [(task, 0, task > 3, True) for task in range(8)]
    found = audit_episodes(_played(*trials), task_indices=range(8), num_trials=1)
    assert found.with_fault == 8
    assert [one.item for one in found.faulty] == [0, 1]


def test_findings_by_turn() -> None:
    found = findings_of(talk_of(episode(ASKED, "Hi", *INVENTED)))
    assert {turn: [one.kind for one in some] for turn, some in findings_by_turn(found).items()} == {
        2: ["invented_fact"]
    }


def test_who_is_forgetful_by_persona_may_have_forgotten_an_id() -> None:
    forgot = episode(
        "You are mia_kim_4397. Your email is mia@example.com. Ask for a refund.",
        "Hi, I want a refund.",
        said("What is your email?", "I don't remember my email."),
        said("Then I look for it.", "###STOP###"),
    )
    assert [one.kind for one in findings_of(talk_of(forgot))][:1] == ["denied_fact"]
    for persona, kinds in ((None, {"denied_fact"}), ("forgetful", set[str]())):
        found = audit_episodes([forgot], task_indices=[0], num_trials=1, persona=persona)
        assert found.by_kind.keys() & {"denied_fact"} == kinds
