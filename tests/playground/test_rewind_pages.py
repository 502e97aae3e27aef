"""Rewind, the simulated user and the world, as people use them in a browser."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from playwright.sync_api import Page, expect

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.store import EpisodeRecord, RunRecord, Store
from tests.playground.conftest import Enter, Open, settle
from tests.playground.stored_runs import HOSTILE
from tests.playground.talking import APP, Talk
from tests.playground.test_accessibility import violations

pytestmark = pytest.mark.slow

TASK = 5
USER = str(Path(__file__).with_name("twice_user.py"))


def played(store: Store, **options: Any) -> RunRecord:
    """A run whose episodes have three turns."""
    fields: dict[str, Any] = {
        "task_ids": [TASK],
        "agent_strategy": "synthetic",
        "agent_options": {"success": 0.5},
        "user_strategy": USER,
    }
    run, context = start_run(store, check_config(fields | options), name="stored")
    with ThreadPoolExecutor(1) as threads:  # the browser has this thread's event loop
        threads.submit(anyio.run, play_run, store, run, context).result()
    return store.runs.find(run.id)


def rewind(page: Page, turn: int = 1) -> None:
    """Open the dialog of a turn."""
    page.get_by_role("button", name=f"Go on from turn {turn}").click()
    expect(page.get_by_role("dialog")).to_contain_text(f"Go on from turn {turn}")


def test_an_episode_is_played_several_times_from_a_turn(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    played(store)
    running = open_playground(store)
    page = enter(running, f"/runs/stored/episodes/{TASK}/0")
    rewind(page)
    page.get_by_label("Times").fill("12")
    page.get_by_role("button", name="Play it 12 times from here").click()
    dialog = page.get_by_role("dialog")
    sentence = dialog.get_by_test_id("sentence")
    expect(sentence).to_contain_text("of 12 times (95 % interval")
    [run] = store.runs.all(parent=store.runs.find("stored").id)
    solved = sum(one.solved for one in store.runs.summaries(run.id))
    expect(sentence).to_contain_text(f"From here it is solved {solved} of 12 times")
    expect(dialog.get_by_text("The stored trial:")).to_be_visible()
    episodes = dialog.get_by_role("list", name="Episodes from here").get_by_role("link")
    expect(episodes).to_have_count(12)
    episodes.nth(11).click()
    page.wait_for_url(f"**/runs/{run.id}/episodes/{TASK}/11")
    expect(page.get_by_test_id("conversation")).to_be_visible()
    # The list of runs leaves the trials out.
    page.goto(f"{running.address}/runs")
    settle(page)
    expect(page.get_by_text("stored", exact=True).first).to_be_visible()
    expect(page.get_by_text(run.name)).to_have_count(0)


def test_two_browsers_see_the_same_trials_and_one_deletes_them(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    played(store)
    running = open_playground(store)
    talk = Talk(running.api)
    talk.post("rewinds/trials", run="stored", task=TASK, turn=2, trials=3)
    pages = [enter(running, f"/runs/stored/episodes/{TASK}/0") for _ in range(2)]
    for page in pages:
        rewind(page, 2)
        expect(page.get_by_test_id("sentence")).to_contain_text("of 3 times")
    expect(pages[0].get_by_text("3/3 played")).to_be_visible()
    # Episodes do not come back, so it takes two.
    pages[0].get_by_role("button", name="Delete").click()
    pages[0].get_by_role("button", name="Keep them").click()
    pages[0].get_by_role("button", name="Delete").click()
    pages[0].get_by_role("button", name="Delete the episodes for good").click()
    expect(pages[0].get_by_text("Played from this episode")).to_have_count(0)
    assert store.runs.all(parent=store.runs.find("stored").id) == []


def test_going_on_by_hand_and_by_the_agent_with_the_world_beside(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    run = played(store, agent_options={"success": 1.0})
    episode = store.runs.result(run.id, (TASK, 0))
    assert episode is not None
    running = open_playground(store)
    page = enter(running, f"/runs/stored/episodes/{TASK}/0")
    rewind(page)
    write = next(n for n, step in enumerate(episode.steps, 1) if step.action.writes)
    page.get_by_label("From", exact=True).select_option(str(write))
    page.get_by_role("button", name="Open as a conversation").click()
    page.wait_for_url("**/boards/**")
    world = page.get_by_role("region", name="World")
    expect(world).to_contain_text("Nothing has changed in the database yet.")
    # By hand: the tool is called with a form made from its schema.
    action = episode.steps[write - 1].action
    world.get_by_label("In the agent's place").select_option(action.name)
    for name, value in action.kwargs.items():
        field = world.get_by_label(name)
        if field.evaluate("element => element.tagName") == "SELECT":
            field.select_option(label=str(value))
        else:
            field.fill(str(value))
    world.get_by_role("button", name="Call it").click()
    changes = world.get_by_test_id("changes")
    expect(changes).to_contain_text(str(action.kwargs["order_id"]))
    expect(changes.get_by_role("row", name="status pending cancelled")).to_be_visible()
    # Undo takes it back, and the world follows.
    page.get_by_role("button", name="Undo").click()
    expect(world).to_contain_text("Nothing has changed in the database yet.")
    page.get_by_role("button", name="Redo").click()
    expect(changes).to_be_visible()
    # By the agent: it does what is left.
    world.get_by_role("button", name="Let the agent go on").click()
    expect(page.get_by_text("For your records").first).to_be_visible()
    # By hand, as the user: the agent answers.
    page.get_by_label("Message").first.fill("Is that really all?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Is that really all?")).to_be_visible()
    # All of it is there after the page is loaded again.
    page.reload()
    expect(page.get_by_role("region", name="World").get_by_test_id("changes")).to_be_visible()


def test_a_simulated_user_talks_step_by_step_and_to_the_end(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    run = played(store, agent_options={"success": 1.0})
    running = open_playground(store)
    rewound = Talk(running.api).post("rewinds", run=run.name, task=TASK, turn=1)
    page = enter(running, f"/boards/{rewound['board_id']}?thread={rewound['thread_id']}")
    page.get_by_role("button", name="More for this thread").click()
    page.get_by_role("menuitem", name="Simulated user").click()
    user = page.get_by_role("region", name="Simulated user")
    user.get_by_label("User", exact=True).select_option("scripted")
    user.get_by_role("button", name="Next message").click()
    # The agent answers the draft first; then the scripted user has nothing more to say.
    expect(user.get_by_role("status")).to_contain_text("has nothing more to say")
    world = page.get_by_role("region", name="World")
    expect(world.get_by_test_id("scored")).to_contain_text("solved")
    expect(world.get_by_test_id("scored")).to_contain_text("The conversation is over.")


def test_a_message_is_changed_before_it_is_sent(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    running = open_playground(store, [str(APP)])
    thread = Talk(running.api).thread("parrot")
    page = enter(running, f"/boards/{thread['board_id']}")
    page.get_by_role("button", name="More for this thread").click()
    page.get_by_role("menuitem", name="Simulated user").click()
    user = page.get_by_role("region", name="Simulated user")
    user.get_by_label("User", exact=True).select_option("scripted")
    user.get_by_label("Goal").fill("Get tea.")
    user.get_by_role("button", name="Next message").click()
    preview = user.get_by_label("The user would say")
    expect(preview).to_have_value("Get tea.")
    preview.fill("Green tea, please.")
    user.get_by_role("button", name="Send it").click()
    expect(page.get_by_text("kind: Green tea, please.")).to_be_visible()
    user.get_by_role("button", name="Talk to the end").click()
    expect(user.get_by_role("status")).to_contain_text("has nothing more to say")
    user.get_by_label("User", exact=True).select_option("llm")
    user.get_by_role("button", name="Next message").click()
    expect(user.get_by_role("alert")).to_contain_text("asks a language model: name it")


def test_hostile_episodes_are_shown_and_never_executed(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    run = played(store)
    episode = store.runs.result(run.id, (TASK, 0))
    assert episode is not None
    step = {
        "action": {"name": "think", "kwargs": {"thought": HOSTILE}},
        "observation": HOSTILE,
        "source": "x",
        "turn": 1,
    }
    fields = episode.model_dump() | {"trial": 6, "opening": HOSTILE, "steps": [step]}
    store.runs.add(run.id, [EpisodeRecord.model_validate(fields | {"details": None})])
    running = open_playground(store)
    page = enter(running, f"/runs/stored/episodes/{TASK}/6")
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    rewind(page)
    page.get_by_role("button", name="Open as a conversation").click()
    page.wait_for_url("**/boards/**")
    expect(page.get_by_text("<img src=x onerror=alert(1)>").first).to_be_visible()
    assert page.locator("img").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_panels_fit_the_page(
    store: Store, open_playground: Open, enter: Enter, width: int
) -> None:
    played(store)
    running = open_playground(store)
    page = enter(running, f"/runs/stored/episodes/{TASK}/0", width=width)
    rewind(page)
    settle(page)
    inside = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert page.evaluate(inside)
    page.get_by_role("button", name="Open as a conversation").click()
    page.wait_for_url("**/boards/**")
    expect(page.get_by_role("region", name="World")).to_be_attached()
    settle(page)
    assert page.evaluate(inside)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_panels_have_no_grave_fault(
    store: Store, open_playground: Open, enter: Enter, theme: Literal["light", "dark"]
) -> None:
    played(store, agent_options={"success": 1.0})
    running = open_playground(store)
    Talk(running.api).post("rewinds/trials", run="stored", task=TASK, turn=1, trials=3)
    page = enter(running, f"/runs/stored/episodes/{TASK}/0")
    page.emulate_media(color_scheme=theme)
    rewind(page)
    expect(page.get_by_test_id("sentence")).to_contain_text("of 3 times")
    assert violations(page) == []
    page.get_by_role("button", name="Open as a conversation").click()
    page.wait_for_url("**/boards/**")
    page.get_by_role("region", name="World").get_by_role("button", name="Let the agent").click()
    expect(page.get_by_test_id("changes")).to_be_visible()
    page.get_by_role("button", name="More for this thread").click()
    page.get_by_role("menuitem", name="Simulated user").click()
    expect(page.get_by_role("region", name="Simulated user")).to_be_visible()
    assert violations(page) == []
    # What appears under the pointer is legible at once, wherever the pointer was left.
    for bubble in (".bubble.theirs", ".bubble:not(.theirs)"):
        page.locator(bubble).first.hover()
        assert violations(page) == []


def test_the_keyboard_alone_goes_on_from_a_turn(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    played(store)
    page = enter(open_playground(store), f"/runs/stored/episodes/{TASK}/0")
    button = page.get_by_role("button", name="Go on from turn 1")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    times = dialog.get_by_label("Times")
    times.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(dialog.get_by_test_id("sentence")).to_contain_text("of 2 times")
