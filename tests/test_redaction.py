"""Secrets are taken out of texts by value and by form, and other texts stay as they are."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.benchmark.config import RunConfig, check_config
from greenroom.errors import InputError, holds_credentials, redacted
from greenroom.evaluation.config import EvaluationConfig
from greenroom.options import checked

VARIABLES = (
    "DB_PASS",
    "DB_PASSWORD",
    "MYSQL_PWD",
    "AUTH",
    "PROXY_AUTH",
    "SOME_DSN",
    "GITLAB_PAT",
    "OPENAI_API_KEY",
    "SESSION_COOKIE",
    "SSH_PASSPHRASE",
)


@pytest.mark.parametrize("name", VARIABLES)
def test_values_of_secret_variables_are_replaced(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "correct horse")
    assert redacted("it was correct horse, really") == f"it was [{name}], really"


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URI", "SENTRY_DSN", "ANYTHING"])
def test_a_password_in_a_variable_is_a_secret_and_the_rest_is_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "postgresql://app:correct-horse@db.test/x")
    assert redacted("password correct-horse is wrong") == f"password [{name}] is wrong"
    assert "correct-horse" not in redacted("postgresql://app:correct-horse@db.test/x")
    assert redacted("db.test/x does not answer") == "db.test/x does not answer"


SECRET = "A1b2C3d4E5f6G7h8"


@pytest.mark.parametrize(
    "text",
    [
        f"http://me:{SECRET}@host/v1",
        f"redis://:{SECRET}@host",
        f"https://{SECRET}@sentry.test/1",
        f"https://host/x?key={SECRET}&page=2",
        f"https://host/x?page=2&access_token={SECRET}",
        f"Authorization: Bearer {SECRET}",
        f"authorization: basic {SECRET}",
        f"sk-{SECRET}",
        f"sk-proj-{SECRET}",
        f"ghp_{SECRET}",
        f"github_pat_{SECRET}",
        f"glpat-{SECRET}",
        f"hf_{SECRET}",
        f"xoxb-{SECRET}",
        "AKIAIOSFODNN7EXAMPLE",
        f"AIza{SECRET}{SECRET}",
        f"eyJhbGciOiJIUzI1NiJ9.{SECRET}.{SECRET}",
        f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----",
        f"api_key={SECRET}",
        f"'api_key': '{SECRET}'",
        f"password: {SECRET}",
        f"host=db user=me password={SECRET}",
        f"client_secret = {SECRET}",
    ],
)
def test_credentials_are_recognised_by_their_form(text: str) -> None:
    shown = redacted(f"it said: {text}, and ended")
    assert SECRET not in shown
    assert "IOSFODNN7" not in shown
    assert "[hidden]" in shown
    assert redacted(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8000/v1#bot",
        "https://shop.test/items?page=2&sort=price",
        "ada@shop.test wrote to https://shop.test/",
        "Unexpected token: end of input",
        "password: Field required",
        "the task-force's risk-assessment-of-everything",
        "max_tokens=100000 and 12 tokens",
        "Task 3: the key is under the mat.",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert redacted(text) == text


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)


def test_long_texts_are_quick() -> None:
    text = "The user wants order #W123 exchanged, {'key': 'value'}: 12 tokens. " * 15_000
    began = time.process_time()
    redacted(text)
    assert time.process_time() - began < 3, "a megabyte"
    hostile = "a:/" * 100_000 + "?" * 100_000 + "key" * 100_000
    began = time.process_time()
    redacted(hostile)
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    "fields",
    [
        {"api_base": f"http://me:{SECRET}@host/v1"},
        {"api_base": f"http://host/v1?key={SECRET}"},
        {"api_base": f"me:{SECRET}@host/v1"},
        {"user_api_base": f"http://me:{SECRET}@host/v1"},
        {"agent_options": {"workflow": f"http://me:{SECRET}@host/v1"}},
        {"agent_options": [f"workflow=http://host?token={SECRET}"]},
        {"temperature": f"http://me:{SECRET}@host/v1"},
    ],
)
def test_addresses_with_credentials_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InputError, match="must not hold a name, a password or a key") as caught:
        check_config(fields)
    assert SECRET not in str(caught.value)


def test_a_webhook_with_a_key_is_refused() -> None:
    fields = {"evaluators": [f"webhook:url=http://x/?key={SECRET}"]}
    with pytest.raises(InputError, match="must not hold a name, a password or a key") as caught:
        checked(EvaluationConfig, {"workflow": "app.py:x", "test_set": "x.csv", **fields})
    assert SECRET not in str(caught.value)
    assert checked(RunConfig, {"api_base": "http://localhost:1/v1"}).api_base
    assert not holds_credentials("http://localhost:1/v1")
