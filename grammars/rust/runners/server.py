"""Runs the test script again and again in one place, so that a build finds what the one before it built.

One request a line on standard input, one reply a line on standard output, both JSON; the first reply
says that the server is ready. Every run is a process of its own. Files stay as a run had them until
another run wants them otherwise: what is equal is not built again. Where a run leaves something behind
the reply says `dirty`, and the server must not be used again.
"""
import binascii
import glob
import json
import os
import stat
import sys
import time

import ssr_fork

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = "/tmp/ssr/test_script.sh"
OUTPUT = os.path.join(HERE, "output")
LONGEST = 16 << 20
CARGOS_OWN = ("registry", "git", ".package-cache", ".package-cache-mutate", ".global-cache",
              ".global-cache-journal")


class Tree:
    """The tree as the next run is to see it."""

    def __init__(self):
        self.original = {}  # path to content and mode, or None; of files that were ever changed
        self.latest = 0

    def lay(self, changes, executable):
        """Whether anything had to be written."""
        written = False
        for path in set(changes) | set(self.original):
            if path not in self.original:
                self.original[path] = self.read(path)
            wanted = self.original[path]
            if path in changes:
                content = changes[path]
                mode = 0o755 if path in executable else 0o644
                wanted = None if content is None else (binascii.a2b_base64(content), mode)
            if wanted != self.read(path):
                self.put(path, wanted)
                written = True
        return written

    def read(self, path):
        folder = os.path.dirname(path)
        if os.path.realpath(folder) != os.path.normpath(os.path.join(os.getcwd(), folder)):
            raise ssr_fork.Unfit("a link leads to %s" % path)
        status = ssr_fork.lstat(path)
        if status is None:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise ssr_fork.Unfit("%s is no file" % path)
        with open(path, "rb") as source:
            return source.read(), stat.S_IMODE(status.st_mode)

    def put(self, path, wanted):
        if ssr_fork.lstat(path) is not None:
            os.unlink(path)
        if wanted is None:
            return
        content, mode = wanted
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as target:
            target.write(content)
        os.chmod(path, mode)
        # Builds are matched by time: what is written later must be newer, and not newer than now.
        now = time.time_ns()
        while now <= self.latest:
            now = time.time_ns()
        self.latest = now
        os.utime(path, ns=(now, now))


def scan():
    """Everything that a run may leave, but for what cargo itself keeps."""
    found = {"kernel": ssr_fork.kept()}
    home = os.environ.get("HOME", "/home/u")
    cargo = os.environ.get("CARGO_HOME", os.path.join(home, ".cargo"))
    target = os.environ.get("CARGO_TARGET_DIR", "/tmp/ssr/target")
    skipped = {"/tmp/ssr", target} | {os.path.join(cargo, name) for name in CARGOS_OWN}

    def look(folder, device):
        with os.scandir(folder) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if entry.path in skipped or status.st_dev != device and entry.is_dir(follow_symlinks=False):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    found[entry.path] = status.st_mode
                    look(entry.path, device)
                else:
                    found[entry.path] = (status.st_mode, status.st_size, status.st_mtime_ns,
                                         status.st_ctime_ns, status.st_ino)

    # Tests are given a directory to write to: `tmp` of the target directory, or of a target in it.
    given = glob.glob(os.path.join(target, "tmp")) + glob.glob(os.path.join(target, "*", "tmp"))
    for top in [os.getcwd(), "/tmp", home, cargo, "/dev/shm"] + given:
        if os.path.isdir(top):
            look(top, os.stat(top).st_dev)
    return found


class Locks:
    """Cargo.lock, which cargo writes in every run: each run finds it as the first one did, or not at all."""

    def __init__(self, before):
        self.before = {}
        for path in filter(is_lock, before):
            with open(path, "rb") as source:
                self.before[path] = (source.read(), os.stat(path))

    def restore(self, after):
        for path in filter(is_lock, after):
            if path not in self.before:
                os.unlink(path)
                continue
            content, status = self.before[path]
            with open(path, "rb") as source:
                changed = source.read() != content
            if changed:
                with open(path, "wb") as target:
                    target.write(content)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def is_lock(path):
    return os.path.basename(path) == "Cargo.lock" and os.path.isfile(path) and not os.path.islink(path)


