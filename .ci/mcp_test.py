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
    """Answers with the first legal move of the prompt, and with nonsense as often as it is told to."""

    n_asked = 0
    is_nonsense = staticmethod(lambda number: number % 5 == 0)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        StandIn.n_asked += 1
        text = body["messages"][0]["content"]
        moves = re.search(r"legal moves are:\n(.+)", text).group(1)
        answer = "Move: (fly away)" if StandIn.is_nonsense(StandIn.n_asked) else f"I think.\n**Move:**\n```\n{moves}\n```"
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
    endpoint = f"http://127.0.0.1:{server.server_port}/"
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "results.jsonl")

        def run(*options, address=endpoint, game="tic_tac_toe", out=out):
            command = [sys.executable, HARNESS, "--agon", AGON, "--endpoint", address, "--level", "random", "--legal"]
            command += ["--game", game, "--out", out, *options]
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            lines = open(out).read().splitlines() if os.path.exists(out) else []
            return done, [json.loads(line) for line in lines]

        done, _ = run("--n", "1")
        assert done.returncode == 0, done.stderr
        with open(out, "a") as file:
            file.write('{"match": 1, "ga')  # a run that was killed while it wrote
        done, results = run("--n", "3")
        assert done.returncode == 0 and "was removed" in done.stderr, done.stderr
        assert [result["match"] for result in results] == [0, 1, 2], results
        assert sum(result["faults"] for result in results) > 0, "nonsense is counted"
        assert all(0 <= result["score"] <= 1 for result in results)
        n_faults = sum(result["faults"] for result in results)

        # Nothing but nonsense: asked again twice, and then it is over.
        StandIn.is_nonsense = staticmethod(lambda number: True)
        StandIn.n_asked = 0
        done, results = run("--n", "1", out=os.path.join(folder, "forfeit.jsonl"))
        assert (results[0]["forfeit"], results[0]["faults"], results[0]["score"]) == (True, 3, 0.0), results
        assert StandIn.n_asked == 3, StandIn.n_asked
        # Or random moves take its place, and the match is played to the end.
        done, results = run("--n", "1", "--retries", "0", "--then", "replace", out=os.path.join(folder, "replace.jsonl"))
        result = results[0]
        assert not result["forfeit"] and result["replaced"] == result["faults"] > 2 and len(result["goals"]) == 2, result

        # An endpoint that is not there is said to be missing, without a result.
        done, results = run("--n", "1", address="http://127.0.0.1:1/", out=os.path.join(folder, "none.jsonl"))
        assert done.returncode == 1 and "no answer" in done.stderr and "Traceback" not in done.stderr, done.stderr
        assert results == [], results
        done, _ = run("--n", "1", game="no_such_game", out=os.path.join(folder, "none.jsonl"))
        assert done.returncode == 1 and "no built-in game" in done.stderr and "Traceback" not in done.stderr, done.stderr
    server.shutdown()
    print("harness: 3 matches,", n_faults, "illegal answers; forfeits and replacements as they should be")


asyncio.run(over_stdio())
asyncio.run(over_http())
harness()
