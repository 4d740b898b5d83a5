"""Nothing tests this module."""


def label(name, cents):
    return "{}: {}.{:02}".format(name, cents // 100, cents % 100)
