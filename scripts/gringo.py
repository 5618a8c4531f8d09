#!/usr/bin/env python3
"""Compares Agon's grounder with gringo, a grounder for answer set programming: time and reachable atoms.

Each rulesheet is translated rule by rule. A frame allows every reachable fluent to be true or false and every legal move to be
made:

    { t(F) } :- base(F).   base(F) :- init(F).   base(F) :- next(F).   { does(R,M) } :- legal(R,M).

Both programs ground it in turn, several times, and the smallest CPU time of each counts. Both read a file and write the ground
rules as text to /dev/null. The sets of reachable `legal` and `next` atoms are compared. Agon tightens its result, so its sets
may be subsets of gringo's, but must not have other atoms.

    scripts/gringo.py --agon target/release/agon ../shared/games/checkers.kif …

gringo is in the Debian package `gringo`. Neither the build nor the tests of Agon need it.
"""

import argparse
import math
import os
import re
import resource
import subprocess
import sys
import tempfile


def read(text):
    """Parses prefix text into nested lists."""
    tokens = re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text))
    stack = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0]


class Names:
    """Maps the names of a rulesheet to valid names of answer set programming: letters, digits and underscores."""

    def __init__(self):
        self.known = {}
        self.texts = {}

    def get(self, kind, name):
        key = (kind, name)
        if key not in self.known:
            plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
            made = f"{kind}_{plain}"
            while made in self.texts:
                made += "_"
            self.known[key] = made
            self.texts[made] = name
        return self.known[key]


def term(names, tree):
    if isinstance(tree, list):
        args = ",".join(term(names, arg) for arg in tree[1:])
        return f"{names.get('f', tree[0])}({args})" if args else names.get("f", tree[0])
    if tree.startswith("?"):
        return names.get("V", tree[1:])
    return names.get("c", tree)


KEYWORDS = {"role", "init", "legal", "next", "does", "goal", "terminal", "base", "input"}


def atom(names, tree):
    name, args = (tree[0], tree[1:]) if isinstance(tree, list) else (tree, [])
    plain = name.lower()
    if plain == "true":
        made = "t"
    elif plain in ("base", "input"):
        made = f"declared_{plain}"  # only hints, and often wrong
    elif plain in KEYWORDS:
        made = plain
    else:
        made = names.get("p", name)
    return f"{made}({','.join(term(names, arg) for arg in args)})" if args else made


def bodies(names, condition, is_negated=False):
    """A condition as a list of alternatives, each of which is a list of literals."""
    head = condition[0].lower() if isinstance(condition, list) and isinstance(condition[0], str) else None
    if head == "not":
        return bodies(names, condition[1], not is_negated)
    if head in ("and", "or"):
        parts = [bodies(names, part, is_negated) for part in condition[1:]]
        if (head == "or") != is_negated:
            return [alternative for part in parts for alternative in part]
        return product(parts)
    if head == "distinct":
        sign = "=" if is_negated else "!="
        return [[f"{term(names, condition[1])} {sign} {term(names, condition[2])}"]]
    return [[("not " if is_negated else "") + atom(names, condition)]]


def product(parts):
    alternatives = [[]]
    for part in parts:
        alternatives = [some + more for some in alternatives for more in part]
    return alternatives


FRAME = """
{ t(F) } :- base(F).
base(F) :- init(F).
base(F) :- next(F).
{ does(R,M) } :- legal(R,M).
#defined next/1. #defined init/1. #defined does/2. #defined t/1. #defined terminal/0. #defined goal/2.
"""


def translate(text):
    names = Names()
    lines = []
    for rule in read(text):
        if isinstance(rule, list) and rule and rule[0] == "<=":
            for body in product([bodies(names, condition) for condition in rule[2:]]):
                lines.append(f"{atom(names, rule[1])} :- {', '.join(body)}." if body else f"{atom(names, rule[1])}.")
        else:
            lines.append(f"{atom(names, rule)}.")
    return "\n".join(lines) + FRAME, names


