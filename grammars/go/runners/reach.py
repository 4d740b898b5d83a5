"""Tells which files each test file's package is built of: REQUEST.json OUTPUT.json."""
import json
import sys

from ssr_driver import by_package, go, inside, objects

KINDS = ("GoFiles", "CgoFiles", "CFiles", "CXXFiles", "HFiles", "SFiles", "EmbedFiles")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        wanted = json.load(file)["files"]
    told = {}
    for (module, package), names in by_package(wanted).items():
        fields = "Dir," + ",".join(KINDS)
        listed = go(module, "list", "-e", "-deps", "-test", "-json=" + fields, package)
        files = {inside(found["Dir"], name) for found in objects(listed) if "Dir" in found
                 for kind in KINDS for name in found.get(kind) or []}
        for name in names:
            told[name] = {"files": sorted(files - {None}), "everything": not listed, "seconds": {}}
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(told, file)


main()
