"""How telecom's tasks are composed from issues.

The rule, with the texts of tau2's own tasks, gives its 2,285 tasks in their order. With other
texts and callers it makes new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from greenroom.domains.tau2.telecom.issues import ISSUES, LINE, Call, Caller
from greenroom.errors import DataError

Selection = tuple[str, ...]
"""The names of the issues of one task, in the order of the alphabet."""

Messages = Mapping[tuple[str, bool], str | None]
"""What to say about an assertion that fails: by its function, and whether the task is fixable."""

PERSONAS = ("None", "Easy", "Hard")

_NO_REFUEL = "data_usage_exceeded_no_refuel"
_ROAMING = tuple(
    f"user_abroad_roaming_{state}" for state in ("enabled_off", "disabled_on", "disabled_off")
)
_PERMISSIONS = tuple(
    f"break_app_{kind}" for kind in ("sms_permission", "storage_permission", "both_permissions")
)
_USAGE = ("data_usage_exceeded", _NO_REFUEL)


@dataclass(frozen=True)
class Intent:
    """A sort of problem that a user calls about."""

    choices: tuple[tuple[str, ...], ...]
    """At most one issue of each choice."""
    needed: frozenset[str]
    """At least one of these."""


def _intent(*choices: tuple[str, ...], needed: slice) -> Intent:
    return Intent(choices, frozenset(name for choice in choices[needed] for name in choice))


INTENTS: Mapping[str, Intent] = {
    "mobile_data_issue": _intent(
        ("airplane_mode_on",),
        _ROAMING,
        ("data_mode_off",),
        ("data_saver_mode_on",),
        ("bad_network_preference",),
        ("bad_vpn",),
        _USAGE,
        needed=slice(1, None),
    ),
    "service_issue": _intent(
        ("airplane_mode_on",),
        ("unseat_sim_card",),
        ("lock_sim_card_pin",),
        ("break_apn_settings",),
        ("overdue_bill_suspension", "contract_end_suspension"),
        needed=slice(None),
    ),
    "mms_issue": _intent(
        ("airplane_mode_on",),
        ("unseat_sim_card",),
        ("data_mode_off",),
        _USAGE,
        _ROAMING,
        ("bad_network_preference",),
        ("bad_wifi_calling",),
        ("break_apn_mms_setting",),
        _PERMISSIONS,
        needed=slice(-4, None),
    ),
}
"""The intents in the order of the task file."""


@dataclass(frozen=True)
class IntentTexts:
    """What tasks of one intent say; texts about the caller depend on whether they are abroad."""

    purpose: str
    reason_for_call: str
    task_instructions: str
    known_info: Callable[[Caller, bool], str]
    ticket: Callable[[Caller, bool], str]
    messages: Messages = field(default_factory=dict[tuple[str, bool], "str | None"])


@dataclass(frozen=True)
class Texts:
    """The texts of all tasks."""

    intents: Mapping[str, IntentTexts]
    personas: Mapping[str, str | None]
    summary: str = "The problem cannot be solved by phone."
    """What the agent says about the user when nothing can be fixed."""


def selections(intent: str) -> list[tuple[Selection, str]]:
    """Every combination of issues of an intent with its persona, in the order of the tasks."""
    rule = INTENTS[intent]
    chosen = [
        tuple(sorted(name for name in names if name is not None))
        for names in product(*[(*choice, None) for choice in rule.choices])
        if rule.needed.intersection(names)
    ]
    chosen.sort(key=len)
    # Personas go round before the tasks without consent to refuel are left out.
    with_persona = [(names, PERSONAS[place % 3]) for place, names in enumerate(chosen)]
    return [(names, persona) for names, persona in with_persona if _NO_REFUEL not in names]


def compose_tasks(texts: Texts, caller: Caller | None = None) -> list[dict[str, Any]]:
    """The records of all tasks, as a task file of tau2 holds them."""
    who = caller or Caller()
    return [
        compose_task(texts, intent, names, persona, who)
        for intent in INTENTS
        for names, persona in selections(intent)
    ]


def compose_task(
    texts: Texts, intent: str, names: Sequence[str], persona: str, caller: Caller
) -> dict[str, Any]:
    """The record of one task about these issues."""
    names = sorted(names)
    issues = [ISSUES[name] for name in names]
    abroad = any(issue.abroad for issue in issues)
    words = texts.intents[intent]
    fixable = all(issue.fix for issue in issues)
    identity = {"name": "name", "phone_number": "phone_number"}
    set_up = [Call("user", "set_user_info", takes=identity)]
    set_up.extend(call for issue in issues for call in issue.set_up)
    return {
        "id": f"[{intent}]{'|'.join(names)}[PERSONA:{persona}]",
        "description": {"purpose": words.purpose, "relevant_policies": None, "notes": None},
        "user_scenario": {
            "persona": texts.personas[persona],
            "instructions": {
                "domain": "telecom",
                "reason_for_call": words.reason_for_call,
                "known_info": words.known_info(caller, abroad),
                "unknown_info": None,
                "task_instructions": words.task_instructions,
            },
        },
        "ticket": words.ticket(caller, abroad),
        "initial_state": {
            "initialization_data": None,
            "initialization_actions": [
                {
                    "env_type": call.party,
                    "func_name": call.name,
                    "arguments": call.arguments_for(caller),
                }
                for call in set_up
            ],
            "message_history": None,
        },
        "evaluation_criteria": {
            "actions": _fixes([call for issue in issues for call in issue.fix], caller)
            if fixable
            else [_hand_over(texts.summary)],
            "env_assertions": [
                {
                    "env_type": call.party,
                    "func_name": call.name,
                    "arguments": call.arguments_for(caller),
                    "assert_value": True,
                    "message": words.messages.get((call.name, fixable)),
                }
                for call in _assertions(
                    intent, fixable=fixable, refuels=any(issue.refuels for issue in issues)
                )
            ],
            "communicate_info": None,
            "nl_assertions": None,
            "reward_basis": ["ENV_ASSERTION"] if fixable else ["ENV_ASSERTION", "ACTION"],
        },
    }


def _hand_over(summary: str) -> dict[str, Any]:
    name = "transfer_to_human_agents"
    return {
        "action_id": name,
        "requestor": "assistant",
        "name": name,
        "arguments": {"summary": summary},
        "info": None,
        "compare_args": [],  # any call of that name will do
    }


def _fixes(calls: Iterable[Call], caller: Caller) -> list[dict[str, Any]]:
    return [
        {
            "action_id": f"{call.name}_{place}",
            "requestor": call.party,
            "name": call.name,
            "arguments": call.arguments_for(caller),
            "info": None,
            "compare_args": None,
        }
        for place, call in enumerate(calls)
    ]


def _assertions(intent: str, *, fixable: bool, refuels: bool) -> Iterator[Call]:
    if intent == "service_issue":
        status = "connected" if fixable else "no_service"
        yield Call("user", "assert_service_status", {"expected_status": status})
        if fixable:
            bill = {"overdue_bill_id": "overdue_bill_id"}
            yield Call("assistant", "assert_no_overdue_bill", takes=bill)
    elif intent == "mobile_data_issue":
        yield Call("user", "assert_mobile_data_status", {"expected_status": True})
        speed: dict[str, Any] = {"expected_speed": 200, "expected_desc": "excellent"}
        yield Call("user", "assert_internet_speed", speed)
    else:
        yield Call("user", "assert_can_send_mms", {"expected_status": True})
    if refuels:
        amount = {**LINE, "expected_amount": "refuel_gb"}
        yield Call("assistant", "assert_data_refueling_amount", takes=amount)


def texts_of(records: Iterable[Mapping[str, Any]]) -> Texts:
    """The texts of existing tasks: one of each intent, place and persona is enough."""
    personas: dict[str, str | None] = {}
    parts: dict[str, dict[str, str]] = {intent: {} for intent in INTENTS}
    messages: dict[str, dict[tuple[str, bool], str | None]] = {intent: {} for intent in INTENTS}
    summary = Texts.summary
    for record in records:
        intent = record["id"][1:].partition("]")[0]
        scenario, criteria = record["user_scenario"], record["evaluation_criteria"]
        instructions = scenario["instructions"]
        personas[record["id"].rpartition("[PERSONA:")[2][:-1]] = scenario["persona"]
        place = "abroad" if "user_abroad_" in record["id"] else "home"
        parts[intent] |= {
            "purpose": record["description"]["purpose"],
            "reason": instructions["reason_for_call"],
            "instructions": instructions["task_instructions"],
            f"known {place}": instructions["known_info"],
            f"ticket {place}": record["ticket"],
        }
        fixable = "ACTION" not in criteria["reward_basis"]
        for assertion in criteria["env_assertions"]:
            messages[intent][assertion["func_name"], fixable] = assertion["message"]
        for action in criteria["actions"]:
            summary = action["arguments"].get("summary", summary)
    return Texts(
        {intent: _intent_texts(intent, parts[intent], messages[intent]) for intent in INTENTS},
        personas,
        summary,
    )


def _intent_texts(intent: str, parts: Mapping[str, str], messages: Messages) -> IntentTexts:
    def text(name: str) -> str:
        if name not in parts:
            raise DataError(f"No task of the intent {intent} gives the text '{name}'.")
        return parts[name]

    def of_place(name: str) -> Callable[[Caller, bool], str]:
        return lambda _caller, abroad: text(f"{name} {'abroad' if abroad else 'home'}")

    return IntentTexts(
        purpose=text("purpose"),
        reason_for_call=text("reason"),
        task_instructions=text("instructions"),
        known_info=of_place("known"),
        ticket=of_place("ticket"),
        messages=messages,
    )
