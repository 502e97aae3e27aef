"""Telecom against hashes and texts that tau2's own code printed; recorded traces have a test."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.domains.tau2.telecom_play import (
    DATA,
    Play,
    bases,
    follow_gold,
    official_tasks,
    play_task,
    task,
)


@pytest.mark.tau2_data
def test_the_hashed_text_is_the_official_one() -> None:
    for base, name in zip(bases(), ("initial_db", "initial_user_db"), strict=True):
        text = gzip.decompress((DATA / f"{name}.canonical.json.gz").read_bytes())
        records = {
            table: [base.record(table, key) for key in base.ids(table)] for table in base.tables
        }
        content = {t: r[0] if base.ids(t) == (t,) else r for t, r in records.items()}
        assert json.dumps(content, sort_keys=True).encode() == text.strip()


@pytest.mark.tau2_data
@pytest.mark.parametrize(
    ("task_id", "after_set_up", "after_gold"),
    [
        (
            "[service_issue]airplane_mode_on[PERSONA:None]",
            ("304cf5ef059852e1", "5fbd92bd42e95b55"),
            ("304cf5ef059852e1", "65e1838b2dc64103"),
        ),
        (
            "[mobile_data_issue]bad_vpn[PERSONA:None]",
            ("304cf5ef059852e1", "22c00be1f23f06c5"),
            ("304cf5ef059852e1", "4946e7b208fefa86"),
        ),
        (
            "[mobile_data_issue]data_usage_exceeded[PERSONA:Easy]",
            ("2041156d154b2ed1", "f60de0c735f73ee3"),
            ("ed58804f463f2bd3", "4946e7b208fefa86"),
        ),
        (
            "[service_issue]overdue_bill_suspension[PERSONA:Easy]",
            ("aad6f2f4527d7368", "f27c4a613fd74fd2"),
            ("5a12d77ca0d69592", "65e1838b2dc64103"),
        ),
        (
            "[service_issue]lock_sim_card_pin[PERSONA:Hard]",
            ("304cf5ef059852e1", "957e846578526e02"),
            ("304cf5ef059852e1", "957e846578526e02"),
        ),
    ],
)
def test_hashes_of_one_issue_tasks(
    task_id: str, after_set_up: tuple[str, str], after_gold: tuple[str, str]
) -> None:
    play = play_task(task_id)
    assert tuple(text[:16] for text in play.hashes) == after_set_up
    follow_gold(play, task(task_id))
    assert tuple(text[:16] for text in play.hashes) == after_gold


E5 = "📶⁴ Excellent | 5G | 📱 Data Enabled"
G5 = "📶³ Good | 5G | 📱 Data Enabled"
NO = "📵 No Signal | 📵 Data Disabled"
FAST, GOOD, NONE = "275.00", "220.00", "No Connection"
UNFIXABLE = None

SHOWN: dict[str, tuple[tuple[str, str, bool], tuple[str, str, bool] | None]] = {
    "user_abroad_roaming_enabled_off": ((E5, NONE, False), (E5, FAST, True)),
    "user_abroad_roaming_disabled_on": ((E5, NONE, False), (E5, FAST, True)),
    "user_abroad_roaming_disabled_off": ((E5, NONE, False), (E5, FAST, True)),
    "data_mode_off": (("📶⁴ Excellent | 5G | 📵 Data Disabled", NONE, False), (E5, FAST, True)),
    "data_saver_mode_on": ((f"{G5} | 🔽 Data Saver", "44.00", True), (G5, GOOD, True)),
    "bad_network_preference": (
        ("📶¹ Poor | 2G | 📱 Data Enabled", "0.05", False),
        (E5, FAST, True),
    ),
    "data_usage_exceeded": ((G5, NONE, False), (G5, GOOD, True)),
    "bad_vpn": ((f"{G5} | 🔒 VPN Connected", "22.00", True), (G5, GOOD, True)),
    "airplane_mode_on": (("✈️ Airplane Mode", NONE, False), (E5, FAST, True)),
    "unseat_sim_card": ((NO, NONE, False), (E5, FAST, True)),
    "break_apn_settings": ((NO, NONE, False), (E5, FAST, True)),
    "overdue_bill_suspension": ((NO, NONE, False), (E5, FAST, True)),
    "lock_sim_card_pin": ((NO, NONE, False), UNFIXABLE),
    "contract_end_suspension": ((NO, NONE, False), UNFIXABLE),
    "bad_wifi_calling": ((G5, GOOD, False), (G5, GOOD, True)),
    "break_app_sms_permission": ((G5, GOOD, False), (G5, GOOD, True)),
    "break_app_storage_permission": ((G5, GOOD, False), (G5, GOOD, True)),
    "break_app_both_permissions": ((G5, GOOD, False), (G5, GOOD, True)),
    "break_apn_mms_setting": ((G5, GOOD, False), (E5, FAST, True)),
}
"""Status bar, speed and whether picture messages work: after the set-up, and after the fix."""


def shown(play: Play) -> tuple[str, str, bool]:
    bar = play.user("check_status_bar").removeprefix("Status Bar: ").removesuffix(" | 🔋 80%")
    speed = play.user("run_speed_test")
    speed = NONE if speed == f"Speed test failed: {NONE}." else speed.split()[3]
    return bar, speed, play.user("can_send_mms").endswith("can send MMS messages.")


@pytest.mark.tau2_data
@pytest.mark.parametrize("issue", SHOWN)
def test_what_the_phone_shows(issue: str) -> None:
    record = next(r for r in official_tasks() if r["id"].partition("]")[2].startswith(f"{issue}["))
    play = play_task(record["id"])
    before, after = SHOWN[issue]
    assert shown(play) == before
    no_service = before[0] == NO or issue == "airplane_mode_on"
    status = "no_service" if no_service else "connected"
    assert f"Cellular Connection: {status}" in play.user("check_network_status")
    follow_gold(play, record)
    assert shown(play) == (before if after is None else after)
