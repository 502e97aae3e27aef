"""Users played by a language model: plain, with thoughts, and with drafts that are reviewed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread
import orjson

from greenroom.agents.conversation import Unreadable
from greenroom.agents.tool_calls import CallTidier, action_of_call
from greenroom.audit import with_persona
from greenroom.domains.tasks import STOP
from greenroom.models import ModelRequest, ModelUnavailable
from greenroom.users import prompts
from greenroom.users.drafts import DraftSettings, DraftTally, faults_of_draft
from greenroom.users.strategies import Exchanges, UserContext, UserStrategy, required_model

if TYPE_CHECKING:
    from greenroom.audit import Finding
    from greenroom.domains.environment import UserCall, UserTools
    from greenroom.models import ChatMessage, Model

_REASONING: Final = re.compile(
    r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE
)
_REASONING_END: Final = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)

_DECORATION: Final = r"[ \t>#*_`-]*"
_COLON: Final = r"[ \t*_`]*[:：][*_`]*"
_RESPONSE_NAME: Final = r"user[ \t]+response"
_THOUGHT_NAME: Final = r"(?:thoughts?|reflections?)"

_RESPONSE_LINE: Final = re.compile(
    rf"^{_DECORATION}{_RESPONSE_NAME}{_COLON}", re.IGNORECASE | re.MULTILINE
)
_RESPONSE_ANYWHERE: Final = re.compile(rf"[*_`]{{0,3}}{_RESPONSE_NAME}{_COLON}", re.IGNORECASE)
_THOUGHT: Final = re.compile(
    rf"(?m:^){_DECORATION}(?i:{_THOUGHT_NAME}){_COLON}"
    rf"|[*_`]{{0,3}}(?<![^\W_])(?:Thoughts?|Reflections?){_COLON}"
)
_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n")

MAX_DRAFTS: Final = 3
MAX_CALLS: Final = 100
"""How many tools a model may call before it says something: as many as tau2's 200 steps allow."""

