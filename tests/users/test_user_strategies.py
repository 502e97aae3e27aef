from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints, entry_points

import pytest

from greenroom import registry
from greenroom.domains.tasks import STOP
from greenroom.errors import InputError, UnknownName
from greenroom.models import FakeModel
from greenroom.users import (
    ScriptedUser,
    UserContext,
    UserStrategy,
    find_user_strategy,
    strategies,
    user_strategy_names,
)

pytestmark = pytest.mark.anyio

NAMES = ["human", "llm", "react", "reflection", "scripted", "verify"]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The strategies as they are registered, and one that is none."""
    entries = entry_points(group=strategies.ENTRY_POINTS)
    broken = EntryPoint("broken", "greenroom.users.human:HumanUser", strategies.ENTRY_POINTS)
    everything = EntryPoints([*entries, broken])

    def installed(group: str, *_: str) -> EntryPoints:
        return everything.select(group=group)

    monkeypatch.setattr(registry, "_installed", installed)


@pytest.mark.usefixtures("registered")
def test_strategies_are_found_by_name() -> None:
    assert user_strategy_names() == sorted([*NAMES, "broken"])
    for name in NAMES:
        strategy = find_user_strategy(name)
        assert strategy.name == name
        assert strategy.summary
    with pytest.raises(UnknownName, match=r"Unknown user strategy 'lmm'.*Did you mean 'llm'"):
        find_user_strategy("lmm")
    with pytest.raises(InputError, match=r"'broken' of greenroom\.users is no UserStrategy"):
        find_user_strategy("broken")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", NAMES)
def test_a_strategy_that_needs_a_model_says_so(name: str) -> None:
    strategy: UserStrategy = find_user_strategy(name)
    assert strategy.create(UserContext(FakeModel(["Hi"]), seed=1))
    if strategy.needs_model:
        with pytest.raises(InputError, match=f"The {name} user"):
            strategy.create(UserContext())
    else:
        assert strategy.create(UserContext())


def test_only_model_played_users_need_a_model(registered: None) -> None:
    needing = {name for name in NAMES if find_user_strategy(name).needs_model}
    assert needing == {"llm", "react", "reflection", "verify"}


async def test_a_scripted_user_says_its_lines_and_stops() -> None:
    user = ScriptedUser(["two"], opening="one")
    for _ in range(2):
        assert [await user.open("x"), await user.reply(""), await user.reply("")] == [
            "one",
            "two",
            STOP,
        ]
    assert await ScriptedUser().open("x") == "x"
