"""`make demo`: the main job on the embedded default, ending with what to do next."""

from __future__ import annotations

from greenroom.cli.app import run_command


def main() -> None:
    """Play the built-in tasks with an agent that knows the answers and one that fails at times."""
    print("A shop, its customers and 96 things they want: the built-in retail pack.\n")
    run_command(["tasks", "show", "5"])
    print(
        "\nFirst the oracle, which plays the ground truth: it shows that every task can be solved.\n"
    )
    run_command(["run", "--agent-strategy", "oracle"])
    print("\nThen an agent that solves each task with a chance of 0.8, four trials of each task.")
    print("pass^k is the chance that k trials of a task all succeed: reliability, not luck.\n")
    run_command(["run", "--agent-strategy", "synthetic", "--num-trials", "4"])


if __name__ == "__main__":
    main()
