"""The 14 tools that a banking agent is told about; those for tools to discover are elsewhere."""

from __future__ import annotations

from typing import Any, Final

from greenroom.domains.tau2.banking.answers import agent_tools, listing
from greenroom.domains.tau2.banking.tables import add, query_text
from greenroom.domains.world import World

tools = agent_tools()

TRANSFER_REASONS: Final = (
    "fraud_or_security_concern",
    "account_closure_request",
    "deceased_account_holder",
    "legal_or_regulatory_matter",
    "account_ownership_dispute",
    "complex_billing_dispute",
    "abusive_customer_behavior",
    "third_party_inquiry",
    "technical_system_error",
    "unconfirmed_external_communication",
    "customer_demands_after_unavailable_offer_refusal",
    "kb_search_unsuccessful_customer_requests_transfer",
    "specialized_department_required",
    "accessibility_or_special_needs",
    "customer_frustrated_demands_human",
    "supervisor_request_service_complaint",
    "customer_requests_human_no_specific_reason",
    "request_completed_customer_wants_human_followup",
    "other",
)


@tools.add(kind="generic", schema=False)
def transfer_to_human_agents(world: World, summary: Any, reason: Any = "other") -> str:
    """Hand the customer over; the episode goes on."""
    if reason not in TRANSFER_REASONS:
        known = ", ".join(TRANSFER_REASONS)
        return f"Error: Invalid transfer reason '{reason}'. Must be one of: {known}"
    return f"Transfer successful (reason: {reason}). A human agent will assist you shortly."


@tools.add(schema=False)
def get_current_time(world: World) -> str:
    """Tell the time, which stands still."""
    return "The current time is 2025-11-14 03:40:00 EST."


@tools.add(schema=False)
def get_user_information_by_id(world: World, user_id: Any) -> str:
    """Show the customer with an id."""
    return query_text(world, "users", "user_id", user_id)


@tools.add(schema=False)
def get_user_information_by_name(world: World, customer_name: Any) -> str:
    """Show the customers with exactly that name."""
    return query_text(world, "users", "name", customer_name)


@tools.add(schema=False)
def get_user_information_by_email(world: World, email: Any) -> str:
    """Show the customers with exactly that email address."""
    return query_text(world, "users", "email", email)


@tools.add(writes=True, schema=False)
def change_user_email(world: World, user_id: Any, new_email: Any) -> str:
    """Change a customer's email address."""
    users = world["users"]
    if user_id not in users:
        return f"Error: User with ID '{user_id}' not found."
    users[user_id]["email"] = new_email
    return listing("Email updated successfully.", ("User ID", user_id), ("New Email", new_email))


@tools.add(schema=False)
def get_referrals_by_user(world: World, user_id: Any) -> str:
    """Show the referrals that a customer made."""
    return query_text(world, "referrals", "referrer_id", user_id)


@tools.add(schema=False)
def get_credit_card_transactions_by_user(world: World, user_id: Any) -> str:
    """Show a customer's card transactions."""
    return query_text(world, "credit_card_transaction_history", "user_id", user_id)


@tools.add(schema=False)
def get_credit_card_accounts_by_user(world: World, user_id: Any) -> str:
    """Show a customer's card accounts."""
    return query_text(world, "credit_card_accounts", "user_id", user_id)


@tools.add(writes=True, schema=False)
def log_verification(
    world: World,
    name: Any,
    user_id: Any,
    address: Any,
    email: Any,
    phone_number: Any,
    date_of_birth: Any,
    time_verified: Any,
) -> str:
    """Note that a customer's identity was verified."""
    time = time_verified.replace(":", "").replace("-", "").replace(" ", "_")
    record = {
        "name": name,
        "user_id": user_id,
        "address": address,
        "email": email,
        "phone_number": phone_number,
        "date_of_birth": date_of_birth,
        "time_verified": time_verified,
    }
    if not add(world, "verification_history", f"{user_id}_{time}", record):
        return "Failed to log verification: Record may already exist."
    return listing(
        "Verification logged successfully.",
        ("User", f"{name} (ID: {user_id})"),
        ("Verified at", time_verified),
    )
