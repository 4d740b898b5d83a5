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


def main():
    """One JSON object a test, then one with the number of those."""
    verdicts, complete, count = Verdicts(), False, 0
    for line in block(sys.stdin.buffer.read()):
        if not line.strip():
            continue
        try:
            entry = json.loads(line.decode("utf-8"))
        except ValueError:
            fail("the report cannot be read: %r" % line[:200])
        if complete or not isinstance(entry, dict):
            fail("the report goes on after its end")
        if "stopped" in entry:
            fail("the report is incomplete: %s" % entry["stopped"])
        if "end" in entry:
            complete = entry["end"] == count
        elif entry.get("outcome") in ("passed", "failed", "error", "skipped") and isinstance(entry.get("test"), str):
            verdicts.add(entry["test"], entry["outcome"])
            count += 1
        else:
            fail("the report cannot be read: %r" % line[:200])
    if not complete:
        fail("the report is incomplete: the test process died before its end")
    verdicts.show()


main()
