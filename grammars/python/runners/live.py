"""Tries candidate repairs with a few tests each, in forks of a process that has loaded these tests.

argv: request. One list of candidates a line on standard input, one reply a line on standard output, both JSON; the
first reply says that the tests are loaded and where they stop on the tree as it is. A candidate that changes nothing
but functions that nobody called while the tests were loaded is put in the place of what is loaded, as code; for any
other a fork of a process that has loaded the framework alone loads everything. Nothing of one fork is seen by
another. A filter only: what passes here is run again by the script.
"""
import binascii
import gc
import importlib
import inspect
import json
import os
import signal
import sys
import threading
import time
import types

import ssr_driver
import ssr_fork
import ssr_place
import ssr_screen

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(HERE, "run")
REPORT = os.path.join(RUN, "report")
STAGES = os.path.join(RUN, "stages")


class Unfit(Exception):
    """A candidate that cannot take the place of what is loaded."""


class Called:
    """The code of the tree that is executed while the tests are loaded."""

    def __init__(self):
        self.root = os.getcwd() + os.sep
        self.codes = set()

    def begin(self):
        threading.setprofile(self.note)
        sys.setprofile(self.note)

    def end(self):
        sys.setprofile(None)
        threading.setprofile(None)

    def note(self, frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(self.root):
            self.codes.add(key(frame.f_code))


def key(code):
    return code.co_filename, code.co_firstlineno, code.co_name


class Loaded:
    """The functions of the tree that are loaded, and what takes their place."""

    def __init__(self, called):
        self.called = called.codes
        self.files = loaded_files()
        self.functions = {}
        for thing in gc.get_objects():
            if type(thing) is types.FunctionType and thing.__code__.co_filename.startswith(called.root):
                self.functions.setdefault(key(thing.__code__), []).append(thing)
        self.compiled = {}

    def replaced(self, changes):
        """Functions with the code that each is to have."""
        found = []
        for path, content in changes.items():
            name = self.files.get(os.path.realpath(path))
            if name is None and path.endswith(".py"):
                continue  # it is read when it is loaded
            if name is None or content is None or not name.endswith(".py"):
                raise Unfit(path)
            if name not in self.compiled:
                with open(name, "rb") as source:
                    self.compiled[name] = compiled(source.read(), name)
            differing = []
            compare(self.compiled[name], compiled(binascii.a2b_base64(content), name), differing)
            for old, new in differing:
                functions = [one for one in self.functions.get(key(old), ()) if one.__code__ == old]
                if not functions or key(old) in self.called or old.co_freevars != new.co_freevars:
                    raise Unfit(path)
                found.extend((function, new) for function in functions)
        return found


def compiled(source, name):
    try:
        return compile(source, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unfit(name)


def is_code(constant):
    return isinstance(constant, types.CodeType)


def written(constant):
    """Unlike for what only compares equal."""
    if isinstance(constant, tuple):
        return tuple(written(part) for part in constant)
    if isinstance(constant, frozenset):
        return frozenset(written(part) for part in constant)
    return None if is_code(constant) else (type(constant), repr(constant))


def shape(code):
    """All that it says but for lines, and but for the code inside of it."""
    return (code.co_code, code.co_name, code.co_flags, code.co_argcount, code.co_posonlyargcount,
            code.co_kwonlyargcount, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
            getattr(code, "co_exceptiontable", b""), [written(constant) for constant in code.co_consts])


def inside(code):
    return [constant for constant in code.co_consts if is_code(constant)]


def same(old, new):
    return shape(old) == shape(new) and all(map(same, inside(old), inside(new)))


def compare(old, new, differing):
    """Collects the outermost functions that differ; what is executed on import must not."""
    if shape(old) != shape(new):
        raise Unfit(old.co_name)
    for before, after in zip(inside(old), inside(new)):
        if before.co_flags & inspect.CO_OPTIMIZED:
            if not same(before, after):
                differing.append((before, after))
        else:
            compare(before, after, differing)


def lines(path):
    try:
        with open(path, encoding="ascii") as source:
            return [json.loads(line) for line in source]
    except (OSError, ValueError):
        return []


class Fresh:
    """A process that has loaded little of the tree, and forks for each candidate that changes none of that: `mine`
    says in such a fork what is asked, and is None in the process that asks."""

    def __init__(self, request, ours):
        wanted, self.write = os.pipe()
        self.read, said = os.pipe()
        self.mine, self.files = None, loaded_files()
        self.pid = os.fork()
        if self.pid:
            os.close(wanted)
            os.close(said)
            self.read = os.fdopen(self.read, "rb")
            return
        try:
            for descriptor in [self.write, self.read] + ours:
                os.close(descriptor)
            os.setpgid(0, 0)
            self.mine = self.loop(request, os.fdopen(wanted, "rb"), said)
        finally:
            if self.mine is None:
                os._exit(0)

    def loop(self, request, asked, said):
        for line in asked:
            mine = json.loads(line.decode("utf-8"))
            child = ssr_fork.fork()
            if child == 0:
                asked.close()
                os.close(said)
                return mine
            ended, _, usage = ssr_fork.wait(child, request["seconds"])
            os.write(said, json.dumps([ended, usage.ru_utime + usage.ru_stime]).encode("ascii") + b"\n")
        return None

    def ask(self, first, stages):
        """Whether the tests ended in time, and the processor time; None where there is no such process."""
        try:
            os.write(self.write, json.dumps([first, stages]).encode("ascii") + b"\n")
            return json.loads(self.read.readline().decode("ascii"))
        except (OSError, ValueError):
            return None, 0.0

    def close(self):
        self.read.close()
        os.close(self.write)


def load_and_run(request, first, stages):
    """All that a plain run does, of the first tests and of the others if these tell of anything."""
    files, wanted = request["files"], set(request["tests"])
    with Failures(wanted) as failures:
        if first:
            named = [name for name in files if any(test.startswith(name) for test in first)]
            ssr_driver.run(named or files, REPORT, only=first, failed=failures.note)
            if not failures.tell(stages):
                return
        ssr_driver.run(files, REPORT + ".rest", only=wanted - set(first), failed=failures.note)


def loaded_files():
    """Of each loaded module: where its file really is, and what it is called."""
    names = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return {os.path.realpath(name): name for name in names if name}


class Failures:
    """Where tests stop, written down as it is known."""

    def __init__(self, wanted):
        self.wanted, self.reached = wanted, {}

    def __enter__(self):
        self.out = open(STAGES, "w", encoding="ascii")
        return self

    def __exit__(self, *_):
        self.out.close()

    def note(self, test, error, trace):
        where = ssr_screen.stage(test, error, trace) if test in self.wanted else None
        if where:
            self.reached[test] = where
            self.out.write(json.dumps({test: where}) + "\n")
            self.out.flush()

    def tell(self, before):
        """Whether a test passes, or comes further than before."""
        further = any(test in before and where > before[test] for test, where in self.reached.items())
        return further or any(line.get("outcome") == "passed" for line in lines(REPORT))


class Server:
    def __init__(self, request):
        self.request = request
        self.wanted = set(request["tests"])
        # Standard input and output are ours; what is loaded has neither.
        self.requests, self.replies = os.fdopen(os.dup(0), "rb"), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.close(nothing)
        self.fresh = []
        self.fork_fresh()
        if self.fresh[0].mine:
            try:
                load_and_run(request, *self.fresh[0].mine)
            finally:
                os._exit(0)
        self.told = 0.0
        self.called = Called()

    def fork_fresh(self):
        ours = [self.requests.fileno(), self.replies]
        for other in self.fresh:
            ours += [other.read.fileno(), other.write]
        self.fresh.append(Fresh(self.request, ours))

    def reply(self, used=0.0, **answer):
        own = time.process_time()
        answer["cpu"], self.told = used + own - self.told, own
        line = json.dumps(answer).encode("ascii") + b"\n"
        while line:
            line = line[os.write(self.replies, line):]

    def serve(self, tests):
        """`tests`: names of those that are loaded. Before it `run` is set, which runs the tests of some names,
        and `before`, which is called before each fork."""
        self.called.end()
        missing = sorted(self.wanted - set(tests))
        if missing:
            raise SystemExit("tests are not loaded: %s" % ", ".join(missing[:3]))
        os.makedirs(RUN, exist_ok=True)
        self.loaded, self.files = Loaded(self.called), ssr_fork.Files()
        # No two versions of a file share a time: what was written of another one is not taken for it.
        self.place = ssr_place.Place(RUN, False)
        gc.collect()
        getattr(gc, "freeze", int)()
        first, used, dirty = self.trial({}, [], {})
        self.reply(used, ready=True, trials=[first], dirty=dirty)
        for line in self.requests:
            asked = json.loads(line.decode("utf-8"))
            trials, spent, dirty = [], 0.0, []
            for changes in asked["candidates"]:
                found, used, dirty = self.trial(changes, asked["first"], asked["stages"])
                trials.append(found)
                spent += used
                if dirty or (found and self.wanted <= set(found["passed"])):
                    break
            self.reply(spent, trials=trials, dirty=dirty)
        os._exit(0)

    def trial(self, changes, first, stages):
        try:
            replaced = self.loaded.replaced(changes)
        except Unfit:
            replaced = None
        try:
            self.files.lay(changes)
        except (ssr_fork.Unfit, OSError):
            self.files.restore()
            return None, 0.0, []
        for path in (REPORT, REPORT + ".rest", STAGES):
            if os.path.exists(path):
                os.unlink(path)
        if replaced is not None:
            ended, used = self.in_place(replaced, first, stages)
        else:
            changed = [os.path.realpath(path) for path in changes]
            fitting = [fresh for fresh in self.fresh if not any(path in fresh.files for path in changed)]
            ended, used = fitting[-1].ask(first, stages)
        ssr_fork.kill_all(spare=[fresh.pid for fresh in self.fresh])
        try:
            self.files.restore()
            dirty = self.place.clean(changes)
        except OSError as error:
            dirty = [str(error)]
        if ended is None:
            return None, 0.0, ["the process that loads everything is gone"]
        said = lines(REPORT) + lines(REPORT + ".rest")
        reached = {}
        for line in lines(STAGES):
            reached.update(line)
        passed = [line["test"] for line in said if line.get("outcome") == "passed"]
        return {"passed": passed, "timed_out": not ended, "stages": reached}, used, sorted(dirty)[:5]

    def in_place(self, replaced, first, stages):
        self.before()
        child = ssr_fork.fork()
        if child == 0:
            try:
                for function, code in replaced:
                    function.__code__ = code
                self.requests.close()
                os.close(self.replies)
                for fresh in self.fresh:
                    fresh.close()
                sys.dont_write_bytecode = True
                self.play(first, stages)
            finally:
                os._exit(0)
        ended, _, usage = ssr_fork.wait(child, self.request["seconds"])
        return ended, usage.ru_utime + usage.ru_stime

    def play(self, first, before):
        """In the fork: the first tests, and the others if these tell of anything."""
        recorder = self.recorder
        recorder.out.close()  # a file that is only forgotten is a warning, which may be an error
        recorder.out, recorder.pid = open(REPORT, "w", encoding="ascii"), os.getpid()
        with Failures(self.wanted) as failures:
            recorder.failed = failures.note
            if first:
                self.run(set(first))
                if not failures.tell(before):
                    return
            self.run(self.wanted - set(first))


def by_pytest(server):
    import pytest
    request = server.request
    recorder = ssr_driver.Chooser(os.path.join(HERE, "loading"), request["files"], ())
    recorder.only = server.wanted

    class Loop:
        @pytest.hookimpl(tryfirst=True)
        def pytest_collection(self):
            # Here pytest is set up, and nothing of the tree is loaded but `conftest.py` and what it loads.
            server.called.end()
            server.fork_fresh()
            if not server.fresh[-1].mine:
                server.called.begin()

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session):
            capturing = session.config.pluginmanager.getplugin("capturemanager")

            def run(names):
                chosen = [item for item in session.items if ssr_driver.text(item.nodeid) in names]
                for at, item in enumerate(chosen):
                    after = chosen[at + 1] if at + 1 < len(chosen) else None
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)

            def before():
                # What a fork that was ended has written is not the next one's.
                if capturing is not None and capturing.is_globally_capturing():
                    capturing.read_global_capture()

            server.recorder, server.run, server.before = recorder, run, before
            if server.fresh[-1].mine:
                try:
                    server.play(*server.fresh[-1].mine)
                finally:
                    os._exit(0)
            server.serve([ssr_driver.text(item.nodeid) for item in session.items])

    folders = ssr_driver.outermost(request["files"])
    options = ssr_driver.arguments(os.path.join(RUN, "cache")) + ["--"]
    server.called.begin()
    pytest.main(options + folders, plugins=[recorder, Loop()])


