"""The own process of a workflow: it asks the provider, and prints what it says."""

from __future__ import annotations

import sys
from urllib.request import Request, urlopen

if __name__ == "__main__":
    url, asked = sys.argv[1:]
    with urlopen(Request(url, asked.encode(), {"Content-Type": "application/json"})) as answer:
        sys.stdout.buffer.write(answer.read())
