"""Reports the tests of unittest by name, by watching the base class of all its results."""

import functools
import os
import sys


def install():
    """Waits until unittest is loaded: most Python processes never load it, and must not pay for it."""
    sys.meta_path.insert(0, _Finder())


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "unittest.result":
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            try:
                watch(module.TestResult)
            except Exception:
                pass

        spec.loader.exec_module = exec_module
        return spec


_current = None  # The result of the run that is reported, while it lasts.
_report = None
_outcomes = {}


def watch(result):
    def wrap(name, after):
        method = getattr(result, name)

        @functools.wraps(method)
        def watched(self, *args, **kwargs):
            returned = method(self, *args, **kwargs)
            try:
                after(self, *args)
            except Exception:
                pass
            return returned

        setattr(result, name, watched)

    wrap("startTestRun", _start)
    wrap("stopTestRun", _stop)
    wrap("addSuccess", lambda self, test: _note(self, test, "passed"))
    wrap("addFailure", lambda self, test, *_: _note(self, test, "failed"))
    wrap("addError", lambda self, test, *_: _note(self, test, "failed"))
    wrap("addUnexpectedSuccess", lambda self, test: _note(self, test, "failed"))
    wrap("addSkip", lambda self, test, *_: _note(self, test, "skipped"))
    wrap("addExpectedFailure", lambda self, test, *_: _note(self, test, "skipped"))
    wrap("addSubTest", lambda self, test, _, error: error and _note(self, test, "failed"))
    wrap("stopTest", _tell)


def _start(result):
    global _current, _report
    folder = os.environ.get("REMAND_TEST_NAMES")
    if _current is not None or not folder:
        return
    from remand_report import Report

    _current = result
    _report = Report(folder, "unittest")
    _count(None)
    # Processes that the tests start must not report.
    os.environ["REMAND_TEST_NAMES"] = ""


def _stop(result):
    global _current
    if result is not _current:
        return
    for test in list(_outcomes):
        _tell(result, test)
    if "remand_coverage" in sys.modules:
        sys.modules["remand_coverage"].write(os.path.dirname(_report._file.name))
    _report.end()
    os.environ["REMAND_TEST_NAMES"] = os.path.dirname(_report._file.name)
    _current = None


def _note(result, test, outcome):
    if result is _current:
        _outcomes[test] = "failed" if _outcomes.get(test) == "failed" else outcome


def _tell(result, test):
    outcome = _outcomes.pop(test, None) if result is _current else None
    if outcome is None:
        return
    kind = type(test)
    if kind.__module__ == "unittest.loader" and kind.__name__ == "_FailedTest":
        return _report.test("not-loaded", _module_file(test._testMethodName))
    _count(outcome)
    _report.test(outcome, _file_of(test), test.id())


def _count(outcome):
    if "remand_coverage" in sys.modules:
        sys.modules["remand_coverage"].count(outcome)


def _file_of(test):
    doctest = getattr(test, "_dt_test", None)
    if doctest is not None:
        return doctest.filename
    return getattr(sys.modules.get(type(test).__module__), "__file__", None)


def _module_file(name):
    """The file of a module that could not be imported, looked up on the import path."""
    path = name.replace(".", os.sep)
    for folder in sys.path:
        for end in (".py", os.sep + "__init__.py"):
            if os.path.isfile(os.path.join(folder or ".", path + end)):
                return os.path.abspath(os.path.join(folder or ".", path + end))
    return name
