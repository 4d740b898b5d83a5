# -*- coding: latin-1 -*-
"""Prüfung."""


def gruß(name, höflich=True):
    if höflich and name:
        return "Grüß Gott, " + name
    return "Hallo é"
