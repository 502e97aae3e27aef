"""The page at `/`: what a server has, and how to call it; the same as JSON for programs."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from greenroom.util.hosts import TOKEN_VARIABLE, address_of
from greenroom.util.json_values import as_dict
from greenroom.workflows.call.examples import example_inputs, kind_of, required_inputs
from greenroom.workflows.calls import MESSAGES
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve import bodies
from greenroom.workflows.serve.exchange import Exchange, Headers

if TYPE_CHECKING:
    from jinja2 import Template

HTML = b"text/html; charset=utf-8"

_HOST = re.compile(r"[A-Za-z0-9.\-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")
_ONE_LINE = 72


@dataclass(frozen=True)
class Field:
    """An input or a parameter of a workflow."""

    name: str
    kind: str
    note: str


@dataclass(frozen=True)
class Example:
    """A way to call a workflow."""

    title: str
    text: str


@dataclass(frozen=True)
class Shown:
    """A workflow as the page shows it."""

    name: str
    kind: str
    description: str
    address: str
    inputs: list[Field]
    parameters: list[Field]
    examples: list[Example]


@dataclass(frozen=True)
class FrontPage:
    """What `/` answers."""

    served: Sequence[tuple[Workflow, str]]
    """Each workflow, and the path that its routes begin with."""
    secured: bool
    mcp_path: str | None
    """Where the workflows are tools of an MCP server, if they are."""

    async def __call__(self, exchange: Exchange) -> None:
        """Answer with a page for browsers, and JSON for others."""
        address = _address(exchange)
        vary: Headers = [(b"vary", b"accept")]
        if b"text/html" not in (exchange.header(b"accept") or b""):
            await exchange.answer(200, self._overview(address), vary)
            return
        shown = [self._shown(workflow, f"{address}{path}") for workflow, path in self.served]
        page = _template().render(
            address=address,
            workflows=shown,
            secured=self.secured,
            token=TOKEN_VARIABLE,
            mcp=None if self.mcp_path is None else self._mcp(address + self.mcp_path),
            style=_style(),
        )
        await exchange.answer(200, page, [*vary, *_headers()], HTML)

    def _mcp(self, url: str) -> str:
        """What MCP's clients are told of the server."""
        token = {"headers": {"Authorization": f"Bearer ${{{TOKEN_VARIABLE}}}"}}
        server = {"url": url} | (token if self.secured else {})
        return json.dumps({"mcpServers": {"greenroom": server}}, indent=2)

    def _overview(self, address: str) -> bodies.Overview:
        return {
            "workflows": [
                {
                    "name": one.name,
                    "is_chat": one.is_chat,
                    "description": one.description,
                    "address": f"{address}{path}",
                }
                for one, path in self.served
            ],
            "openapi": f"{address}/openapi.json",
        }

    def _shown(self, workflow: Workflow, address: str) -> Shown:
        schemas = workflow.schemas
        return Shown(
            name=workflow.name,
            kind="chat workflow" if workflow.is_chat else "workflow",
            description=workflow.description,
            address=address,
            inputs=_fields(schemas.inputs),
            parameters=_fields(schemas.parameters, workflow.configuration.defaults),
            examples=list(_examples(workflow, address, secured=self.secured)),
        )


def _address(exchange: Exchange) -> str:
    """Where the client reached this server; its own address if the client's word is no host."""
    host = (exchange.header(b"host") or b"").decode("latin-1")
    if _HOST.fullmatch(host):
        return f"{exchange.scope.get('scheme', 'http')}://{host}"
    server = exchange.scope.get("server") or ("127.0.0.1", 80)
    return address_of(server[0], server[1])


def _fields(schema: Any, defaults: dict[str, Any] | None = None) -> list[Field]:
    fields = as_dict(schema)
    required = required_inputs(fields) if defaults is None else []
    found: list[Field] = []
    for name, one in as_dict(fields.get("properties")).items():
        known = (defaults or {}).get(name, as_dict(one).get("default"))
        note = "needed" if name in required else "" if known is None else f"{_short(known)}"
        found.append(Field(name, kind_of(one), note))
    return found