def run(command, output):
    """CPU seconds of a command, or None if it fails or takes too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, stdout=output, stderr=subprocess.DEVNULL, timeout=args.timeout)
    except subprocess.TimeoutExpired:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    # gringo also exits with the result codes of a solver, 10 to 30.
    return seconds if done.returncode in (0, 10, 20, 30) else None


def gringo_atoms(path, names):
    """The heads `legal` and `next` in the output of gringo, with the names of the rulesheet."""
    found = {"legal": set(), "next": set()}
    for line in open(path):
        head = re.match(r"(legal|next)\((.*?)\)(?::-.*)?\.$", line)
        if head:
            body = re.sub(r"\b[fc]_\w+", lambda name: names.texts[name.group(0)], head.group(2))
            found[head.group(1)].add(body.lower())
    return found


def agon_atoms(text):
    """The same atoms in Agon's ground program."""
    found = {"legal": set(), "next": set()}
    for line in text.splitlines():
        if line.startswith("fluent ") or line.startswith("move "):
            trees = read(line)
            if trees[0] == "fluent" and "never" not in [t for t in trees if isinstance(t, str)][1:]:
                found["next"].add(spell(trees[1]))
            if trees[0] == "move" and trees[-1] != "never":
                found["legal"].add(f"{spell(trees[1])},{spell(trees[2])}")
    return found


def spell(tree):
    if isinstance(tree, list):
        return f"{tree[0]}({','.join(spell(arg) for arg in tree[1:])})".lower() if len(tree) > 1 else tree[0].lower()
    return tree.lower()


def compare(sheet, folder):
    name = os.path.splitext(os.path.basename(sheet))[0]
    rules = subprocess.run([args.agon, "show", "--stage", "rules", sheet], capture_output=True, text=True)
    program, names = translate(rules.stdout)
    source = os.path.join(folder, "game.lp")
    with open(source, "w") as file:
        file.write(program)
    theirs, ours = [], []
    for _ in range(args.times):
        theirs.append(run([args.gringo, "--text", source], subprocess.DEVNULL))
        ours.append(run([args.agon, "show", "--stage", "ground", sheet], subprocess.DEVNULL))
    if None in theirs or None in ours:
        slow = [who for who, times in (("gringo", theirs), ("agon", ours)) if None in times]
        print(f"{name:26} {min(theirs) if None not in theirs else math.inf:8.3f} "
              f"{min(ours) if None not in ours else math.inf:8.3f}   {' and '.join(slow)} did not finish")
        return None, True
    text = os.path.join(folder, "gringo.txt")
    with open(text, "w") as file:
        run([args.gringo, "--text", source], file)
    reached = gringo_atoms(text, names)
    ground = subprocess.run([args.agon, "show", "--stage", "ground", sheet], capture_output=True, text=True)
    found = agon_atoms(ground.stdout)
    is_right = all(found[kind] <= reached[kind] for kind in found)
    sets = ", ".join(
        f"{kind} {len(found[kind])}" + ("" if found[kind] == reached[kind] else f" of {len(reached[kind])}")
        for kind in ("legal", "next")
    )
    ratio = min(theirs) / min(ours)
    print(f"{name:26} {min(theirs):8.3f} {min(ours):8.3f} {ratio:7.2f}   {sets}{'' if is_right else '   DIFFERENT'}")
    if not is_right:
        for kind in found:
            for extra in sorted(found[kind] - reached[kind])[:3]:
                print(f"    not reached by gringo: {kind} {extra}")
    return ratio, is_right


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("sheets", nargs="+")
parser.add_argument("--agon", default="target/release/agon")
parser.add_argument("--gringo", default="gringo")
parser.add_argument("--times", type=int, default=3, help="number of runs; the fastest counts")
parser.add_argument("--timeout", type=float, default=60, help="maximum seconds of one run")
args = parser.parse_args()

print(f"{'sheet':26} {'gringo s':>8} {'agon s':>8} {'ratio':>7}   reachable atoms (of Agon, and of gringo if different)")
with tempfile.TemporaryDirectory() as folder:
    results = [compare(sheet, folder) for sheet in args.sheets]
ratios = [ratio for ratio, _ in results if ratio is not None]
if ratios:
    mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
    print(f"geometric mean of gringo / agon over {len(ratios)} sheets: {mean:.2f}")
sys.exit(0 if all(is_right for _, is_right in results) else 1)
