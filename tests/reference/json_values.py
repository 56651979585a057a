"""Naive twins of the kernels that find where JSON values end: one byte after another, as the rules are written."""

from __future__ import annotations


def pass_json_value(data, at, depth, in_string):
    """Behind the end of a value, or at the end of the data, or before a backslash whose character is still to come."""
    while at < len(data):
        sign = chr(data[at])
        if in_string and sign == "\\":
            if at + 1 == len(data):
                return at, depth, in_string
            at += 2
            continue
        at += 1
        if sign == '"':
            in_string = not in_string
        elif not in_string:
            depth += (sign in "[{") - (sign in "]}")
        if not depth and not in_string:
            break
    return at, depth, in_string


def json_depth(data):
    """The most brackets outside of strings that are open at once."""
    depth = deepest = 0
    in_string = escaped = False
    for sign in map(chr, data):
        if in_string:
            in_string = escaped or sign != '"'
            escaped = not escaped and sign == "\\"
        else:
            in_string = sign == '"'
            depth += (sign in "[{") - (sign in "]}")
            deepest = max(deepest, depth)
    return deepest
