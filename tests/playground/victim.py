"""A playground in a process of its own, for tests that kill it: prints its address."""

from __future__ import annotations

import sys

from greenroom.playground.app import create_app
from greenroom.playground.state import Playground
from greenroom.store import open_store
from greenroom.workflows.serve import serve_until_stopped


def main() -> None:
    store = open_store()
    playground = Playground(store, sys.argv[1:])
    serve_until_stopped(
        create_app(playground),
        host="127.0.0.1",
        port=0,
        announce=lambda address: print(address, flush=True),
        on_end=playground.end,
    )
    store.close()


if __name__ == "__main__":
    main()
