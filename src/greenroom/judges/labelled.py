"""The evaluator behind a check: what a judge says of a labelled case, beside what people say.

A check is an evaluation of recorded cases, so it is kept, resumed, paid for and limited as every
evaluation is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import Field

from greenroom.analysis.judge_checks import PASS, Variant
from greenroom.errors import redacted
from greenroom.evaluation.evaluators import Evaluator, make_evaluators
from greenroom.evaluation.evaluators.judge import PROMPT
from greenroom.evaluation.evaluators.types import (
    Case,
    EvaluatorContext,
    EvaluatorKind,
    OpenModel,
    Score,
    Unscored,
)
from greenroom.judges.kinds import FAIL, JUDGES, PADDING, JudgeKind, inverted, turned_prompt
from greenroom.models import BudgetExhausted, Model, ModelClient, ModelError, ModelSettings
from greenroom.models.json_answers import Unusable
from greenroom.models.transports import check_model
from greenroom.options import Settings
from greenroom.util.json_values import as_dict

KIND = "greenroom.judges.labelled:labelled_case"
"""How the evaluator is named in what is kept."""


class LabelledSettings(Settings):
    """Which judge is checked."""

    judge: str = Field(description="identify, statements, or the name of an evaluator.")
    model: str = Field(description="The model that judges.")
    provider: str | None = Field(default=None, description="Its provider, as litellm names it.")
    api_base: str | None = Field(default=None, description="An OpenAI-compatible server.")
    evaluator: dict[str, Any] | None = Field(
        default=None, description="The evaluator with its settings, where it is one."
    )
    swap: list[str] | None = Field(
        default=None, description="Two columns that change places, where it compares answers."
    )
    prompt: str = Field(default="", description="What tells versions of its prompt apart.")
    min_agreement: float = Field(default=0.8, description="Below it, the judge is marked.")
    builtin: bool = Field(default=False, description="The cases are Greenroom's own.")
    undecided: list[list[int | str]] = Field(
        default_factory=list[list[int | str]],
        description="What people said of cases that they do not agree about: how often, and their "
        "labels.",
    )
    unlabelled: int = Field(default=0, description="Cases that nobody has labelled yet.")


@dataclass(frozen=True)
class _Labelled:
    """Asks a judge about labelled cases."""

    settings: LabelledSettings
    model: ModelClient | Model
    evaluators: Mapping[Variant, Evaluator]
    own: bool
    """The model is nobody else's to close."""

    async def evaluate(self, case: Case) -> Score:
        """1 where the judge says what people say, over the labels of a case."""
        shown, variant = dict(case.outputs), case.outputs["variant"]
        labels: list[str] = list(shown["labels"])
        kind = JUDGES.get(self.settings.judge)
        said = await (
            self._asked(kind, shown["material"], variant, case, labels)
            if kind is not None
            else self._scored(shown["material"], variant, case, labels)
        )
        agreed = [one == label for one, label in zip(said, labels, strict=True)]
        return Score(sum(agreed) / len(agreed), all(agreed), said, labels, "")

    async def _asked(
        self,
        kind: JudgeKind,
        material: Mapping[str, Any],
        variant: Variant,
        case: Case,
        labels: list[str],
    ) -> list[str]:
        if isinstance(self.model, ModelClient):
            model = self.model.for_episode("judge", case.ledger, f"check {case.scope}")
        else:
            model = case.ledger.model("judge", self.model)
        try:
            return await kind.ask(model, material, variant)
        except BudgetExhausted:
            raise
        except ModelError as error:
            words = redacted(f"{type(error).__name__}: {error}")
            raise Unscored(words, against=labels, broken=True) from error
        except Unusable as error:
            raise Unscored(f"no usable answer: {error}", against=labels) from error

    async def _scored(
        self, material: Mapping[str, Any], variant: Variant, case: Case, labels: list[str]
    ) -> list[str]:
        inputs = dict(material)
        swap = self.settings.swap if variant == "order" else None
        if swap is not None:
            first, second = swap
            inputs[first], inputs[second] = inputs.get(second), inputs.get(first)
        output, expected = inputs.pop("output", ""), inputs.pop("expected", None)
        conversation = inputs.pop("conversation", None)
        if variant == "length":
            output, conversation = _longer(output), _longer_messages(conversation)
        given = replace(
            case,
            inputs=inputs,
            outputs=output,
            expected=expected or None,
            conversation=conversation,
            is_chat=False,
        )
        score = await self.evaluators[variant].evaluate(given)
        if score.passed is None:
            raise Unscored(score.reason, against=labels, broken=score.broken)
        said = PASS if score.passed else FAIL
        return [said if swap is None else inverted(said)]

    async def close(self) -> None:
        """Let go of what is open; the models of a pool are the pool's."""
        if self.own and isinstance(self.model, ModelClient):
            await self.model.close()
        for one in dict.fromkeys(self.evaluators.values()):
            await one.close()


def _longer(output: Any) -> Any:
    return output + PADDING if isinstance(output, str) else output


def _longer_messages(messages: Any) -> Any:
    if not isinstance(messages, list):
        return messages
    return [
        {**one, "content": _longer(one.get("content"))} if one.get("role") == "assistant" else one
        for one in map(as_dict, cast("list[Any]", messages))
    ]


def turned_evaluator(spec: Mapping[str, Any]) -> dict[str, Any] | None:
    """An evaluator whose prompt shows its material in the other order, if it has such a prompt."""
    settings: dict[str, Any] = dict(spec.get("settings") or {})
    own = settings.get("prompt") or (PROMPT if spec["name"] == "llm_judge" else "")
    turned = turned_prompt(own)
    return None if turned is None else {**spec, "settings": {**settings, "prompt": turned}}


def _create(settings: LabelledSettings, context: EvaluatorContext) -> _Labelled:
    wanted = ModelSettings(
        model=settings.model, provider=settings.provider, api_base=settings.api_base
    )
    if context.models is None:
        check_model(wanted)
    make: OpenModel = context.models or ModelClient
    evaluators: dict[Variant, Evaluator] = {}
    if settings.evaluator is not None:
        (plain,) = make_evaluators([settings.evaluator], models=context.models)
        evaluators = {"plain": plain, "order": plain, "length": plain}
        turned = None if settings.swap else turned_evaluator(settings.evaluator)
        if turned is not None:
            (evaluators["order"],) = make_evaluators([turned], models=context.models)
    return _Labelled(settings, make(wanted), evaluators, own=context.models is None)


labelled_case = EvaluatorKind(
    KIND, _create, LabelledSettings, "what a judge says of a labelled case"
)

__all__ = ["KIND", "LabelledSettings", "labelled_case", "turned_evaluator"]
