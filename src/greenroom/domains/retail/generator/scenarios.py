"""Draw tasks: the wishes of each kind of task, the instruction, and the check of each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from greenroom.domains.domain import Domain
from greenroom.domains.generation import Acceptance, Unsuitable, Wish, without_repeats
from greenroom.domains.retail.generator import fallbacks, questions, wishes
from greenroom.domains.retail.generator.content import TEXTS
from greenroom.domains.retail.generator.shop import Customer, Shop, stream
from greenroom.domains.retail.generator.visit import Builder, Visit
from greenroom.domains.tasks import Action, Task
from greenroom.errors import InputError


@dataclass(frozen=True)
class TaskKind:
    """A sort of task: pools of builders, from each of which so many different wishes are drawn."""

    name: str
    pools: tuple[tuple[int, tuple[Builder, ...]], ...]
    tag: str


def _one(name: str, builder: Builder) -> TaskKind:
    return TaskKind(name, ((1, (builder,)),), "one wish")


def _fallback(name: str, builder: Builder) -> TaskKind:
    return TaskKind(name, ((1, (builder,)),), "fallback")


_SIMPLE: Final[tuple[Builder, ...]] = (
    wishes.cancel_order,
    wishes.cancel_and_ask_refund,
    wishes.change_address,
    wishes.change_payment,
    wishes.swap_item,
    wishes.return_item,
    wishes.return_some_and_ask,
    wishes.exchange_item,
    wishes.exchange_for_extreme,
)
# Answers that no wish in the same conversation can change.
LASTING_ANSWERS: Final[tuple[Builder, ...]] = (
    questions.ask_number_in_stock,
    questions.ask_extreme_price,
    questions.ask_price_range,
    questions.ask_tracking,
)
ALL_ANSWERS: Final = (*LASTING_ANSWERS, questions.ask_balance, questions.ask_pending_total)

KINDS: Final[tuple[TaskKind, ...]] = (
    _one("cancel", wishes.cancel_order),
    _one("cancel-refund", wishes.cancel_and_ask_refund),
    _one("cancel-balance", wishes.cancel_onto_gift_card),
    _one("readdress", wishes.change_address),
    _one("send-home", wishes.send_home),
    _one("repay", wishes.change_payment),
    _one("swap", wishes.swap_item),
    _one("swap-cheapest", wishes.swap_for_extreme),
    _one("swap-two", wishes.swap_two_items),
    _one("readdress-swap", wishes.readdress_and_swap),
    _one("move", questions.move_house),
    _one("move-order", questions.move_house_and_order),
    _one("return", wishes.return_item),
    _one("return-refund", wishes.return_some_and_ask),
    _one("return-all", wishes.return_everything),
    _one("exchange-difference", wishes.exchange_and_ask),
    _one("exchange-cheapest", wishes.exchange_for_extreme),
    _one("exchange-two", wishes.exchange_two_items),
    _fallback("too-late", fallbacks.cancel_too_late),
    _fallback("too-late-track", fallbacks.cancel_or_track),
    _fallback("cancel-or-return", fallbacks.cancel_or_return),
    _fallback("return-or-cancel", fallbacks.return_or_cancel),
    _fallback("drop-item", fallbacks.drop_one_item),
    _fallback("gift-card-low", fallbacks.gift_card_too_low),
    _fallback("refund-elsewhere", fallbacks.refund_elsewhere),
    _fallback("other-product", fallbacks.exchange_for_other_product),
    _fallback("second-choice", fallbacks.second_choice),
    _fallback("budget", fallbacks.exchange_within_budget),
    _fallback("whichever", fallbacks.whichever_is_pending),
    _fallback("handover", fallbacks.then_a_person),
    TaskKind("questions", ((2, ALL_ANSWERS),), "questions"),
    TaskKind("question-and-wish", ((1, LASTING_ANSWERS), (1, _SIMPLE)), "several wishes"),
    TaskKind("two-wishes", ((2, _SIMPLE),), "several wishes"),
    TaskKind("two-wishes-move", ((1, _SIMPLE), (1, (questions.move_house,))), "several wishes"),
    TaskKind(
        "three-wishes",
        ((2, _SIMPLE), (1, (*LASTING_ANSWERS, questions.move_house))),
        "several wishes",
    ),
)


def draw_task(rng: Random, shop: Shop, kind: TaskKind, number: int) -> Task | None:
    """A task of a kind for some customer, or None if that customer cannot have it."""
    customer = rng.choice(shop.customers)
    visit = Visit(rng, shop, customer, forgetful=rng.random() < 0.3)
    drawn: list[Wish] = []
    try:
        for count, pool in kind.pools:
            drawn.extend(build(visit) for build in rng.sample(pool, count))
    except Unsuitable:
        return None
    knows_email = rng.random() < 0.55
    return Task(
        instruction=_instruction(visit, drawn, knows_email=knows_email),
        actions=(identification(customer, knows_email=knows_email), *without_repeats(drawn)),
        outputs=tuple(dict.fromkeys(output for wish in drawn for output in wish.outputs)),
        user_id=customer.user_id,
        id=f"{kind.name}-{number}",
        tags=(kind.tag,),
    )


def identification(customer: Customer, *, knows_email: bool) -> Action:
    """Finding the customer by what they know."""
    profile = customer.profile
    if knows_email:
        return Action("find_user_id_by_email", {"email": profile["email"]})
    return Action("find_user_id_by_name_zip", {**profile["name"], "zip": profile["address"]["zip"]})


def _instruction(visit: Visit, drawn: list[Wish], *, knows_email: bool) -> str:
    parts = [introduction(visit, knows_email=knows_email), drawn[0].text]
    bridges = visit.rng.sample(TEXTS["bridge"], len(drawn) - 1)
    for bridge, wish in zip(bridges, drawn[1:], strict=True):
        parts += [bridge, wish.text]
    order_named = any(order in part for order in visit.taken for part in parts)
    if visit.taken and not order_named:
        parts.append(visit.say("no_order_number"))
    trait = visit.say("trait")
    parts.insert(1 if visit.rng.random() < 0.4 else len(parts), trait)
    return " ".join(parts)


def introduction(visit: Visit, *, knows_email: bool) -> str:
    """Who the customer is, in words."""
    profile = visit.customer.profile
    return visit.say(
        "introduction_by_email" if knows_email else "introduction_by_zip",
        name=f"{profile['name']['first_name']} {profile['name']['last_name']}",
        email=profile["email"],
        zip=profile["address"]["zip"],
    )


_ATTEMPTS_PER_KIND: Final = 300


def draw_tasks(seed: int, shop: Shop, domain: Domain, count: int) -> list[Task]:
    """Draw this many tasks of all kinds in turn, in random order; each one is played first."""
    rng = stream(seed, "tasks")
    acceptance = Acceptance(domain, "order_id")
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


def _from(kinds: Sequence[TaskKind], number: int) -> Sequence[TaskKind]:
    # Begin with the kind whose turn it is; the others follow in case no customer fits it.
    turn = number % len(kinds)
    return [*kinds[turn:], *kinds[:turn]]
