"""Counts for each changed line the tests that ran it: those that failed and those that passed.

Only where the engine asks for it. Other files are not traced.
"""

import ast
import json
import os
import sys
import threading

_counting = None


def start():
    """Called before the tests are loaded. Processes that this process starts are not counted."""
    global _counting
    path = os.environ.pop("REMAND_COVERAGE", None)
    if path is None or _counting is not None or sys.gettrace() is not None:
        return
    with open(path) as file:
        _counting = _Counting(json.load(file))
    threading.settrace(_counting.trace)
    sys.settrace(_counting.trace)


def count(outcome):
    """Counts the lines that ran since the last call: for a test that passed or failed, or before the first test."""
    if _counting is not None and outcome != "skipped":
        _counting.count(outcome)


def write(folder):
    global _counting
    if _counting is None:
        return
    sys.settrace(None)
    threading.settrace(None)
    found, _counting = _counting.found(), None
    with open(os.path.join(folder, "coverage-%d.json" % os.getpid()), "w") as file:
        json.dump(found, file)


class _Counting:
    def __init__(self, wanted):
        self._names = {os.path.join(root, file): file for root in wanted["roots"] for file in wanted["files"]}
        self._wanted = wanted["files"]
        self._ran = {}
        self._lines = {}
        self._totals = {"failed": 0, "passed": 0}

    def trace(self, frame, event, arg):
        file = self._names.get(frame.f_code.co_filename)
        if file is None:
            return None
        ran = self._ran.setdefault(file, set())

        def lines(frame, event, arg):
            if event == "line":
                ran.add(frame.f_lineno)
            return lines

        return lines

    def count(self, outcome):
        if outcome is not None:
            self._totals[outcome] += 1
        for file, ran in self._ran.items():
            counts = self._lines.setdefault(file, {})
            for line in ran:
                counts.setdefault(line, {"failed": 0, "passed": 0, None: 0})[outcome] += 1
            # The same set is reused, because functions that are still running add to it.
            ran.clear()

    def found(self):
        found = []
        for path, file in self._names.items():
            if file not in self._lines or not os.path.exists(path):
                continue
            counts = self._lines.pop(file)
            statements = _statements(path)
            for line in self._wanted[file]:
                own = [counts[each] for each in statements.get(line, ()) if each in counts]
                if line not in statements:
                    continue
                # Code that is loaded before the tests counts for all of them.
                loaded = any(each[None] for each in own)
                most = self._totals if loaded else {
                    kind: max([each[kind] for each in own] or [0]) for kind in ("failed", "passed")
                }
                found.append({"file": file, "line": line, "failed": most["failed"], "passed": most["passed"]})
        return found


def _statements(path):
    """For each line of code, the lines of its statement: one of them that ran stands for all."""
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    found = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body else node.end_lineno
        lines = range(node.lineno, max(node.lineno, last) + 1)
        for line in lines:
            found[line] = lines
    return found
