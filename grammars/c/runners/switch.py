"""Builds many versions of functions, or probes, into the programs of CTest's tests and runs these: REQUEST OUTPUT.

The test script configures and builds, so that nothing of that is known here; then each version is one call
of CTest.
"""
import os
import re
import time

import ssr_woven

root = os.path.realpath(os.getcwd())
here = os.path.dirname(os.path.abspath(__file__))
build_directory = os.environ["SSR_BUILD"]
ERROR = re.compile(r"^(?:\| )?([^\s|][^:\n]*):(\d+):(?:\d+:)? (?:fatal )?error: ", re.M)
OUTCOME = re.compile(r"^ *\d+/\d+ +Test +#\d+: (\S.*?) \.+ *(?:\*\*\*)?(\w+)", re.M)
# An assertion of assert.h or of a framework names its own line.
STOP = re.compile(r"(?:^|[\s(/])([\w.+-]+\.(?:c|cc|cpp|cxx)):(\d+)\b")
# Opens with O_WRONLY, O_APPEND and O_CREAT of Linux: headers may not be needed before the file's own.
SUPPORT = rb"""#ifndef SSR_SWITCH
#define SSR_SWITCH
#ifdef __cplusplus
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>
#define SSR_GET std::getenv
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
extern char *getenv(const char *);
extern int open(const char *, int, ...);
extern long write(int, const void *, unsigned long);
extern int close(int);
#pragma GCC diagnostic pop
#define SSR_GET getenv
#endif
__attribute__((unused)) static int ssr_on(void) {
    static int on = -1;
    if (on < 0) {
        const char *text = SSR_GET("SSR_SWITCH");
        on = 0;
        while (text && *text) on = on * 10 + (*text++ - '0');
    }
    return on;
}
__attribute__((unused)) static void ssr_hit(int probe) {
    static unsigned char seen[@BYTES@];
    const char *path;
    char line[16];
    int at = 16, file;
    if (seen[probe / 8] & (1 << probe % 8)) return;
    seen[probe / 8] = (unsigned char)(seen[probe / 8] | (1 << probe % 8));
    path = SSR_GET("SSR_HITS");
    if (!path) return;
    line[--at] = '\n';
    do { line[--at] = (char)('0' + probe % 10); probe /= 10; } while (probe);
    file = open(path, 02001 | 0100, 0600);
    if (file >= 0) { if (write(file, line + at, (unsigned long)(16 - at))) {} close(file); }
}
#endif
"""


def support(request):
    size = len(request.get("probes", [])) // 8 + 1
    return SUPPORT.replace(b"@BYTES@", b"%d" % size)


def build(request):
    said = ssr_woven.run(["bash", os.path.join(here, "test_script.sh")], root, 600) or ""
    errors = []
    for path, line in ERROR.findall(said):
        path = os.path.relpath(os.path.realpath(os.path.join(root, path)), root)
        if path in request["files"]:
            errors.append((path, int(line)))
    if errors:
        return errors, said
    return ([], said) if "--- report begin ---" not in said else (None, "")


def name_of(test):
    return test.split("::", 1)[1]


def ctest(tests, seconds, **variables):
    escaped = [re.sub(r"([^\w])", r"\\\1", name_of(test)) for test in tests]
    pattern = "^(%s)$" % "|".join(escaped)
    return ssr_woven.run(["ctest", "--test-dir", build_directory, "-R", pattern, "--output-on-failure"],
                         root, seconds, **variables)


def attempt(request, number):
    said = ctest(request["tests"], request["seconds"], SSR_SWITCH=number)
    if said is None:
        return set(), {}, True
    outcomes = dict(OUTCOME.findall(said))
    passed = {test for test in request["tests"] if outcomes.get(name_of(test)) == "Passed"}
    stages = {}
    for test in set(request["tests"]) - passed:
        own = os.path.basename(test.split("::")[0])
        lines = [int(line) for file, line in STOP.findall(said) if file == own]
        if lines and len(request["tests"]) == 1:
            stages[test] = [lines[0], True]
    return passed, stages, False


def lines(request, woven):
    found, seconds, hits = {}, {}, os.path.join(here, "hits")
    for test in request["tests"]:
        if os.path.exists(hits):
            os.unlink(hits)
        started, executed = time.monotonic(), {}
        ctest([test], request["seconds"], SSR_HITS=hits)
        seconds[test] = time.monotonic() - started
        if os.path.exists(hits):
            with open(hits, encoding="ascii") as source:
                for probe in source:
                    path, numbers = request["probes"][int(probe)]
                    executed.setdefault(path, set()).update(numbers)
        found[test] = {path: sorted(numbers) for path, numbers in executed.items()}
    left_out = [number for number, group in enumerate(request["groups"]) if woven.is_out(group)]
    return {"imports": {}, "tests": found, "seconds": seconds, "left_out": left_out}


ssr_woven.main(build, attempt, lines, head=support)