def _examples(workflow: Workflow, address: str, *, secured: bool) -> list[Example]:
    inputs = example_inputs(workflow.profile())
    messages = inputs.pop(MESSAGES, None)
    body = {} if messages is None else {MESSAGES: messages}
    if inputs or messages is None:
        body["inputs"] = inputs
    token = f' \\\n  -H "Authorization: Bearer ${TOKEN_VARIABLE}"' if secured else ""
    curl = (
        f"curl {shlex.quote(address + '/invoke')}{token} \\\n"
        f"  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(json.dumps(body))}"
    )
    given = [_python(address)]
    given += [] if messages is None else ['messages="Hello"']
    given += [f"inputs={_python(inputs)}"] if inputs else []
    python = (
        "from greenroom.workflows import call_workflow\n\n"
        f"answer = {_called('call_workflow', given)}\nprint(answer.outputs)"
    )
    found = [Example("curl", curl), Example("Python", python)]
    if not workflow.is_chat:
        return found
    return [
        Example("Terminal", f"greenroom chat {shlex.quote(address)}"),
        *found,
        Example("OpenAI's client", _openai(workflow.slug, address, inputs, secured=secured)),
        Example("useChat (Vercel AI SDK)", _use_chat(address, inputs, secured=secured)),
    ]


def _openai(model: str, address: str, inputs: dict[str, Any], *, secured: bool) -> str:
    imports = (
        "import os\n\nfrom openai import OpenAI\n" if secured else "from openai import OpenAI\n"
    )
    key = f'os.environ["{TOKEN_VARIABLE}"]' if secured else '"any"'
    base = _python(f"{address}/v1")
    given = [f"model={_python(model)}", 'input="Hello"']
    given += [f'extra_body={{"inputs": {_python(inputs)}}}'] if inputs else []
    return (
        f"{imports}\nclient = {_called('OpenAI', [f'base_url={base}', f'api_key={key}'])}\n"
        f"answer = {_called('client.responses.create', given)}\nprint(answer.output_text)"
    )


def _called(name: str, arguments: list[str]) -> str:
    """A call in Python, on one line if it fits."""
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= _ONE_LINE:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in arguments), ")"])


def _python(value: Any) -> str:
    text = repr(value)
    simple = '"' not in text and "\\" not in text
    return text.replace("'", '"') if simple else text


def _use_chat(address: str, inputs: dict[str, Any], *, secured: bool) -> str:
    more = [f"    body: {json.dumps({'inputs': inputs})},"] if inputs else []
    # A page must not hold the token: it asks a server of its own, which knows it.
    url = "/api/chat" if secured else f"{address}/invoke"
    lines = [
        'import { useChat } from "@ai-sdk/react";',
        'import { DefaultChatTransport } from "ai";',
        "",
        "const chat = useChat({",
        "  transport: new DefaultChatTransport({",
        f"    api: {json.dumps(url)},",
        *more,
        "  }),",
        "});",
    ]
    note = "The server was started with --cors and the origin of this page."
    if secured:
        note = f"Your server passes it on to {address}/invoke, with the token."
    lines.insert(3, f"// {note}")
    return "\n".join(lines)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _ONE_LINE else f"{text[:_ONE_LINE]}..."


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    source = files("greenroom.workflows.serve").joinpath("front_page.html.jinja")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(source.read_text(encoding="utf-8"))


@cache
def _style() -> str:
    tokens = files("greenroom.reports").joinpath("html_assets", "tokens.css")
    own = files("greenroom.workflows.serve").joinpath("front_page.css")
    return tokens.read_text(encoding="utf-8") + own.read_text(encoding="utf-8")


@cache
def _headers() -> Headers:
    """Nothing runs and nothing is loaded: the page's one style is known by its hash."""
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"cache-control", b"no-cache"),
    ]