class Builds:
    """What cargo said of each package's directory since files were last written: while none is, it says the
    same again of these targets, or fewer, and is not asked."""

    def __init__(self):
        self.known = {}

    def calls(self, script):
        """The script's calls of cargo, in order: directory and targets."""
        lines = [line.split() for line in script.decode("utf-8", "replace").splitlines()]
        return [(line[1], line[2:]) for line in lines if line[:1] == ["build"] and len(line) > 2]

    def prelude(self, script):
        """What stands before the script, so that cargo is asked and its answer kept, or not asked."""
        calls = self.calls(script)
        known = [self.known.get(directory) for directory, _ in calls]
        again = all(said and set(targets) <= set(said[0]) for said, (_, targets) in zip(known, calls))
        for number, said in enumerate(known if again else []):
            for name, text in zip(("said", "told"), said[1:]):
                with open(os.path.join(HERE, "%s.%d" % (name, number)), "wb") as out:
                    out.write(text)
        return (AGAIN if again and calls else ASK).replace("@HERE@", HERE)

    def keep(self, script, ended):
        """After a run whose prelude asked cargo."""
        self.known = {}
        calls = self.calls(script) if ended else []
        # Where a file is not there the script leaves its target out, and calls cargo less often.
        if not all(os.path.isfile(path.strip("'")) for _, targets in calls for path in targets[1::2]):
            return
        for number, (directory, targets) in enumerate(calls):
            try:
                texts = []
                for name in ("said", "told"):
                    with open(os.path.join(HERE, "%s.%d" % (name, number)), "rb") as source:
                        texts.append(source.read())
            except OSError:
                return
            self.known[directory] = [targets] + texts


TELL = """mapfile -t ssr_lines <"@HERE@/said.$ssr_call"
    if [ ${#ssr_lines[@]} -gt 0 ]; then printf '%s\\n' "${ssr_lines[@]}"; fi
    mapfile -t ssr_lines <"@HERE@/told.$ssr_call"
    if [ ${#ssr_lines[@]} -gt 0 ]; then printf '%s\\n' "${ssr_lines[@]}" >&2; fi
    ssr_call=$((ssr_call + 1))
}
"""
ASK = """ssr_call=0
cargo() {
    command cargo "$@" >"@HERE@/said.$ssr_call" 2>"@HERE@/told.$ssr_call"
    """ + TELL
AGAIN = """ssr_call=0
cargo() {
    """ + TELL
READ_WHOLE = 'eval "$(<"$0")"'


def run_script(script, seconds, prelude, state):
    with open(SCRIPT, "wb") as out:
        out.write(script)
    os.chmod(SCRIPT, 0o755)
    child = ssr_fork.fork()
    if child == 0:
        nothing = os.open(os.devnull, os.O_RDONLY)
        output = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for source, descriptor in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, descriptor)
        os.closerange(3, 64)
        env = dict(os.environ) if state is None else dict(os.environ, SSR_SWITCH=state)
        os.execvpe("bash", ["bash", "-c", prelude + READ_WHOLE, SCRIPT], env)
    ended, _, usage = ssr_fork.wait(child, seconds)
    ssr_fork.kill_all()
    with open(OUTPUT, "rb") as source:
        return ended, usage, source.read(LONGEST + 1)


def main():
    if os.getppid() != 1 or os.uname().nodename != "sandbox":
        raise SystemExit("this program kills all other processes and runs in a sandbox only")
    tree, builds, told = Tree(), Builds(), 0.0

    def reply(used=0.0, **answer):
        nonlocal told
        own = time.process_time()
        answer["cpu"], told = used + own - told, own
        print(json.dumps(answer), flush=True)

    reply(ready=True)
    for line in sys.stdin.buffer:
        request = json.loads(line.decode("utf-8"))
        try:
            if tree.lay(request["changes"], set(request["executable"])):
                builds.known = {}
        except (ssr_fork.Unfit, OSError) as error:
            reply(unfit=str(error))
            return
        before = scan()
        locks = Locks(before)
        script = binascii.a2b_base64(request["script"])
        prelude = builds.prelude(script)
        ended, usage, text = run_script(script, request["seconds"], prelude, request["state"])
        if "command cargo" in prelude:
            builds.keep(script, ended)
        after = scan()
        dirty = [path for path in before.keys() | after.keys()
                 if before.get(path) != after.get(path) and not is_lock(path)]
        try:
            locks.restore(after)
        except OSError as error:
            dirty.append(str(error))
        reply(usage.ru_utime + usage.ru_stime, log=binascii.b2a_base64(text, newline=False).decode("ascii"),
              timed_out=not ended, dirty=sorted(dirty)[:5])


main()
