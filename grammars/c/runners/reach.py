"""Tells which files each test file's programs are built of: REQUEST.json OUTPUT.json.

Reads what CMake and the compiler wrote beside the build that the test script keeps: the targets, what they
link, and the headers that each object needed.
"""
import glob
import json
import os
import sys

root = os.path.realpath(os.getcwd())
build = os.environ["SSR_BUILD"]


def inside(path):
    path = os.path.normpath(os.path.join(root, path))
    return os.path.relpath(path, root) if path.startswith(root + os.sep) else None


def targets():
    """Target id to its own files and the targets that it needs."""
    found = {}
    for reply in glob.glob(os.path.join(build, ".cmake/api/v1/reply/target-*.json")):
        with open(reply, encoding="utf-8") as file:
            target = json.load(file)
        files = {inside(source["path"]) for source in target.get("sources", [])}
        place = os.path.join(build, target["paths"]["build"], "CMakeFiles", target["name"] + ".dir")
        for depfile in glob.glob(os.path.join(glob.escape(place), "**", "*.d"), recursive=True):
            with open(depfile, encoding="utf-8", errors="replace") as file:
                words = file.read().replace("\\\n", " ").split()
            files.update(inside(word) for word in words if not word.endswith(":"))
        needs = [other["id"] for other in target.get("dependencies", [])]
        found[target["id"]] = (target, files - {None}, needs)
    return found


def closure(known, start):
    seen, open_ids = set(), [start]
    while open_ids:
        at = open_ids.pop()
        if at in known and at not in seen:
            seen.add(at)
            open_ids.extend(known[at][2])
    return set().union(*(known[at][1] for at in seen))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        wanted = json.load(file)["files"]
    known, reached = targets(), {name: set() for name in wanted}
    for at, (target, files, _) in known.items():
        mine = [name for name in wanted if name in files] if target["type"] == "EXECUTABLE" else []
        for name in mine:
            reached[name] |= closure(known, at)
    told = {name: {"files": sorted(files), "everything": False, "seconds": {}} for name, files in reached.items()}
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(told, file)


main()
