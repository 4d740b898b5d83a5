"""Lines that each test executes. argv: request, output.

Each test file runs in a fork of its own, so that its imports are seen. Lines executed while no test
runs (imports) are kept apart: they belong to every test of the file.
"""
import json
import os
import sys
import threading

import ssr_driver


class Tracer:
    """The lines below the root, less test files, that were executed since `take`."""

    def __init__(self, root, skip):
        self.prefix = root + os.sep
        self.skip = set(skip)
        self.names = {}
        self.lines = {}

    def name(self, path):
        """The file's path below the root; None where it is of no interest."""
        if path not in self.names:
            full = os.path.abspath(path)
            inside = full.startswith(self.prefix) and os.path.isfile(full)
            name = full[len(self.prefix):].replace(os.sep, "/") if inside else None
            self.names[path] = None if name in self.skip else name
        return self.names[path]

    def hit(self, path, line):
        self.lines.setdefault(self.name(path), set()).add(line)

    def take(self):
        taken = {name: sorted(lines) for name, lines in self.lines.items()}
        self.lines = {}
        if self.monitoring:
            sys.monitoring.restart_events()
        return taken

    monitoring = hasattr(sys, "monitoring")

    def start(self):
        if self.monitoring:
            tool = next(n for n in range(6) if sys.monitoring.get_tool(n) is None)
            sys.monitoring.use_tool_id(tool, "ssr-lines")
            sys.monitoring.register_callback(tool, sys.monitoring.events.LINE, self.on_line)
            sys.monitoring.set_events(tool, sys.monitoring.events.LINE)
        else:
            threading.settrace(self.on_call)
            sys.settrace(self.on_call)

    def on_line(self, code, line):
        if self.name(code.co_filename) is not None:
            self.hit(code.co_filename, line)
        return sys.monitoring.DISABLE

    def on_call(self, frame, event, arg):
        if self.name(frame.f_code.co_filename) is None:
            return None
        path, hit = frame.f_code.co_filename, self.hit

        def local(frame, event, arg):
            if event == "line":
                hit(path, frame.f_lineno)
            return local

        return local


def trace(test_file, only, root, skip, scratch):
    tracer = Tracer(root, skip)
    imports, tests = {}, {}

    def keep(into):
        for name, lines in tracer.take().items():
            into[name] = sorted(set(into.get(name, ())).union(lines))

    def begin(test):
        keep(imports)
        if not tracer.monitoring:
            sys.settrace(tracer.on_call)

    def end(test):
        keep(tests.setdefault(test, {}))

    tracer.start()
    try:
        ssr_driver.run([test_file], os.path.join(scratch, "report"), only=only, begin=begin, end=end)
    except SystemExit:
        pass
    finally:
        sys.settrace(None)
    keep(imports)
    return {"imports": imports, "tests": tests}


def main(request, output):
    with open(request, encoding="utf-8") as source:
        request = json.load(source)
    ssr_driver.start(__file__)
    root = os.getcwd()
    scratch = os.path.dirname(os.path.abspath(output))
    with open(output, "w", encoding="ascii") as out:
        for test_file in request["files"]:
            part = os.path.join(scratch, "part")
            if os.path.exists(part):
                os.unlink(part)
            out.flush()
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                try:
                    found = trace(test_file, request["only"], root, request["skip"], scratch)
                    with open(part + ".new", "w", encoding="ascii") as target:
                        json.dump(found, target)
                    os.rename(part + ".new", part)
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            if os.path.exists(part):
                with open(part, encoding="ascii") as source:
                    out.write(source.read() + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
