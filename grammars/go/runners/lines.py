"""Tells which lines each test executes: REQUEST.json OUTPUT, one JSON object a package.

A package's test binary is built once, with go's own coverage, and run once a test.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from ssr_driver import by_package, go, inside, objects, root

SUBTESTS = 300
RAN = re.compile(r"^=== RUN +(\S+/\S+)$", re.M)
TEST = re.compile(r"^func ((?:Test|Example|Fuzz)[^ (]*)\(", re.M)


def executed(profile, directories):
    """File to the lines of the blocks that were entered."""
    lines = {}
    for line in profile.splitlines()[1:]:
        found = re.match(r"(.*)/([^/]*):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$", line)
        if found and found[5] != "0" and found[1] in directories:
            path = inside(directories[found[1]], found[2])
            if path:
                lines.setdefault(path, set()).update(range(int(found[3]), int(found[4]) + 1))
    return {path: sorted(numbers) for path, numbers in lines.items()}


def profiled(binary, parts, name, profile, directories):
    """What one test executes, and the names of the subtests that ran below it."""
    if os.path.exists(profile):
        os.remove(profile)
    pattern = "/".join("^%s$" % re.escape(part) for part in parts)
    try:
        done = subprocess.run([binary, "-test.v", "-test.run", pattern, "-test.coverprofile", profile],
                              cwd=os.path.join(root, os.path.dirname(name)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return {}, []
    ran = [found for found in RAN.findall(done.stdout.decode("utf-8", "replace")) if len(parts) == 1]
    if not os.path.exists(profile):
        return {}, ran
    with open(profile, encoding="utf-8", errors="replace") as file:
        return executed(file.read(), directories), ran


def measure(module, package, names, only, place):
    binary, profile = os.path.join(place, "test"), os.path.join(place, "profile")
    listed = list(objects(go(module, "list", "-e", "-json=Dir,ImportPath", "./...")))
    directories = {found["ImportPath"]: found["Dir"] for found in listed}
    if os.path.exists(binary):
        os.remove(binary)
    go(module, "test", "-c", "-vet=off", "-cover", "-coverpkg=./...", "-o", binary, package)
    tests = {}
    for name in names if os.path.exists(binary) else []:
        with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
            functions = TEST.findall(file.read())
        for function in functions:
            own = "%s::%s" % (name, function)
            wanted = None if only is None else [test for test in only if test == own or test.startswith(own + "/")]
            if wanted == []:
                continue
            told, ran = profiled(binary, [function], name, profile, directories)
            if wanted is None or own in wanted:
                tests[own] = told
            below = ran if wanted is None else [test[len(name) + 2:] for test in wanted if test != own]
            for subtest in below[:SUBTESTS]:
                told, _ = profiled(binary, subtest.split("/"), name, profile, directories)
                tests["%s::%s" % (name, subtest)] = told
    return tests


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    with open(sys.argv[2], "w", encoding="utf-8") as output, tempfile.TemporaryDirectory() as place:
        for (module, package), names in by_package(request["files"]).items():
            tests = measure(module, package, names, request["only"], place)
            output.write(json.dumps({"imports": {}, "tests": tests}) + "\n")


main()
