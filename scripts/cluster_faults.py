#!/usr/bin/env python3
"""Tournaments on a real NATS server while things go wrong.

    python3 scripts/cluster_faults.py --agon target/release/agon            the whole campaign
    python3 scripts/cluster_faults.py --agon target/release/agon --short    a minute or two, for every change
    python3 scripts/cluster_faults.py --agon … workers cut                  only these

Every scenario plays one tournament on a queue, disturbs it, and compares the results with those of a run on one machine: the same
keys, each once, with the same goals, steps and playouts. Needs nats-server; hosts are network namespaces, for which root is
needed. What cannot be done here is skipped, with the reason. Only addresses of loopback and of own namespaces are used.
"""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

PATIENCE = 600
HOSTS = "agont"  # prefix of the names of namespaces and links


class Skip(Exception):
    """A scenario that is impossible here."""


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Lab:
    """A folder, a server, and the processes of a scenario."""

    def __init__(self, agon, folder):
        self.agon, self.folder = str(Path(agon).resolve()), Path(folder)
        self.processes, self.n_logs = [], 0
        self.port = free_port()
        self.on = f"nats://127.0.0.1:{self.port}"

    def spawn(self, args, name, host=None):
        self.n_logs += 1
        log = open(self.folder / f"{self.n_logs:03}-{name}.log", "wb")
        prefix = ["ip", "netns", "exec", host] if host else []
        process = subprocess.Popen(prefix + args, cwd=self.folder, stdout=log, stderr=log)
        process.log = log.name
        self.processes.append(process)
        return process

    def server(self, name="server", extra=(), address="127.0.0.1", port=None):
        port = port or self.port
        args = ["nats-server", "-a", address, "-p", str(port), "-js", "-sd", str(self.folder / f"{name}-data"), *extra]
        process = self.spawn(args, name)
        for _ in range(200):
            with socket.socket() as sock:
                sock.settimeout(0.2)
                if sock.connect_ex((address if address != "0.0.0.0" else "127.0.0.1", port)) == 0:
                    return process
            time.sleep(0.05)
        raise RuntimeError(f"{name} does not start: {Path(process.log).read_text()}")

    def worker(self, name, *extra, on=None, host=None, threads=1):
        args = [self.agon, "worker", "--on", on or self.on, "--name", name, "--threads", str(threads), *extra]
        return self.spawn(args, f"worker-{name}", host)

    def coordinator(self, *extra, on=None, store="queue.sqlite", file="cup.toml"):
        args = [self.agon, "tournament", file, "--on", on or self.on, "--store", store, "--ack-wait", "5", "--json", *extra]
        return self.spawn(args, "coordinator")

    def finish(self, process, patience=PATIENCE):
        code = process.wait(patience)
        if code != 0:
            raise AssertionError(f"exit code {code}:\n{Path(process.log).read_text()[-3000:]}")

    def local(self, n_threads, file="cup.toml", store="local.sqlite"):
        args = [self.agon, "tournament", file, "--store", store, "--threads", str(n_threads), "--json"]
        started = time.monotonic()
        subprocess.run(args, cwd=self.folder, check=True, capture_output=True)
        return time.monotonic() - started

    def lines(self, store):
        """Results without what differs between machines: times and workers."""
        out = self.folder / f"{store}.jsonl"
        subprocess.run([self.agon, "report", store, "--export", str(out)], cwd=self.folder, check=True, capture_output=True)
        lines = []
        for line in out.read_text().splitlines():
            result = json.loads(line)
            for key in ("finished", "played_by"):
                result.pop(key, None)
            for work in result["work"]:
                work.pop("seconds"), work.pop("setup", None)
            lines.append(json.dumps(result, sort_keys=True))
        return lines

    def assert_equal(self, n, store="queue.sqlite"):
        local, queue = self.lines("local.sqlite"), self.lines(store)
        assert len(local) == n, f"{len(local)} local results, {n} expected"
        assert len(set(queue)) == len(queue), "a result is there twice"
        assert local == queue, f"{len(queue)} results differ from {len(local)} local ones"

    def tournament(self, n, playouts=20, game="tic_tac_toe", more=""):
        text = (f'games = ["{game}"]\nplayers = ["cadia-2008", "mc"]\ngames_per_pair = {n}\n'
                f"budget = {{ playouts = {playouts} }}\nseed = 7\n{more}\n")
        (self.folder / "cup.toml").write_text(text)

    def n_results(self, store="queue.sqlite"):
        path = self.folder / store
        if not path.exists():
            return 0
        try:
            with closing(sqlite3.connect(path, timeout=10)) as connection:
                return connection.execute("SELECT COUNT(*) FROM matches").fetchone()[0]
        except sqlite3.Error:
            return 0

    def wait_results(self, n, store="queue.sqlite"):
        until = time.monotonic() + PATIENCE
        while self.n_results(store) < n:
            assert time.monotonic() < until, f"{self.n_results(store)} of {n} results"
            time.sleep(0.1)

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
        for process in self.processes:
            process.wait()


