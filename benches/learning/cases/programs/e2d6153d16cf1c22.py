"""Reads the log of the test script on standard input, prints {test id: "passed" | "failed"}.

Tests that were skipped are left out. Ends with status 1 and a reason where there is no report.
"""
import json
import sys

BEGIN = b"--- report begin ---"
END = b"--- report end ---"
NONE = b"--- no report: "


def fail(reason):
    sys.exit("no verdicts: " + reason)


def last(lines, marker):
    return max((n for n, line in enumerate(lines) if line == marker), default=-1)


def block(log):
    """The lines of the last report; what tests print is prefixed, so a marker is the script's own."""
    lines = log.split(b"\n")
    begin, end = last(lines, BEGIN), last(lines, END)
    refused = max((n for n, line in enumerate(lines) if line.startswith(NONE)), default=-1)
    if refused > begin:
        fail(lines[refused][len(NONE):].decode("utf-8", "replace").rstrip("-").rstrip())
    if begin < 0:
        fail("the log holds no report")
    if end < begin:
        fail("the report has no end: the log is cut off or the script was stopped")
    return lines[begin + 1:end]


class Verdicts:
    """Test id to outcome; a second report of an id is kept apart under `id#2`, `id#3` .."""

    def __init__(self):
        self.outcomes = {}

    def add(self, test, outcome):
        name, number = test, 2
        while name in self.outcomes:
            name, number = "%s#%d" % (test, number), number + 1
        self.outcomes[name] = outcome

    def show(self):
        words = {"passed": "passed", "failed": "failed", "error": "failed"}
        chosen = {test: words[outcome] for test, outcome in self.outcomes.items() if outcome in words}
        print(json.dumps(chosen, indent=1, sort_keys=True))


WORDS = {b"ok": "passed", b"FAILED": "failed", b"ignored": "skipped"}


def status(line):
    """Name and outcome of `test NAME ... ok`; None where it is no such line."""
    if not line.startswith(b"test ") or b" ... " not in line:
        return None
    name, word = line[len(b"test "):].rsplit(b" ... ", 1)
    if b" ... ignored, " in line:  # the reason may hold anything
        name, word = line[len(b"test "):].split(b" ... ignored, ", 1)[0], b"ignored"
    for suffix in (b" - should panic", b" - compile fail", b" - compile"):
        if name.endswith(suffix):
            name = name[:-len(suffix)]
    return (name, WORDS[word]) if word in WORDS else None


def main():
    """What each test binary lists and says. Only listed names count."""
    verdicts, files, current, complete = Verdicts(), [], None, False
    for line in block(sys.stdin.buffer.read()):
        word, _, rest = line.partition(b" ")
        if word == b"file":
            current = (rest, {})
            files.append(current)
        elif word == b"broken":
            files.append((rest, None))
        elif word == b"list" and current:
            current[1].setdefault(rest, None)
        elif word == b"line" and current:
            found = status(rest)
            if found and found[0] in current[1]:
                name, outcome = found
                if current[1][name] not in (None, outcome):
                    fail("the report is incomplete: %r has two outcomes" % name.decode("utf-8", "replace"))
                current[1][name] = outcome
        elif line == b"end":
            complete = True
        elif line:
            fail("the report cannot be read: %r" % line[:200])
    if not complete:
        fail("the report is incomplete: it has no last line")
    for file, tests in files:
        file = file.decode("utf-8", "replace")
        if tests is None:
            verdicts.add(file, "error")
            continue
        for name, outcome in sorted(tests.items()):
            name = name.decode("utf-8", "replace")
            if outcome is None:
                fail("the report is incomplete: %r has no outcome" % name)
            verdicts.add("%s::%s" % (file, name), outcome)
    verdicts.show()


main()
