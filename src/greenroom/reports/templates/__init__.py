"""The templates of reports, and how they are loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from jinja2 import Template

Names = Mapping[str, Any]


@cache
def template(name: str, words: Callable[[], tuple[Names, Names]]) -> Template:
    """A template by its name, loaded once; `words` gives its own filters and names.

    Texts are escaped by themselves in XML and HTML, not in Markdown.
    """
    # Jinja2 is imported at the first use, so that commands without a report start quickly.
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("greenroom.reports", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=select_autoescape(("html.jinja", "xml.jinja")),
    )
    filters, names = words()
    cast("dict[str, Any]", environment.filters).update(filters)
    cast("dict[str, Any]", environment.globals).update(names)
    return environment.get_template(name)


__all__ = ["template"]
