WORDS = {"pass": "passed", "fail": "failed", "skip": "skipped"}


def close(package, verdicts):
    """What go says of a package's tests. Only listed names count; a subtest's is behind its test's and a slash."""
    whole = {name for name, _ in package["ended"]}
    for name in sorted(package["list"]):
        if name not in whole:
            fail("the report is incomplete: %r has no outcome" % name)
    failed = any(outcome == "failed" for _, outcome in package["ended"])
    if package["passed"] is not (not failed):
        fail("the report is incomplete: what go says of a package is not what its tests say")
    for name, outcome in package["ended"]:
        test = name.split("/")[0]
        if test in package["test"] and test in package["list"] and name not in package["exclude"]:
            verdicts.add("%s::%s" % (package["test"][test], name), outcome)


def main():
    """Which tests stand in which file, and go's own events, package by package."""
    verdicts, package, complete = Verdicts(), None, False
    for raw in block(sys.stdin.buffer.read()):
        try:
            line = raw.decode("utf-8")
            word, _, rest = line.partition(" ")
            if word in ("package", "broken", "end"):
                if package:
                    close(package, verdicts)
                package = None
                if word == "package":
                    package = {"list": set(), "test": {}, "exclude": set(), "ended": [], "passed": None}
                elif word == "broken":
                    verdicts.add(rest, "error")
                else:
                    complete = True
            elif word in ("list", "exclude") and package:
                package[word].add(rest)
            elif word == "test" and package:
                name, file = rest.split(" ", 1)
                package["test"].setdefault(name, file)
            elif word == "event" and package:
                event = json.loads(rest)
                outcome = WORDS.get(event["Action"])
                if outcome and event.get("Test") is not None:
                    package["ended"].append((event["Test"], outcome))
                elif outcome:
                    package["passed"] = outcome != "failed"
            elif line:
                raise ValueError(line)
        except (ValueError, KeyError, TypeError, AttributeError):
            fail("the report cannot be read: %r" % raw[:200])
    if not complete:
        fail("the report is incomplete: it has no last line")
    verdicts.show()


main()
