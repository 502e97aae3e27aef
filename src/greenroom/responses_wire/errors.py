"""What is wrong with a request, in the terms of OpenAI's errors."""

from __future__ import annotations

from greenroom.errors import InputError


class WireError(InputError):
    """A request that is not one of the Responses API, or asks for what there is not."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.param = param
        """Where in the request the problem is, such as `input[2].content`."""
        self.code = code
        """OpenAI's code for the problem, such as `unsupported_parameter`."""


def wrong_type(param: str, expected: str) -> WireError:
    """The error of a value of another type."""
    return WireError(f"'{param}' must be {expected}.", param=param, code="invalid_type")


def missing(param: str) -> WireError:
    """The error of a value that is not there."""
    text = f"Missing required parameter: '{param}'."
    return WireError(text, param=param, code="missing_required_parameter")


def unsupported(param: str, text: str) -> WireError:
    """The error of something that this end cannot do."""
    return WireError(text, param=param, code="unsupported_parameter")
