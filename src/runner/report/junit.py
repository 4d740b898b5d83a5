def identifier(case, suite):
    """`file::Class::name` where the report tells the file, else `classname::name`."""
    name, scope, file = (case.get(key) or "" for key in ("name", "classname", "file"))
    file = file.replace("\\", "/")
    if file:
        module = file.rsplit(".", 1)[0].replace("/", ".")
        if scope == module:
            scope = ""
        elif scope.startswith(module + "."):
            scope = scope[len(module) + 1:].replace(".", "::")
    parts = [part for part in (file, scope, name) if part]
    if not file and not scope and suite:
        parts.insert(0, suite)
    return "::".join(parts)


def outcome(case):
    kinds = [child.tag.rsplit("}", 1)[-1] for child in case]
    words = (("failure", "failed"), ("error", "error"), ("skipped", "skipped"))
    return next((word for kind, word in words if kind in kinds), "passed")


def walk(element, suite):
    """Every test case, with its outcome."""
    tag = element.tag.rsplit("}", 1)[-1]
    if tag == "testcase":
        yield identifier(element, suite), outcome(element)
    elif tag in ("testsuite", "testsuites"):
        for child in element:
            yield from walk(child, element.get("name") or "" if tag == "testsuite" else suite)


def main():
    """JUnit XML, each line behind "xml ", and the ids to leave out, or those to read with their names."""
    import xml.etree.ElementTree as tree
    text, excluded, verdicts, wanted, broken = [], set(), Verdicts(), {}, []
    for line in block(sys.stdin.buffer.read()):
        if line.startswith(b"xml "):
            text.append(line[len(b"xml "):])
        elif line.startswith(b"exclude "):
            excluded.add(json.loads(line[len(b"exclude "):].decode("utf-8")))
        elif line.startswith(b"id "):
            name, wanted_name = json.loads(line[len(b"id "):].decode("utf-8"))
            wanted[name] = wanted_name
        elif line.startswith(b"error "):
            broken.append(json.loads(line[len(b"error "):].decode("utf-8")))
        elif line:
            fail("the report cannot be read: %r" % line[:200])
    text = b"\n".join(text)
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        fail("the report cannot be read: it has a document type")
    try:
        root = tree.fromstring(text)
    except (tree.ParseError, ValueError, LookupError) as error:
        fail("the report cannot be read: %s" % error)
    if root.tag.rsplit("}", 1)[-1] not in ("testsuite", "testsuites"):
        fail("the report cannot be read: it is no JUnit XML")
    cases = list(walk(root, ""))
    for test in broken:
        verdicts.add(test, "error")
    for name in sorted(set(wanted) - {name for name, _ in cases}):
        fail("the report is incomplete: %r has no outcome" % wanted[name])
    for name, word in cases:
        if wanted or broken:
            if name in wanted:
                verdicts.add(wanted[name], word)
        elif name not in excluded:
            verdicts.add(name, word)
    verdicts.show()


main()
