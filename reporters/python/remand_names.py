"""A plugin for pytest that prints nothing and reports each test by name."""

import os

import pytest

import remand_coverage
from remand_report import Report, take_folder


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    # A worker of pytest-xdist sends its results to the process that started it.
    folder = take_folder()
    if folder is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Names(config, folder), "remand-names-report")


class Names:
    def __init__(self, config, folder):
        self._report = Report(folder, "pytest")
        self._folder = folder
        self._root = str(getattr(config, "rootdir", os.getcwd()))
        self._seen = {}

    def pytest_collectreport(self, report):
        if report.failed:
            self._report.test("not-loaded", self._path(report.nodeid.split("::")[0]))

    def pytest_collection_finish(self):
        remand_coverage.count(None)

    def pytest_runtest_logreport(self, report):
        # A subtest has no name of its own here; if it fails, its test fails.
        if report.outcome == "rerun" or (hasattr(report, "context") and report.outcome != "failed"):
            return
        failed = self._seen.get(report.nodeid) == "failed"
        if report.outcome == "failed" or failed:
            self._seen[report.nodeid] = "failed"
        elif report.outcome == "skipped" or report.nodeid not in self._seen:
            self._seen[report.nodeid] = report.outcome
        if report.when == "teardown" and not hasattr(report, "context"):
            file, _, name = report.nodeid.partition("::")
            outcome = self._seen.pop(report.nodeid)
            remand_coverage.count(outcome)
            self._report.test(outcome, self._path(file), name.replace("::", " > ") or file)

    def pytest_sessionfinish(self):
        remand_coverage.write(self._folder)
        self._report.end()

    def _path(self, file):
        return os.path.join(self._root, file) if file else None
