"""Builds many versions of a tree's functions at once and runs tests on each. argv: request, output.

A file comes as pieces; a piece may belong to a group, and a group to another. What does not compile is
found by where the compiler's errors stand: the innermost group there is left out, with the groups that
belong to it, and the rest is built again. A filter only: what passes here is built and run again by the
script.

"versions": one JSON line for each that compiles, in order, up to the first that passes every test.
"lines": one JSON line with the probes that each test comes by. Neither, and why, where nothing builds.
"""
import base64
import json
import os
import re
import signal
import subprocess
import sys
import time

ROUNDS = 12
WRAPPER = '#!/bin/sh\nexec "$@" --cap-lints allow\n'


class Versions:
    """The tree's woven files, less what was left out."""

    def __init__(self, request):
        self.pieces = {path: [(group, base64.b64decode(text)) for group, text in pieces]
                       for path, pieces in request["files"].items()}
        self.parents = request["parents"]
        self.left_out = set()
        self.ranges = {}
        self.clock = int(time.time()) + 1000

    def is_out(self, group):
        while group is not None:
            if group in self.left_out:
                return True
            group = self.parents[group]
        return False

    def write(self):
        self.ranges = {}
        self.clock += 10
        for path, pieces in self.pieces.items():
            text, spans = bytearray(), {}
            for group, piece in pieces:
                if self.is_out(group):
                    continue
                start = len(text)
                text += piece
                if group is not None:
                    first, _ = spans.get(group, (start, start))
                    spans[group] = (first, len(text))
            with open(path, "wb") as out:
                out.write(text)
            # Later is newer: builds are matched by time.
            os.utime(path, (self.clock, self.clock))
            self.ranges[path] = spans

    def at(self, path, offset):
        """The innermost group at a place."""
        around = [(end - start, group) for group, (start, end) in self.ranges.get(path, {}).items()
                  if start <= offset < end]
        return min(around)[1] if around else None

    def blame(self, errors):
        """Leaves out what the errors point at; False where they point at nothing of ours."""
        blamed = set()
        for error in errors:
            spans = sorted(error, key=lambda span: not span["is_primary"])
            places = (self.at(*place) for span in spans for place in expanded(span))
            group = next((group for group in places if group is not None), None)
            if group is not None:
                blamed.add(group)
        self.left_out |= blamed
        return bool(blamed)


def expanded(span):
    """A span's place, then those of the macro calls that it came out of."""
    while span:
        yield os.path.relpath(os.path.abspath(span["file_name"])), span["byte_start"]
        span = (span.get("expansion") or {}).get("span")


def build(request, here):
    """The test binaries by source file, and the errors: lists of spans."""
    env = dict(os.environ, RUSTC_WORKSPACE_WRAPPER=os.path.join(here, "wrapper"))
    binaries, errors, said = {}, [], b""
    for directory, targets in request["builds"].items():
        call = ["cargo", "test", "--no-run", "--message-format=json"]
        run = subprocess.run(call + targets, cwd=directory, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said += run.stderr[-2000:]
        for line in run.stdout.splitlines():
            try:
                message = json.loads(line.decode("utf-8", "replace"))
            except ValueError:
                continue
            if message.get("reason") == "compiler-artifact" and message.get("executable"):
                if "test" in message["target"]["kind"]:
                    binaries[os.path.relpath(message["target"]["src_path"])] = message["executable"]
            elif message.get("reason") == "compiler-message" and message["message"]["level"] == "error":
                if message["message"]["spans"]:
                    errors.append(message["message"]["spans"])
    return binaries, errors, said


def built(versions, request, here):
    """The binaries, or why there are none."""
    said = b""
    for _ in range(ROUNDS):
        versions.write()
        binaries, errors, said = build(request, here)
        if not errors:
            wanted = set(request["tests"])
            missing = wanted.difference(binaries)
            return binaries, "no binary for %s: %s" % (sorted(missing), said.decode("utf-8", "replace")) if missing else None
        if not versions.blame(errors):
            break
    return {}, "the versions do not build together: %s" % said.decode("utf-8", "replace")


def run(command, cwd, seconds, **variables):
    """What a test binary says; None where the time was up."""
    env = dict(os.environ, CARGO_MANIFEST_DIR=os.path.abspath(cwd), **variables)
    child = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return child.communicate(timeout=seconds)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            pass
        child.wait()


PASSED = re.compile(r"^test (.+?)(?: - should panic)? \.\.\. ok$", re.M)
PANIC = re.compile(r"thread '([^']+)'(?: \(\d+\))? panicked at ([^\s:]+):(\d+):\d+")


def try_version(number, request, binaries):
    passed, stages, timed_out = [], {}, False
    for file, tests in request["tests"].items():
        command = [binaries[file], "--color", "never", "--exact"] + tests["names"]
        said = run(command, tests["directory"], request["seconds"], SSR_SWITCH=str(number))
        if said is None:
            timed_out = True
            continue
        names = set(tests["names"])
        passed += [file + "::" + name for name in PASSED.findall(said) if name in names]
        for name, path, line in PANIC.findall(said):
            if name in names and (path == file or path.endswith("/" + file) or file.endswith("/" + path)):
                stages[file + "::" + name] = [int(line), True]
    return {"number": number, "passed": sorted(passed), "timed_out": timed_out, "stages": stages}


def lines(request, binaries, versions, here):
    found, seconds, hits = {}, {}, os.path.join(here, "hits")
    for file, tests in request["tests"].items():
        for name in tests["names"]:
            if os.path.exists(hits):
                os.unlink(hits)
            started = time.monotonic()
            run([binaries[file], "--exact", name], tests["directory"], request["seconds"], SSR_HITS=hits)
            seconds[file + "::" + name] = time.monotonic() - started
            executed = {}
            if os.path.exists(hits):
                with open(hits, encoding="ascii") as source:
                    for probe in source:
                        path, numbers = request["probes"][int(probe)]
                        executed.setdefault(path, set()).update(numbers)
            found[file + "::" + name] = {path: sorted(numbers) for path, numbers in executed.items()}
    left_out = [number for number, group in enumerate(request["groups"]) if versions.is_out(group)]
    return {"imports": {}, "tests": found, "seconds": seconds, "left_out": left_out}


def main(request, output):
    with open(request, encoding="utf-8") as source:
        request = json.load(source)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "wrapper"), "w", encoding="ascii") as wrapper:
        wrapper.write(WRAPPER)
    os.chmod(os.path.join(here, "wrapper"), 0o755)
    versions = Versions(request)
    binaries, problem = built(versions, request, here)
    with open(output, "w", encoding="ascii") as out:
        if problem:
            print(problem)
            return
        if "probes" in request:
            out.write(json.dumps(lines(request, binaries, versions, here)) + "\n")
            return
        count = sum(len(tests["names"]) for tests in request["tests"].values())
        for number, groups in request["versions"]:
            if any(versions.is_out(group) for group in groups):
                continue
            answer = try_version(number, request, binaries)
            out.write(json.dumps(answer) + "\n")
            out.flush()
            if len(answer["passed"]) == count:
                break
        else:
            out.write('{"end": true}\n')


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
