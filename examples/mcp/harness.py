"""Lets a language model play matches through `agon mcp`, with any endpoint that speaks the chat completions format.

    pip install mcp
    python harness.py --endpoint http://127.0.0.1:8000/v1/chat/completions --model NAME --game connect_four --level mc@32 --n 10

Each line of the output is a match: {"level": "mc@32", "score": 1.0, ...}. Matches in the file of --out are not played again, so that a
run that was stopped goes on; `agon ladder GAME NAME --results FILE` turns the file into a rating. An answer that is not a legal move is
counted and asked for again, --retries times; then the match is forfeited, or a random legal move takes its place, as --then says.
In games with hidden information the model is told what its role did and saw. A match without a result (it has no end within 2000 steps,
or no legal move) counts half. The key of the endpoint is read from the environment variable CHAT_KEY.
"""

import argparse
import asyncio
import json
import os
import random
import re
import sys
import urllib.error
import urllib.request

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


class EndpointError(Exception):
    """The endpoint cannot be reached, or its answer is not in the format of chat completions."""


def ask_model(args, messages):
    """One answer of the endpoint, as text."""
    headers = {"Content-Type": "application/json"}
    if os.environ.get("CHAT_KEY"):
        headers["Authorization"] = "Bearer " + os.environ["CHAT_KEY"]
    body = json.dumps({"model": args.model, "messages": messages}).encode()
    request = urllib.request.Request(args.endpoint, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=args.timeout) as answer:
            return json.load(answer)["choices"][0]["message"]["content"] or ""
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise EndpointError(f"{args.endpoint} gives no answer ({error!r}); run the same command again to go on") from error


async def call(session, tool, **arguments):
    """The JSON answer of a tool; raises ValueError with its message if it refuses."""
    result = await session.call_tool(tool, arguments)
    text = result.content[0].text
    if getattr(result, "isError", None) or getattr(result, "is_error", None):
        raise ValueError(text)
    return json.loads(text)


def prompt(args, rules, state):
    role = state["you"][0]
    parts = [
        "You play a game that is described in the Game Description Language (GDL). These are its rules:\n\n" + rules,
        f"You are the role {role}.",
    ]
    if state["facts"] is None:
        steps = [f"{step['move']}, and saw: {', '.join(step['sees']) or 'nothing'}" for step in state["seen"][role]]
        parts.append("The state is hidden. In the steps so far you made these moves:\n" + "\n".join(steps))
    else:
        parts.append("In the current state these facts are true:\n" + "\n".join(state["facts"]))
    if args.legal:
        parts.append("Your legal moves are:\n" + "\n".join(state["legal"][role]))
    parts.append("Which move do you make? End with a line `Move:` and the move behind it, as a GDL term.")
    return "\n\n".join(parts)


def move_in(answer):
    """The first line behind the last `Move:`, or the last line; without the marks of code and emphasis."""
    *before, last = re.split(r"move:", answer, flags=re.IGNORECASE)
    lines = [line.strip(" `*.") for line in last.splitlines()]
    lines = [line for line in lines if line] or [""]
    return lines[0] if before else lines[-1]


def score_of(goals, role):
    """1 for a win, ½ for a draw or a match without a result; the share of the highest goal for a single role."""
    others = [goal for name, goal in goals.items() if name != role and goal is not None]
    own = goals.get(role)
    if own is None:
        return 0.5
    if not others:
        return own / 100
    return 1.0 if own > max(others) else 0.5 if own == max(others) else 0.0


async def play(args, session, number):
    preset, _, playouts = args.level.partition("@")
    names = dict(names=args.names, seed=args.seed + number)
    sheet = await call(session, "read_rules", game=args.game, **names)
    rules, roles = sheet["rules"], sheet["roles"]
    role = roles[number % len(roles)]
    state = await call(
        session, "start_match", game=args.game, role=role, opponent=preset, playouts=int(playouts or 1), **names
    )
    draw = random.Random(args.seed + number)
    faults, n_replaced, is_forfeit = 0, 0, False
    while not state["over"] and not is_forfeit:
        messages = [{"role": "user", "content": prompt(args, rules, state)}]
        for attempt in range(args.retries + 1):
            answer = await asyncio.to_thread(ask_model, args, messages)
            try:
                state = await call(session, "make_move", match=state["match"], move=move_in(answer))
                break
            except ValueError as error:
                if "not a legal move" not in str(error):
                    raise
                faults += 1
                messages += [
                    {"role": "assistant", "content": answer},
                    {"role": "user", "content": f"{error}. Try again."},
                ]
        else:
            if args.then == "forfeit":
                is_forfeit = True
            else:
                n_replaced += 1
                move = draw.choice(state["legal"][state["you"][0]])
                state = await call(session, "make_move", match=state["match"], move=move)
    record = await call(session, "get_record", match=state["match"])
    await call(session, "end_match", match=state["match"])
    goals = state.get("goals", {})
    score = 0.0 if is_forfeit else score_of(goals, role)
    return {
        "match": number, "game": args.game, "level": args.level, "model": args.model, "role": role, "score": score,
        "forfeit": is_forfeit, "faults": faults, "replaced": n_replaced, "goals": goals, "moves": record["moves"],
    }


def finished(args):
    """Numbers of the matches that are in the file already. A line that was cut off when a run was stopped is taken out of it."""
    if not args.out or not os.path.exists(args.out):
        return set()
    with open(args.out) as file:
        text = file.read()
    done, good = set(), []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            match = json.loads(line)
            key = (match["game"], match["level"], match["model"])
        except (ValueError, LookupError, TypeError):
            if line.strip():
                print(f"{args.out}:{number}: this line is not a match record and was removed", file=sys.stderr)
            continue
        good.append(line + "\n")
        if key == (args.game, args.level, args.model):
            done.add(match["match"])
    if "".join(good) != text:
        with open(args.out + ".new", "w") as file:
            file.writelines(good)
        os.replace(args.out + ".new", args.out)
    return done


async def main(args):
    done = finished(args)
    server = StdioServerParameters(command=args.agon, args=["mcp"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        for number in range(args.n):
            if number in done:
                continue
            line = json.dumps(await play(args, session, number))
            print(line, flush=True)
            if args.out:
                with open(args.out, "a") as file:
                    file.write(line + "\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", required=True, help="address of the chat completions")
    parser.add_argument("--model", default="model", help="name of the model")
    parser.add_argument("--agon", default="agon", help="path of the program agon")
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--level", default="random", help="the opponent, such as random or cadia-2007@64")
    parser.add_argument("--n", type=int, default=10, help="matches")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--names", default="plain", help="plain, made-up or misleading")
    parser.add_argument("--legal", action="store_true", help="list the legal moves in the prompt")
    parser.add_argument("--retries", type=int, default=2, help="how often it is asked again after an illegal answer")
    parser.add_argument("--then", choices=["forfeit", "replace"], default="forfeit", help="what follows the last illegal answer")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for an answer")
    parser.add_argument("--out", help="file of finished matches; it is added to")
    return parser.parse_args()


def cause(error):
    """What is wrong, out of the groups in which tasks wrap it."""
    while isinstance(error, BaseException) and getattr(error, "exceptions", None):
        error = error.exceptions[0]
    return error


if __name__ == "__main__":
    try:
        asyncio.run(main(arguments()))
    except Exception as error:
        if not isinstance(cause(error), (EndpointError, ValueError)):
            raise
        sys.exit(f"harness: {cause(error)}")
