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
