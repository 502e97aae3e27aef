"""A process that gets an answer beyond all bounds: prints what it says, and its memory in MB."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
import zlib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from greenroom.errors import GreenroomError
from greenroom.evaluation.evaluators import Case, make_evaluator
from greenroom.models import ModelRequest, ModelSettings
from greenroom.models.direct import DirectTransport
from greenroom.models.faults import Fault
from greenroom.workflows import Call, Profile, WorkflowClient, discover

STREAMED = sys.argv[2] in ("stream", "frames")
PIECE = b'data: "x"\n\n' * 95_325 if sys.argv[2] == "frames" else bytes(2**20)


class Server(BaseHTTPRequestHandler):
    """Answers everything with 2 GB in gzip, or 200 MB as they are."""

    protocol_version = "HTTP/1.0"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if STREAMED else "application/json")
        if sys.argv[1] == "bomb":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
        try:
            for _ in range(2048 if sys.argv[1] == "bomb" else 200):
                self.wfile.write(packer.compress(PIECE) if sys.argv[1] == "bomb" else PIECE)
        except OSError:
            return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


async def ask(address: str) -> str:
    try:
        if sys.argv[2] == "model":
            transport = DirectTransport(ModelSettings(model="m", api_base=f"{address}/v1"))
            try:
                await transport.send(ModelRequest(messages=[]))
            finally:
                await transport.close()
        elif sys.argv[2] == "workflow":
            await discover(address)
        elif sys.argv[2] == "call" or STREAMED:
            profile = Profile(name="w", is_chat=False, address=address, interface="invoke")
            async with WorkflowClient(profile) as client:
                await client.call(Call(inputs={}))
        else:
            scorer = make_evaluator(f"webhook:url={address},retries=0")
            try:
                return str(await scorer.evaluate(Case(outputs="x")))
            finally:
                await scorer.close()
    except (GreenroomError, Fault) as error:
        return str(error)
    return "no error"


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(asyncio.run(ask(f"http://127.0.0.1:{server.server_port}")))
    # The maximum of getrusage would be that of the process that started this one, if larger.
    status = Path("/proc/self/status").read_text()
    print(int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) // 1024)
