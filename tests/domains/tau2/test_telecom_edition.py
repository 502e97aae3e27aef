"""Telecom as a domain: its packs, policies, settings, splits and the solo variant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.tasks import Action, InitialState, Party, SetUpCall, Task
from greenroom.domains.tau2.telecom.edition import TelecomSettings, telecom_edition
from greenroom.errors import DataError, InputError
from tests.domains.tau2.telecom_play import DATA, LINE, TAU2_DATA


@pytest.fixture(scope="module")
def domain() -> Domain:
    return load_domain("telecom", TAU2_DATA)


@pytest.mark.tau2_data
@pytest.mark.parametrize("solo", [False, True])
@pytest.mark.parametrize("policy", ["manual", "workflow"])
def test_policies_are_rendered_as_upstream_does(policy: str, *, solo: bool) -> None:
    settings = {"policy": policy, "solo": str(solo).lower()}
    rendered = DATA / "rendered" / f"policy_{policy}{'_solo' if solo else ''}.md"
    assert load_domain("telecom", TAU2_DATA, settings).policy == rendered.read_text()


def test_another_policy_is_refused() -> None:
    with pytest.raises(InputError, match="policy"):
        load_domain("telecom", TAU2_DATA, {"policy": "handbook"})


def test_a_pack_without_the_users_phone_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "telecom"
    folder.mkdir()
    for name in ("db.toml", "main_policy.md", "tech_support_manual.md"):
        (folder / name).write_text("")
    (folder / "tasks.json").write_text("[]")
    with pytest.raises(DataError, match=r"telecom/user_db\.toml is missing: the user's phone"):
        load_domain("telecom", tmp_path)
    (folder / "user_db.toml").write_text("")
    assert load_domain("telecom", tmp_path).pack.load_user_tables is not None


@pytest.mark.tau2_data
def test_the_manual_is_the_default(domain: Domain) -> None:
    assert domain.policy == (DATA / "rendered" / "policy_manual.md").read_text()
    assert len(domain.policy) == 23318


@pytest.mark.slow
@pytest.mark.tau2_data
def test_splits_and_tools(domain: Domain) -> None:
    sizes = {"small": 20, "train": 74, "test": 40, "base": 114, "full": 2285}
    assert domain.pack.task_counts == sizes
    assert len(domain.tasks()) == 114  # the default is base
    assert domain.tool_infos == json.loads((DATA / "tools.json").read_text())
    offered = domain.user_tool_infos(domain.task(0))
    assert offered == json.loads((DATA / "user_tools.json").read_text())


@pytest.mark.slow
@pytest.mark.tau2_data
def test_schemas_from_the_tools_themselves_name_the_same_parameters(domain: Domain) -> None:
    # Packs that are generated have no files with schemas.
    assert domain.edition.user_tools is not None
    own = [*domain.tools.infos, *domain.edition.user_tools.infos]
    official = [*domain.tool_infos, *domain.user_tool_infos(domain.task(0))]

    def parameters(infos: list[dict[str, object]]) -> dict[str, set[str]]:
        functions = json.loads(json.dumps([info["function"] for info in infos]))
        return {f["name"]: set(f["parameters"]["properties"]) for f in functions}

    assert parameters(own) == parameters(official)


@pytest.mark.tau2_data
def test_every_gold_of_the_base_split_meets_its_assertions(domain: Domain) -> None:
    for task in domain.tasks("base"):
        worlds = domain.worlds(task)
        for action in task.actions:
            assert not domain.call(worlds, action).failed
        for assertion in task.assertions:
            ask = domain.function(assertion.party, assertion.name)
            assert ask(worlds.of(assertion.party), **assertion.kwargs) is assertion.expected


@pytest.mark.tau2_data
def test_doing_nothing_meets_no_task_but_those_that_cannot_be_fixed(domain: Domain) -> None:
    for task in domain.tasks("base"):
        worlds = domain.worlds(task)
        met = all(
            domain.function(one.party, one.name)(worlds.of(one.party), **one.kwargs)
            for one in task.assertions
        )
        assert met is ("actions" in task.basis)


@pytest.mark.tau2_data
def test_alone_the_agent_has_the_users_tools(domain: Domain) -> None:
    status = Action("check_status_bar", {})
    solo = Domain(telecom_edition(TelecomSettings(solo=True)), domain.pack)
    worlds = solo.worlds(solo.task(0))
    assert solo.call(worlds, status).observation.startswith("Status Bar: ")
    assert not solo.call(worlds, Action("get_data_usage", LINE)).failed
    refused = domain.call(domain.worlds(domain.task(0)), status)
    assert refused.observation == "Error: Tool 'check_status_bar' not found."
    assert refused.failed


@pytest.mark.tau2_data
def test_a_fresh_environment_copies_only_what_its_task_touched(domain: Domain) -> None:
    worlds = domain.worlds(domain.task(0))
    parties: tuple[Party, ...] = ("agent", "user")
    tables = [table for party in parties for table in worlds.of(party).values()]
    assert sum(len(table) for table in tables) == 35
    assert sum(len(table.touched()) for table in tables) <= 4


@pytest.mark.tau2_data
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            SetUpCall("set_user_info", {"name": "Ann", "phone_number": "555"}, "user"),
            "The set-up of t fails in set_user_info: Line with phone number 555 not found.",
        ),
        (
            SetUpCall("set_data_usage", {"customer_id": "C1"}, "agent"),
            "The set-up of t fails in set_data_usage: .* missing 2 required positional arguments",
        ),
        (SetUpCall("explode", {}, "user"), "telecom has no function 'explode' of the user"),
    ],
)
def test_a_set_up_that_fails_is_named(domain: Domain, call: SetUpCall, text: str) -> None:
    with pytest.raises(DataError, match=text):
        domain.worlds(Task("", id="t", initial=InitialState(calls=(call,))))
