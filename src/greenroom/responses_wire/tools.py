"""Tools and their choice: flat in the Responses API, nested in chat completions."""

from __future__ import annotations

from typing import Any, cast

from greenroom.responses_wire.errors import missing, unsupported, wrong_type

Json = dict[str, Any]


def chat_tools(tools: Any, param: str = "tools") -> list[Json]:
    """Function tools in the form of chat completions. Raises a WireError for all others."""
    if not isinstance(tools, list):
        raise wrong_type(param, "an array of tools")
    return [_nested(one, f"{param}[{place}]") for place, one in enumerate(cast("list[Any]", tools))]


def flat_tools(tools: list[Json]) -> list[Json]:
    """Tools of chat completions in the flat form."""
    found: list[Json] = []
    for one in tools:
        function: Json = one.get("function", {})
        flat = {"type": "function", "parameters": None, "strict": None, "description": None}
        found.append({**flat, **function})
    return found


def chat_tool_choice(choice: Any) -> Any:
    """The choice of tools in the form of chat completions. Raises a WireError."""
    if choice in ("none", "auto", "required"):
        return choice
    if not isinstance(choice, dict):
        raise wrong_type("tool_choice", "'none', 'auto', 'required' or an object")
    fields = cast("Json", choice)
    match fields.get("type"):
        case "function":
            return _named(fields, "tool_choice")
        case "allowed_tools" if isinstance(fields.get("tools"), list):
            tools = [_named(one, "tool_choice.tools") for one in fields["tools"]]
            allowed = {"mode": fields.get("mode", "auto"), "tools": tools}
            return {"type": "allowed_tools", "allowed_tools": allowed}
        case _:
            raise unsupported("tool_choice", "Only functions can be chosen as tools.")


def _named(value: Any, where: str) -> Json:
    fields = cast("Json", value) if isinstance(value, dict) else {}
    name = fields.get("name")
    if fields.get("type") != "function" or not isinstance(name, str):
        raise wrong_type(where, "a function with a name")
    return {"type": "function", "function": {"name": name}}


def _nested(value: Any, where: str) -> Json:
    if not isinstance(value, dict):
        raise wrong_type(where, "an object")
    tool = cast("Json", value)
    if tool.get("type") != "function":
        text = "Only tools of type 'function' are supported: there are no hosted tools."
        raise unsupported(f"{where}.type", text)
    if "name" not in tool:
        raise missing(f"{where}.name")
    if not isinstance(tool["name"], str):
        raise wrong_type(f"{where}.name", "a string")
    if not isinstance(tool.get("parameters", {}), dict | None):
        raise wrong_type(f"{where}.parameters", "an object")
    function = {k: v for k, v in tool.items() if k != "type" and v is not None}
    return {"type": "function", "function": function}
