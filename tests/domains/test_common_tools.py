from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from greenroom.domains.common_tools import ALLOWED_CHARACTERS, calculate_text


def by_evaluation(expression: str) -> str:
    """What Tau Bench does; safe here, as the expressions are made by the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(round(float(eval(expression, {"__builtins__": None}, {})), 2))
        except Exception as error:
            return f"Error: {error}"


@given(st.text(alphabet=ALLOWED_CHARACTERS, max_size=12))
def test_every_expression_has_the_value_that_python_gives_it(expression: str) -> None:
    assume(not re.search(r"\*\*.*\*\*|\*\*[^*]*\d{4}", expression))
    assert calculate_text(expression) == by_evaluation(expression)


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("2 + 2", "4.0"),
        ("  3 * (4.5 - 1)", "10.5"),
        ("100 / 3", "33.33"),
        ("7 // 2", "3.0"),
        ("2 ** 10", "1024.0"),
        ("-(3)", "-3.0"),
        ("1 / 0", "Error: division by zero"),
        ("2 + x", "Error: invalid characters in expression"),
        ("__import__('os')", "Error: invalid characters in expression"),
        ("", "Error: invalid syntax (<string>, line 0)"),
        ("1 2", "Error: invalid syntax (<string>, line 1)"),
        ("2(3)", "Error: 'int' object is not callable"),
        ("2(3/0)", "Error: division by zero"),
        ("2(*())", "Error: 'int' object is not callable"),
        ("2(*3)", "Error: 2 argument after * must be an iterable, not int"),
        ("2(**3)", "Error: 2 argument after ** must be a mapping, not int"),
        ("10**400 / 10**399", "10.0"),
    ],
)
def test_results_and_errors(expression: str, answer: str) -> None:
    assert calculate_text(expression) == answer


@pytest.mark.parametrize("expression", ["9**9**9", "9**99999999", "9**(9**9)", "(-9)**9**9**9"])
def test_no_expression_keeps_the_process_busy(expression: str) -> None:
    assert calculate_text(expression) == "Error: int too large to convert to float"


def test_a_product_of_huge_numbers_is_stopped() -> None:
    huge = "*".join(["9**20000"] * 40)
    assert calculate_text(huge) == "Error: int too large to convert to float"


def test_deep_nesting_is_an_answer_too() -> None:
    assert calculate_text("-" * 20_000 + "1").startswith("Error: ")
    assert calculate_text("(" * 500 + ")" * 500).startswith("Error: too many nested parentheses")


def test_what_is_no_text_is_refused_as_python_refuses_it() -> None:
    assert calculate_text(["1", "+"]) == (
        "Error: eval() arg 1 must be a string, bytes or code object"
    )
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        calculate_text(5)
    with pytest.raises(TypeError, match="requires string as left operand, not int"):
        calculate_text([5])
