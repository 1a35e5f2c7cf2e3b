"""Writes one file of a report: the runner, a line for each test, and a last line when the runner has finished."""

import json
import os
import uuid


def take_folder():
    """The folder for reports, for this process alone: processes that its tests start must not report."""
    return os.environ.pop("REMAND_TEST_NAMES", None)


class Report:
    def __init__(self, folder, runner):
        path = os.path.join(folder, "%d-%s.jsonl" % (os.getpid(), uuid.uuid4().hex[:12]))
        self._file = open(path, "a")
        self._pid = os.getpid()
        self._write({"runner": runner, "cwd": os.getcwd()})

    def _write(self, line):
        # A forked copy of this process is not the runner.
        if os.getpid() != self._pid:
            return
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def test(self, outcome, file, name=None):
        line = {"outcome": outcome}
        if file is not None:
            line["file"] = file
        if name is not None:
            line["name"] = name
        self._write(line)

    def end(self):
        self._write({"ended": True})
