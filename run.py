"""Tau Bench's command line, `python run.py --agent-strategy ... --env retail ...`, on Greenroom."""

from greenroom.cli.tau_bench_run import main

if __name__ == "__main__":
    main()
