"""Tries candidate repairs with the test script itself. argv: request, output.

Each candidate's files are laid over the tree, the script runs in a process group of its own with a time
limit, and the parser reads its log. One JSON line a candidate; ends after the first that passes every
test. A filter only: what passes here is run again.
"""
import base64
import json
import os
import re
import signal
import subprocess
import sys
import time


class Files:
    """Lays a candidate's files over the tree and takes them away again."""

    def __init__(self):
        # No two versions of a file may share a time, and later is newer: builds are matched by time.
        self.clock = int(time.time()) + 1000
        self.saved = []

    def lay(self, changes):
        for path, content in changes.items():
            before = None
            if os.path.isfile(path):
                with open(path, "rb") as source:
                    before = (source.read(), os.stat(path).st_mode & 0o777)
            self.saved.append((path, before))
            if content is not None:
                self.put(path, base64.b64decode(content))
            elif before:
                os.unlink(path)

    def put(self, path, content):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as target:
            target.write(content)
        self.clock += 1
        os.utime(path, (self.clock, self.clock))

    def restore(self):
        while self.saved:
            path, before = self.saved.pop()
            if before is not None:
                self.put(path, before[0])
                os.chmod(path, before[1])
            elif os.path.exists(path):
                os.unlink(path)


def run(script, seconds):
    """The script's log; None where the time was up."""
    child = subprocess.Popen(["bash", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return child.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            pass
        child.wait()


def passed(parser, log):
    read = subprocess.run([sys.executable, parser], input=log, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        return [test for test, status in json.loads(read.stdout.decode()).items() if status == "passed"]
    except ValueError:
        return []


PANIC = re.compile(r"thread '([^']+)'(?: \(\d+\))? panicked at ([^\s:]+):(\d+):\d+")


def stages(log, wanted, test_files):
    """Where the wanted tests stopped: the line of the panic, where it is in a test file."""
    found = {}
    for name, path, line in PANIC.findall(log.decode("utf-8", "replace")):
        if any(path == file or path.endswith("/" + file) for file in test_files):
            for test in wanted:
                if test == name or test.endswith("::" + name):
                    found[test] = [int(line), True]
    return found


def main(request, output):
    with open(request, encoding="utf-8") as source:
        request = json.load(source)
    here = os.path.dirname(os.path.abspath(__file__))
    wanted, files = set(request["tests"]), Files()
    with open(output, "w", encoding="ascii") as out:
        for changes in request["candidates"]:
            files.lay(changes)
            log = run(os.path.join(here, "test_script.sh"), request["seconds"])
            files.restore()
            found = passed(os.path.join(here, "test_parser.py"), log) if log is not None else []
            found = sorted(wanted.intersection(found))
            reached = stages(log or b"", wanted, request["files"])
            out.write(json.dumps({"passed": found, "timed_out": log is None, "stages": reached}) + "\n")
            out.flush()
            if wanted == set(found):
                break


main(sys.argv[1], sys.argv[2])
