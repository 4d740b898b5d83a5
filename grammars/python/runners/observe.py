"""Runs tests on edits of one file and tells what the tests saw of them. argv: request, output.

While a test runs, every call of the file's functions that begins outside of the file is recorded, and every
outermost call of the edited function: arguments, result or exception, and the arguments afterwards, as
text that holds no address, no order of a set, and calls no code of the tree. What differs between runs of
the original is no evidence; what is the same in all of them and different in every run of the edit is.

One JSON line an edit: "invalid" (does not compile), "failed" (tests that passed do not), "timeout",
"same", "unstable" (it differed once, and not again) or "different", with one place that shows it.
"""
import base64
import dis
import gc
import json
import os
import random
import shutil
import sys
import threading
import time

import ssr_describe
import ssr_driver
import ssr_fork

ORIGINALS = 3  # before the first edit; one more follows each edit that seems to differ
AGAIN = 2  # runs of such an edit beside its first
MOST_CALLS = 200  # recorded of one function in one test
MOST_ALL = 60000  # recorded in one run
ENDS = {dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE", "RETURN_GENERATOR",
                                     "INSTRUMENTED_RETURN_VALUE", "INSTRUMENTED_YIELD_VALUE",
                                     "INSTRUMENTED_RETURN_CONST", "YIELD_FROM") if name in dis.opmap}
YIELDS = {dis.opmap[name] for name in ("YIELD_VALUE", "YIELD_FROM", "INSTRUMENTED_YIELD_VALUE")
          if name in dis.opmap}
OPAQUE = ("<module>", "<listcomp>", "<setcomp>", "<dictcomp>")
# Fields of a record.
NAME, ARGUMENTS, KIND, OUTCOME, AFTER = range(5)


class Watch:
    """Records calls of one file's functions. `units`: first and last lines of its outermost functions."""

    def __init__(self, path, units, only):
        self.path = os.path.abspath(path)
        self.units = units
        self.only = only  # the unit whose calls from inside the file are of interest; -1: of all units
        self.mine = {}  # file name of a code object to whether it is the file
        self.of_code = {}
        self.active = threading.local()
        self.records = {}
        self.test = None
        self.left = MOST_ALL

    def begin(self, test):
        self.test = test
        self.records.setdefault(test, {})
        self.active.__dict__.clear()
        threading.settrace(self.on_call)
        sys.settrace(self.on_call)

    def end(self, test):
        sys.settrace(None)
        threading.settrace(None)
        self.test = None

    def is_mine(self, code):
        name = code.co_filename
        if name not in self.mine:
            self.mine[name] = os.path.abspath(name) == self.path
        return self.mine[name]

    def unit(self, code):
        if code not in self.of_code:
            line = code.co_firstlineno
            found = [n for n, (first, last) in enumerate(self.units) if first <= line <= last]
            self.of_code[code] = found[0] if found and code.co_name not in OPAQUE else None
        return self.of_code[code]

    def on_call(self, frame, event, arg):
        try:
            return self.called(frame)
        except Exception:  # what is raised here would be raised in the code that is watched
            return None

    def called(self, frame):
        code, test = frame.f_code, self.test  # which may end while a thread is here
        if not self.is_mine(code):
            return None
        unit = self.unit(code)
        if unit is None:
            return None
        begins = frame.f_trace is None  # else a generator goes on
        frame.f_trace_lines = False
        active = self.active.__dict__
        above = active.get(unit, 0)
        active[unit] = above + 1
        back = frame.f_back
        outside = back is None or not self.is_mine(back.f_code)
        streams, name = [], getattr(code, "co_qualname", code.co_name)
        if test is not None and self.left > 0:
            # An inner call, or a closure that runs while its function does, is the function's own affair.
            if outside:
                streams.append("outside " + name)
            if above == 0 and self.only in (-1, unit):
                streams.append("%d %s" % (unit, name))
        streams = [self.records[test].setdefault(name, []) for name in streams]
        return self.local(frame, unit, streams, name, begins)

    def local(self, frame, unit, streams, name, begins):
        code = frame.f_code
        streams = [stream for stream in streams if len(stream) < MOST_CALLS]
        arguments, said = {}, ""
        if streams:
            self.left -= 1
            record = [name, "", "lost", "", ""]
            for stream in streams:
                stream.append(record)
            if begins:
                arguments = arguments_of(frame)
                record[ARGUMENTS] = said = ssr_describe.arguments(arguments)
            else:
                record[ARGUMENTS] = "(goes on)"
        raised = None

        def trace(frame, event, arg):
            try:
                note(frame, event, arg)
            except Exception:
                pass
            return trace

        def note(frame, event, arg):
            nonlocal raised
            if event == "exception":
                raised = arg[:2] if streams else None
            elif event == "return":
                active = self.active.__dict__
                active[unit] = active.get(unit, 1) - 1
                if streams:
                    opcode = code.co_code[frame.f_lasti]
                    if opcode in ENDS and not (opcode in YIELDS and raised and arg is None):
                        record[KIND] = "yields" if opcode in YIELDS else "returns"
                        record[OUTCOME] = ssr_describe.value(arg)
                    elif raised:
                        record[KIND] = "raises"
                        record[OUTCOME] = ssr_describe.exception(*raised)
                    # The very same text, where nothing changed, is kept once.
                    after = ssr_describe.arguments(arguments) if arguments else ""
                    record[AFTER] = said if after == said else after

        return trace


