"""What a run may spend, over all its episodes."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from greenroom.models.types import BudgetExhausted


@dataclass
class Budget:
    """A limit on money and tokens, shared by all that spend.

    It is checked before a call, so it can be passed by what the calls under way cost. A call of
    unknown price counts as nothing towards the money, and is reported.
    """

    max_cost: float | None = None
    max_tokens: int | None = None
    _: KW_ONLY
    cost: float = 0.0
    """Spent so far, also before, by the run that is resumed."""
    tokens: int = 0
    unpriced_calls: int = 0

    def spend(self, cost: float | None, tokens: int) -> None:
        """Count a call that is paid for."""
        self.tokens += tokens
        if cost is None:
            self.unpriced_calls += 1
        else:
            self.cost += cost

    def check(self) -> None:
        """Raise BudgetExhausted if there is nothing left."""
        if self.max_cost is not None and self.cost >= self.max_cost:
            calls = self.unpriced_calls
            unknown = f"; {calls} calls of unknown price come on top" if calls else ""
            raise BudgetExhausted(
                f"The budget of ${self.max_cost:.2f} is spent (${self.cost:.4f}{unknown})."
            )
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
            raise BudgetExhausted(
                f"The budget of {self.max_tokens:,} tokens is spent ({self.tokens:,})."
            )
