"""The environments for Gymnasium (extra `gymnasium`): `gymnasium.make`, wrappers, vectors.

    import gymnasium
    import greenroom.training.gymnasium_env

    env = gymnasium.make("greenroom/Conversation-v0", env="retail")

Observations are texts. Actions are texts, too: words for the user, or a call of a tool as JSON.
"""

from __future__ import annotations

import string
from typing import Any

import gymnasium
from gymnasium.spaces import Space

from greenroom.training.env import TrainingEnv
from greenroom.util.characters import writable

ID = "greenroom/Conversation-v0"
"""What `gymnasium.make` calls it."""
_SAMPLED = string.ascii_letters + string.digits
_SAMPLED_LENGTH = 40


class AnyText(Space[str]):
    """All texts, of any characters; Gymnasium's own `Text` has to list those that may occur."""

    @property
    def is_np_flattenable(self) -> bool:
        """Texts of any length are no array."""
        return False

    def contains(self, x: Any) -> bool:
        """Whether it is a text that can be written."""
        return isinstance(x, str) and writable(x) == x

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Some letters and digits."""
        drawn = self.np_random.integers(len(_SAMPLED), size=_SAMPLED_LENGTH)
        return "".join([_SAMPLED[int(one)] for one in drawn])

    def __repr__(self) -> str:
        return "AnyText()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyText)


class GymnasiumEnv(gymnasium.Env[str, str]):
    """`TrainingEnv` as an environment of Gymnasium; it takes the same arguments."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, env: Any = "retail", *, render_mode: None = None, **options: Any) -> None:
        self.env = TrainingEnv(env, **options)
        self.render_mode = render_mode
        self.observation_space = AnyText()
        self.action_space = AnyText()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """See `TrainingEnv.reset`."""
        super().reset(seed=seed)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """See `TrainingEnv.step`."""
        return self.env.step(action)

    def close(self) -> None:
        """Free what it holds; may be called again."""
        self.env.close()


if ID not in gymnasium.registry:
    gymnasium.register(ID, entry_point=GymnasiumEnv)  # pyright: ignore[reportUnknownMemberType]

__all__ = ["ID", "AnyText", "GymnasiumEnv"]