def arguments_of(frame):
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    values = frame.f_locals
    return {name: values[name] for name in code.co_varnames[:count] if name in values}


class Found:
    """One difference that every run shows. Lower ranks say more."""

    KINDS = ("result", "result", "arguments", "result", "result", "arguments", "private", "private")

    def __init__(self, rank, test, at, before, after, field):
        self.rank, self.test, self.at, self.before, self.after, self.field = rank, test, at, before, after, field

    def told(self):
        before, after = self.before[self.field], self.after[self.field]
        if self.field == OUTCOME:
            before, after = self.before[KIND] + " " + before, self.after[KIND] + " " + after
        if self.rank < 6:
            before, after = ssr_describe.public(before), ssr_describe.public(after)
        before, after = ssr_describe.around(before, after)
        arguments = ssr_describe.shortened(ssr_describe.public(self.before[ARGUMENTS]))
        return {"test": self.test, "function": self.before[NAME], "call": self.at + 1, "arguments": arguments,
                "kind": self.KINDS[self.rank], "outside": self.rank in (0, 1, 2, 6), "before": before, "after": after}


def compare(originals, edits, unit):
    """The difference that says most; None where there is none."""
    best = None
    for test in sorted(edits[0]):
        for name in sorted(edits[0][test]):
            base = 0 if name.startswith("outside ") else 3
            if base and not name.startswith("%s " % unit):
                continue
            before = [run.get(test, {}).get(name, []) for run in originals]
            after = [run.get(test, {}).get(name, []) for run in edits]
            for at in range(min(len(run) for run in before + after)):
                found = at_one(test, at, base, [run[at] for run in before], [run[at] for run in after])
                if found and (best is None or found.rank < best.rank):
                    best = found
    return best


def at_one(test, at, base, before, after):
    one, other = before[0], after[0]
    # Which number a hash is says nothing: only that equal values have equal ones does.
    if one[NAME] != other[NAME] or "lost" in (one[KIND], other[KIND]) or one[NAME].endswith("__hash__"):
        return None

    def differs(fields, seen):
        texts = [tuple(seen(record[field]) for field in fields) for record in before + after]
        olds, news = set(texts[:len(before)]), set(texts[len(before):])
        return len(olds) == 1 and len(news) == 1 and olds != news

    same = ssr_describe.public(one[ARGUMENTS]) == ssr_describe.public(other[ARGUMENTS])
    if differs((KIND, OUTCOME), ssr_describe.public):
        return Found(base if same else base + 1, test, at, one, other, OUTCOME)
    if same and differs((AFTER,), ssr_describe.public):
        return Found(base + 2, test, at, one, other, AFTER)
    for field in (OUTCOME, AFTER) if one[ARGUMENTS] == other[ARGUMENTS] else (OUTCOME,):
        if differs((field,), str):
            return Found(6 if base == 0 else 7, test, at, one, other, field)
    return None


