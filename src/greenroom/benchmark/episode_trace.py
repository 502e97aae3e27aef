"""The spans of an episode: it, the turns of the agent and those of the user.

An agent may step from other tasks and threads than the one it began in. So what it does is not put
under the turn by the context it runs in, but under a place that moves from turn to turn.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from greenroom.store import NO_RESULT
from greenroom.tracing import Span, Tracer, names, spans
from greenroom.trials.traced import usage_attributes

if TYPE_CHECKING:
    from greenroom.benchmark.context import RunContext
    from greenroom.benchmark.episode import Episode


class EpisodeTrace:
    """Traces one episode: a trace of its own, with a link to its run."""

    def __init__(self, tracer: Tracer, context: RunContext, task_index: int, trial: int) -> None:
        self._tracer = tracer
        self._agent = context.strategy.name
        self._stops = context.domain.edition.stops
        self._turns = 0
        self._turn: Span | None = None
        self._open = ExitStack()
        self._span = self._open.enter_context(
            spans.opened(
                "episode",
                {
                    names.AGENT: self._agent,
                    names.DOMAIN: context.domain.name,
                    names.TASK: task_index,
                    names.TRIAL: trial,
                },
                apart=True,
                inherited={names.CONVERSATION: uuid4().hex},
            )
        )
        self._place = tracer.moving()
        self._open.enter_context(self._place.entered())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end_turn(error)
        self._open.__exit__(kind, error, trace)

    def begin_turn(self, said: str) -> None:
        """The user has spoken, and it is the agent's turn unless that was the end."""
        if self._stops(said):
            return
        self._turns += 1
        attributes = {
            names.OPERATION: "invoke_agent",
            names.AGENT: self._agent,
            names.TURN: self._turns,
        }
        self._turn = self._tracer.start(f"invoke_agent {self._agent}", attributes)
        self._place.move(self._turn)

    @contextmanager
    def users_turn(self) -> Generator[None]:
        """The agent has spoken, and the user answers in the block."""
        self._end_turn()
        with spans.opened("user_turn", {names.TURN: self._turns}):
            yield

    def tell(self, episode: Episode) -> None:
        """Say what came of it: the same figures as its record has."""
        self._end_turn()
        self._span.set(
            {
                names.OUTCOME: episode.outcome,
                names.REWARD: episode.reward,
                **usage_attributes(episode.usage),
            }
        )
        if episode.outcome in (NO_RESULT, "crashed"):
            self._span.fail(episode.outcome)
        if episode.reward is not None:
            label = "pass" if episode.outcome == "success" else "fail"
            self._span.event(
                names.EVALUATION_RESULT,
                {
                    names.EVALUATION_NAME: "reward",
                    names.SCORE: episode.reward,
                    names.SCORE_LABEL: label,
                },
            )

    def _end_turn(self, error: BaseException | None = None) -> None:
        turn, self._turn = self._turn, None
        self._place.move(self._span)
        if turn is not None:
            if error is not None:
                spans.note_failure(turn, error)
            turn.end()