def by_unittest(server):
    import unittest
    recorder = ssr_driver.Recorder(os.path.join(HERE, "loading"), ())
    recorder.only = server.wanted
    server.called.begin()
    suites = []
    for path in sorted(server.request["files"]):
        suites.append((path, unittest.defaultTestLoader.loadTestsFromModule(ssr_driver.load(path))))

    def names(suite):
        for test in suite:
            if isinstance(test, unittest.TestSuite):
                yield from names(test)
            else:
                yield recorder.name(test)

    def run(chosen):
        for path, suite in suites:
            recorder.file = path
            ssr_driver.narrowed(suite, lambda test: recorder.name(test) in chosen).run(recorder)

    loaded = []
    for path, suite in suites:
        recorder.file = path
        loaded += names(suite)
    server.recorder, server.run, server.before = recorder, run, lambda: None
    server.serve(loaded)


def main(request):
    if os.getppid() != 1 or os.uname().nodename != "sandbox":
        raise SystemExit("this program kills all other processes and runs in a sandbox only")
    with open(request, encoding="utf-8") as source:
        request = json.load(source)
    os.environ.pop("PYTEST_ADDOPTS", None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ssr_screen.say_less()
    for name in getattr(sys.modules.get("_pytest.config"), "default_plugins", ()):
        importlib.import_module("_pytest." + name)  # every run loads them
    ssr_driver.start(__file__)
    os.makedirs(RUN, exist_ok=True)
    server = Server(request)
    if hasattr(ssr_driver, "Chooser"):
        by_pytest(server)
    else:
        by_unittest(server)


if __name__ == "__main__":
    main(sys.argv[1])
    os._exit(1)
