"""What all commands have in common: where their utterances come from, and how they are carried out.

FastWorkflow is imported when it is at work: this module can be read without it.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import incomplete_items
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.plugins import DATA_VARIABLE
from greenroom.domains.world import World
from greenroom.errors import InputError


class AirlineSignature:
    """What a command's `Signature` is made of, but for its parameters and its utterances."""

    plain_utterances: ClassVar[list[str]] = []
    template_utterances: ClassVar[list[str]] = []

    @staticmethod
    def generate_utterances(workflow: Any, command_name: str) -> list[str]:
        """The utterances to train with: the command's own, and those that a model makes of them."""
        definition = import_module("fastworkflow").RoutingRegistry.get_definition(
            workflow.folderpath
        )
        own = definition.get_command_utterances(command_name).plain_utterances
        generator = import_module("fastworkflow.train.generate_synthetic")
        return generator.generate_diverse_utterances(own, command_name)

    @staticmethod
    def validate_extracted_parameters(
        workflow: Any, command: str, cmd_parameters: BaseModel
    ) -> tuple[bool, str]:
        """Whether the lists are complete, and what they lack; the rest is checked by then."""
        problems = incomplete_items(cmd_parameters)
        return not problems, problems


class AirlineTool:
    """A command's `ResponseGenerator`: calls the tool of that name on the session's own world.

    It is only used where FastWorkflow runs the workflow by itself. In a benchmark the tool is
    called on the world of the episode's environment instead.
    """

    tool: ClassVar[str]

    def __call__(
        self, workflow: Any, command: str, command_parameters: BaseModel | None = None
    ) -> Any:
        """Carry the command out: FastWorkflow's `CommandOutput` with the tool's observation."""
        arguments = {} if command_parameters is None else command_parameters.model_dump()
        try:
            observation = airline().tools[self.tool].call(world_of(workflow), arguments).observation
        except InputError as error:
            return _output(str(error), success=False)
        return _output(observation, success=True)


@cache
def airline() -> Domain:
    """The airline domain with the data that GREENROOM_DATA names."""
    return load_domain("airline", os.environ.get(DATA_VARIABLE) or None)


_worlds: WeakKeyDictionary[Any, World] = WeakKeyDictionary()


def world_of(workflow: Any) -> World:
    """The world of a workflow's session: in memory, and gone with the session."""
    world = _worlds.get(workflow)
    if world is None:
        world = _worlds[workflow] = World(airline().pack.base)
    return world


def _output(text: str, *, success: bool) -> Any:
    fastworkflow = import_module("fastworkflow")
    response = fastworkflow.CommandResponse(response=text, success=success)
    # The singular is 3.x's; 2.30 takes it as well.
    return fastworkflow.CommandOutput(command_response=response)
