#!/usr/bin/env bash
# Runs the chosen tests with unittest and prints one line of JSON per test between two markers.
# Run it from the root of the source tree. Needs bash and the project's own Python with unittest;
# the variable PYTHON names another interpreter. Exit status 0: a report was printed.
set -u
python=${PYTHON:-python3}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
unset PYTEST_ADDOPTS
# A cache of our own: bytecode that lies beside the sources is never trusted.
export PYTHONPYCACHEPREFIX="${PYTHONPYCACHEPREFIX:-$dir/pycache}"
export PYTHONHASHSEED="${PYTHONHASHSEED:-0}"

cat >"$dir/driver.py" <<'END_OF_DRIVER'
"""Runs unittest on the files named in argv[1] and writes one line of JSON per test to argv[2]."""
import atexit
import gc
import importlib
import importlib.util
import json
import os
import sys
import traceback
import unittest


def text(name):
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


class Recorder(unittest.TestResult):
    """Writes one line a test as it stops; ends with the number of lines.

    A report without the closing line is no report: the process died or the run was stopped.
    """

    def __init__(self, path, excluded):
        super().__init__()
        self.out = open(path, "w", encoding="ascii")
        self.pid = os.getpid()
        self.excluded = set(excluded)
        self.file = "."
        self.only = self.begin = self.end = self.failed = None
        self.outcome = None
        self.lines = 0
        self.bad = False

    def write(self, **line):
        if os.getpid() == self.pid:
            self.bad |= line.get("outcome") in ("failed", "error")
            self.out.write(json.dumps(line) + "\n")
            self.out.flush()
            self.lines += 1

    def name(self, test):
        method = getattr(test, "_testMethodName", None)
        if isinstance(test, unittest.TestCase) and method and not hasattr(test, "_testFunc"):
            return text("::".join([self.file, type(test).__qualname__, method]))
        return text("%s::%s" % (self.file, test.id()))

    def set(self, test, outcome, error=None):
        if error:
            print("".join(traceback.format_exception(*error)))
            if self.failed:
                self.failed(self.name(test), error[1], error[2])
        if self.outcome is None:  # a fixture of a class or a module, not a test
            if isinstance(test, unittest.TestCase):
                return
            self.write(test=text("%s::%s" % (self.file, test.id())), outcome=outcome)
        else:
            order = ["passed", "skipped", "error", "failed"]
            self.outcome = max(self.outcome, outcome, key=order.index)

    def startTest(self, test):
        super().startTest(test)
        self.outcome = "passed"
        if self.begin:
            self.begin(self.name(test))

    def stopTest(self, test):
        if self.end:
            self.end(self.name(test))
        if self.outcome is not None:  # Python 3.12.1 stops skipped tests that it did not start
            self.write(test=self.name(test), outcome=self.outcome)
        self.outcome = None
        super().stopTest(test)

    def addFailure(self, test, err):
        self.set(test, "failed", err)

    def addError(self, test, err):
        self.set(test, "error", err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.set(test, "failed" if issubclass(err[0], test.failureException) else "error", err)

    def addSkip(self, test, reason):
        if self.outcome is None and isinstance(test, unittest.TestCase):  # a skipped class
            self.write(test=self.name(test), outcome="skipped")
        elif not hasattr(test, "test_case"):  # else a skipped subtest
            self.set(test, "skipped")

    def addExpectedFailure(self, test, err):
        self.set(test, "skipped")

    def addUnexpectedSuccess(self, test):
        self.set(test, "failed")

    def chosen(self, test):
        name = self.name(test)
        return (self.only is None or name in self.only) and name not in self.excluded


def load(path):
    """Imports a test file as unittest's discovery names it: below the first directory that is no package."""
    folder, stem = os.path.split(os.path.abspath(path)[:-len(".py")])
    parts = [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, part = os.path.split(folder)
        parts.insert(0, part)
    if folder not in sys.path:
        sys.path.insert(1, folder)
    name = ".".join(parts)
    module = importlib.import_module(name)
    if os.path.realpath(getattr(module, "__file__", None) or "") == os.path.realpath(path):
        return module
    # Another file has that name already.
    spec = importlib.util.spec_from_file_location("%s_%x" % (parts[-1], abs(hash(path))), path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def narrowed(suite, chosen):
    if not isinstance(suite, unittest.TestSuite):
        return suite if chosen(suite) else None
    kept = [narrowed(test, chosen) for test in suite]
    return type(suite)([test for test in kept if test is not None])


def start(program):
    """As `python -m unittest` does, but only now: nothing in the tree can pose as unittest."""
    here = os.path.dirname(os.path.abspath(program))
    sys.path[:] = [os.getcwd()] + [entry for entry in sys.path if os.path.abspath(entry) != here]
    getattr(gc, "freeze", int)()  # what is loaded by now stays: no collection need look at it


def run(files, report, excluded=(), only=None, begin=None, end=None, failed=None):
    """Runs tests in this process. `begin` and `end` are called with a test's id around it, `failed`
    with its id, the exception and its traceback. Returns 1 where a test failed, else 0."""
    recorder = Recorder(report, excluded)
    recorder.only = None if only is None else set(only)
    recorder.begin, recorder.end, recorder.failed = begin, end, failed
    suites = []
    for path in sorted(files):  # as discovery does: everything is imported before anything runs
        if not os.path.isfile(path):
            continue
        try:
            suites.append((path, unittest.defaultTestLoader.loadTestsFromModule(load(path))))
        except unittest.SkipTest:
            recorder.write(test=text(path), outcome="skipped")
        except KeyboardInterrupt:
            raise
        except BaseException:
            traceback.print_exc(file=sys.stdout)
            recorder.write(test=text(path), outcome="error")
    for path, suite in suites:
        recorder.file = path
        narrowed(suite, recorder.chosen).run(recorder)
    recorder.write(end=recorder.lines)
    return int(recorder.bad)


def leave(status):
    """Ends as the interpreter does, but for taking itself apart: the report is written by then."""
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()  # and the status is still that of the tests
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    start(__file__)
    with open(sys.argv[1], encoding="utf-8") as source:
        chosen = json.load(source)
    leave(run(chosen["files"], sys.argv[2], chosen["excluded"]))
END_OF_DRIVER

cat >"$dir/tests.json" <<'END_OF_TESTS'
{
  "files": [
    "tests/test_evaluator.py",
    "tests/test_exceptions.py",
    "tests/test_extending_the_class.py",
    "tests/test_method_chaining.py",
    "tests/test_module_wrapper.py",
    "tests/test_reference_cleanup.py",
    "tests/test_security.py",
    "tests/test_simple_eval_function.py"
  ],
  "excluded": []
}
END_OF_TESTS

# Whatever the tests print stands behind "| ", so that it cannot be taken for a report.
show() {
    if [ "$(wc -c <"$dir/output")" -le 400000 ]; then
        cat "$dir/output"
    else
        head -c 200000 "$dir/output"
        printf '\n(output left out)\n'
        tail -c 200000 "$dir/output"
    fi | LC_ALL=C sed 's/^/| /'
    printf '\n'
}
trap 'show; exit 143' TERM

"$python" --check-hash-based-pycs always "$dir/driver.py" "$dir/tests.json" "$dir/report" \
    >"$dir/output" 2>&1 </dev/null &
wait $!
status=$?
show
if [ ! -s "$dir/report" ]; then
    printf -- '--- no report: %s ended with status %s ---\n' unittest "$status"
    exit 1
fi
# The driver ends with 1 where a test failed: a report that says otherwise was changed since.
if [ "$status" -eq 1 ] && ! grep -Eq '"outcome": "(failed|error)"|"stopped": ' "$dir/report"; then
    printf -- '--- no report: %s ended with status 1, but its report tells of no failure ---\n' unittest
    exit 1
fi
printf -- '--- report begin ---\n'
cat "$dir/report"
printf '\n--- report end ---\n'
