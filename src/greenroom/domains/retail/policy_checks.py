"""What the shop's policy forbids, and its tools let pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from greenroom.domains.policy_checks import Moment, PolicyCheck
    from greenroom.domains.tasks import Action

_PROFILE: Final = "get_user_details"
_SWAPS: Final = ("modify_pending_order_items", "exchange_delivered_order_items")


def one_customer(moment: Moment) -> str | None:
    """A conversation helps one customer: nothing of another one may change."""
    owner = _owner(moment, moment.action)
    if owner is None or moment.action.name == _PROFILE:
        return None
    first = next(_owners(moment), owner)
    if owner == first:
        return None
    return f"changes what belongs to {owner}, while the conversation is with {first}"


def another_item(moment: Moment) -> str | None:
    """An item is replaced by another variant of its product, and not by itself."""
    action = moment.action
    if action.name not in _SWAPS:
        return None
    pairs = zip(action.kwargs["item_ids"], action.kwargs["new_item_ids"], strict=False)
    same = [old for old, new in pairs if old == new]
    return f"replaces item {same[0]} by itself" if same else None


def _owners(moment: Moment) -> Iterator[str]:
    for action in moment.earlier:
        owner = _owner(moment, action)
        if owner is not None:
            yield owner


def _owner(moment: Moment, action: Action) -> str | None:
    """Whose order or profile a call changes, or whose profile it shows."""
    if not action.name.startswith((_PROFILE, "cancel_", "modify_", "return_", "exchange_")):
        return None
    if "order_id" in action.kwargs:
        order = moment.record("orders", action.kwargs["order_id"])
        return None if order is None else order["user_id"]
    user = action.kwargs.get("user_id")
    return user if moment.record("users", user) is not None else None


CHECKS: Final[tuple[PolicyCheck, ...]] = (one_customer, another_item)

__all__ = ["CHECKS", "another_item", "one_customer"]
