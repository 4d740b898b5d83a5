"""Tries candidate repairs with a few tests each. argv: request, output.

The framework is imported once; each candidate runs in a fork, in a process group of its own, with a
time limit. One JSON line a candidate; ends after the first that passes every test. A filter only:
what passes here is run again by the script.
"""
import gc
import json
import os
import sys

import ssr_driver
import ssr_fork


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

        first = request["first"]
        if first:
            named = [name for name in request["files"] if any(test.startswith(name) for test in first)]
            ssr_driver.run(named or request["files"], report, only=first, failed=failed)
            if not tells(request, report):
                return
        rest = [test for test in request["tests"] if test not in first]
        ssr_driver.run(request["files"], report + ".rest" if first else report, only=rest, failed=failed)


def tells(request, report):
    """Whether one of the first tests passes, or comes further than without the candidate."""
    before = request["stages"]
    further = [test for test, where in stages(report + ".stages").items()
               if test in before and where > before[test]]
    return bool(further or passed(report))


def say_less():
    """pytest's account of a failure costs more than most tests, and nobody reads it here."""
    arguments = getattr(ssr_driver, "arguments", None)
    if arguments:
        ssr_driver.arguments = lambda scratch: arguments(scratch) + ["--tb=no"]


def main(request, output):
    with open(request, encoding="utf-8") as source:
        request = json.load(source)
    say_less()
    ssr_driver.start(__file__)
    root = os.getcwd() + os.sep
    loaded = [name for name, module in list(sys.modules.items())
              if (getattr(module, "__file__", None) or "").startswith(root)]
    if loaded:
        raise SystemExit("modules of the tree are loaded already: %s" % ", ".join(sorted(loaded)))
    report = os.path.join(os.path.dirname(os.path.abspath(output)), "report")
    wanted = set(request["tests"])
    files = ssr_fork.Files()
    gc.collect()
    getattr(gc, "freeze", gc.collect)()
    with open(output, "w", encoding="ascii") as out:
        for changes in request["candidates"]:
            for old in (report, report + ".rest", report + ".stages"):
                if os.path.exists(old):
                    os.unlink(old)
            files.lay(changes)
            sys.stdout.flush()
            sys.stderr.flush()
            child = ssr_fork.fork()
            if child == 0:
                try:
                    out.close()
                    run_child(request, report)
                finally:
                    os._exit(0)
            ended, _, _ = ssr_fork.wait(child, request["seconds"])
            files.restore()
            found = passed(report) + passed(report + ".rest")
            reached = stages(report + ".stages")
            out.write(json.dumps({"passed": found, "timed_out": not ended, "stages": reached}) + "\n")
            out.flush()
            if ended and wanted <= set(found):
                break


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