def hosts(n):
    """Makes namespaces with a bridge between them; returns names and the address of this side."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        raise Skip("namespaces need root and iproute2")
    remove_hosts()
    names = [f"{HOSTS}{i}" for i in range(n)]
    run = lambda *args: subprocess.run(args, check=True, capture_output=True)
    try:
        run("ip", "link", "add", f"{HOSTS}br", "type", "bridge")
        run("ip", "addr", "add", "10.213.77.1/24", "dev", f"{HOSTS}br")
        run("ip", "link", "set", f"{HOSTS}br", "up")
        for i, name in enumerate(names):
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"{HOSTS}v{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", f"{HOSTS}v{i}", "master", f"{HOSTS}br", "up")
            run("ip", "-n", name, "addr", "add", f"10.213.77.{i + 2}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
    except subprocess.CalledProcessError as error:
        remove_hosts()
        raise Skip(f"namespaces cannot be made here: {error.stderr.decode().strip()}")
    return names, "10.213.77.1"


def remove_hosts():
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    for line in listed.splitlines():
        if line.split()[0].startswith(HOSTS):
            subprocess.run(["ip", "netns", "del", line.split()[0]], capture_output=True)
    subprocess.run(["ip", "link", "del", f"{HOSTS}br"], capture_output=True)


def usage_seconds(pid):
    """CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def equal(lab, short):
    """Four workers on two hosts: the same store as one machine, and nearly as fast."""
    n = 100 if short else 2000
    lab.tournament(n, playouts=100 if short else 400, game="connect_four")
    names, address = hosts(2)
    try:
        lab.server(address="0.0.0.0")
        on = f"nats://{address}:{lab.port}"
        workers = [lab.worker(f"w{i}", on=on, host=names[i % 2]) for i in range(4)]
        time.sleep(3)
        started = time.monotonic()
        lab.finish(lab.coordinator())
        queue = time.monotonic() - started
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        for worker in workers:
            lab.finish(worker, 30)
        local = lab.local(4)
        lab.assert_equal(n)
        return f"{n} matches equal; {queue:.1f} s on the queue, {local:.1f} s on 4 threads here: {100 * (queue / local - 1):+.1f} %"
    finally:
        lab.close()
        remove_hosts()


def workers(lab, short):
    """SIGKILL of workers at random moments."""
    n, n_kills = (60, 3) if short else (600, 20)
    lab.tournament(n, playouts=300, game="connect_four")
    lab.local(2)
    lab.server()
    crew = {f"w{i}": lab.worker(f"w{i}") for i in range(3)}
    coordinator = lab.coordinator()
    chance = random.Random(1)
    lab.wait_results(1)
    for kill in range(n_kills):
        time.sleep(chance.uniform(0.1, 0.8))
        name = chance.choice(sorted(crew))
        crew[name].kill()
        crew[name].wait()
        crew[name] = lab.worker(name)
    lab.finish(coordinator)
    lab.assert_equal(n)
    return f"{n_kills} kills, {n} matches equal"


def coordinators(lab, short):
    """SIGKILL of the coordinator at random moments; then a store from the results alone."""
    n, n_kills = (60, 2) if short else (600, 10)
    lab.tournament(n, playouts=300, game="connect_four")
    lab.local(2)
    lab.server()
    lab.worker("w", threads=2)
    chance = random.Random(2)
    for kill in range(n_kills):
        coordinator = lab.coordinator()
        time.sleep(chance.uniform(1.0, 2.5))
        coordinator.kill()
        coordinator.wait()
    lab.finish(lab.coordinator())
    lab.assert_equal(n)
    rebuilt = lab.coordinator(store="rebuilt.sqlite")
    lab.finish(rebuilt)
    lab.assert_equal(n, "rebuilt.sqlite")
    return f"{n_kills} kills, {n} matches equal, and equal in a store made from the results on the server"


def servers(lab, short):
    """SIGKILL of the server, which keeps its files."""
    n, n_kills = (100, 2) if short else (600, 5)
    lab.tournament(n, playouts=300, game="connect_four")
    lab.local(2)
    server = lab.server()
    for i in range(2):
        lab.worker(f"w{i}")
    coordinator = lab.coordinator()
    chance = random.Random(3)
    lab.wait_results(1)
    for kill in range(n_kills):
        time.sleep(chance.uniform(0.5, 1.5))
        server.kill()
        server.wait()
        time.sleep(chance.uniform(0.2, 2.0))
        server = lab.server()
    lab.finish(coordinator)
    lab.assert_equal(n)
    return f"{n_kills} kills, {n} matches equal"


