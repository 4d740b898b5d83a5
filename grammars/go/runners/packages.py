"""Packages of test files, as go sees them."""
import json
import os
import subprocess

root = os.path.realpath(os.getcwd())


def by_package(files):
    """(module directory, package below it) to its test files, all relative to the root."""
    packages = {}
    for name in files:
        package = os.path.dirname(name)
        module = package
        while module and not os.path.isfile(os.path.join(root, module, "go.mod")):
            module = os.path.dirname(module)
        below = "./" + (os.path.relpath(package, module) if module else package)
        packages.setdefault((module, below), []).append(name)
    return packages


def go(module, *arguments):
    """What go prints; empty where it ends otherwise than well."""
    done = subprocess.run(["go", *arguments], cwd=os.path.join(root, module), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def objects(text):
    """The JSON objects that stand behind each other."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        found, at = decoder.raw_decode(text, at)
        yield found


def inside(directory, name):
    path = os.path.normpath(os.path.join(directory, name))
    return os.path.relpath(path, root) if path.startswith(root + os.sep) else None
