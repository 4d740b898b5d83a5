"""Runs tests on edits of one file and tells what the tests saw of them. argv: request, output.

All edits are versions in one build, in which every call of the file's functions is noted: arguments and
result, where their types have a `Debug`. Each test runs in a process of its own. What differs between runs
of the original is no evidence; what is the same in all of them and different in every run of the edit is.

One JSON line an edit, as by the program of the same purpose for Python; "unseen": what it does cannot be
noted.
"""
import json
import os
import sys

import switch

ORIGINALS = 3
AGAIN = 2
SHOWN = 160


class Runs:
    def __init__(self, request, binaries, here):
        self.request, self.binaries = request, binaries
        self.notes = os.path.join(here, "notes")
        self.originals = {}

    def run(self, number, test):
        """Whether it passed, and its notes: function, whether called from outside, name, arguments, kind,
        result, lent. None where the time was up."""
        file, name = test
        if os.path.exists(self.notes):
            os.unlink(self.notes)
        command = [self.binaries[file], "--color", "never", "--exact", name]
        directory = self.request["tests"][file]["directory"]
        said = switch.run(command, directory, self.request["seconds"], SSR_SWITCH=str(number), SSR_NOTES=self.notes)
        if said is None:
            return None
        notes = []
        if os.path.exists(self.notes):
            with open(self.notes, encoding="utf-8", errors="replace", newline="\n") as source:
                notes = [line.rstrip("\n").split("\t") for line in source]
        return name in switch.PASSED.findall(said), [note for note in notes if len(note) == 7]

    def original(self, test, least):
        runs = self.originals.setdefault(test, [])
        while len(runs) < least:
            run = self.run(0, test)
            if run is None or not run[0]:
                return None
            runs.append(run[1])
        return runs


def compare(originals, edits, function):
    """The difference that says most, with its rank; None where there is none."""
    best = None
    for key in sorted({(note[1], note[2], note[0]) for note in edits[0]}, key=lambda key: (key[0] != "true", key)):
        outside = key[0] == "true"
        if not outside and key[2] != str(function):
            continue
        chosen = [[note for note in run if (note[1], note[2], note[0]) == key] for run in originals + edits]
        for at in range(min(len(run) for run in chosen)):
            notes = [run[at] for run in chosen]
            old, new = notes[:len(originals)], notes[len(originals):]
            for field in (4, 6):
                texts = [tuple(note[4:6]) if field == 4 else note[6] for note in notes]
                olds, news = set(texts[:len(old)]), set(texts[len(old):])
                if len(olds) == 1 and len(news) == 1 and olds != news:
                    rank = (not outside, old[0][3] != new[0][3], field, at)
                    if best is None or rank < best[0]:
                        best = rank, old[0], new[0]
    return best


def text(note):
    """A string as the support code wrote it, by Rust's rules."""
    inside = note[1:-1]
    for escaped, plain in (("\\\"", "\""), ("\\'", "'"), ("\\\\", "\\"), ("\\n", "\n")):
        inside = inside.replace(escaped, plain)
    return inside


def told(test, rank, before, after):
    field = rank[2]
    said = [(note[4] + " " + text(note[5])).strip() if field == 4 else text(note[6]).rstrip(", ") for note in (before, after)]
    at = next((n for n, (one, other) in enumerate(zip(*said)) if one != other), 0)
    start = max(0, at - SHOWN // 3) if max(map(len, said)) > SHOWN else 0
    said = [("…" if start else "") + one[start:start + SHOWN] + ("…" if len(one) > start + SHOWN else "") for one in said]
    arguments = text(before[3]).rstrip(", ")
    arguments = arguments if len(arguments) <= SHOWN else arguments[:SHOWN] + "…"
    return {"outcome": "different", "test": "::".join(test), "function": text(before[2]), "call": rank[3] + 1,
            "arguments": arguments, "kind": "result" if field == 4 else "arguments", "outside": not rank[0],
            "before": said[0], "after": said[1]}


def judge(edit, runs):
    found, unstable = None, False
    for test in map(tuple, edit["tests"]):
        originals = runs.original(test, ORIGINALS)
        if originals is None:
            continue
        first = runs.run(edit["version"], test)
        if first is None:
            return {"outcome": "timeout"}
        if not first[0]:
            return {"outcome": "failed"}
        better = compare(originals, [first[1]], edit["function"])
        if better is None or (found and found[1][0] <= better[0]):
            continue
        again = [first] + [runs.run(edit["version"], test) for _ in range(AGAIN)]
        if any(run is None or not run[0] for run in again):
            return {"outcome": "unstable"}
        originals = runs.original(test, len(originals) + 1)
        better = originals and compare(originals, [run[1] for run in again], edit["function"])
        if better:
            found = test, better
        else:
            unstable = True
    if found:
        return told(found[0], *found[1])
    return {"outcome": "unstable" if unstable else "same"}


def main(request, output):
    with open(request, encoding="utf-8") as source:
        request = json.load(source)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "wrapper"), "w", encoding="ascii") as wrapper:
        wrapper.write(switch.WRAPPER)
    os.chmod(os.path.join(here, "wrapper"), 0o755)
    versions = switch.Versions(request)
    binaries, problem = switch.built(versions, request, here)
    with open(output, "w", encoding="ascii") as out:
        if problem:
            print(problem)
            return
        runs = Runs(request, binaries, here)
        for edit in request["edits"]:
            if edit["version"] is None:
                answer = {"outcome": "unseen"}
            elif any(versions.is_out(group) for group in edit["groups"]):
                answer = {"outcome": "invalid"}
            else:
                answer = judge(edit, runs)
                noted = not any(versions.is_out(group) for group in edit["notes"])
                if answer["outcome"] == "same" and not noted:
                    answer = {"outcome": "unseen"}
            out.write(json.dumps(answer) + "\n")
            out.flush()


main(sys.argv[1], sys.argv[2])