def leader(lab, short):
    """Three servers; the leader of the stream of jobs is killed."""
    if short:
        raise Skip("only in the campaign")
    n = 400
    lab.tournament(n, playouts=300, game="connect_four")
    lab.local(2)
    ports, routes = [free_port() for _ in range(3)], [free_port() for _ in range(3)]
    urls = ",".join(f"nats://127.0.0.1:{port}" for port in routes)
    monitors = [free_port() for _ in range(3)]
    crew = []
    for i in range(3):
        extra = ["-n", f"s{i}", "--cluster_name", "agon", "--cluster", f"nats://127.0.0.1:{routes[i]}", "--routes", urls,
                 "-m", str(monitors[i])]
        crew.append(lab.server(f"s{i}", extra, port=ports[i]))
    time.sleep(5)
    on = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
    for i in range(2):
        lab.worker(f"w{i}", on=on)
    coordinator = lab.coordinator("--replicas", "3", on=on)
    lab.wait_results(20)
    import urllib.request
    found = None
    for monitor in monitors:
        text = urllib.request.urlopen(f"http://127.0.0.1:{monitor}/jsz?streams=true", timeout=5).read()
        for account in json.loads(text).get("account_details", []):
            for stream in account.get("stream_detail", []):
                if stream["name"] == "agon-jobs-cup":
                    found = stream["cluster"]["leader"]
    assert found, "the leader is known"
    crew[int(found[1:])].kill()
    lab.finish(coordinator)
    lab.assert_equal(n)
    return f"leader {found} killed, {n} matches equal"


def cut(lab, short):
    """A host is cut off for a minute."""
    if short:
        raise Skip("only in the campaign")
    n = 600
    lab.tournament(n, playouts=300, game="connect_four")
    lab.local(2)
    names, address = hosts(2)
    try:
        lab.server(address="0.0.0.0")
        on = f"nats://{address}:{lab.port}"
        for i in range(2):
            lab.worker(f"w{i}", on=on, host=names[i])
        coordinator = lab.coordinator()
        lab.wait_results(20)
        subprocess.run(["ip", "link", "set", f"{HOSTS}v0", "down"], check=True)
        time.sleep(60)
        subprocess.run(["ip", "link", "set", f"{HOSTS}v0", "up"], check=True)
        lab.finish(coordinator)
        lab.assert_equal(n)
        return f"60 s without a host, {n} matches equal"
    finally:
        lab.close()
        remove_hosts()


