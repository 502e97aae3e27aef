"""Agents that know no ground truth: they ask, go by what they are told, and act.

Each is a fixed procedure over several turns. What it does depends on the user's answers alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Any

import orjson

from greenroom.agents import Stage
from greenroom.domains import Action, respond

Talk = Callable[[str], Coroutine[Any, Any, str]]


class Desk:
    """Asks one question after the other until the user has nothing more."""

    async def play(self, stage: Stage) -> None:
        self.stage = stage
        heard = stage.opening
        await self.meet()
        while not stage.over:
            await self.serve(heard)
            heard = await self.ask("Is there anything else I can do for you?")

    async def ask(self, question: str) -> str:
        return "" if self.stage.over else await self.stage.step(respond(question))

    async def call(self, tool: str, **arguments: Any) -> str:
        return "" if self.stage.over else await self.stage.step(Action(tool, arguments))

    async def confirmed(self, tool: str, **arguments: Any) -> None:
        """Call a tool if the user says yes to it."""
        said = orjson.dumps(arguments).decode()
        if "yes" in (await self.ask(f"I will {tool.replace('_', ' ')} {said}. Yes or no?")).lower():
            await self.call(tool, **arguments)

    async def meet(self) -> None:
        said = await self.ask("Happy to help. First, what is your user id?")
        self.user_id = found(r"[a-z]+_[a-z]+_\d+", said)
        await self.call("get_user_details", user_id=self.user_id)

    async def serve(self, heard: str) -> None:
        raise NotImplementedError


class ShopDesk(Desk):
    """Cancels orders, and takes things back."""

    async def serve(self, heard: str) -> None:
        order = found(r"#W\d+", await self.ask("What is the order number?"))
        await self.call("get_order_details", order_id=order)
        if "cancel" in heard.lower():
            said = await self.ask("Is it no longer needed, or ordered by mistake?")
            reason = "ordered by mistake" if "mistake" in said.lower() else "no longer needed"
            await self.confirmed("cancel_pending_order", order_id=order, reason=reason)
        elif "return" in heard.lower():
            items = re.findall(r"\b\d{10}\b", await self.ask("Which items? I need their ids."))
            said = await self.ask("To which payment method should I refund it?")
            method = found(r"(?:paypal|credit_card|gift_card)_\d+", said)
            await self.confirmed(
                "return_delivered_order_items",
                order_id=order,
                item_ids=items,
                payment_method_id=method,
            )


class FlightDesk(Desk):
    """Cancels reservations, adds bags, and sends certificates."""

    async def serve(self, heard: str) -> None:
        if "sorry" in heard.lower() or "compensation" in heard.lower():
            said = await self.ask("How many dollars were you promised?")
            amount = int(found(r"\d+", said))
            await self.confirmed("send_certificate", user_id=self.user_id, amount=amount)
            return
        code = found(r"\b[A-Z0-9]{6}\b", await self.ask("What is your confirmation code?"))
        await self.call("get_reservation_details", reservation_id=code)
        if "cancel" in heard.lower():
            await self.confirmed("cancel_reservation", reservation_id=code)
        elif "bag" in heard.lower():
            total = int(found(r"\d+", await self.ask("How many bags in all?")))
            paid = int(found(r"\d+", await self.ask("And how many of them are not included?")))
            method = found(r"\w+_\d+", await self.ask("Which payment method do I note?"))
            await self.confirmed(
                "update_reservation_baggages",
                reservation_id=code,
                total_baggages=total,
                nonfree_baggages=paid,
                payment_id=method,
            )


class PhoneDesk(Desk):
    """Goes through what may be wrong with a phone, step by step, until its data is fast."""

    async def meet(self) -> None:
        said = await self.ask("Happy to help. What are your customer id and line id?")
        self.customer, self.line = found(r"\bC\d+", said), found(r"\bL\d+", said)
        await self.call("get_details_by_id", id=self.line)

    async def serve(self, heard: str) -> None:
        bar = await self.ask("What does your status bar show?")
        if "Airplane" in bar:
            await self.ask("Please turn airplane mode off.")
            bar = await self.ask("Once more: what does your status bar show now?")
        if "VPN" in bar:
            await self.ask("Please disconnect from your VPN.")
        if "Data Saver" in bar:
            await self.ask("Please turn data saver off.")
        network = await self.ask("What do your network settings say?")
        if "Mobile Data Enabled: No" in network:
            await self.ask("Please turn mobile data on.")
        if "Roaming Enabled: No" in network:
            await self.ask("Please turn data roaming on.")
        if "4g_5g" not in await self.ask("Which kind of network does your phone prefer?"):
            await self.ask("Please let it prefer 4G and 5G.")
        if "Excellent" not in await self.ask("How fast is your data now? Please test it."):
            said = await self.ask("Your data is used up. How many GB shall I add?")
            gigabytes = float(found(r"\d+(?:\.\d+)?", said))
            await self.confirmed(
                "refuel_data",
                customer_id=self.customer,
                line_id=self.line,
                gb_amount=gigabytes,
            )


def found(pattern: str, text: str) -> str:
    """What matches, or nothing: the tool then says what is wrong with that."""
    match = re.search(pattern, text)
    return match[0] if match else "0"
