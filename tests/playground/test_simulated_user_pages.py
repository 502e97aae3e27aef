"""Simulated users who talk to threads, as people use them in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from greenroom.domains.domain import Domain
from greenroom.model_server import running_server
from greenroom.store import Store
from tests.playground.conftest import Enter, Open
from tests.playground.talking import APP, Talk

pytestmark = pytest.mark.slow

TASK = 5


def simulated(page: Page) -> Locator:
    """The panel of the simulated user, opened from the menu of the thread."""
    page.get_by_role("button", name="More for this thread").click()
    page.get_by_role("menuitem", name="Simulated user").click()
    return page.get_by_role("region", name="Simulated user")


def test_a_user_with_a_task_talks_to_an_agent_and_the_database_is_told_record_by_record(
    store: Store, open_playground: Open, enter: Enter, retail: Domain
) -> None:
    with running_server(retail) as server:
        agent = f"agent:tool-calling?model=oracle&api_base={server.api_base}&task={TASK}"
        running = open_playground(store, [agent])
        thread = Talk(running.api).thread(agent)
        page = enter(running, f"/boards/{thread['board_id']}")
        user = simulated(page)
        user.get_by_label("User", exact=True).select_option("llm")
        user.get_by_label("Model", exact=True).fill("user")
        user.get_by_label("Server", exact=True).fill(server.api_base)
        user.get_by_label("Wants").select_option("task")
        user.get_by_label("Domain").select_option("retail")
        # A task that is none is refused, and nothing is said.
        user.get_by_label("Task").fill("")
        user.get_by_role("button", name="Talk to the end").click()
        expect(user.get_by_role("alert")).to_contain_text("Name the task by its number")
        user.get_by_label("Task").fill(str(TASK))
        user.get_by_role("button", name="Talk to the end").click()
        expect(user.get_by_role("status")).to_contain_text("has nothing more to say")
        expect(user.get_by_role("alert")).to_have_count(0)
        world = page.get_by_role("region", name="World")
        expect(world.get_by_test_id("scored")).to_contain_text("solved")
        told = Talk(running.api).get(f"threads/{thread['id']}/world")
        changes = world.get_by_test_id("changes")
        for record in (one for turn in told["turns"] for one in turn["records"]):
            expect(changes).to_contain_text(record["table"])
            expect(changes).to_contain_text(record["record"])


def test_a_user_with_a_goal_and_a_persona_speaks_step_by_step(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    running = open_playground(store, [str(APP)])
    thread = Talk(running.api).thread("parrot")
    page = enter(running, f"/boards/{thread['board_id']}")
    user = simulated(page)
    user.get_by_label("User", exact=True).select_option("scripted")
    user.get_by_label("Goal").fill("Get tea.")
    user.get_by_label("Persona").fill("Ann, who is in a hurry.")
    user.get_by_role("button", name="Next message").click()
    preview = user.get_by_label("The user would say")
    expect(preview).to_have_value("Get tea.\n\nWho you are: Ann, who is in a hurry.")
    expect(page.locator("[data-turn]")).to_have_count(0)
    preview.press("Enter")
    expect(page.locator("[data-role=assistant] .prose")).to_contain_text("kind: Get tea.")
    user.get_by_role("button", name="Next message").click()
    expect(user.get_by_role("status")).to_contain_text("has nothing more to say")
    expect(page.locator("[data-turn]")).to_have_count(1)