def fill(path):
    """Writes a file until its disk is full."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass


def full(lab, short):
    """The disk of the coordinator is full for a while."""
    n = 60
    lab.tournament(n, playouts=1500, game="connect_four")
    lab.local(2)
    disk = lab.folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode != 0:
        raise Skip("no small disk can be mounted: " + mounted.stderr.decode().strip())
    try:
        ballast = disk / "ballast"
        lab.server()
        lab.worker("w", threads=2)
        coordinator = lab.coordinator(store="disk/queue.sqlite")
        lab.wait_results(5, "disk/queue.sqlite")
        fill(ballast)
        until = time.monotonic() + 60
        while "results wait on the server" not in Path(coordinator.log).read_text():
            assert time.monotonic() < until and coordinator.poll() is None, Path(coordinator.log).read_text()[-1000:]
            time.sleep(0.2)
        ballast.unlink(missing_ok=True)
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        lab.finish(coordinator)
        shutil.copy(disk / "queue.sqlite", lab.folder / "queue.sqlite")
        for extra in ("-wal", "-shm"):
            if (disk / f"queue.sqlite{extra}").exists():
                shutil.copy(disk / f"queue.sqlite{extra}", lab.folder / f"queue.sqlite{extra}")
        lab.assert_equal(n)
        return f"the disk was full, {n} matches equal"
    finally:
        lab.close()
        subprocess.run(["umount", str(disk)])


def fingerprint(lab, short):
    """A worker of another build gets no job and is told why."""
    n = 40
    lab.tournament(n)
    lab.local(2)
    lab.server()
    other = lab.worker("other", "--fake-fingerprint", "1")
    coordinator = lab.coordinator()
    time.sleep(4)
    assert lab.n_results() == 0, "a worker of another build has played"
    lab.worker("right")
    lab.finish(coordinator)
    words = Path(other.log).read_text()
    assert "gets no jobs of `cup`: it asks for fingerprint" in words, words
    assert "other gets no jobs" in Path(coordinator.log).read_text(), Path(coordinator.log).read_text()
    lab.assert_equal(n)
    return "refused and told; the others played"


def liar(lab, short):
    """A worker that sends wrong goals: nothing of it counts, all of it is seen."""
    n = 60
    lab.tournament(n, playouts=100, game="connect_four")
    lab.local(2)
    lab.server()
    lab.worker("liar", "--fake-results", "--matches", "20")
    coordinator = lab.coordinator()
    time.sleep(2)
    lab.worker("honest")
    lab.finish(coordinator)
    lab.assert_equal(n)
    report = subprocess.run([lab.agon, "report", "queue.sqlite", "--workers", "--json"], cwd=lab.folder, check=True,
                            capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in report.splitlines()]
    rejected = [row for row in rows if row.get("worker") == "liar"][0]["rejected"]
    assert rejected > 0, report
    return f"{rejected} wrong results rejected and kept, {n} matches equal"


def sprt(lab, short):
    """A sequential test decides as a local one does, and withdrawn jobs stop."""
    n = 400
    lab.tournament(n, playouts=200, game="connect_four",
                   more='stop = { sprt = { elo0 = 0, elo1 = 150 } }')
    lab.local(1)
    lab.server()
    for i in range(2):
        lab.worker(f"w{i}")
    coordinator = lab.coordinator()
    lab.finish(coordinator)
    ended = time.monotonic()
    tables = [subprocess.run([lab.agon, "tournament", "cup.toml", "--store", store, "--json"], cwd=lab.folder, check=True,
                             capture_output=True, text=True).stdout for store in ("local.sqlite", "queue.sqlite")]
    assert tables[0] == tables[1], f"{tables[0]}\n{tables[1]}"
    matches = json.loads(tables[0].splitlines()[0])["matches"]
    assert matches < n, "the test ended early"
    playing = 1
    while playing > 0:
        listed = subprocess.run([lab.agon, "queue", "--on", lab.on, "--json", "list"], check=True, capture_output=True, text=True)
        rows = [json.loads(line) for line in listed.stdout.splitlines()]
        row = [row["tournament"] for row in rows if "tournament" in row][0]
        playing = row["waiting"] + row["playing"]
        assert time.monotonic() < ended + 20, row
    return f"decided after {matches} of {n} matches on both; jobs gone {time.monotonic() - ended:.1f} s after the end"


def many(lab, short):
    """100 000 jobs: publishing and listing, memory of the coordinator; 64 idle workers."""
    n = 2000 if short else 100_000
    n_workers, seconds = (4, 5) if short else (64, 60)
    lab.tournament(n)
    server = lab.server()
    coordinator = lab.coordinator()
    started = time.monotonic()
    while "jobs of `cup` are published" not in Path(coordinator.log).read_text():
        assert coordinator.poll() is None and time.monotonic() < started + PATIENCE, Path(coordinator.log).read_text()
        time.sleep(0.1)
    published = time.monotonic() - started
    memory = peak_mb(coordinator.pid)
    started = time.monotonic()
    subprocess.run([lab.agon, "queue", "--on", lab.on, "list"], check=True, capture_output=True)
    listed = time.monotonic() - started
    subprocess.run([lab.agon, "queue", "--on", lab.on, "cancel", "cup"], check=True, capture_output=True)
    coordinator.wait(60)
    for i in range(n_workers):
        lab.worker(f"idle{i}")
    time.sleep(10 + n_workers / 2)
    before = usage_seconds(server.pid)
    time.sleep(seconds)
    share = 100 * (usage_seconds(server.pid) - before) / seconds
    assert memory < 200, f"{memory} MB"
    assert share < 2 or short, f"{share} % of a core"
    return (f"{n} jobs published in {published:.1f} s (start of the program included), listed in {listed:.1f} s, "
            f"coordinator {memory:.0f} MB; {n_workers} idle workers cost the server {share:.2f} % of a core")


SCENARIOS = [equal, workers, coordinators, servers, leader, cut, full, fingerprint, liar, sprt, many]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agon", default="target/release/agon")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep the folders")
    parser.add_argument("scenario", nargs="*")
    args = parser.parse_args()
    if not shutil.which("nats-server"):
        print("skipped: nats-server is not installed (Debian: apt-get install nats-server)")
        return 0
    chosen = [s for s in SCENARIOS if not args.scenario or s.__name__ in args.scenario]
    failed = 0
    for scenario in chosen:
        folder = tempfile.mkdtemp(prefix=f"agon-{scenario.__name__}-")
        lab = Lab(args.agon, folder)
        started = time.monotonic()
        try:
            words = scenario(lab, args.short)
            print(f"ok       {scenario.__name__}: {words} [{time.monotonic() - started:.0f} s]", flush=True)
        except Skip as reason:
            print(f"skipped  {scenario.__name__}: {reason}", flush=True)
        except Exception as error:  # noqa: BLE001 - the campaign goes on
            failed += 1
            print(f"FAILED   {scenario.__name__}: {error} (logs in {folder})", flush=True)
        finally:
            lab.close()
        if not args.keep and not failed:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
