"""SWE-smith's procedural modifiers on a repository, timed in CPU seconds: the peer that our
benchmarks name. Its own driver needs a container per candidate, so its modifiers are called here
directly, and each patch gets one plain run of the suite, as its validation does.

    python3 -m venv /tmp/swesmith && /tmp/swesmith/bin/pip install 'swesmith[generate]==0.0.9' pytest
    /tmp/swesmith/bin/python benches/peers/swesmith_baseline.py py REPO CODE_DIR RUNS
    /tmp/swesmith/bin/python benches/peers/swesmith_baseline.py rs REPO CODE_DIR RUNS

REPO is copied; RUNS patches, drawn by a fixed seed, are validated.
"""

import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from swesmith.bug_gen.adapters import get_entities_from_file
from swesmith.bug_gen.procedural import MAP_EXT_TO_MODIFIERS
from swesmith.bug_gen.utils import generate_patch_fast


def cpu():
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


def candidates(repo, code, ext):
    """Every patch that the modifiers make, one try for each entity and modifier."""
    entities = []
    for path in sorted((repo / code).rglob("*" + ext)):
        get_entities_from_file[ext](entities, str(path))
    patches = []
    for modifier in MAP_EXT_TO_MODIFIERS[ext]:
        for entity in entities:
            if not modifier.can_change(entity):
                continue
            bug = modifier.modify(entity)
            patch = bug and generate_patch_fast(entity, bug, str(repo))
            if patch:
                patches.append(patch)
    return patches


def passing(repo, ext):
    if ext == ".py":
        command = [sys.executable, "-m", "pytest", "-rA", "-q", "-p", "no:cacheprovider", "--color=no"]
        pattern = r"^PASSED (\S+)"
    else:
        command = ["cargo", "test", "--offline", "--no-fail-fast"]
        pattern = r"^test (\S+) \.\.\. ok"
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    run = subprocess.run(
        command, cwd=repo, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300
    )
    return set(re.findall(pattern, run.stdout.decode("utf-8", "replace"), re.M))


def main(language, source, code, runs):
    ext = {"py": ".py", "rs": ".rs"}[language]
    with tempfile.TemporaryDirectory() as scratch:
        repo = pathlib.Path(scratch) / "repo"
        shutil.copytree(source, repo)
        os.chdir(scratch)
        start = cpu()
        patches = candidates(repo, code, ext)
        spent = cpu() - start
        unique = sorted(set(patches))
        print(f"candidates: {len(patches)}, unique {len(unique)}, {spent:.2f} CPU s, "
              f"{len(unique) / spent:.0f} unique per CPU s")
        clean = passing(repo, ext)
        print(f"clean run: {len(clean)} tests pass")
        random.Random(1).shuffle(unique)
        start, valid = cpu(), 0
        for patch in unique[:runs]:
            put = subprocess.run(["patch", "-p1", "-s", "--no-backup-if-mismatch"], cwd=repo,
                                 input=patch.encode(), stdout=subprocess.DEVNULL)
            if put.returncode == 0:
                try:
                    valid += bool(clean - passing(repo, ext))
                except subprocess.TimeoutExpired:
                    pass
            subprocess.run(["patch", "-p1", "-R", "-s", "--no-backup-if-mismatch"], cwd=repo,
                           input=patch.encode(), stdout=subprocess.DEVNULL)
            # A restored file of the same size and second would leave stale byte code behind.
            for cache in repo.rglob("__pycache__"):
                shutil.rmtree(cache, ignore_errors=True)
        spent = cpu() - start
        print(f"validated: {valid} of {min(runs, len(unique))} change a test, {spent:.1f} CPU s, "
              f"{spent / max(valid, 1):.2f} CPU s a valid bug (one run each, no check)")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3], int(sys.argv[4]))
