"""The support line for thermostats, in which both parties act."""

from __future__ import annotations

from pathlib import Path

from greenroom.domains.domain import Domain, load_domain

PATH = Path(__file__).parents[2] / "examples" / "by_path" / "thermostat.py"


def thermostats() -> Domain:
    """The domain of the example."""
    return load_domain(str(PATH))
