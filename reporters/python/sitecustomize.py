"""Loaded by every Python process of a check. It watches for unittest and doctest, and then loads the sitecustomize it hides.

The plugin for pytest is named here and not by the engine: where a command sets a PYTHONPATH of its own and
starts a Python by its path, neither this file nor the plugin is found, and pytest would not start without the plugin.
"""

import os
import sys

if os.environ.get("REMAND_TEST_NAMES") and sys.version_info[0] >= 3:
    try:
        import remand_doctest
        import remand_unittest

        remand_unittest.install()
        remand_doctest.install()
        command = [os.path.basename(word) for word in getattr(sys, "orig_argv", [])]
        if os.environ.get("REMAND_COVERAGE") and {"pytest", "py.test", "unittest"} & set(command):
            import remand_coverage

            remand_coverage.start()
    except Exception:  # Without a report the engine falls back to what the check prints.
        pass


_PLUGIN = "-p remand_names"
_options = os.environ.get("PYTEST_ADDOPTS", "")
if os.environ.get("REMAND_TEST_NAMES") and _PLUGIN not in _options:
    os.environ["PYTEST_ADDOPTS"] = (_options + " " + _PLUGIN).strip()


def _load_hidden():
    here = os.path.dirname(os.path.abspath(__file__))
    paths = [path for path in sys.path if os.path.abspath(path or ".") != here]
    if sys.version_info[0] < 3:
        import imp

        try:
            found = imp.find_module("sitecustomize", paths)
        except ImportError:
            return
        imp.load_module("sitecustomize", *found)
        return
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", paths)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_load_hidden()
