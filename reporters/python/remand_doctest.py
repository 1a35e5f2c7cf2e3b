"""Reports the examples that `python -m doctest` runs, by the name of what they document."""

import functools
import os
import sys


def install():
    """Installs only for that command: other programs that use doctest report through their own runner."""
    command = getattr(sys, "orig_argv", [])
    if ("-m", "doctest") not in zip(command, command[1:]):
        return
    import runpy

    run = runpy._run_module_as_main

    def run_module(name, *args, **kwargs):
        if name != "doctest":
            return run(name, *args, **kwargs)
        import doctest

        if not hasattr(doctest, "DocTestRunner"):  # A module of the project with this name.
            return run(name, *args, **kwargs)
        sys.argv[0] = doctest.__file__
        end = _watch(doctest.DocTestRunner)
        code = doctest._test()
        end()
        sys.exit(code)

    runpy._run_module_as_main = run_module


def _watch(runner):
    from remand_report import Report, take_folder

    folder = take_folder()
    if folder is None:
        return lambda: None
    report = Report(folder, "doctest")
    method = runner.run
    running = []

    @functools.wraps(method)
    def run(self, test, *args, **kwargs):
        running.append(test)
        try:
            results = method(self, test, *args, **kwargs)
        finally:
            running.pop()
        # An example may run examples itself, which are part of it.
        if test.examples and not running:
            outcome = "failed" if results.failed else "passed" if results.attempted else "skipped"
            report.test(outcome, os.path.abspath(test.filename) if test.filename else None, test.name)
        return results

    runner.run = run
    return report.end
