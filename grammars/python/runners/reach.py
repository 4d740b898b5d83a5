"""Which files of the tree each test file's tests may reach. argv: request, output.

Each test file runs in a fork of its own. An audit hook sees every code object that is executed as a
module and every file that is opened; `sys.modules` is asked as well. A test file that starts processes
or compiles nothing we can see may reach everything.
"""
import json
import os
import sys
import time

import ssr_driver

STARTS = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")


class Watch:
    """What this process touches below the root."""

    def __init__(self, root):
        self.prefix = root + os.sep
        self.files = set()
        self.starts = False

    def see(self, path):
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if isinstance(path, str):
            path = os.path.abspath(path)
            if path.startswith(self.prefix):
                self.files.add(path[len(self.prefix):].replace(os.sep, "/"))

    def hook(self, event, args):
        if event == "exec":
            self.see(getattr(args[0], "co_filename", None))
        elif event == "open":
            self.see(args[0])
        elif event in STARTS:
            self.starts = True

    def finish(self):
        for module in list(sys.modules.values()):
            self.see(getattr(module, "__file__", None))
        return sorted(self.files)


def watch(test_file, root, scratch):
    """In the child: runs one test file and says what it touched, how long each test took, and how it ended."""
    seen = Watch(root)
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(seen.hook)
    else:
        seen.starts = True
    began, seconds = {}, {}

    def begin(test):
        began[test] = time.perf_counter()

    def end(test):
        seconds[test] = time.perf_counter() - began.pop(test, time.perf_counter())

    report = os.path.join(scratch, "report")
    entry = time.perf_counter()
    try:
        ssr_driver.run([test_file], report, begin=begin, end=end)
    except SystemExit:
        pass
    return {"files": seen.finish(), "everything": seen.starts, "seconds": seconds,
            "whole": time.perf_counter() - entry}


def main(request, output):
    with open(request, encoding="utf-8") as source:
        request = json.load(source)
    ssr_driver.start(__file__)
    root = os.getcwd()
    scratch = os.path.dirname(os.path.abspath(output))
    result = {}
    for test_file in request["files"]:
        part = os.path.join(scratch, "part")
        if os.path.exists(part):
            os.unlink(part)
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            try:
                found = watch(test_file, root, scratch)
                with open(part + ".new", "w", encoding="ascii") as out:
                    json.dump(found, out)
                os.rename(part + ".new", part)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        try:
            with open(part, encoding="ascii") as source:
                result[test_file] = json.load(source)
        except (OSError, ValueError):
            result[test_file] = {"files": [], "everything": True, "seconds": {}, "whole": 0.0}
    with open(output, "w", encoding="ascii") as out:
        json.dump(result, out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
