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
