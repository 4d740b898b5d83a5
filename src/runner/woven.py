"""Many versions of a tree's functions in one build; what languages share (`ssr_woven` inside).

A file comes as pieces; a piece may belong to a group, and a group to another. What does not compile is
found by the lines of the compiler's errors: the innermost group there is left out, with the groups that
belong to it, and the rest is built again. A filter only: what passes here is built and run again by the
script.
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
LABEL = re.compile(rb"^[ \t]*([A-Za-z_]\w*)[ \t]*:(?![:=])", re.M)
JUMP = rb"\b(goto|break|continue)([ \t]+)%s\b"


class Woven:
    """The tree's woven files, less what was left out."""

    def __init__(self, request, fit, head):
        self.pieces = {path: [(group, base64.b64decode(text)) for group, text in pieces]
                       for path, pieces in request["files"].items()}
        self.parents, self.fit, self.head = request["parents"], fit, head
        self.left_out, self.lines = set(), {}
        self.clock = int(time.time()) + 1000

    def is_out(self, group):
        while group is not None:
            if group in self.left_out:
                return True
            group = self.parents[group]
        return False

    def write(self):
        self.clock += 10
        for path, pieces in self.pieces.items():
            text, spans, before = bytearray(self.head), {}, b""
            for group, piece in pieces:
                if group is None:
                    before = piece
                if self.is_out(group):
                    continue
                if group is not None and self.parents[group] is not None:
                    piece = renamed(self.fit(before, piece), group)
                start = len(text)
                text += piece
                if group is not None:
                    first, _ = spans.get(group, (start, start))
                    spans[group] = (first, len(text))
            line = lambda offset: text.count(b"\n", 0, offset) + 1
            self.lines[path] = {group: (line(start + text.startswith(b"\n", start)), line(end))
                                for group, (start, end) in spans.items()}
            with open(path, "wb") as out:
                out.write(text)
            # Later is newer: builds are matched by time.
            os.utime(path, (self.clock, self.clock))

    def at(self, path, line):
        """The innermost group at a line. Each piece begins with a new one."""
        around = [(last - first, group) for group, (first, last) in self.lines.get(path, {}).items()
                  if first <= line <= last]
        return min(around)[1] if around else None

    def blame(self, errors):
        """Leaves out what the errors point at; False where they point at nothing of ours."""
        blamed = {self.at(path, line) for path, line in errors} - {None}
        fresh = blamed - self.left_out
        self.left_out |= blamed
        return bool(fresh)


def renamed(piece, group):
    """A label is one of the whole function: each version has its own."""
    for label in set(LABEL.findall(piece)):
        jump = re.compile(JUMP % label)
        if jump.search(piece):
            own = label + b"_ssr%d" % group
            piece = jump.sub(lambda found, own=own: found[1] + found[2] + own, piece)
            piece = re.sub(rb"^([ \t]*)%s([ \t]*:)" % label, lambda found, own=own: found[1] + own + found[2],
                           piece, flags=re.M)
    return piece


def run(command, cwd, seconds, **variables):
    """What a program says; None where the time was up."""
    child = subprocess.Popen(command, cwd=cwd, env=dict(os.environ, **variables), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
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


def built(woven, build):
    """Whether what is left of it builds."""
    said = ""
    for _ in range(ROUNDS):
        woven.write()
        errors, said = build()
        if errors is None:
            return True
        if not woven.blame(errors):
            break
    print("the versions do not build together: " + said[-2000:])
    return False


def main(build, attempt, lines=None, fit=lambda before, piece: piece, head=lambda request: b""):
    """`build(request)`: the errors by path and line (None: it is built), and what was said.
    `attempt(request, number)`: the tests that pass, where others stopped, whether the time was up.
    `fit(before, piece)` makes a version stand behind the text before; `head(request)` begins each file."""
    with open(sys.argv[1], encoding="utf-8") as source:
        request = json.load(source)
    woven = Woven(request, fit, head(request))
    with open(sys.argv[2], "w", encoding="ascii") as out:
        if not built(woven, lambda: build(request)):
            return
        if "probes" in request:
            out.write(json.dumps(lines(request, woven)) + "\n")
            return
        for number, groups in request["versions"]:
            if any(woven.is_out(group) for group in groups):
                continue
            passed, stages, timed_out = attempt(request, str(number))
            answer = {"number": number, "passed": sorted(passed), "timed_out": timed_out, "stages": stages}
            out.write(json.dumps(answer) + "\n")
            out.flush()
            if len(passed) == len(request["tests"]):
                break
        else:
            out.write('{"end": true}\n')
