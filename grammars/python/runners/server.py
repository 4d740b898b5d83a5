"""Runs chosen tests again and again, each time in a fork of this process, which has the framework loaded.

One request a line on standard input, one reply a line on standard output, both JSON; the first reply
says that the server is ready. Nothing of the tree is ever loaded here. What a run leaves behind is
removed; where that cannot be done the reply says `dirty`, and the server must not be used again.
"""
import importlib
import os
import sys

import ssr_driver


def load_plugins():
    """Those of pytest itself: every run would load them."""
    for name in getattr(sys.modules.get("_pytest.config"), "default_plugins", ()):
        importlib.import_module("_pytest." + name)


load_plugins()
KNOWN = set(sys.modules)  # what a run that begins in a process of its own has loaded, too

import binascii  # noqa: E402
import gc  # noqa: E402
import inspect  # noqa: E402
import json  # noqa: E402
import re  # noqa: E402
import resource  # noqa: E402,F401
import shutil  # noqa: E402
import signal  # noqa: E402
import time  # noqa: E402

import ssr_fork  # noqa: E402
import ssr_place  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(HERE, "run")
LONGEST = 16 << 20
FAILURE = re.compile(br'"outcome": "(failed|error)"|"stopped": ')


def protection():
    """Sets whether other processes may look into this one; None where that cannot be set."""
    try:
        import ctypes
        prctl = ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None
    return lambda exposed: prctl(4, int(exposed), 0, 0, 0)  # PR_SET_DUMPABLE


def read(path):
    try:
        with open(path, "rb") as source:
            return source.read(LONGEST + 1)
    except OSError:
        return b""


def log(framework, status):
    """What python.sh prints."""
    output = os.path.join(RUN, "output")
    size = os.path.getsize(output) if os.path.exists(output) else 0
    if size <= 400000:
        text = read(output)
    else:
        with open(output, "rb") as source:
            text = source.read(200000) + b"\n(output left out)\n"
            source.seek(size - 200000)
            text += source.read(200000)
    lines = text.split(b"\n")
    last = lines.pop()
    shown = b"".join(b"| " + line + b"\n" for line in lines) + (b"| " + last if last else b"") + b"\n"
    report = read(os.path.join(RUN, "report"))
    code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    if report and code == 1 and not FAILURE.search(report):
        lied = "--- no report: %s ended with status 1, but its report tells of no failure ---\n" % framework
        return shown + lied.encode("ascii")
    if not report:
        ended = "--- no report: %s ended with status %d ---\n" % (framework, code)
        return shown + ended.encode("ascii")
    return shown + b"--- report begin ---\n" + report + b"\n--- report end ---\n"


def become_run(requests, replies, expose):
    """In the child: the process that python.sh would have started."""
    requests.close()
    os.close(replies)
    output = os.open(os.path.join(RUN, "output"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    if expose:
        expose(True)
    sys.argv[:] = [os.path.join(HERE, "ssr_driver.py")] + [os.path.join(RUN, name) for name in ("tests.json", "report")]
    for name in set(sys.modules) - KNOWN - {"__main__"}:
        del sys.modules[name]
    ssr_driver.__name__ = "__main__"
    ssr_driver.__spec__ = None
    sys.modules["__main__"] = sys.modules.pop("ssr_driver")


def serve():
    """Returns in a child only, with what it is to run."""
    if os.getppid() != 1 or os.uname().nodename != "sandbox":
        raise SystemExit("this program kills all other processes and runs in a sandbox only")
    os.environ.pop("PYTEST_ADDOPTS", None)
    # As the shell does for what it runs in the background.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    requests, replies = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    expose = protection()
    if expose:
        expose(False)
    ssr_driver.start(__file__)
    root = os.getcwd() + os.sep
    loaded = [name for name, module in list(sys.modules.items())
              if (getattr(module, "__file__", None) or "").startswith(root)]
    if loaded:
        raise SystemExit("modules of the tree are loaded already: %s" % ", ".join(sorted(loaded)))
    place, files = ssr_place.Place(RUN, True), ssr_fork.Files()
    inspect.getmodule(serve.__code__)  # fills its table of all modules, which every traceback needs
    gc.collect()
    getattr(gc, "freeze", int)()
    told = 0.0

    def reply(used=0.0, **answer):
        nonlocal told
        own = time.process_time()
        answer["cpu"], told = used + own - told, own
        line = json.dumps(answer).encode("ascii") + b"\n"
        while line:
            line = line[os.write(replies, line):]

    reply(ready=True)
    for line in requests:
        request = json.loads(line.decode("utf-8"))
        shutil.rmtree(RUN, ignore_errors=True)
        os.mkdir(RUN)
        place.save_bytecode(path for path in request["changes"] if path.endswith(".py"))
        try:
            files.lay(request["changes"], set(request["executable"]))
        except (ssr_fork.Unfit, OSError) as error:
            reply(unfit=str(error))
            return None
        child = ssr_fork.fork()
        if child == 0:
            become_run(requests, replies, expose)
            return request["files"], os.path.join(RUN, "report"), request["excluded"]
        ended, status, usage = ssr_fork.wait(child, request["seconds"])
        ssr_fork.kill_all()
        text = log(request["framework"], status)
        try:
            files.restore()
            dirty = place.clean(request["changes"])
        except OSError as error:
            dirty = [str(error)]
        reply(usage.ru_utime + usage.ru_stime, log=binascii.b2a_base64(text, newline=False).decode("ascii"),
              timed_out=not ended, dirty=sorted(dirty)[:5])
    return None


if __name__ == "__main__":
    job = serve()
    if job:
        ssr_driver.leave(ssr_driver.run(*job))
