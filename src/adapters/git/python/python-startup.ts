/**
 * The startup file of every Python in a worktree, loaded as `sitecustomize`, which Python imports after it has set up
 * its paths. An editable install leads to one checkout by a path, a table or a link; this code redirects each of them
 * to the same files of the worktree in which Python runs. The order of the paths is kept and nothing is added, so that
 * the project imports exactly what it could import before. A path that cannot be redirected is blocked with a message:
 * testing the wrong files would be worse.
 */
export const PYTHON_STARTUP = `\
import os
import sys


def _lead():
    own = os.environ.get("REMAND_PLACE", "")
    others = [each for each in os.environ.get("REMAND_OTHER_PLACES", "").split(os.pathsep) if each]
    given = [os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    here = os.path.dirname(os.path.abspath(__file__))
    told = {"moved": [], "lost": [], "closed": [], "fixed": [], "seen": []}
    standard = os.path.dirname(os.path.realpath(os.__file__)) + os.sep

    def root_of(path):
        best = own if (path + os.sep).startswith(own + os.sep) else ""
        for other in others:
            if other.startswith("="):
                root = other if (path + os.sep).startswith(other[1:] + os.sep) else ""
            elif other.endswith(os.sep + "*"):
                rest = path[len(other) - 1:].split(os.sep)[0]
                root = other[:-1] + rest if rest and path.startswith(other[:-1]) else ""
            else:
                root = other if (path + os.sep).startswith(other + os.sep) else ""
            if len(root) > len(best):
                best = root
        return best

    def led(path):
        """Return the same file in this worktree, or None if the path leads to no other checkout."""
        real = os.path.realpath(str(path))
        parts = real.split(os.sep)
        if "site-packages" in parts or "dist-packages" in parts or real.endswith(".zip"):
            return None
        if (real + os.sep).startswith(standard):
            return None
        told["seen"].append(real)
        root = root_of(real)
        if root in ("", own) or root.startswith("="):
            return None
        target = own + real[len(root):]
        told["moved"].append([real, target])
        return target

    lost = lead_paths(led, told, [each for each in sys.path if os.path.abspath(each) in given])
    if here in sys.path:
        sys.path.remove(here)
    lead_finders(led, told, own, others)
    links = {}
    for folder in list(sys.path):
        if os.path.basename(folder) in ("site-packages", "dist-packages"):
            lead_folder(folder, led, links)
    if links:
        sys.meta_path.insert(0, Links(links))
    if lost:
        sys.meta_path.append(Lost(lost, own))
    if os.environ.get("REMAND_PLACE_TELL"):
        import json
        print("REMAND_PLACE_TELL " + json.dumps(told))


def lead_paths(led, told, given):
    lost = []
    for at, path in enumerate(list(sys.path)):
        target = led(path) if os.path.isdir(path) and path not in given else None
        if target is None:
            continue
        if not os.path.isdir(target):
            lost.append(path)
            told["lost"].append(path)
        sys.path[at] = target
    return lost


def lead_finders(led, told, own, others):
    for at, finder in enumerate(list(sys.meta_path)):
        module = sys.modules.get(getattr(finder, "__module__", None) or "")
        tables = [getattr(module, name, None) for name in ("MAPPING", "NAMESPACES")]
        tables = [each for each in tables + [getattr(finder, "_redirections", None)] if isinstance(each, dict)]
        for table in tables:
            for name, path in list(table.items()):
                if isinstance(path, list):
                    path[:] = [led(each) or each for each in path]
                else:
                    target = led(path)
                    table[name] = path if target is None else type(path)(target)
        if not tables and names_any(getattr(module, "__file__", None), [own]):
            told["fixed"].append([module.__name__, module.__file__])
        if not tables and names_any(getattr(module, "__file__", None), others):
            told["closed"].append([module.__name__, module.__file__])
            sys.meta_path[at] = Closed(finder, led, own)


def names_any(file, others):
    if not file or not file.endswith(".py"):
        return False
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            text = opened.read(1000000)
    except OSError:
        return False
    return any(other.rstrip("*") in text for other in others if not other.startswith("="))


def lead_folder(folder, led, links):
    """Redirect links to packages, and paths to missing folders, which Python has left out already."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            target = led(entry.path)
            name = entry.name[:-3] if entry.name.endswith(".py") else entry.name
            if target is not None and name.isidentifier():
                links[name] = target
        elif entry.name.endswith(".pth"):
            with open(entry.path, encoding="utf-8", errors="replace") as opened:
                lines = [line.strip() for line in opened]
            for line in lines:
                if line.startswith(os.sep) and not os.path.exists(line):
                    target = led(line)
                    if target is not None and target not in sys.path:
                        sys.path.append(target)


def refusal(name, file, own):
    text = "remand: %s would be imported from %s, and not from %s. Make an environment in the place itself: "
    text += "workspace.setup: python3 -m venv .venv && .venv/bin/pip install -e ."
    return ModuleNotFoundError(text % (name, file, own), name=name)


class Links:
    def __init__(self, links):
        self.links = links

    def find_spec(self, name, path=None, target=None):
        where = self.links.get(name)
        if where is None:
            return None
        from importlib.util import spec_from_file_location
        if os.path.isdir(where):
            init = os.path.join(where, "__init__.py")
            return spec_from_file_location(name, init, submodule_search_locations=[where])
        return spec_from_file_location(name, where)


class Closed:
    """A finder that cannot be redirected. It may find files of this worktree, or of no checkout; others are refused."""

    def __init__(self, finder, led, own):
        self.finder, self.led, self.own = finder, led, own

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        spec = self.finder.find_spec(name, path, target)
        for file in [] if spec is None else [spec.origin] + list(spec.submodule_search_locations or []):
            if file and self.led(file) is not None:
                raise refusal(name, file, self.own)
        return spec


class Lost:
    """Explain why a module is missing: its folder is not in this worktree (build output is not in git)."""

    def __init__(self, paths, own):
        self.paths, self.own = paths, own

    def find_spec(self, name, path=None, target=None):
        if path is not None:
            return None
        from importlib.machinery import PathFinder
        spec = PathFinder.find_spec(name, self.paths)
        if spec is not None:
            raise refusal(name, spec.origin or self.paths[0], self.own)
        return None


def _next():
    """Load the sitecustomize module that Python would have loaded without this one: only one can have the name."""
    from importlib.machinery import PathFinder
    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec("sitecustomize", [each for each in sys.path if each != here])
    if spec is None or spec.loader is None:
        return
    from importlib.util import module_from_spec
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if sys.version_info >= (3, 6):
    if os.environ.get("REMAND_PLACE"):
        try:
            _lead()
        except Exception as error:
            # Python would continue without redirects, and could import the wrong files.
            text = "remand: what is installed for this Python cannot be led to %s: %s: %s\\n"
            sys.stderr.write(text % (os.environ["REMAND_PLACE"], type(error).__name__, error))
            sys.stderr.flush()
            os._exit(70)
    _next()
`;
