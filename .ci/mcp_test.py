"""Plays through `agon mcp` with the official Python client, over stdio and HTTP, and runs the harness with a scripted stand-in."""

import asyncio
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

AGON = sys.argv[1]
HARNESS = os.path.join(os.path.dirname(__file__), "..", "examples", "mcp", "harness.py")


async def call(session, tool, **arguments):
    result = await session.call_tool(tool, arguments)
    text = result.content[0].text
    if getattr(result, "isError", None) or getattr(result, "is_error", None):
        raise ValueError(text)
    return json.loads(text)


async def check(session):
    await session.initialize()
    tools = {tool.name for tool in (await session.list_tools()).tools}
    assert {"list_games", "read_rules", "check_rules", "start_match", "make_move", "evaluate"} <= tools, tools
    resources = {str(resource.uri) for resource in (await session.list_resources()).resources}
    assert "agon://docs/gdl" in resources and "agon://games/connect_four" in resources, resources
    rules = (await session.read_resource("agon://games/connect_four")).contents[0].text
    assert "(role red)" in rules, rules[:200]
    plain = (await call(session, "read_rules", game="connect_four"))["rules"]
    assert plain == rules
    other = (await call(session, "read_rules", game="connect_four", names="made-up", form="infix"))["rules"]
    assert "drop" not in other and ":-" in other
    assert not (await call(session, "check_rules", rules="(role x"))["ok"]
    state = await call(session, "start_match", game="connect_four", opponent="cadia-2007", playouts=50)
    n_moves = 0
    while not state["over"]:
        role = state["you"][0]
        if n_moves == 0:
            try:
                await call(session, "make_move", match=state["match"], move="(drop 99)")
                raise AssertionError("an illegal move was taken")
            except ValueError as error:
                assert "not a legal move" in str(error), error
            hint = await call(session, "evaluate", match=state["match"], playouts=200)
            assert hint["best"] in state["legal"][role], hint
        state = await call(session, "make_move", match=state["match"], move=state["legal"][role][0])
        n_moves += 1
    record = await call(session, "get_record", match=state["match"])
    assert record["isCompleted"] and record["illegalMoves"] == 1 and len(record["goalValues"]) == 2, record
    return f"{n_moves} moves, goals {state['goals']}"


async def over_stdio():
    server = StdioServerParameters(command=AGON, args=["mcp"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        print("mcp over stdio:", await check(session))


async def over_http():
    process = subprocess.Popen([AGON, "mcp", "--http", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        header, _, value = process.stdout.readline().strip().partition(": ")
        try:
            import urllib.request

            urllib.request.urlopen(urllib.request.Request(address, b"{}", {"Content-Type": "application/json"}))
            raise AssertionError("a request without the token was answered")
        except urllib.error.HTTPError as error:
            assert error.code == 401, error
        async with http_streams(address, {header: value}) as streams, ClientSession(streams[0], streams[1]) as session:
            print("mcp over HTTP:", await check(session))
    finally:
        process.terminate()
        process.wait()


def http_streams(address, headers):
    """The HTTP transport, as newer and older versions of the client have it."""
    try:
        from mcp.client.streamable_http import streamable_http_client

        try:
            import httpx2 as httpx
        except ImportError:
            import httpx
        return streamable_http_client(address, http_client=httpx.AsyncClient(headers=headers, timeout=60))
    except ImportError:
        from mcp.client.streamable_http import streamablehttp_client

        return streamablehttp_client(address, headers=headers)


class StandIn(http.server.BaseHTTPRequestHandler):
    """Answers with the first legal move of the prompt, and every fifth time with nonsense."""

    n_asked = 0

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        StandIn.n_asked += 1
        text = body["messages"][0]["content"]
        moves = re.search(r"legal moves are:\n(.+)", text).group(1)
        answer = "Move: (fly away)" if StandIn.n_asked % 5 == 0 else f"I think.\nMove: `{moves}`"
        data = json.dumps({"choices": [{"message": {"content": answer}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def harness():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "results.jsonl")
        command = [
            sys.executable, HARNESS, "--agon", AGON, "--endpoint", f"http://127.0.0.1:{server.server_port}/",
            "--game", "tic_tac_toe", "--level", "random", "--legal", "--out", out, "--n",
        ]
        subprocess.run(command + ["1"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(command + ["3"], check=True, stdout=subprocess.DEVNULL)
        with open(out) as lines:
            results = [json.loads(line) for line in lines]
        assert [result["match"] for result in results] == [0, 1, 2], results
        assert sum(result["faults"] for result in results) > 0, "nonsense is counted"
        assert all(0 <= result["score"] <= 1 for result in results)
    server.shutdown()
    print("harness:", len(results), "matches,", sum(result["faults"] for result in results), "illegal answers")


asyncio.run(over_stdio())
asyncio.run(over_http())
harness()
