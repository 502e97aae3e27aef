"""Tools that every domain shares: calculate, think and transfer_to_human_agents.

Tau Bench hands the expression of `calculate` to Python's `eval` behind a filter on characters. Here
it is parsed and walked: the results and error texts are the same, no code is evaluated, and no
expression keeps the process busy (`9**9**9`).
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable
from typing import Annotated, Any, Final

from greenroom.domains.tools import Toolset
from greenroom.domains.world import World

ALLOWED_CHARACTERS: Final = "0123456789+-*/(). "

_LARGEST_BITS: Final = 1 << 16  # far beyond any float, still quick to compute

_BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
}
_UNARY: Final[dict[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}

tools = Toolset()


@tools.add()
def calculate(
    world: World,
    expression: Annotated[
        str, "Numbers, + - * /, parentheses and spaces; for example '3 * (4.5 - 1)'."
    ],
) -> str:
    """Work out an arithmetic expression; the answer is rounded to two decimal places."""
    return calculate_text(expression)


@tools.add()
def think(world: World, thought: Annotated[str, "What to think through."]) -> str:
    """Write a thought down before going on. Nothing is looked up and nothing is changed."""
    return ""


@tools.add(ends_episode=True)
def transfer_to_human_agents(
    world: World, summary: Annotated[str, "What the customer needs, in a sentence or two."]
) -> str:
    """Hand the customer over to a person, which ends the conversation.

    Only for customers who ask for a person, or whose request no tool can serve.
    """
    return "Transfer successful"


def calculate_text(expression: Any) -> str:
    """The value of an arithmetic expression rounded to two places, or `Error: ...`.

    A value that cannot be iterated raises a TypeError.
    """
    if not is_arithmetic(expression):
        return "Error: invalid characters in expression"
    try:
        return rounded_result(expression)
    except Exception as error:  # the tool answers with the error
        return f"Error: {error}"


def is_arithmetic(expression: Any) -> bool:
    """Whether an expression has only the characters of arithmetic."""
    return all(character in ALLOWED_CHARACTERS for character in expression)


def rounded_result(expression: Any) -> str:
    """The value of an arithmetic expression, rounded to two places; raises what Python raises."""
    return str(round(float(_evaluate(expression)), 2))


def _evaluate(expression: Any) -> Any:
    if not isinstance(expression, str):
        raise TypeError("eval() arg 1 must be a string, bytes or code object")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # "2(3)" compiles with a warning
        tree = ast.parse(expression.lstrip(" "), "<string>", mode="eval")
    return _value(tree.body)


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=elements):
            return tuple(_value(element) for element in elements)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right):
            return _bounded(_BINARY[type(op)](_value(left), _value(right)))
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_value(operand))
        case ast.Call():
            return _call(node)
        case _:
            raise SyntaxError("invalid syntax (<string>, line 1)")


def _call(node: ast.Call) -> Any:
    # "2(3)" parses as a call of a number. Python evaluates the arguments before it raises.
    called = _value(node.func)
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            passed = _value(argument.value)
            if not isinstance(passed, tuple):
                kind = type(passed).__name__
                raise TypeError(f"{called} argument after * must be an iterable, not {kind}")
        else:
            _value(argument)
    for keyword in node.keywords:
        kind = type(_value(keyword.value)).__name__
        raise TypeError(f"{called} argument after ** must be a mapping, not {kind}")
    raise TypeError(f"{type(called).__name__!r} object is not callable")


def _power(base: Any, exponent: Any) -> Any:
    if (
        isinstance(base, int)
        and isinstance(exponent, int)
        and exponent > 0
        and base.bit_length() > 1
        and (base.bit_length() - 1) * exponent > _LARGEST_BITS
    ):
        raise OverflowError("int too large to convert to float")
    return base**exponent


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > 2 * _LARGEST_BITS:
        raise OverflowError("int too large to convert to float")
    return value
