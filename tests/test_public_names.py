"""Every public name is exported, sorted and documented."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import pytest

import greenroom

PACKAGES = [
    module.name
    for module in pkgutil.walk_packages(greenroom.__path__, "greenroom.")
    if module.ispkg
]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_exports_its_public_names(name: str) -> None:
    package = importlib.import_module(name)
    exported = exported_names(package)
    assert exported == sorted(exported, key=constants_then_classes_then_the_rest)
    for public in exported:
        assert hasattr(package, public), public


# Their packages have an environment of their own: see tests/training/test_other_tools.py.
ELSEWHERE = {"greenroom.training.openenv_env", "greenroom.training.verifiers_env"}
# What imports torch takes seconds.
SLOW = {"greenroom.agents.fastworkflow.models"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(m.name, marks=[pytest.mark.slow] if m.name in SLOW else [])
        for m in pkgutil.walk_packages(greenroom.__path__, "greenroom.")
        if m.name not in ELSEWHERE
    ],
)
def test_every_module_says_what_it_is_for(name: str) -> None:
    module = importlib.import_module(name)
    if name != "greenroom._version":
        assert module.__doc__


def constants_then_classes_then_the_rest(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def exported_names(package: ModuleType) -> list[str]:
    names: list[str] = package.__all__
    return names