class Runs:
    """Runs of the test files, each in a fork that has loaded nothing of the tree."""

    def __init__(self, request, scratch):
        self.request = request
        self.part = os.path.join(scratch, "part")
        self.report = os.path.join(scratch, "report")
        self.scratch = scratch
        self.files = ssr_fork.Files()
        self.number = 0
        self.seconds = request["seconds"]
        self.temporary = set(os.listdir("/tmp"))

    def run(self, content, units, only, wanted=()):
        """The tests that passed and the records; None where the time was up. Ends with the first of the
        wanted tests that fails: `passed` then lacks it, and there are no records."""
        self.number += 1
        for old in (self.part, self.report):
            if os.path.exists(old):
                os.unlink(old)
        self.files.lay({self.request["path"]: content} if content else {})
        sys.stdout.flush()
        child = ssr_fork.fork()
        if child == 0:
            try:
                self.child(units, only, wanted)
            finally:
                os._exit(0)
        ended, _, _ = ssr_fork.wait(child, self.seconds)
        self.files.restore()
        for name in set(os.listdir("/tmp")) - self.temporary:
            path = os.path.join("/tmp", name)
            shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.unlink(path)
        if not ended:
            return None
        records = {}
        if os.path.exists(self.part):
            with open(self.part, encoding="utf-8") as source:
                records = json.load(source)
        return passed(self.report), records

    def child(self, units, only, wanted):
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        random.seed(0)
        # Addresses differ from run to run, so that what hangs on them does, too.
        kept = [bytearray(64 + 16 * (n % 7)) for n in range(self.number * 997 % 5000)]
        watch = Watch(self.request["path"], units, only)

        def failed(test, error, trace):
            if test in wanted:
                os._exit(0)

        try:
            ssr_driver.run(self.request["files"], self.report, excluded=self.request["excluded"],
                           begin=watch.begin, end=watch.end, failed=failed)
        except SystemExit:
            pass
        with open(self.part + ".new", "w", encoding="utf-8", errors="backslashreplace") as out:
            json.dump(watch.records, out)
        os.rename(self.part + ".new", self.part)
        del kept[:]


def passed(report):
    found = set()
    try:
        with open(report, encoding="ascii") as source:
            for line in source:
                entry = json.loads(line)
                if entry.get("outcome") == "passed":
                    found.add(entry["test"])
    except (OSError, ValueError):
        pass
    return found


class Observer:
    def __init__(self, request, scratch):
        self.request = request
        self.runs = Runs(request, scratch)
        self.units = request["units"]
        self.originals = []
        started = time.monotonic()
        self.wanted = self.original()
        took = time.monotonic() - started
        if self.wanted is not None:
            self.runs.seconds = min(request["seconds"], 2 + 4 * took)
            for _ in range(ORIGINALS - 1):
                self.original()

    def original(self):
        run = self.runs.run(None, self.units, -1)
        if run is not None:
            self.originals.append(run[1])
            return run[0]
        return None

    def shifted(self, edit):
        line, added = edit["last"], edit["added"]
        move = lambda number: number + added if number > line else number  # noqa: E731
        return [(move(first), move(last) if last > line else max(last + added, first) if first <= line <= last else last)
                for first, last in self.units]

    def judge(self, edit):
        content = base64.b64decode(edit["content"])
        try:
            compile(content, self.request["path"], "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return {"outcome": "invalid"}
        units, unit = self.shifted(edit), edit["unit"]
        only = -2 if unit is None else unit
        first = self.runs.run(edit["content"], units, only, self.wanted)
        if first is None:
            return {"outcome": "timeout"}
        failed = sorted(self.wanted - first[0])
        if failed:
            return {"outcome": "failed"}
        if compare(self.originals, [first[1]], unit) is None:
            return {"outcome": "same"}
        edits = [first[1]]
        for _ in range(AGAIN):
            again = self.runs.run(edit["content"], units, only)
            if again is None or self.wanted - again[0]:
                return {"outcome": "unstable"}
            edits.append(again[1])
        self.original()
        found = compare(self.originals, edits, unit)
        if found is None:
            return {"outcome": "unstable"}
        return dict(found.told(), outcome="different")


def main(request, output):
    with open(request, encoding="utf-8") as source:
        request = json.load(source)
    if os.uname().nodename != "sandbox":
        raise SystemExit("this program empties /tmp and runs in a sandbox only")
    ssr_driver.start(__file__)
    root = os.getcwd() + os.sep
    loaded = [name for name, module in list(sys.modules.items())
              if (getattr(module, "__file__", None) or "").startswith(root)]
    if loaded:
        raise SystemExit("modules of the tree are loaded already: %s" % ", ".join(sorted(loaded)))
    gc.collect()
    getattr(gc, "freeze", gc.collect)()
    observer = Observer(request, os.path.dirname(os.path.abspath(output)))
    with open(output, "w", encoding="ascii") as out:
        if not observer.wanted:
            return
        for edit in request["edits"]:
            answer = observer.judge(edit)
            answer["number"] = edit["number"]
            out.write(json.dumps(answer) + "\n")
            out.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
