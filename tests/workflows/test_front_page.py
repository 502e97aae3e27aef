"""The page at `/`: true, harmless and readable."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from html import unescape
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from pydantic import BaseModel

from greenroom import chat_workflow, workflow
from greenroom.workflows.serve import create_app, running_app
from tests.browser import running_browser
from tests.workflows.serving import Server, serving

HOSTILE = """<script>document.title = "broken"</script> & "quoted" 'single'"""


class Settings(BaseModel):
    tone: str = "kind"
    words: int = 50


@chat_workflow(parameters=Settings)
def support(messages: list[dict[str, Any]], parameters: Settings, customer: str) -> Any:
    """Answers customers who ask where their orders are."""
    return {"role": "assistant", "content": f"Hello {customer}: {messages[-1]['content']}"}


@workflow(name="It's <b>bold</b>", description=HOSTILE)
def bold(text: str = HOSTILE, times: int = 1) -> str:
    return text * times


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    with serving(support, bold) as running:
        yield running


def page(server: Server, **headers: str) -> str:
    reply = server.get("/", accept="text/html,application/xhtml+xml,*/*;q=0.8", **headers)
    assert reply.status == 200
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    return reply.text


def example(text: str, title: str) -> str:
    """The first example of this title on a page, as a person copies it."""
    after = text.split(f"<summary>{title}</summary>")[1]
    return unescape(after.split("<code>")[1].split("</code>")[0])


def test_programs_get_json(server: Server) -> None:
    reply = server.get("/", accept="*/*")
    assert reply.json["workflows"][0] == {
        "name": "support",
        "is_chat": True,
        "description": "Answers customers who ask where their orders are.",
        "address": f"{server.address}/support",
    }
    assert reply.json["openapi"] == f"{server.address}/openapi.json"
    assert reply.headers["vary"] == "accept"


def test_what_people_declare_is_escaped(server: Server) -> None:
    text = page(server)
    assert "<script" not in text
    assert "<b>bold" not in text
    assert "&lt;script&gt;" in text


def test_nothing_may_run_or_be_loaded(server: Server) -> None:
    policy = server.get("/", accept="text/html").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


@pytest.mark.slow
@pytest.mark.parametrize("title", ["curl", "Python", "OpenAI&#39;s client"])
def test_the_examples_work(server: Server, title: str) -> None:
    text = example(page(server), title)
    command = [sys.executable if "import" in text else "sh", "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    assert "Hello ...: Hello" in done.stdout


@pytest.mark.slow
def test_the_examples_of_a_workflow_that_does_not_chat_work() -> None:
    with serving(bold) as alone:
        text = page(alone)
        assert "useChat" not in text
        for title, program in (("curl", "sh"), ("Python", sys.executable)):
            command = [program, "-c", example(text, title)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
            assert "document.title" in done.stdout


def test_a_token_is_named_and_not_shown() -> None:
    with serving(support, token="very-secret") as secured:
        assert secured.get("/", accept="text/html").status == 401
        text = page(secured, authorization="Bearer very-secret")
    assert "very-secret" not in text
    assert "$GREENROOM_TOKEN" in text
    assert '"Authorization": "Bearer ${GREENROOM_TOKEN}"' in unescape(text)  # for MCP
    assert "/api/chat" in text  # a page of another server does not get the token


def test_a_host_that_is_none_is_not_repeated() -> None:
    with serving(support, token="t") as secured:
        text = page(secured, host="evil<script>.example", authorization="Bearer t")
        assert "evil" not in text
        assert secured.address in text


@pytest.mark.slow
def test_the_mcp_server_is_told_of_where_its_package_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with running_app(create_app(support)) as address:
        assert f"{address}/mcp" in unescape(page(Server(address)))

    def missing(_name: str) -> None:
        return None

    monkeypatch.setattr("greenroom.workflows.serve.app.find_spec", missing)
    with running_app(create_app(support)) as address:
        assert "mcpServers" not in page(Server(address))


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with running_browser() as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1200])
def test_the_page_fits_a_phone_and_a_desk(
    server: Server, browser: Browser, scheme: Any, width: int
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    shown = context.new_page()
    problems: list[str] = []
    shown.on("console", lambda message: problems.append(message.text))
    shown.on("pageerror", lambda error: problems.append(str(error)))
    shown.goto(server.address)
    assert "broken" not in shown.title()
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    background = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(251, 250, 247)" if scheme == "light" else "rgb(18, 22, 20)")
    shown.get_by_text("useChat (Vercel AI SDK)").first.click()
    expect(shown.get_by_text("DefaultChatTransport").first).to_be_visible()
    context.close()
    assert problems == []
