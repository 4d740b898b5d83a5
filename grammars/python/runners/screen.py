"""Tries candidate repairs with a few tests each. argv: request, output.

The framework is imported once; each candidate runs in a fork, in a process group of its own, with a
time limit. One JSON line a candidate; ends after the first that passes every test. A filter only:
what passes here is run again by the script.
"""
import base64
import gc
import json
import os
import signal
import sys
import time

import ssr_driver


class Files:
    """Lays a candidate's files over the tree and takes them away again."""

    def __init__(self):
        # No two versions of a file may share a time: bytecode is matched by time and size.
        self.clock = int(time.time()) + 1000
        self.saved = []

    def lay(self, changes):
        for path, content in changes.items():
            try:
                with open(path, "rb") as source:
                    before = (source.read(), os.stat(path))
            except OSError:
                before = None
            self.saved.append((path, before))
            if content is None:
                if before:
                    os.unlink(path)
                continue
            folder = os.path.dirname(path)
            if folder:
                os.makedirs(folder, exist_ok=True)
            self.put(path, base64.b64decode(content))

    def put(self, path, content):
        with open(path, "wb") as target:
            target.write(content)
        self.clock += 1
        os.utime(path, (self.clock, self.clock))

    def restore(self):
        while self.saved:
            path, before = self.saved.pop()
            if before is None:
                if os.path.exists(path):
                    os.unlink(path)
            else:
                content, status = before
                self.put(path, content)
                os.chmod(path, status.st_mode & 0o777)


class TimeUp(Exception):
    pass


def ring(signum, frame):
    raise TimeUp


def wait(child, seconds):
    """Whether the child ended in time; nothing of its group is left either way."""
    signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        os.waitpid(child, 0)
        ended = True
    except TimeUp:
        ended = False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        os.killpg(child, signal.SIGKILL)
    except OSError:
        pass
    if not ended:
        os.waitpid(child, 0)
    return ended


def passed(report):
    found = []
    try:
        with open(report, encoding="ascii") as source:
            for line in source:
                entry = json.loads(line)
                if entry.get("outcome") == "passed":
                    found.append(entry["test"])
    except (OSError, ValueError):
        pass
    return found


def stage(test, error, trace):
    """Where a test stopped: the line of the test itself, and whether an assertion stopped it there."""
    path = os.path.abspath(test.split("::")[0])
    while trace is not None:
        if os.path.abspath(trace.tb_frame.f_code.co_filename) == path:
            return [trace.tb_lineno, isinstance(error, AssertionError)]
        trace = trace.tb_next
    return None


def stages(path):
    found = {}
    try:
        with open(path, encoding="ascii") as source:
            for line in source:
                found.update(json.loads(line))
    except (OSError, ValueError):
        pass
    return found


def run_child(request, report):
    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    wanted = set(request["tests"])
    with open(report + ".stages", "w", encoding="ascii") as out:
        def failed(test, error, trace):
            where = stage(test, error, trace) if test in wanted else None
            if where:
                out.write(json.dumps({test: where}) + "\n")
                out.flush()

        ssr_driver.run(request["files"], report, only=request["tests"], failed=failed)


def main(request, output):
    with open(request, encoding="utf-8") as source:
        request = json.load(source)
    ssr_driver.start(__file__)
    root = os.getcwd() + os.sep
    loaded = [name for name, module in list(sys.modules.items())
              if (getattr(module, "__file__", None) or "").startswith(root)]
    if loaded:
        raise SystemExit("modules of the tree are loaded already: %s" % ", ".join(sorted(loaded)))
    report = os.path.join(os.path.dirname(os.path.abspath(output)), "report")
    wanted = set(request["tests"])
    files = Files()
    gc.collect()
    getattr(gc, "freeze", gc.collect)()
    with open(output, "w", encoding="ascii") as out:
        for changes in request["candidates"]:
            for old in (report, report + ".stages"):
                if os.path.exists(old):
                    os.unlink(old)
            files.lay(changes)
            sys.stdout.flush()
            sys.stderr.flush()
            child = os.fork()
            if child == 0:
                try:
                    out.close()
                    run_child(request, report)
                finally:
                    os._exit(0)
            ended = wait(child, request["seconds"])
            files.restore()
            found = passed(report)
            reached = stages(report + ".stages")
            out.write(json.dumps({"passed": found, "timed_out": not ended, "stages": reached}) + "\n")
            out.flush()
            if ended and wanted <= set(found):
                break


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
