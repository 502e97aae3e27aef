"""The templates of reports, and how they are loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from jinja2 import Template


def template(
    name: str,
    *,
    filters: Mapping[str, Callable[..., Any]] | None = None,
    names: Mapping[str, Any] | None = None,
) -> Template:
    """A template by its name. Texts are escaped by themselves in XML and HTML, not in Markdown."""
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
    cast("dict[str, Any]", environment.filters).update(filters or {})
    cast("dict[str, Any]", environment.globals).update(names or {})
    return environment.get_template(name)


__all__ = ["template"]
