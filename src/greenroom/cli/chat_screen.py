"""How `greenroom chat` shows answers: as they come, with colours on a terminal and plain elsewhere.

Only what the workflow says goes to standard output; what it does meanwhile goes to standard error
unless both are the same terminal.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from greenroom.cli.output import console

if TYPE_CHECKING:
    from rich.console import Console

    from greenroom.workflows.calls import Answer, Event

_LONGEST_RESULT = 300


class Screen:
    """Shows one answer after the other."""

    def __init__(self, name: str, *, silent: bool = False) -> None:
        self._name = name
        self._silent = silent
        self._out = console()
        self._pretty = sys.stdout.isatty()
        self._aside: Console = self._out if self._pretty else console(stderr=True)
        self._begin()

    def show(self, event: Event) -> None:
        """Show a piece of an answer."""
        if self._silent:
            return
        match event.kind:
            case "delta":
                self._text(event.text)
                self._streamed += event.text
            case "message":
                self._message(event.data)
            case "tool_call":
                self._tool_call(event.data)
            case "tool_result":
                self._tool_result(str(event.data.get("id")), event.data.get("output"))
            case "usage":
                pass  # the answer as a whole tells it
            case "end":
                self._end(event.data)

    def note(self, text: str) -> None:
        """Something that the workflow did not say."""
        self._end_line()
        self._print(self._aside, text, style="dim")

    def cancelled(self) -> None:
        """The answer does not go on."""
        self.note("Cancelled; this turn is forgotten.")
        self._begin()

    def failed(self, error: Exception) -> None:
        """There is no answer."""
        self._end_line()
        self._print(self._aside, f"error: {error}")
        self._begin()

    def _print(
        self, where: Console, text: str, *, end: str = "\n", style: str | None = None
    ) -> None:
        where.print(text, end=end, style=style, soft_wrap=True)

    def _begin(self) -> None:
        self._streamed = ""
        self._in_line = False
        self._said_something = False
        self._shown: set[str] = set()

    def _text(self, text: str) -> None:
        if not text:
            return
        if self._pretty and not self._in_line:
            self._print(self._out, f"{self._name}: ", end="", style="bold green")
        self._in_line = self._said_something = True
        self._print(self._out, text, end="")
        self._out.file.flush()

    def _message(self, message: Any) -> None:
        from greenroom.messages import is_message, text_of
        from greenroom.util.json_values import as_dict, as_list

        streamed, self._streamed = self._streamed, ""
        if not is_message(message):
            self._text(json.dumps(message, ensure_ascii=False))
            self._end_line()
            return
        fields = as_dict(message)
        text = text_of(fields.get("content")) or text_of(fields.get("refusal"))
        if fields["role"] == "tool":
            self._tool_result(str(fields.get("tool_call_id")), text)
        elif fields["role"] == "assistant":
            if text != streamed:
                self._end_line()
                self._text(text)
            self._end_line()
            for call in map(as_dict, as_list(fields.get("tool_calls"))):
                function = as_dict(call.get("function"))
                named = {"id": call.get("id"), "name": function.get("name")}
                self._tool_call(named | {"input": function.get("arguments")})

    def _tool_call(self, call: dict[str, Any]) -> None:
        identity = str(call.get("id"))
        if identity in self._shown:
            return
        self._shown.add(identity)
        given = call.get("input")
        arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        self.note(f"→ {call.get('name')} {arguments}")

    def _tool_result(self, identity: str, output: Any) -> None:
        if f"result of {identity}" in self._shown:
            return
        self._shown.add(f"result of {identity}")
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        self.note(f"← {text if len(text) <= _LONGEST_RESULT else f'{text[:_LONGEST_RESULT]}…'}")

    def _end(self, answer: Answer) -> None:
        if not self._said_something and not self._shown:
            whole = answer.outputs
            self._text(whole if isinstance(whole, str) else json.dumps(whole, ensure_ascii=False))
        self._end_line()
        if self._pretty:
            self.note(_took(answer))
        self._begin()

    def _end_line(self) -> None:
        if self._in_line:
            self._in_line = False
            self._out.print()


def _took(answer: Answer) -> str:
    parts = [f"{answer.seconds:.1f} s"]
    tokens = [count for count in (answer.prompt_tokens, answer.completion_tokens) if count]
    if tokens:
        parts.append(f"{sum(tokens):,} tokens")
    if answer.cost is not None:
        parts.append(f"${answer.cost:.4f}")
    return ", ".join(parts)
