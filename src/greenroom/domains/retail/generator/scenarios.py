"""Draw tasks: the wishes of each kind of task, the instruction, and the check of each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

import orjson

from greenroom.domains.domain import Domain
from greenroom.domains.retail.generator import delivered_wishes as delivered
from greenroom.domains.retail.generator import fallbacks, questions
from greenroom.domains.retail.generator import pending_wishes as pending
from greenroom.domains.retail.generator.shop import Customer, Shop, stream
from greenroom.domains.retail.generator.visit import Builder, Visit, Wish
from greenroom.domains.tasks import Action, Task
from greenroom.errors import InputError

_TRAITS: Final = (
    "You keep your messages short.",
    "You are in a hurry and say so.",
    "You are chatty and like to mention the weather.",
    "You are polite and thank the agent often.",
    "You are a little impatient.",
    "You are cheerful.",
    "You write in plain, simple sentences.",
    "You are careful and read everything twice.",
    "You are rather formal.",
    "You are tired after a long day and get to the point.",
    "You are new to buying online and a bit unsure of yourself.",
    "You like to be told what happens next.",
    "You are dry and matter-of-fact.",
    "You tend to give your details one at a time, as you are asked for them.",
    "You make the odd joke.",
    "You are on a train and write from your phone.",
)


_BRIDGES: Final = (
    "There is something else.",
    "Once that is settled, you come to your next request.",
    "That is not all.",
    "You have another request.",
    "After that, you bring up another matter.",
)


@dataclass(frozen=True)
class Kind:
    """A sort of task: pools of builders, from each of which so many different wishes are drawn."""

    name: str
    pools: tuple[tuple[int, tuple[Builder, ...]], ...]


def _one(name: str, *builders: Builder) -> Kind:
    return Kind(name, ((1, builders),))


_SIMPLE: Final[tuple[Builder, ...]] = (
    pending.cancel_order,
    pending.cancel_and_ask_refund,
    pending.change_address,
    pending.change_payment,
    pending.swap_item,
    delivered.return_item,
    delivered.return_some_and_ask,
    delivered.exchange_item,
    delivered.exchange_for_extreme,
)
# Answers that no wish in the same conversation can change.
_LASTING_ANSWERS: Final[tuple[Builder, ...]] = (
    questions.ask_number_in_stock,
    questions.ask_extreme_price,
    questions.ask_price_range,
    questions.ask_tracking,
)
_ALL_ANSWERS: Final = (*_LASTING_ANSWERS, questions.ask_balance, questions.ask_pending_total)

KINDS: Final[tuple[Kind, ...]] = (
    _one("cancel", pending.cancel_order),
    _one("cancel-refund", pending.cancel_and_ask_refund),
    _one("cancel-balance", pending.cancel_onto_gift_card),
    _one("readdress", pending.change_address),
    _one("send-home", pending.send_home),
    _one("repay", pending.change_payment),
    _one("swap", pending.swap_item),
    _one("swap-cheapest", pending.swap_for_extreme),
    _one("swap-two", pending.swap_two_items),
    _one("readdress-swap", pending.readdress_and_swap),
    _one("move", questions.move_house),
    _one("move-order", questions.move_house_and_order),
    _one("return", delivered.return_item),
    _one("return-refund", delivered.return_some_and_ask),
    _one("return-all", delivered.return_everything),
    _one("exchange-difference", delivered.exchange_and_ask),
    _one("exchange-cheapest", delivered.exchange_for_extreme),
    _one("exchange-two", delivered.exchange_two_items),
    _one("too-late", fallbacks.cancel_too_late),
    _one("too-late-track", fallbacks.cancel_or_track),
    _one("cancel-or-return", fallbacks.cancel_or_return),
    _one("return-or-cancel", fallbacks.return_or_cancel),
    _one("drop-item", fallbacks.drop_one_item),
    _one("gift-card-low", fallbacks.gift_card_too_low),
    _one("refund-elsewhere", fallbacks.refund_elsewhere),
    _one("other-product", fallbacks.exchange_for_other_product),
    _one("second-choice", fallbacks.second_choice),
    _one("budget", fallbacks.exchange_within_budget),
    _one("whichever", fallbacks.whichever_is_pending),
    _one("handover", fallbacks.then_a_person),
    Kind("questions", ((2, _ALL_ANSWERS),)),
    Kind("question-and-wish", ((1, _LASTING_ANSWERS), (1, _SIMPLE))),
    Kind("two-wishes", ((2, _SIMPLE),)),
    Kind("two-wishes-move", ((1, _SIMPLE), (1, (questions.move_house,)))),
    Kind("three-wishes", ((2, _SIMPLE), (1, (*_LASTING_ANSWERS, questions.move_house)))),
)


def draw_task(rng: Random, shop: Shop, kind: Kind, number: int) -> Task | None:
    """A task of a kind for some customer, or None if that customer cannot have it."""
    customer = rng.choice(shop.customers)
    visit = Visit(rng, shop, customer, forgetful=rng.random() < 0.3)
    wishes: list[Wish] = []
    for count, pool in kind.pools:
        for build in rng.sample(pool, count):
            wish = build(visit)
            if wish is None:
                return None
            wishes.append(wish)
    knows_email = rng.random() < 0.55
    return Task(
        instruction=_instruction(visit, wishes, knows_email=knows_email),
        actions=(_identification(customer, knows_email=knows_email), *_without_repeats(wishes)),
        outputs=tuple(dict.fromkeys(output for wish in wishes for output in wish.outputs)),
        user_id=customer.user_id,
        id=f"{kind.name}-{number}",
    )


def _identification(customer: Customer, *, knows_email: bool) -> Action:
    profile = customer.profile
    if knows_email:
        return Action("find_user_id_by_email", {"email": profile["email"]})
    return Action("find_user_id_by_name_zip", {**profile["name"], "zip": profile["address"]["zip"]})


def _without_repeats(wishes: list[Wish]) -> list[Action]:
    # Look up everything only once.
    actions: dict[str, Action] = {}
    for wish in wishes:
        for action in wish.actions:
            actions.setdefault(f"{action.name} {dict(action.kwargs)}", action)
    return list(actions.values())


def _instruction(visit: Visit, wishes: list[Wish], *, knows_email: bool) -> str:
    parts = [_introduction(visit, knows_email=knows_email), wishes[0].text]
    bridges = visit.rng.sample(_BRIDGES, len(wishes) - 1)
    for bridge, wish in zip(bridges, wishes[1:], strict=True):
        parts += [bridge, wish.text]
    order_named = any(order in part for order in visit.taken for part in parts)
    if visit.taken and not order_named:
        parts.append(
            visit.say(
                "You do not have your order numbers at hand.",
                "You cannot give any order number, as you deleted the emails.",
            )
        )
    trait = visit.rng.choice(_TRAITS)
    parts.insert(1 if visit.rng.random() < 0.4 else len(parts), trait)
    return " ".join(parts)


def _introduction(visit: Visit, *, knows_email: bool) -> str:
    profile = visit.customer.profile
    words: Mapping[str, str] = {
        "name": f"{profile['name']['first_name']} {profile['name']['last_name']}",
        "email": profile["email"],
        "zip": profile["address"]["zip"],
    }
    if knows_email:
        return visit.say(
            "You are {name}, and your email address is {email}.",
            "Your name is {name} and your account runs under {email}.",
            "You are {name}. Your account with the shop uses the email {email}.",
            **words,
        )
    return visit.say(
        "You are {name}, and the zip code of your account is {zip}. You do not remember which "
        "email address you signed up with.",
        "Your name is {name}. The address in your account has the zip code {zip}; you cannot "
        "recall the email address of the account.",
        "You are {name} from zip code {zip}. You have forgotten which email you registered with.",
        **words,
    )


_ATTEMPTS_PER_KIND: Final = 300


def draw_tasks(seed: int, shop: Shop, domain: Domain, count: int) -> list[Task]:
    """Draw this many tasks of all kinds in turn, in random order; each one is played first."""
    rng = stream(seed, "tasks")
    acceptance = _Acceptance(domain)
    kinds = list(KINDS)
    rng.shuffle(kinds)
    tasks: list[Task] = []
    for number in range(count):
        candidates = (
            draw_task(rng, shop, kind, number)
            for kind in _from(kinds, number)
            for _ in range(_ATTEMPTS_PER_KIND)
        )
        task = next((each for each in candidates if each and acceptance.accepts(each)), None)
        if task is None:
            raise InputError(
                f"Seed {seed} yields {number} different tasks, not {count}: choose another seed "
                "or fewer tasks."
            )
        tasks.append(task)
    rng.shuffle(tasks)
    return tasks


def _from(kinds: Sequence[Kind], number: int) -> Sequence[Kind]:
    # Begin with the kind whose turn it is; the others follow in case no customer fits it.
    turn = number % len(kinds)
    return [*kinds[turn:], *kinds[:turn]]


class _Acceptance:
    """Accepts tasks that are new and can be solved."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._instructions: set[str] = set()
        self._changes: set[tuple[str, bytes]] = set()

    def accepts(self, task: Task) -> bool:
        """Whether a task is new and sound; remember it if so."""
        writes = [action for action in task.actions if self._writes(action)]
        changes = (task.user_id, orjson.dumps([(a.name, dict(a.kwargs)) for a in writes]))
        if task.instruction in self._instructions or changes in self._changes:
            return False
        if not self._sound(task, writes):
            return False
        self._instructions.add(task.instruction)
        self._changes.add(changes)
        return True

    def _sound(self, task: Task, writes: list[Action]) -> bool:
        truth = self._domain.play_out(task.actions)
        if truth.failures or not (truth.changes or task.outputs):
            return False
        orders = [write.kwargs.get("order_id") for write in writes]
        if len(writes) < 2 or len(set(orders)) < len(orders):
            return True
        # Changes to different records must have the same result in any order.
        turned = self._domain.play_out(reversed(writes))
        return not turned.failures and turned.changes == truth.changes

    def _writes(self, action: Action) -> bool:
        tool = self._domain.tools.get(action.name)
        return tool is not None and tool.writes
