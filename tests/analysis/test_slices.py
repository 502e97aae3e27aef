from __future__ import annotations

from greenroom.analysis.slices import slice_run
from greenroom.store.trajectory_records import TaskRecord
from tests.analysis.episodes import cancel, episode


def test_a_task_counts_in_the_slice_of_each_of_its_tags() -> None:
    tags_of = [["refund", "angry"], ["refund"], []]
    episodes = [
        episode(
            [cancel("#W1")],
            [cancel("#W1")],
            task=TaskRecord(instruction="Cancel it.", tags=tags),
            task_index=index,
            trial=trial,
            reward=float(index == 0),
            outcome="success" if index == 0 else "failure",
        )
        for index, tags in enumerate(tags_of)
        for trial in range(2)
    ]
    slices = {one.group: one for one in slice_run(episodes, "tag")}
    assert {group: (one.n, one.cells) for group, one in slices.items()} == {
        "(no tag)": (1, 2),
        "angry": (1, 2),
        "refund": (2, 4),
    }
    assert {group: one.figure.value for group, one in slices.items()} == {
        "(no tag)": 0.0,
        "angry": 1.0,
        "refund": 0.5,
    }
