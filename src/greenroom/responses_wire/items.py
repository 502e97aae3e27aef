"""The items of a request's input as chat messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from greenroom.messages import text_of
from greenroom.responses_wire.errors import WireError, missing, unsupported, wrong_type

Json = dict[str, Any]
FindItem = Callable[[str], Json | None]

_ROLES = ("user", "assistant", "system", "developer")
_TEXTS = ("input_text", "output_text", "text", "refusal")
_IGNORED = ("reasoning",)
"""Items that only the model that wrote them can read."""


def messages_of_items(value: Any, param: str = "input", find: FindItem | None = None) -> list[Json]:
    """The chat messages of an input: a text, or a list of items. Raises a WireError.

    A call and the text beside it are one assistant message. Reasoning is left out. `find` gives the
    item that a reference means, by its id.
    """
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if not isinstance(value, list):
        raise wrong_type(param, "a string or an array of items")
    messages: list[Json] = []
    for place, one in enumerate(cast("list[Any]", value)):
        where = f"{param}[{place}]"
        item = _referred(_object(one, where), where, find)
        kind = item.get("type", "message" if "role" in item else None)
        match kind:
            case "message":
                _add_message(messages, _message(item, where))
            case "function_call":
                _add_call(messages, _call(item, where))
            case "function_call_output":
                messages.append(_result(item, where))
            case None:
                raise missing(f"{where}.type")
            case _ if kind in _IGNORED:
                pass
            case _:
                known = "message, function_call, function_call_output and reasoning"
                text = f"Items of type {_shown(kind)} are not supported; {known} are."
                raise unsupported(f"{where}.type", text)
    return messages


def _referred(item: Json, where: str, find: FindItem | None) -> Json:
    """The item itself, or the one that it refers to."""
    identity = item.get("id")
    refers = item.get("type") == "item_reference" or item.keys() == {"id"}
    if not refers or not isinstance(identity, str):
        return item
    found = None if find is None else find(identity)
    if found is None:
        text = f"Item with id '{identity[:80]}' not found: send the item itself."
        raise WireError(text, param=where, code="item_not_found")
    return found


def _add_message(messages: list[Json], message: Json) -> None:
    last = messages[-1] if messages else {}
    # Words beside calls that still wait for their results belong to the same answer.
    if message["role"] == "assistant" and last.get("tool_calls"):
        last["content"] = "\n\n".join(filter(None, map(_text, (last, message)))) or None
    else:
        messages.append(message)


def _add_call(messages: list[Json], call: Json) -> None:
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    messages[-1].setdefault("tool_calls", []).append(call)


def _message(item: Json, where: str) -> Json:
    role = item.get("role")
    if role not in _ROLES:
        raise wrong_type(f"{where}.role", f"one of {', '.join(_ROLES)}")
    if "content" not in item:
        raise missing(f"{where}.content")
    return {"role": role, "content": _content(item["content"], f"{where}.content")}


def _call(item: Json, where: str) -> Json:
    call_id, name, arguments = (
        _string(item, key, where) for key in ("call_id", "name", "arguments")
    )
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _result(item: Json, where: str) -> Json:
    if "output" not in item:
        raise missing(f"{where}.output")
    content = _content(item["output"], f"{where}.output")
    return {"role": "tool", "tool_call_id": _string(item, "call_id", where), "content": content}


def _content(value: Any, where: str) -> Any:
    """The content of a chat message: parts of text alone are one text, as most handlers expect."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise wrong_type(where, "a string or an array of parts")
    parts = [
        _part(_object(one, f"{where}[{place}]"), f"{where}[{place}]")
        for place, one in enumerate(cast("list[Any]", value))
    ]
    return text_of(parts) if all(part["type"] == "text" for part in parts) else parts


def _part(part: Json, where: str) -> Json:
    kind = part.get("type")
    if kind in _TEXTS:
        return {
            "type": "text",
            "text": _string(part, "refusal" if kind == "refusal" else "text", where),
        }
    match kind:
        case "input_image" if isinstance(part.get("image_url"), str):
            detail = {"detail": part["detail"]} if isinstance(part.get("detail"), str) else {}
            return {"type": "image_url", "image_url": {"url": part["image_url"], **detail}}
        case "input_file" if isinstance(part.get("file_data"), str):
            named = {"filename": part["filename"]} if isinstance(part.get("filename"), str) else {}
            return {"type": "file", "file": {"file_data": part["file_data"], **named}}
        case "input_image" | "input_file":
            text = "Images need 'image_url' and files 'file_data': there is no store of files."
            raise unsupported(where, text)
        case "input_audio":
            return {"type": "input_audio", "input_audio": _object(part.get("input_audio"), where)}
        case None:
            raise missing(f"{where}.type")
        case _:
            text = f"Parts of type {_shown(kind)} are not supported."
            raise unsupported(f"{where}.type", text)


def _text(message: Json) -> str:
    return text_of(message.get("content"))


def _object(value: Any, where: str) -> Json:
    if not isinstance(value, dict):
        raise wrong_type(where, "an object")
    return cast("Json", value)


def _string(item: Json, key: str, where: str) -> str:
    if key not in item:
        raise missing(f"{where}.{key}")
    value = item[key]
    if not isinstance(value, str):
        raise wrong_type(f"{where}.{key}", "a string")
    return value


def _shown(kind: Any) -> str:
    return f"'{kind[:80]}'" if isinstance(kind, str) else "other than text"
