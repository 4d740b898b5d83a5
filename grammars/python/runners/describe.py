"""Values as text that is the same in every run: no addresses, no order of sets, bounded, and without calling
any code of the tree. Attributes that begin with an underscore stand between marks, so that they can be
left out."""
import collections
import enum
import io
import re
import types

DEEPEST = 6
MOST_PARTS = 400
MOST_ITEMS = 60
LONGEST = 6000
SHOWN = 160
OPEN, CLOSE = "\x01", "\x02"
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
ATOMS = (int, float, complex, bool, type(None), type(Ellipsis), type(NotImplemented), range)
# Their `repr` is the library's own and tells their whole value.
LIBRARY = {"datetime", "zoneinfo", "decimal", "_decimal", "_pydecimal", "fractions", "pathlib", "pathlib._local",
           "uuid", "ipaddress", "re", "_sre", "array", "time", "numpy"}
# They hold what is theirs alone: counters, locks, times.
CLOSED = {"_pytest", "pytest", "unittest", "threading", "_thread", "logging", "queue", "asyncio", "weakref",
          "_weakref", "socket", "ssl", "sqlite3", "subprocess", "select", "selectors", "concurrent"}


class Describer:
    def __init__(self):
        self.parts = MOST_PARTS
        self.seen = []

    def text(self, value, depth=0):
        kind = type(value)
        if kind in ATOMS:
            return repr(value)
        if kind is str or kind is bytes:
            return literal(value)
        self.parts -= 1
        if depth > DEEPEST or self.parts < 0:
            return name_of(kind) + "(…)"
        if any(value is other for other in self.seen):
            return "(itself)"
        self.seen.append(value)
        try:
            return self.compound(value, kind, depth + 1)
        except Exception:  # whatever an object does to be looked at
            return name_of(kind) + "(?)"
        finally:
            self.seen.pop()

    def compound(self, value, kind, depth):
        if isinstance(value, type):
            return "<class %s>" % name_of(value)
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
            return "<function %s>" % getattr(value, "__qualname__", "?")
        if isinstance(value, types.ModuleType):
            return "<module>"
        module = str(type.__getattribute__(kind, "__module__"))
        if kind.__name__ == "Mock" or module.split(".")[0] in CLOSED:
            return "<%s>" % name_of(kind)
        if isinstance(value, enum.Enum):
            return "%s.%s" % (name_of(kind), object.__getattribute__(value, "_name_"))
        if kind is slice:
            return "slice(%s)" % ", ".join(self.text(part, depth) for part in (value.start, value.stop, value.step))
        if isinstance(value, BaseException):
            return exception(kind, value, self, depth)
        inside = self.content(value, kind, depth)
        attributes = self.attributes(value, kind, module, depth)
        if inside is None and not attributes and module in LIBRARY and kind.__repr__ is not object.__repr__:
            return ADDRESS.sub("0x…", repr(value))
        plain = kind in (list, tuple, dict, set, frozenset)
        if plain:
            return inside
        return "%s(%s)" % (name_of(kind), "".join((inside or "", attributes)))

    def content(self, value, kind, depth):
        """What a builtin container, or a class built on one, holds."""
        if isinstance(value, dict):
            pairs = dict.items(value)
            # An ordered dictionary of C keeps an order of its own.
            if isinstance(value, collections.OrderedDict) and kind.__iter__ is collections.OrderedDict.__iter__:
                pairs = collections.OrderedDict.items(value)
            pairs = ["%s: %s" % (self.text(key, depth), self.text(item, depth)) for key, item in head(pairs)]
            return "{%s}" % joined(pairs, dict.__len__(value))
        for base, (begin, end) in ((list, "[]"), (tuple, "()"), (collections.deque, "[]")):
            if isinstance(value, base):
                items = [self.text(item, depth) for item in head(base.__iter__(value))]
                return begin + joined(items, base.__len__(value)) + end
        for base in (set, frozenset):
            if isinstance(value, base):
                # All of them: which ones come first hangs on addresses.
                items = sorted(Describer().text(item, depth) for item in head(base.__iter__(value), 2000))
                return "{%s}" % joined(items[:MOST_ITEMS], base.__len__(value))
        for base in (int, float):
            if isinstance(value, base):
                return base.__repr__(value)
        if isinstance(value, str):
            return literal(str.__str__(value))
        if isinstance(value, (bytes, bytearray)):
            return literal(b"".join((memoryview(value),)))
        if kind.__name__ in ("dict_keys", "dict_values", "dict_items") and kind.__module__ == "builtins":
            return "[%s]" % joined([self.text(item, depth) for item in head(value)], len(value))
        if kind is io.StringIO or kind is io.BytesIO:
            return "closed" if value.closed else "%s at %d" % (literal(value.getvalue()), value.tell())
        if isinstance(value, types.MappingProxyType):
            return "{…}"
        return None

    def attributes(self, value, kind, module, depth):
        """Of the instance: its dictionary and its slots."""
        found = {}
        for base in kind.__mro__:
            slots = base.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else tuple(slots):
                plain = "_%s%s" % (base.__name__.lstrip("_"), name) if name.startswith("__") and not name.endswith("__") else name
                member = base.__dict__.get(plain)
                if isinstance(member, types.MemberDescriptorType):
                    try:
                        found[name] = member.__get__(value, kind)
                    except AttributeError:
                        pass
        if module.split(".")[0] in LIBRARY:
            return ""
        try:
            own = object.__getattribute__(value, "__dict__")
        except (AttributeError, TypeError):
            own = None
        if type(own) is dict:
            found.update((name, item) for name, item in own.items() if type(name) is str)
        texts = []
        for name in sorted(found):
            if name.startswith("__") and name.endswith("__"):
                continue
            text = " %s=%s" % (name, self.text(found[name], depth))
            texts.append(OPEN + text + CLOSE if name.startswith("_") else text)
        return "".join(texts)


