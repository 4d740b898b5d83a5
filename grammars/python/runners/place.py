"""What runs in forks can leave behind on the disk, and how it is taken away again."""
import os
import sys

import ssr_fork

MOST_FILES = 20000  # looking at all of them after every run must cost less than a plain run


class Place:
    """Everything that a run can write: the tree, scratch directories, bytecode if it counts; `own` excepted."""

    def __init__(self, own, with_bytecode):
        home = os.environ.get("HOME", "/home/u")
        self.cache = os.path.abspath(sys.pycache_prefix)
        self.tops = [os.getcwd(), "/tmp", home, "/dev/shm"] + [self.cache] * with_bytecode
        self.skipped = {self.cache, own}
        self.bytecode = {}
        self.known = self.scan()
        if len(self.known) > MOST_FILES:
            raise SystemExit("the tree has too many files")

    def scan(self):
        found = {"kernel": ssr_fork.kept()}
        for top in self.tops:
            if os.path.isdir(top):
                self.look(top, os.stat(top).st_dev, found)
        return found

    def look(self, folder, device, found):
        with os.scandir(folder) as entries:
            for entry in entries:
                path = entry.path
                if path in self.skipped:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    if status.st_dev == device:  # else it is mounted there, and no scratch of ours
                        found[path] = status.st_mode
                        self.look(path, device, found)
                else:
                    found[path] = key(entry.stat(follow_symlinks=False))

    def save_bytecode(self, sources):
        """Of the files that a run changes: what it writes for them is for its own version."""
        self.bytecode = {}
        for source in sources:
            folder, name = os.path.split(self.cache + os.path.abspath(source))
            stem = name.rsplit(".", 1)[0] + "."
            for entry in os.listdir(folder) if os.path.isdir(folder) else ():
                path = os.path.join(folder, entry)
                if entry.startswith(stem) and path in self.known:
                    with open(path, "rb") as file:
                        self.bytecode[path] = (file.read(), os.stat(path))

    def clean(self, laid):
        """Removes what is new and says what else is not as it was."""
        now = self.scan()
        ours = {os.path.abspath(path) for path in laid}
        for path, (content, status) in self.bytecode.items():
            if now.get(path) != self.known[path]:
                folder = os.path.dirname(path)
                os.makedirs(folder, exist_ok=True)
                with open(path + ".ssr", "wb") as file:
                    file.write(content)
                os.utime(path + ".ssr", ns=(status.st_mtime_ns, status.st_mtime_ns))
                os.rename(path + ".ssr", path)
                ours.add(path)
        for path in sorted(set(now) - set(self.known), reverse=True):
            if isinstance(now[path], int):
                os.rmdir(path)
            else:
                os.unlink(path)
        for path in ours:
            if path in self.known:
                now[path] = self.known[path] = key(os.lstat(path))
        return [path for path, was in self.known.items() if now.get(path) != was]


def key(status):
    return (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
