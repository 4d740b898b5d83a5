"""Builds many versions of functions into one test binary a package and runs tests on each: REQUEST OUTPUT."""
import os
import re
import subprocess

import ssr_woven
from ssr_driver import by_package, root

SUPPORT = b"""
import ssrOs "os"

var ssrOn = ssrRead()

func ssrRead() int {
	on := 0
	for _, digit := range ssrOs.Getenv("SSR_SWITCH") {
		on = on*10 + int(digit-'0')
	}
	return on
}
"""
ERROR = re.compile(r"^(?:vet: )?([^\s:][^:\n]*\.go):(\d+):(?:\d+:)? ", re.M)
STATE = re.compile(r"^\s*(?:=== (?:RUN|CONT|NAME) +|--- (PASS|FAIL|SKIP): )(\S+)")
STOP = re.compile(r"^ +(?:[^\s:]*/)?([^\s/:]+_test\.go):(\d+): ")
TRACE = re.compile(r"^\t(?:\S*/)?([^\s/:]+_test\.go):(\d+)")
binaries = {}


def results(header):
    """Whether a function that its head ends like this gives anything back."""
    head = header[header.rfind(b"\nfunc ") + 1:].rstrip()
    at, depth, groups, last = len(b"func "), 0, 0, 0
    receiver = head[at:at + 1] == b"("
    for place in range(at, len(head)):
        depth += {b"(": 1, b"[": 1, b")": -1, b"]": -1}.get(head[place:place + 1], 0)
        if depth == 0 and head[place:place + 1] == b")":
            groups += 1
            if groups == (2 if receiver else 1):
                last = place + 1
                break
    return bool(head[last:].strip())


def fit(before, piece):
    if results(before):
        return piece
    return piece[:piece.rfind(b"}")] + b"\nreturn\n}"


def packages(request):
    return by_package(sorted({test.split("::")[0] for test in request["tests"]}))


def build(request):
    for path in request["files"]:
        with open(path, "rb") as source:
            name = re.search(rb"^package[ \t]+\w+", source.read(), re.M)
        if not name:
            return [], "no package in " + path
        with open(os.path.join(os.path.dirname(path), "zz_ssr_switch.go"), "wb") as out:
            out.write(name[0] + b"\n" + SUPPORT)
    errors, said = [], ""
    for number, ((module, package), _) in enumerate(packages(request).items()):
        place = os.path.join(root, module)
        name = subprocess.run(["go", "list", "-m"], cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False).stdout.decode("utf-8", "replace").strip()
        binary = os.path.join(os.path.dirname(os.path.abspath(__file__)), "test%d" % number)
        done = subprocess.run(["go", "test", "-c", "-vet=off", "-gcflags=%s/...=-e" % name, "-o", binary, package],
                              cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        text = done.stdout.decode("utf-8", "replace")
        if done.returncode:
            said += text
            errors += [(os.path.relpath(os.path.join(place, path), root), int(line))
                       for path, line in ERROR.findall(text)]
        binaries[module, package] = binary
    return (errors, said) if said else (None, "")


def ids_of(request, names):
    """The asked tests of a package's files, by the name that the binary has for them."""
    found = {}
    for test in request["tests"]:
        name, _, function = test.partition("::")
        if name in names:
            found.setdefault(function, []).append(test)
    return found


def read(said, wanted, passed, stages):
    """Notes what a binary says of its tests; the names that came to an end."""
    ended, current = set(), ""
    for line in said.splitlines():
        state, stop = STATE.match(line), STOP.match(line) or TRACE.match(line)
        if state:
            current = state[2]
            if state[1]:
                ended.add(current)
            if state[1] == "PASS":
                passed.update(wanted.get(current, []))
        elif stop:
            for test in wanted.get(current, []):
                if os.path.basename(test.split("::")[0]) == stop[1]:
                    stages.setdefault(test, [int(stop[2]), not line.startswith("\t")])
    return ended


def attempt(request, number):
    passed, stages, timed_out = set(), {}, False
    for (module, package), names in packages(request).items():
        wanted = ids_of(request, names)
        open_tests = sorted({name.split("/")[0] for name in wanted})
        # One that panics takes those after it along: these run again, by themselves.
        for tests in [open_tests] + [[name] for name in open_tests]:
            if tests is not open_tests and not (len(open_tests) > 1 and tests[0] in missing):
                continue
            pattern = "^(%s)$" % "|".join(re.escape(name) for name in tests)
            said = ssr_woven.run([binaries[module, package], "-test.v", "-test.run", pattern],
                                 os.path.join(root, os.path.dirname(names[0])), request["seconds"],
                                 SSR_SWITCH=number)
            if said is None:
                return passed, stages, True
            ended = read(said, wanted, passed, stages)
            if tests is open_tests:
                missing = set(open_tests) - ended
    return passed, {test: stage for test, stage in stages.items() if test not in passed}, timed_out


ssr_woven.main(build, attempt, fit=fit)