_VERDICT: Final = re.compile(r"verdict[\W_]*(accept|reject)\w*", re.IGNORECASE)
_REASON: Final = re.compile(r"\A[\s*_]*reason[ *_]*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """A message of the simulated user."""

    said: str
    """The text for the agent; empty only if the user calls tools instead."""
    kept: str
    """The text in the user's own conversation."""
    calls: Sequence[Any] = ()
    """The tools that the model calls. Text beside them is not for the agent."""


class LlmUser:
    """Plays the customer of an instruction.

    The conversation is kept from the user's side: the agent's messages have the role "user", its
    own the role "assistant". A failed call of the model leaves it unchanged.
    """

    def __init__(
        self,
        model: Model,
        *,
        seed: int | None = None,
        greeting: str = prompts.AGENT_GREETING,
        stop_words: Sequence[str] = (STOP,),
        persona: str | None = None,
        past: Sequence[ChatMessage] = (),
    ) -> None:
        self._model = model
        self._seed = seed
        self._whole_past = past
        # A user who speaks first hears the greeting, or what the agent said last.
        heard = past[-1] if past and past[-1]["role"] == "user" else None
        self._past = [*past] if heard is None else [*past[:-1]]
        self._greeting = greeting if heard is None else str(heard["content"])
        self._stop_words = stop_words
        self._persona = persona
        self._tools: UserTools | None = None
        self._tidy = CallTidier()
        self.instruction = ""
        self._conversation: list[ChatMessage] = []

    @property
    def acts(self) -> bool:
        """The user has tools."""
        return self._tools is not None and bool(self._tools.infos)

    def equip(self, tools: UserTools) -> None:
        self._tools = tools

    async def open(self, instruction: str) -> str:
        self.instruction = instruction
        self._conversation = []
        return await self._answer(self._beginning(instruction), self._greeting)

    async def reply(self, content: str) -> str:
        if not self._conversation:
            raise RuntimeError("A simulated user has to open the conversation before it replies.")
        return await self._answer(self._conversation, content)

    def take_over(self, instruction: str, opening: str, exchanges: Exchanges) -> None:
        """Go on with a conversation: what was said becomes the user's own memory of it."""
        self.instruction = instruction
        turns = list(enumerate([(self._greeting, opening), *exchanges]))
        self._conversation = self._beginning(instruction)
        if not opening and self._whole_past:  # the user's message is the last of the history
            self._conversation, turns = [self._conversation[0], *self._whole_past], turns[1:]
        past = () if self._tools is None else self._tools.past
        for number, (content, said) in turns:
            calls = past[number] if number < len(past) else ()
            self._conversation += [_heard(content), *self._done(calls), self.kept(said)]

    def _beginning(self, instruction: str) -> list[ChatMessage]:
        return [{"role": "system", "content": self.system_prompt(instruction)}, *self._past]

    def _done(self, calls: Iterable[UserCall]) -> Iterator[ChatMessage]:
        """The messages of calls that were made."""
        for call in calls:
            arguments = orjson.dumps(dict(call.action.kwargs)).decode()
            tidy = self._tidy([{"function": {"name": call.action.name, "arguments": arguments}}])
            yield {"role": "assistant", "content": None, "tool_calls": tidy}
            yield _result(tidy[0], call.observation)

    def system_prompt(self, instruction: str) -> str:
        """The system prompt for the model."""
        return self._part(instruction)

    def _part(self, instruction: str, *, thoughts: bool = False) -> str:
        return prompts.part(
            instruction,
            acts=self.acts,
            stop_words=self._stop_words,
            thoughts=thoughts,
            persona=self._persona,
        )

    def kept(self, said: str) -> ChatMessage:
        """What the user's own conversation keeps of a message, where only that is known."""
        return {"role": "assistant", "content": said}

    async def next_line(self, conversation: Sequence[ChatMessage]) -> Line:
        """The user's reply to the last message."""
        return await self.ask(conversation)

    async def ask(self, messages: Sequence[ChatMessage], read: Callable[[str], str] = str) -> Line:
        """The model's answer: calls of tools, or the text that `read` finds in it.

        If there are neither, the model is reminded and asked once more.
        """
        tools = self._tools.infos if self._tools is not None and self.acts else None
        for attempt in (messages, prompts.with_direction(messages, prompts.REMINDER)):
            request = ModelRequest(messages=list(attempt), tools=tools, seed=self._seed)
            completion = await self._model.complete(request)
            words = without_reasoning(completion.text)
            if tools and completion.tool_calls:
                return Line("", kept=words, calls=completion.tool_calls)
            said = read(words)
            if said:
                return Line(said, kept=words)
        raise ModelUnavailable("The simulated user's model gave an empty answer twice.")

    async def words(self, messages: Sequence[ChatMessage]) -> str:
        """The model's answer to the messages, without tools; it may be empty."""
        request = ModelRequest(messages=list(messages), seed=self._seed)
        return without_reasoning((await self._model.complete(request)).text)

    async def _answer(self, conversation: Sequence[ChatMessage], heard: str) -> str:
        so_far, made = [*conversation, _heard(heard)], 0
        while (line := await self.next_line(so_far)).calls:
            if made >= MAX_CALLS:
                raise ModelUnavailable(
                    f"The simulated user's model called {made} tools and still says nothing."
                )
            made += len(line.calls)
            so_far += await self._make(line)
        self._conversation = [*so_far, {"role": "assistant", "content": line.kept}]
        return line.said

    async def _make(self, line: Line) -> list[ChatMessage]:
        """Make the calls of a line; return it with the results, as the model sees them."""
        assert self._tools is not None, "only a model with tools calls any"
        calls = self._tidy(line.calls)
        messages: list[ChatMessage] = [
            {"role": "assistant", "content": line.kept or None, "tool_calls": calls}
        ]
        joined = False
        for call in calls:
            function = call["function"]
            try:
                action = action_of_call(function["name"], function["arguments"], "user")
            except Unreadable as problem:
                observation = f"Error: {problem}"
            else:
                made = self._tools.call(action.name, action.kwargs, joined=joined)
                observation, joined = await made, True
            messages.append(_result(call, observation))
        return messages


def _heard(content: str) -> ChatMessage:
    return {"role": "user", "content": content if content.strip() else prompts.SILENCE}


def _result(call: dict[str, Any], observation: str) -> ChatMessage:
    name = call["function"]["name"]
    return {"role": "tool", "tool_call_id": call["id"], "name": name, "content": observation}


def without_reasoning(text: str) -> str:
    """The text without the leading reasoning of some models in think tags."""
    return _REASONING_END.sub("", _REASONING.sub("", text)).strip()


def spoken_part(raw: str) -> str:
    """What of a labelled answer is meant for the agent; empty if nothing is.

    The last "User Response:" with words behind it counts, up to the next thought; labels at the
    beginning of a line go before those inside one, which a thought may well mention. Without the
    label, it is every paragraph that is no thought.
    """
    text = raw.replace("\r\n", "\n")
    responses = _RESPONSE_LINE.split(text)[1:] or _RESPONSE_ANYWHERE.split(text)[1:]
    if not responses:
        paragraphs = (_before_thought(part) for part in _PARAGRAPH_END.split(text))
        return "\n\n".join(part for part in paragraphs if part)
    said = (
        part.strip()
        for response in reversed(responses)
        for part in reversed(_RESPONSE_ANYWHERE.split(_before_thought(response)))
    )
    return next((part for part in said if part), "")


def _before_thought(text: str) -> str:
    return _THOUGHT.split(text, maxsplit=1)[0].strip()


class ReactUser(LlmUser):
    """Writes a thought and a response; the agent gets the response, or STOP if it is anywhere."""

    def system_prompt(self, instruction: str) -> str:
        return self._part(instruction, thoughts=True)

    def kept(self, said: str) -> ChatMessage:
        # The thoughts were not recorded. The label shows the form that answers have.
        return {"role": "assistant", "content": f"User Response: {said}"}

    async def next_line(self, conversation: Sequence[ChatMessage]) -> Line:
        return await self.ask(conversation, self._spoken)

    def _spoken(self, raw: str) -> str:
        return next((word for word in self._stop_words if word in raw), None) or spoken_part(raw)


@dataclass(frozen=True, slots=True)
class Review:
    """What is thought of a draft."""

    accepted: bool
    reason: str
    by_checks: bool = False
    """Checks without a model found the reason; no reviewer was asked."""


def read_review(text: str) -> Review:
    """The review in a model's answer; without a legible verdict the draft is accepted."""
    verdicts = list(_VERDICT.finditer(text))
    if not verdicts:
        return Review(accepted=True, reason=text.strip())
    last = verdicts[-1]
    rest = (text[: last.start()] + text[last.end() :]).strip(" \n*_.")
    reason = _REASON.sub("", rest).strip(" \n*_")
    return Review(last[1].lower() == "accept", reason or "It does not fit the part.")


class VerifyUser(LlmUser):
    """Replaces drafts that checks or a review reject; the third is sent as it is.

    Checks ask no model. Only a draft in which they find nothing is reviewed.
    """

    def __init__(self, model: Model, *, checks: bool = True, **about: Any) -> None:
        super().__init__(model, **about)
        self._checks = checks
        self._tally = DraftTally()

    @property
    def tallies(self) -> dict[str, dict[str, float | None]]:
        """How many drafts checks looked at, and what came of those with faults."""
        return self._tally.counts()

    async def next_line(self, conversation: Sequence[ChatMessage]) -> Line:
        line = await self.ask(conversation)
        for _ in range(MAX_DRAFTS - 1):
            if line.calls:
                return line  # what the user does is not reviewed
            faults = await self._faults(conversation, line.said)
            if faults:
                review = Review(False, " ".join(one.sentence for one in faults), by_checks=True)
            else:
                review = await self.review(conversation, line.said)
            if review.accepted:
                return line
            line = await self.redraft(conversation, line.said, review)
            if faults:
                self._tally.write_anew(faults)
        if not line.calls and (faults := await self._faults(conversation, line.said)):
            self._tally.send(faults)
        return line

    async def _faults(self, conversation: Sequence[ChatMessage], draft: str) -> list[Finding]:
        if not self._checks:
            return []
        self._tally.check()
        brief = with_persona(self.instruction, self._persona)
        # A long conversation takes a while to read: other episodes go on meanwhile.
        return await anyio.to_thread.run_sync(faults_of_draft, brief, [*conversation], draft)

    async def review(self, conversation: Sequence[ChatMessage], draft: str) -> Review:
        """Whether the draft fits the instruction and what was said so far."""
        return read_review(await self.words(prompts.review(self.instruction, conversation, draft)))

    async def redraft(
        self, conversation: Sequence[ChatMessage], draft: str, review: Review
    ) -> Line:
        """Another draft, in place of the one that was rejected."""
        # As in Tau Bench, a reviewer's reason is not passed on.
        direction = prompts.another_draft(draft, review.reason if review.by_checks else "")
        return await self.ask(prompts.with_direction(conversation, direction))


class ReflectionUser(VerifyUser):
    """Reviews each draft; a rejected one is thought over and rewritten with the reason at hand."""

    async def redraft(
        self, conversation: Sequence[ChatMessage], draft: str, review: Review
    ) -> Line:
        direction = prompts.reflection(draft, review.reason)
        line = await self.ask(prompts.with_direction(conversation, direction), spoken_part)
        return line if line.calls else Line(line.said, kept=line.said)


def _about(context: UserContext) -> dict[str, Any]:
    return {
        "seed": context.seed,
        "greeting": context.greeting or prompts.AGENT_GREETING,
        "stop_words": context.stop_words,
        "persona": context.persona,
        "past": context.past,
    }


def _strategy(name: str, kind: type[LlmUser], summary: str) -> UserStrategy:
    def create(context: UserContext) -> LlmUser:
        return kind(required_model(context, name), **_about(context))

    return UserStrategy(name, create, summary, needs_model=True)


def _reviewed(name: str, kind: type[VerifyUser], summary: str) -> UserStrategy:
    def create(context: UserContext) -> VerifyUser:
        settings = context.settings
        checks = settings.checks if isinstance(settings, DraftSettings) else True
        return kind(required_model(context, name), checks=checks, **_about(context))

    return UserStrategy(name, create, summary, settings=DraftSettings, needs_model=True)


strategy = _strategy("llm", LlmUser, "a language model plays the customer")
react = _strategy("react", ReactUser, "a language model that thinks before it speaks")
verify = _reviewed("verify", VerifyUser, "a language model whose drafts are checked and reviewed")
reflection = _reviewed(
    "reflection", ReflectionUser, "a language model that rewrites rejected drafts after reflection"
)