def head(items, most=MOST_ITEMS):
    return [item for _, item in zip(range(most), items)]


def joined(texts, length):
    return ", ".join(texts) + (", … %d in all" % length if length > len(texts) else "")


def literal(value):
    """A text by its beginning, its length and its digest: all of it is compared."""
    said = ADDRESS.sub("0x…", repr(value))
    if len(said) <= 1000:
        return said
    return "%s… %d long, %08x" % (said[:600], len(value), digest(said))


def digest(text):
    import zlib
    return zlib.crc32(text.encode("utf-8", "backslashreplace"))


def name_of(kind):
    return str(type.__getattribute__(kind, "__qualname__"))


def value(value):
    return Describer().text(value)[:LONGEST]


def arguments(values):
    describer = Describer()
    return ", ".join("%s=%s" % (name, describer.text(item)) for name, item in values.items())[:LONGEST]


def exception(kind, value, describer=None, depth=1):
    arguments = BaseException.args.__get__(value) if isinstance(value, BaseException) else ()
    describer = describer or Describer()
    return "%s%s" % (name_of(kind), describer.text(tuple(arguments), depth))


def public(text):
    """Without what stands between marks."""
    if OPEN not in text:
        return text
    kept, depth = [], 0
    for piece in re.split("([\x01\x02])", text):
        if piece == OPEN:
            depth += 1
        elif piece == CLOSE:
            depth -= 1
        elif depth == 0:
            kept.append(piece)
    return "".join(kept)


def unmarked(text):
    return text.replace(OPEN, "").replace(CLOSE, "")


def shortened(text):
    text = unmarked(text).replace("( ", "(")
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def around(before, after):
    """Both texts, cut to where they begin to differ."""
    before, after = unmarked(before).replace("( ", "("), unmarked(after).replace("( ", "(")
    if max(len(before), len(after)) <= SHOWN:
        return before, after
    at = next((n for n, (one, other) in enumerate(zip(before, after)) if one != other), min(len(before), len(after)))
    start = max(0, at - SHOWN // 3)

    def cut(text):
        end = start + SHOWN
        return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")

    return cut(before), cut(after)
