#!/usr/bin/env python3
"""The packages that learning is measured on, and the fixed test set made of them.

    make.py fetch DIR                   unpacks every package into DIR/test and DIR/training
    make.py cases DIR PART SSR_MCP OUT  makes the cases of DIR/PART into OUT (goes on where it was)
    make.py pack OUT ARCHIVE            keeps them small; `unpack ARCHIVE OUT` is the way back
    make.py hash OUT                    the hash that README.md names

Versions and hashes are pinned in python.txt and rust/Cargo.lock; the usual clients (pip, cargo) take the
packages from wherever they are configured to.
"""

import concurrent.futures
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
# Bugs that are wanted of each Python package and of each Rust crate.
WANTED = {"test": (46, 36), "training": (14, 14)}
# Where a bug takes a quarter of an hour to be found.
FEWER = {"tabulate-0.10.0": 4}
# A bug of more edits than this is left out.
EDITS = 2
# A package that gave no bug for so many seeds in a row has no more.
BARREN = 12


def pinned_python():
    """Of each package: (part of the set, requirement with its hash, name of its folder)."""
    part = None
    for line in (HERE / "python.txt").read_text().splitlines():
        if line.startswith("# "):
            part = line.removeprefix("# ").split(":")[0]
        elif line.strip():
            name, version = line.split()[0].split("==")
            yield part, line, f"{name.replace('-', '_')}-{version}"


def pinned_rust():
    part = None
    for line in (HERE / "rust/Cargo.toml").read_text().partition("[dependencies]")[2].splitlines():
        if line.startswith("# "):
            part = line.removeprefix("# ")
        elif '"=' in line:
            name, version = line.split(" = ")
            yield part, f"{name}-{version.strip().strip(chr(34)).removeprefix('=')}"


def fetch(root):
    root.mkdir(parents=True, exist_ok=True)
    for part, requirement, name in pinned_python():
        kept = root / part / name
        if kept.exists():
            continue
        with tempfile.TemporaryDirectory(dir=root) as scratch:
            wanted = pathlib.Path(scratch) / "wanted.txt"
            wanted.write_text(requirement + "\n")
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            pip += ["--no-binary", ":all:", "--require-hashes", "-r", str(wanted), "-d", scratch]
            # The hash is of the package; what builds its metadata has none.
            subprocess.run(pip, check=True)
            (archive,) = pathlib.Path(scratch).glob("*.tar.gz")
            with tarfile.open(archive) as tar:
                tar.extractall(scratch, filter="data")
            kept.parent.mkdir(exist_ok=True)
            os.rename(pathlib.Path(scratch) / name, kept)
    subprocess.run(["cargo", "fetch", "--locked", "--quiet"], cwd=HERE / "rust", check=True)
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    for part, name in pinned_rust():
        kept = root / part / name
        if kept.exists():
            continue
        (source,) = list((home / "registry/src").glob(f"*/{name}"))[:1]
        kept.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root) as scratch:
            copy = pathlib.Path(scratch) / name
            shutil.copytree(source, copy)
            # What its tests need; the sandbox has no network.
            subprocess.run(["cargo", "fetch", "--quiet"], cwd=copy, check=True)
            os.rename(copy, kept)


def cases(root, part, program, out):
    out.mkdir(parents=True, exist_ok=True)
    (out / "programs").mkdir(exist_ok=True)
    tried = Tried(out / "cases.jsonl", out / "tried.json")
    rust = {name for _, name in pinned_rust()}

    def of_package(package):
        wanted = FEWER.get(package.name, WANTED[part][package.name in rust])
        while tried.made(package.name) < wanted and tried.barren(package.name) < BARREN:
            one_case(package, program, out, tried)

    # What a package's seeds give does not depend on the others.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() + 1) as pool:
        for done in [pool.submit(of_package, path) for path in sorted((root / part).iterdir())]:
            done.result()
    tried.sort()


