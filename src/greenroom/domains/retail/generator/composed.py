"""Draw tasks after plans: several wishes of one customer, refusals, corrections and answers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from greenroom.domains.domain import Domain
from greenroom.domains.generation import (
    Acceptance,
    Mix,
    Pools,
    TaskPlan,
    Unsuitable,
    Wish,
    draw_planned_tasks,
    draw_wishes,
    named_actions,
    outputs_of,
    tell,
    without_repeats,
)
from greenroom.domains.retail.generator import fallbacks, questions, wishes
from greenroom.domains.retail.generator.content import WORDING
from greenroom.domains.retail.generator.corrections import CORRECTED
from greenroom.domains.retail.generator.payments import paid_with
from greenroom.domains.retail.generator.refusals import DROPPED, SETTLED
from greenroom.domains.retail.generator.scenarios import (
    ALL_ANSWERS,
    LASTING_ANSWERS,
    identification,
    introduction,
)
from greenroom.domains.retail.generator.shop import Shop, stream
from greenroom.domains.retail.generator.visit import Visit, look_up_order
from greenroom.domains.retail.tools import tools
from greenroom.domains.tasks import Action, Task

_POOLS: Final = Pools[Visit](
    single=(
        wishes.cancel_order,
        wishes.change_address,
        wishes.send_home,
        wishes.change_payment,
        wishes.swap_item,
        wishes.swap_for_extreme,
        wishes.swap_two_items,
        wishes.return_item,
        wishes.return_everything,
        wishes.exchange_item,
        wishes.exchange_for_extreme,
        wishes.exchange_two_items,
        fallbacks.second_choice,
        fallbacks.exchange_within_budget,
        fallbacks.whichever_is_pending,
        questions.move_house,
    ),
    single_with_answer=(
        wishes.cancel_and_ask_refund,
        wishes.return_some_and_ask,
        wishes.exchange_and_ask,
    ),
    double=(
        wishes.readdress_and_swap,
        wishes.readdress_and_repay,
        questions.move_house_and_order,
    ),
    corrected=CORRECTED,
    dropped=DROPPED,
    settled=SETTLED,
    answers=LASTING_ANSWERS,
    quiet_answers=ALL_ANSWERS,
    handover=fallbacks.handover,
    # Where somebody moves, "home" would have two meanings.
    only_one_of=(wishes.send_home, questions.move_house, questions.move_house_and_order),
)
_LEFT_OUT: Final = ("calculate", "list_all_product_types")


def draw_composed_tasks(seed: int, shop: Shop, domain: Domain, mix: Mix, count: int) -> list[Task]:
    """This many tasks in the shares of a mix."""
    rng = stream(seed, "composed tasks")
    acceptance = Acceptance(domain, "order_id")

    def draw(plan: TaskPlan, number: int) -> Task | None:
        return _draw(rng, shop, plan, number)

    return draw_planned_tasks(rng, mix, count, acceptance, draw)


def _draw(rng: Random, shop: Shop, plan: TaskPlan, number: int) -> Task | None:
    customer = rng.choice(shop.customers)
    visit = Visit(rng, shop, customer, forgetful=rng.random() < 0.3, wording=WORDING)
    try:
        drawn = draw_wishes(visit, plan, _POOLS)
    except Unsuitable:
        return None
    knows_email = rng.random() < 0.4
    first = introduction(visit, knows_email=knows_email)
    named = any(order in wish.text for order in visit.taken for wish in drawn)
    identified = identification(customer, knows_email=knows_email)
    # Some official ground truths look at all that the customer has.
    orders = (look_up_order(order) for order in customer.orders)
    everything = Wish("", (identified, visit.profile(), *orders))
    actions = without_repeats([everything, *drawn])
    needed = [identified, *_needed(visit, drawn)]
    last = visit.say("no_order_number") if visit.taken and not named else ""
    return Task(
        instruction=tell(visit, plan, drawn, first, last),
        actions=named_actions(actions, plan, _stays, needed),
        outputs=outputs_of(drawn),
        user_id=customer.user_id,
        id=f"composed-{number}",
        tags=plan.tags,
    )


def _stays(action: Action) -> bool:
    return tools[action.name].writes or tools[action.name].ends_episode


def _needed(visit: Visit, drawn: Sequence[Wish]) -> list[Action]:
    # The official ground truths name few lookups. Left out are sums, the list of products, orders
    # that were looked at only to find another, and a profile that tells nothing new of payments.
    actions = without_repeats(drawn)
    writes = [action for action in actions if tools[action.name].writes]
    needs_profile = (
        visit.forgetful
        or not writes
        or any(
            write.kwargs["payment_method_id"] != _paid_with(visit, write)
            for write in writes
            if "payment_method_id" in write.kwargs
        )
    )
    return [
        action
        for action in actions
        if action.kwargs.get("order_id", "") in ("", *visit.taken)
        and (needs_profile or action.name != "get_user_details")
        and action.name not in _LEFT_OUT
    ]


def _paid_with(visit: Visit, write: Action) -> str:
    return paid_with(visit, visit.shop.tables["orders"][write.kwargs["order_id"]])["id"]
