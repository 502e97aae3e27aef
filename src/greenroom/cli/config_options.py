"""Commands whose options are the fields of a configuration model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, Literal, TypeVar

import typer
from pydantic import BaseModel
from typer.core import TyperOption

from greenroom.cli.options import ListOptionsCommand
from greenroom.options import Option, checked, options_of

F = TypeVar("F", bound=Callable[..., Any])


def takes(
    model: type[BaseModel],
    *,
    only: Collection[str] | None = None,
    without: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None,
    on_resume: bool = False,
    typed_only: bool = False,
) -> Callable[[F], F]:
    """Give a command the options of a model's fields.

    The command's first parameter gets the fields that have a value, by name. `typed_only` passes on
    only what was typed, without defaults. `on_resume` does the same, and takes only the fields that
    may change when work is resumed. A further parameter whose type is a model itself stands for the
    options of its fields.
    """
    typed_only = typed_only or on_resume

    def decorated(command: F) -> F:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
        options = [
            option
            for option in options_of(model)
            if (only is None or option.field in only)
            and option.field not in without
            and (option.flag.on_resume or not on_resume)
        ]
        names = [option.field for option in options]
        models = {one.name: one.annotation for one in own if _is_model(one.annotation)}

        def called(**given: Any) -> Any:
            fields = _taken(given, names)
            for name, kind in models.items():
                given[name] = checked(kind, _taken(given, kind.model_fields))
            return command(fields, **given)

        added = [
            _parameter(
                option,
                None if typed_only else (defaults or {}).get(option.field, option.default),
                required=option.required and not typed_only,
            )
            for option in options
        ]
        for one in own:
            if one.name in models:
                more = options_of(models[one.name])
                added += [_parameter(option, option.default, required=False) for option in more]
            else:
                added.append(one.replace(kind=one.KEYWORD_ONLY))
        called.__signature__ = inspect.Signature(added)  # pyright: ignore[reportFunctionMemberAccess]
        called.__annotations__ = {one.name: one.annotation for one in added}
        called.__doc__, called.__name__ = command.__doc__, command.__name__
        return called  # pyright: ignore[reportReturnType]

    return decorated


def _is_model(annotation: Any) -> bool:
    return inspect.isclass(annotation) and issubclass(annotation, BaseModel)


def _taken(given: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Take the fields that have a value out of what was given."""
    fields = {name: given.pop(name) for name in names}
    return {name: one for name, one in fields.items() if one is not None}


def _parameter(option: Option, default: Any, *, required: bool) -> inspect.Parameter:
    kind: Any = Literal[option.choices] if option.choices else option.kind  # pyright: ignore[reportInvalidTypeForm]
    kind = list[kind] if option.multiple else kind
    if default is None and not required:
        kind = kind | None
    shown: dict[str, Any] = {"help": option.help, "metavar": option.flag.metavar}
    if option.flag.positional:
        info: Any = typer.Argument(**shown)
    else:
        names = list(option.names)
        if option.is_switch:
            names[0] += f"/--no-{names[0][2:]}"
        info = typer.Option(*names, envvar=option.flag.variable, **shown)
    return inspect.Parameter(
        option.field,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else default,
        annotation=Annotated[kind, info],
    )


class AgentCommand(ListOptionsCommand):
    """A command that knows the settings of the chosen agent as flags."""

    agent_flag = "--agent-strategy"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self._spelt_out(ctx, self.tidied(args)))

    def _spelt_out(self, ctx: Any, words: list[str]) -> list[str]:
        options = [one for one in self.params if isinstance(one, TyperOption)]
        known = {"--help": False} | {
            name: not option.is_flag
            for option in options
            for name in (*option.opts, *option.secondary_opts)
        }
        if all(word.partition("=")[0] in known for word in words if word.startswith("--")):
            return words
        from greenroom.agents.flags import AgentFlags, UnknownFlag
        from greenroom.benchmark.config import default_agent

        def default(values: Mapping[str, str]) -> str:
            return default_agent({"model": values.get("--model")})

        try:
            return AgentFlags(known, default, self.agent_flag).spelt_out(words)
        except UnknownFlag as error:
            raise ctx.fail(str(error)) from error


class ServedAgentCommand(AgentCommand):
    """The same where the agent is named by `--agent`."""

    agent_flag = "--agent"