def one_case(package, program, out, tried):
    name, seed = package.name, tried.next_seed(package.name)
    strategy = "removal" if seed % 4 == 0 else "direct"
    state = out.parent / f"{out.name}.state"
    with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
        bug = pathlib.Path(scratch) / "bug"
        command = [program, "inject", package, "--strategy", strategy, "--seed", str(seed)]
        command += ["--out", bug, "--state-dir", state, "--json"]
        told = subprocess.run(command, capture_output=True, text=True)
        answer = json.loads(told.stdout.splitlines()[-1]) if told.stdout else {}
        if "error" in answer or not answer:
            raise SystemExit(f"{name}: {answer.get('error') or told.stderr}")
        edits = answer["summary"].split("; ")
        if not answer["valid"] or len(edits) > EDITS:
            tried.add(name, seed, None)
            return
        case = {"id": f"{name}/{seed}", "base": name, "package": name.rpartition("-")[0]}
        case |= {"strategy": strategy, "seed": seed, "edits": len(edits), "summary": answer["summary"]}
        for part in ["bug_inject.diff", "test_weaken.diff"]:
            case[part] = (bug / part).read_text()
        case["test_files.txt"] = (bug / "test_files.txt").read_text()
        for part in ["test_script.sh", "test_parser.py"]:
            case[part] = {"file": kept(out / "programs", bug / part)}
    tried.add(name, seed, case)


def kept(folder, path):
    """A program's file, named by its content: many cases have the same."""
    content = path.read_bytes()
    name = f"{hashlib.sha256(content).hexdigest()[:16]}{path.suffix}"
    (folder / name).write_bytes(content)
    return f"{folder.name}/{name}"


class Tried:
    """Which seeds were tried, and what came of them."""

    def __init__(self, cases, seeds):
        self.cases, self.seeds, self.lock = cases, seeds, threading.Lock()
        self.known = json.loads(seeds.read_text()) if seeds.exists() else {}

    def made(self, name):
        return sum(self.known.get(name, []))

    def barren(self, name):
        return len(self.known.get(name, [])) - max(
            (at + 1 for at, made in enumerate(self.known.get(name, [])) if made), default=0
        )

    def next_seed(self, name):
        return len(self.known.get(name, [])) + 1

    def add(self, name, seed, case):
        with self.lock:
            if case:
                with self.cases.open("a") as file:
                    file.write(json.dumps(case, sort_keys=True) + "\n")
            self.known.setdefault(name, []).append(case is not None)
            replace(self.seeds, json.dumps(self.known, sort_keys=True))
        print(f"{name} seed {seed}: {case['summary'] if case else '-'}", flush=True)

    def sort(self):
        lines = [json.loads(line) for line in self.cases.read_text().splitlines()]
        lines.sort(key=lambda case: (case["base"], case["seed"]))
        replace(self.cases, "".join(json.dumps(case, sort_keys=True) + "\n" for case in lines))


def replace(path, text):
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text)
    os.replace(temporary, path)


def pack(out, archive):
    """The same bytes for the same cases."""
    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for path in files(out):
            entry = tarfile.TarInfo(str(path.relative_to(out)))
            content = path.read_bytes()
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


def files(out):
    return [out / "cases.jsonl", out / "tried.json", *sorted((out / "programs").iterdir())]


def hash_of(out):
    digest = hashlib.sha256()
    for path in files(out):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def main(arguments):
    match arguments:
        case ["fetch", root]:
            fetch(pathlib.Path(root))
        case ["cases", root, part, program, out]:
            cases(pathlib.Path(root), part, program, pathlib.Path(out))
        case ["pack", out, archive]:
            pack(pathlib.Path(out), archive)
        case ["unpack", archive, out]:
            with tarfile.open(archive) as tar:
                tar.extractall(out, filter="data")
        case ["hash", out]:
            print(hash_of(pathlib.Path(out)))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
