"""Files laid over the tree for one run in a fork, the wait for its end, and the end of what it left."""
import binascii
import os
import shutil
import signal
import stat
import time


class Unfit(Exception):
    """Changes that cannot be laid over the tree by plain writing."""


def lstat(path):
    try:
        return os.lstat(path)
    except OSError:
        return None


class Files:
    """Lays a run's files over the tree and takes them away again."""

    def __init__(self):
        # No two versions of a file may share a time: bytecode is matched by time and size.
        self.clock = int(time.time()) + 1000
        self.saved = []

    def lay(self, changes, executable=()):
        """`changes`: path to content in base 64, or None for a file that is to go."""
        # Deletions come first, so that a file may take a directory's place.
        for path, content in sorted(changes.items(), key=lambda change: change[1] is not None):
            folder = os.path.dirname(path)
            if os.path.realpath(folder) != os.path.normpath(os.path.join(os.getcwd(), folder)):
                raise Unfit("a link leads to %s" % path)
            status = lstat(path)
            if status is not None and not stat.S_ISREG(status.st_mode):
                raise Unfit("%s is no file" % path)
            before = None
            if status is not None:
                with open(path, "rb") as source:
                    before = (source.read(), status)
                self.clock = max(self.clock, int(status.st_mtime) + 1)
            self.saved.append((path, before))
            if content is None:
                self.delete(path, before)
            else:
                if folder:
                    os.makedirs(folder, exist_ok=True)
                self.clock += 1
                time_ns = self.clock * 1000000000
                mode = 0o755 if path in executable else 0o644
                self.put(path, binascii.a2b_base64(content), mode, time_ns)

    def put(self, path, content, mode, time_ns):
        if lstat(path) is not None:
            os.unlink(path)
        with open(path, "wb") as target:
            target.write(content)
        os.chmod(path, mode)
        os.utime(path, ns=(time_ns, time_ns))

    def delete(self, path, before):
        """An emptied directory goes with its last file: it could still be imported."""
        if before:
            os.unlink(path)
        folder = os.path.dirname(path)
        try:
            while folder:
                os.rmdir(folder)
                folder = os.path.dirname(folder)
        except OSError:
            pass

    def restore(self):
        """Contents, modes and times are those from before."""
        while self.saved:
            path, before = self.saved.pop()
            now = lstat(path)
            if now is not None and stat.S_ISDIR(now.st_mode):
                shutil.rmtree(path)
                now = None
            if before is not None:
                content, status = before
                if os.path.dirname(path):
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                self.put(path, content, stat.S_IMODE(status.st_mode), status.st_mtime_ns)
            elif now is not None:
                os.unlink(path)


def fork():
    """As `os.fork`; the parent must call `wait` next."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    return child


def wait(child, seconds):
    """Whether the child ended in time, its status and its use of resources; nothing of its group is
    left either way."""
    until = time.monotonic() + seconds
    ended = True
    while True:
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            break
        left = until - time.monotonic()
        if left > 0:
            signal.sigtimedwait({signal.SIGCHLD}, left)
        else:
            ended = False
            end_group(child)
            pid, status, usage = os.wait4(child, 0)
            break
    end_group(child)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    return ended, status, usage


def end_group(child):
    try:
        os.killpg(child, signal.SIGKILL)
    except OSError:
        pass


def kill_all(spare=()):
    """Ends every process but the sandbox's first, this one and those to spare."""
    until = time.monotonic() + 5
    while True:
        others = [int(name) for name in os.listdir("/proc") if name.isdigit() and lives(name)]
        others = [pid for pid in others if pid not in spare]
        if not others:
            return
        if time.monotonic() > until:
            raise SystemExit("processes cannot be killed: %s" % " ".join(map(str, others)))
        for pid in others if spare else [-1]:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.001)


def kept():
    """Number of lines in the kernel's tables of what outlives a process: SysV objects, closed connections
    whose ports are still taken."""
    counts = []
    for name in ("sysvipc/shm", "sysvipc/sem", "sysvipc/msg", "net/tcp", "net/tcp6"):
        try:
            with open("/proc/" + name, "rb") as table:
                counts.append(table.read().count(b"\n"))
        except OSError:
            counts.append(0)
    return counts


def lives(pid):
    if int(pid) in (1, os.getpid()):
        return False
    try:
        with open("/proc/%s/stat" % pid, "rb") as source:
            return source.read().rsplit(b")", 1)[1].split()[0] not in (b"Z", b"X")
    except OSError:
        return False
