"""The generated airline: the same for everybody, and in Tau Bench's shape."""

from __future__ import annotations

import re
from hashlib import sha256

import orjson
import pytest

from greenroom.domains.airline import tools
from greenroom.domains.airline.generator import builtin_pack
from greenroom.domains.airline.generator.travellers import FREE_BAGS
from greenroom.domains.domain import Domain
from greenroom.domains.editions import Edition
from greenroom.domains.packs import Pack
from greenroom.domains.plugins import generate_pack
from greenroom.domains.tasks import Action, Task
from greenroom.domains.validation import validate_tasks
from greenroom.domains.world import World

BUILTIN_DIGEST = "8b4ae98542d7942c8278c4f8e839e7adebcba13fb95f76437098758881773233"
WRITE_TOOLS = {
    "book_reservation",
    "cancel_reservation",
    "send_certificate",
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
}


@pytest.fixture(scope="module")
def pack() -> Pack:
    return builtin_pack()


def changes(task: Task) -> list[Action]:
    return [action for action in task.actions if tools[action.name].writes]


def test_the_builtin_pack_never_changes_by_accident(pack: Pack) -> None:
    # A change here changes every score that was measured on the pack: raise its version with it.
    parts = [pack.load_tables(), [task.to_json() for task in pack.tasks()], pack.policy]
    assert sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest() == BUILTIN_DIGEST


def test_the_builtin_pack_is_sound_and_uses_every_tool_that_writes(pack: Pack) -> None:
    assert (pack.info.name, pack.info.version) == ("greenroom-airline", "1")
    assert len(pack.tasks()) == 50
    assert validate_tasks(Domain(Edition(tools), pack)) == []
    assert {action.name for task in pack.tasks() for action in changes(task)} == WRITE_TOOLS


def test_records_have_the_shape_of_tau_bench(pack: Pack) -> None:
    tables = pack.load_tables()
    for user_id, user in tables["users"].items():
        assert re.fullmatch(r"[a-z]+_[a-z]+_\d{4}", user_id)
        assert user["membership"] in FREE_BAGS
        assert all(
            tables["reservations"][one]["user_id"] == user_id for one in user["reservations"]
        )
    for key, reservation in tables["reservations"].items():
        assert reservation["reservation_id"] == key
        assert len(key) == 6
        for leg in reservation["flights"]:
            flight = tables["flights"][leg["flight_number"]]
            assert (flight["origin"], flight["destination"]) == (leg["origin"], leg["destination"])
            assert leg["date"] in flight["dates"]


def test_nobody_gets_two_names(pack: Pack) -> None:
    for made in (pack, generate_pack("airline", seed=3, tasks=200, difficulty="hard")):
        users = made.load_tables()["users"]
        for task in made.tasks():
            renamed = [
                action for action in task.actions if action.name == "update_reservation_passengers"
            ]
            assert len(renamed) <= 1, task.instruction
            own = users[task.user_id]["name"]
            for action in renamed:
                names = [
                    (one["first_name"], one["last_name"]) for one in action.kwargs["passengers"]
                ]
                assert (own["first_name"], own["last_name"]) in names, task.instruction


def test_the_policy_decides_who_may_cancel(pack: Pack) -> None:
    reservations = pack.load_tables()["reservations"]
    for task in pack.tasks():
        for action in changes(task):
            if action.name != "cancel_reservation":
                continue
            reservation = reservations[action.kwargs["reservation_id"]]
            assert (
                reservation["cabin"] == "business"
                or reservation["insurance"] == "yes"
                or reservation["created_at"] >= "2024-05-14T15:00:00"
            )


def test_bags_are_charged_by_membership_and_cabin(pack: Pack) -> None:
    tables = pack.load_tables()
    seen = 0
    for task in pack.tasks():
        for action in changes(task):
            if action.name != "update_reservation_baggages":
                continue
            seen += 1
            reservation = tables["reservations"][action.kwargs["reservation_id"]]
            membership = tables["users"][reservation["user_id"]]["membership"]
            free = FREE_BAGS[membership][reservation["cabin"]] * len(reservation["passengers"])
            paid = max(0, action.kwargs["total_baggages"] - free)
            assert action.kwargs["nonfree_baggages"] == paid
    assert seen


def test_the_cheapest_flight_is_what_a_search_shows(pack: Pack) -> None:
    world = World(pack.base)
    for task in pack.tasks():
        for search, change in zip(task.actions, task.actions[1:], strict=False):
            if search.name != "search_direct_flight" or change.name != "book_reservation":
                continue
            found = orjson.loads(tools[search.name].call(world, search.kwargs).observation)
            cabin, people = change.kwargs["cabin"], len(change.kwargs["passengers"])
            able = [one for one in found if one["available_seats"][cabin] >= people]
            best = min(able, key=lambda one: one["prices"][cabin])
            assert best["flight_number"] == change.kwargs["flights"][0]["flight_number"]
