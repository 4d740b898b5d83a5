"""A self-play loop as short scripts about SSR write it: the peer of `model_rounds`.

What it stands for: a configuration of two roles, one endpoint, and a loop without ends: one request makes an
artifact of five files, its script and parser run, one request makes a repair, script and parser run again, both
rewards are worked out, failures go to a list and figures to a CSV file. No check proves the bug, every run is one
of the whole suite, one attempt a round, one round after another. Where such scripts leave a step to their reader
(the artifact is to be written down and applied), the cheapest way that works is taken: a copy of the tree and
`patch`. The client library is left out, to the peer's advantage: one kept connection, standard library alone.

    python3 benches/peers/selfplay_loop.py URL REPO ROUNDS CSV
"""

import csv
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROLES = {
    "injector": {
        "model": "peer-injector",
        "temperature": 0.7,
        "system": "You inject bugs. Answer with one JSON object from file names to contents: bug_inject.diff, "
        "test_weaken.diff, test_script.sh, test_parser.py, test_files.txt.",
    },
    "solver": {
        "model": "peer-solver",
        "temperature": 0.2,
        "system": "You repair bugs. You see the reversed weakening of the tests. Answer with a patch.",
    },
}
REWARD = {"extreme": -0.3, "ideal": 1.0, "pass": 1.0, "fail": -1.0}


class Endpoint:
    def __init__(self, url):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc)

    def ask(self, role, content):
        about = ROLES[role]
        body = {
            "model": about["model"],
            "temperature": about["temperature"],
            "messages": [
                {"role": "system", "content": about["system"]},
                {"role": "user", "content": content},
            ],
        }
        headers = {"content-type": "application/json", "authorization": "Bearer none"}
        self.connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        answer = json.loads(self.connection.getresponse().read())
        return answer["choices"][0]["message"]["content"]


def patch(tree, text):
    done = subprocess.run(["patch", "-p1", "-s"], cwd=tree, input=text, text=True, capture_output=True)
    return done.returncode == 0


def verdicts(tree, files):
    """Script and parser stand beside the tree: pytest would take a `test_parser.py` in it for a test, and run nothing
    else once that fails to be imported."""
    script, parser = files / "test_script.sh", files / "test_parser.py"
    try:
        ran = subprocess.run(["bash", script], cwd=tree, capture_output=True, text=True, timeout=60)
        read = subprocess.run([sys.executable, parser], input=ran.stdout, capture_output=True, text=True)
        return json.loads(read.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return {}


def main(url, repo, rounds, log):
    endpoint, wrong_book = Endpoint(url), []
    with open(log, "w", newline="") as file, tempfile.TemporaryDirectory() as scratch:
        rows = csv.writer(file)
        rows.writerow(["step", "inject_r", "solve_r", "solve_rate", "wrong_book_size"])
        for step in range(rounds):
            artifact = json.loads(endpoint.ask("injector", "Make a bug in this repository."))
            tree, files = pathlib.Path(scratch, str(step)), pathlib.Path(scratch, "artifact")
            shutil.copytree(repo, tree)
            files.mkdir(exist_ok=True)
            for name in ("test_script.sh", "test_parser.py"):
                (files / name).write_text(artifact[name])
            applied = patch(tree, artifact["bug_inject.diff"]) and patch(tree, artifact["test_weaken.diff"])
            result = verdicts(tree, files) if applied else {}
            rate = sum(result.values()) / max(len(result), 1)
            inject = REWARD["extreme"] if rate in (0, 1) else REWARD["ideal"]
            fix = endpoint.ask("solver", "Repair it. The weakening was:\n" + artifact["test_weaken.diff"])
            final = verdicts(tree, files) if patch(tree, fix) else {}
            solve = REWARD["pass"] if final and all(final.values()) else REWARD["fail"]
            if solve < 0:
                wrong_book.append({"step": step, "artifact": artifact, "patch": fix})
            rows.writerow([step, inject, solve, round(rate, 2), len(wrong_book)])
            shutil.rmtree(tree)
    own, tests = os.times()[:2], os.times()[2:4]
    print(json.dumps({"failed": len(wrong_book), "own_cpu": sum(own), "test_cpu": sum(tests)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
