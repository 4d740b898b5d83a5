#!/usr/bin/env bash
# Runs the chosen tests with pytest and prints one line of JSON per test between two markers.
# Run it from the root of the source tree. Needs bash and the project's own Python with pytest;
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
"""Runs pytest on the files named in argv[1] and writes one line of JSON per test to argv[2]."""
import atexit
import gc
import json
import os
import sys
import traceback

import pytest

ORDER = ["passed", "skipped", "error", "failed"]


def text(name):
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


class Recorder:
    """Merges the reports of a test's phases into one outcome; ends with the number of lines.

    A report without the closing line is no report: the process died or the session was stopped.
    """

    def __init__(self, path, files, excluded):
        self.root = os.getcwd()
        self.files = set(files)
        self.folders = {os.path.dirname(name) or "." for name in files}
        for folder in list(self.folders):
            while folder not in ("", "."):
                folder = os.path.dirname(folder)
                self.folders.add(folder or ".")
        self.excluded = set(excluded)
        self.only = self.begin = self.end = self.failed = None
        self.out = open(path, "w", encoding="ascii")
        self.pid = os.getpid()
        self.outcomes = {}
        self.expected = 0
        self.finished = 0
        self.lines = 0
        self.bad = False

    def write(self, **line):
        if os.getpid() == self.pid:
            self.bad |= line.get("outcome") in ("failed", "error")
            self.out.write(json.dumps(line) + "\n")
            self.out.flush()
            self.lines += 1

    def ignores(self, path):
        name = os.path.relpath(str(path), self.root).replace(os.sep, "/")
        if os.path.isdir(str(path)):
            return None if name in self.folders else True
        if name in self.files or os.path.basename(name) == "__init__.py":
            return None
        return True

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        def chosen(item):
            name = text(item.nodeid)
            listed = self.only is None or name in self.only
            return listed and item.nodeid.split("::")[0] in self.files and name not in self.excluded

        dropped = [item for item in items if not chosen(item)]
        if dropped:
            items[:] = [item for item in items if chosen(item)]
            config.hook.pytest_deselected(items=dropped)

    def pytest_collection_finish(self, session):
        self.expected = len(session.items)

    def pytest_collectreport(self, report):
        if report.failed or (report.skipped and report.nodeid):
            outcome = "error" if report.failed else "skipped"
            self.write(test=text(report.nodeid or "."), outcome=outcome)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        if self.begin:
            self.begin(text(item.nodeid))
        yield
        if self.end:
            self.end(text(item.nodeid))

    def pytest_runtest_logreport(self, report):
        outcome = report.outcome
        if hasattr(report, "context") and outcome != "failed":
            return  # a subtest: only its failure says something about the test
        if outcome == "passed" and hasattr(report, "wasxfail"):
            outcome = "skipped"
        if outcome == "failed" and report.when != "call":
            outcome = "error"
        if outcome in ORDER:
            before = self.outcomes.get(report.nodeid, "passed")
            self.outcomes[report.nodeid] = max(before, outcome, key=ORDER.index)

    def pytest_exception_interact(self, node, call, report):
        if self.failed and call.excinfo is not None:
            self.failed(text(node.nodeid), call.excinfo.value, call.excinfo.tb)

    def pytest_runtest_logfinish(self, nodeid):
        self.finished += 1
        self.write(test=text(nodeid), outcome=self.outcomes.pop(nodeid, "error"))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus):
        if int(exitstatus) in (0, 1, 5) and self.finished == self.expected:
            self.write(end=self.lines)
        else:
            self.write(stopped="pytest ended with status %d after %d of %d tests"
                       % (int(exitstatus), self.finished, self.expected))


if int(pytest.__version__.split(".")[0]) >= 7:
    class Chooser(Recorder):
        @pytest.hookimpl(tryfirst=True)
        def pytest_ignore_collect(self, collection_path):
            return self.ignores(collection_path)
else:
    class Chooser(Recorder):
        @pytest.hookimpl(tryfirst=True)
        def pytest_ignore_collect(self, path):
            return self.ignores(path)


def outermost(files):
    """The folders to collect from, none of them inside another."""
    folders = sorted({os.path.dirname(name) or "." for name in files if os.path.isfile(name)})
    if "." in folders:
        return ["."]
    return [f for f in folders if not any(f.startswith(g + "/") for g in folders)]


def arguments(scratch):
    """Options that win over `addopts`: no colour, no early stop, nothing kept, file order."""
    options = ["-q", "--color=no", "--maxfail=0", "--continue-on-collection-errors", "--rootdir=.",
               "-p", "no:randomly", "-p", "no:random_order", "-o", "cache_dir=" + scratch]
    named = os.environ.get("PYTEST_PLUGINS", "")
    if "xdist" in named or not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        try:
            import xdist  # noqa: F401
            options.append("-n0")
        except ImportError:
            pass
    return options


def start(program):
    """As `python -m pytest` does, but only now: nothing in the tree can pose as pytest."""
    here = os.path.dirname(os.path.abspath(program))
    sys.path[:] = [os.getcwd()] + [entry for entry in sys.path if os.path.abspath(entry) != here]
    getattr(gc, "freeze", int)()  # what is loaded by now stays: no collection need look at it


def run(files, report, excluded=(), only=None, begin=None, end=None, failed=None):
    """Runs tests in this process. `begin` and `end` are called with a test's id around it, `failed`
    with its id, the exception and its traceback. Returns 1 where a test failed, and else something else."""
    folders = outermost(files)
    if not folders:
        raise SystemExit("none of the test files exists")
    recorder = Chooser(report, files, excluded)
    recorder.only = None if only is None else set(only)
    recorder.begin, recorder.end, recorder.failed = begin, end, failed
    options = arguments(os.path.join(os.path.dirname(report), "cache"))
    status = int(pytest.main(options + ["--"] + folders, plugins=[recorder]))
    return status if status > 1 else int(recorder.bad)


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
    "tests/test_01_util.py",
    "tests/test_02_gitignore_base.py",
    "tests/test_03_gitignore_basic.py",
    "tests/test_04_gitignore_spec.py",
    "tests/test_05_pathspec.py",
    "tests/test_06_gitignore.py"
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
    printf -- '--- no report: %s ended with status %s ---\n' pytest "$status"
    exit 1
fi
# The driver ends with 1 where a test failed: a report that says otherwise was changed since.
if [ "$status" -eq 1 ] && ! grep -Eq '"outcome": "(failed|error)"|"stopped": ' "$dir/report"; then
    printf -- '--- no report: %s ended with status 1, but its report tells of no failure ---\n' pytest
    exit 1
fi
printf -- '--- report begin ---\n'
cat "$dir/report"
printf '\n--- report end ---\n'
