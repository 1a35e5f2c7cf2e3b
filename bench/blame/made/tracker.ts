/* oxlint-disable max-lines -- the texts of a project, whole */
import type { MadeRepository } from "./made.ts";

/** A task tracker in Python, tested by what comes with Python. */
export const tracker: MadeRepository = {
  name: "tracker",
  command: "python3 -m unittest discover -s tests -t .",
  borrows: false,
  commits: [
    {
      subject: "tasks and their order",
      files: {
        ".gitignore": "__pycache__/\n*.pyc\n",
        "README.md": "# Tracker\n\nTasks, in the order in which they are due.\n",
        "tracker/__init__.py": "",
        "tracker/task.py": `"""One thing to do."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Task:
    id: str
    title: str
    points: int = 1
    due: int = 0
    done: bool = False
    tags: tuple = ()
    needs: tuple = field(default_factory=tuple)


def finish(task):
    return Task(task.id, task.title, task.points, task.due, True, task.tags, task.needs)


def is_late(task, today):
    if task.done:
        return False
    return task.due < today


def has_tag(task, tag):
    return tag.lower() in task.tags
`,
        "tracker/parse.py": `"""Tasks from lines of text."""
import re

from tracker.task import Task

LINE = re.compile(r"^(?P<done>[x ]) (?P<id>\\w+): (?P<title>.*)$")


def parse_line(line):
    match = LINE.match(line)
    if match is None:
        raise ValueError("not a task: " + line)
    words = match["title"].split()
    tags = tuple(word[1:].lower() for word in words if word.startswith("#"))
    points = 1
    for word in words:
        if word.startswith("*"):
            points = int(word[1:])
    title = " ".join(word for word in words if word[0] not in "#*")
    return Task(match["id"], title, points, 0, match["done"] == "x", tags)


def parse(text):
    tasks = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            tasks.append(parse_line(line))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    return tasks
`,
        "tracker/order.py": `"""Which task comes first."""


def by_due(tasks):
    return sorted(tasks, key=lambda task: (task.due, task.id))


def ready(tasks):
    done = {task.id for task in tasks if task.done}
    found = []
    for task in tasks:
        if task.done:
            continue
        if all(need in done for need in task.needs):
            found.append(task)
    return found


def chain(tasks):
    """Every task after those that it needs."""
    known = {task.id: task for task in tasks}
    result = []
    seen = set()

    def visit(task, path):
        if task.id in path:
            raise ValueError("a circle: " + " > ".join(path + [task.id]))
        if task.id in seen:
            return
        for need in task.needs:
            visit(known[need], path + [task.id])
        seen.add(task.id)
        result.append(task.id)

    for task in tasks:
        visit(task, [])
    return result
`,
        "tests/__init__.py": "",
        "tests/test_task.py": `import unittest

from tracker.task import Task, finish, has_tag, is_late


class TaskTest(unittest.TestCase):
    def test_is_late_after_its_day(self):
        task = Task("a", "write", due=5)
        self.assertTrue(is_late(task, 6))
        self.assertFalse(is_late(task, 5))

    def test_is_never_late_when_done(self):
        self.assertFalse(is_late(finish(Task("a", "write", due=5)), 9))

    def test_finds_tags_in_any_letters(self):
        self.assertTrue(has_tag(Task("a", "write", tags=("home",)), "HOME"))
        self.assertEqual(finish(Task("a", "write", 3)).points, 3)
`,
        "tests/test_parse.py": `import unittest

from tracker.parse import parse, parse_line


class ParseTest(unittest.TestCase):
    def test_reads_a_line(self):
        task = parse_line("x a1: write the page #Home *5")
        self.assertEqual((task.id, task.title, task.points), ("a1", "write the page", 5))
        self.assertEqual(task.tags, ("home",))
        self.assertTrue(task.done)

    def test_leaves_empty_lines_out(self):
        self.assertEqual([task.id for task in parse("  a: one\\n\\n  b: two\\n")], ["a", "b"])
        self.assertEqual(parse("  a: one")[0].points, 1)

    def test_names_the_line_that_is_wrong(self):
        with self.assertRaisesRegex(ValueError, "line 2: not a task"):
            parse("  a: one\\nnonsense\\n")
`,
        "tests/test_order.py": `import unittest

from tracker.order import by_due, chain, ready
from tracker.task import Task


class OrderTest(unittest.TestCase):
    def test_the_earliest_comes_first(self):
        tasks = [Task("b", "x", due=2), Task("a", "x", due=2), Task("c", "x", due=1)]
        self.assertEqual([task.id for task in by_due(tasks)], ["c", "a", "b"])

    def test_what_waits_is_not_ready(self):
        tasks = [Task("a", "x", done=True), Task("b", "x", needs=("a",)), Task("c", "x", needs=("b",))]
        self.assertEqual([task.id for task in ready(tasks)], ["b"])

    def test_needs_come_before(self):
        self.assertEqual(chain([Task("b", "x", needs=("a",)), Task("a", "x")]), ["a", "b"])
        with self.assertRaisesRegex(ValueError, "a circle: a > b > a"):
            chain([Task("a", "x", needs=("b",)), Task("b", "x", needs=("a",))])
`,
      },
    },
    {
      subject: "velocity and forecasts",
      files: {
        "tracker/velocity.py": `"""How fast it goes."""
import math


def velocity(done, days):
    if days == 0:
        return 0.0
    return sum(task.points for task in done) / days


def average(values, window=3):
    recent = values[-window:]
    if not recent:
        return 0.0
    return sum(recent) / len(recent)


def days_left(tasks, speed):
    open_points = sum(task.points for task in tasks if not task.done)
    if speed <= 0:
        return None
    return math.ceil(open_points / speed)
`,
        "tests/test_velocity.py": `import unittest

from tracker.task import Task
from tracker.velocity import average, days_left, velocity


class VelocityTest(unittest.TestCase):
    def test_points_of_a_day(self):
        self.assertEqual(velocity([Task("a", "x", 3), Task("b", "x", 5)], 4), 2.0)
        self.assertEqual(velocity([], 0), 0.0)

    def test_the_last_three_count(self):
        self.assertEqual(average([10, 1, 2, 3]), 2.0)
        self.assertEqual(average([]), 0.0)

    def test_days_are_whole(self):
        tasks = [Task("a", "x", 5), Task("b", "x", 9, done=True)]
        self.assertEqual(days_left(tasks, 2), 3)
        self.assertIsNone(days_left(tasks, 0))
`,
      },
      edits: [
        [
          "tracker/task.py",
          "def has_tag(task, tag):",
          "def is_open(task):\n    return not task.done\n\n\ndef has_tag(task, tag):",
        ],
        ["tracker/order.py", '"""Which task comes first."""', '"""Which task comes first, and which can be begun."""'],
        [
          "tests/test_task.py",
          "from tracker.task import Task, finish, has_tag, is_late",
          "from tracker.task import Task, finish, has_tag, is_late, is_open",
        ],
        [
          "tests/test_task.py",
          "    def test_is_never_late_when_done(self):",
          '    def test_is_open_until_it_is_done(self):\n        self.assertTrue(is_open(Task("a", "write")))\n        self.assertFalse(is_open(finish(Task("a", "write"))))\n\n    def test_is_never_late_when_done(self):',
        ],
        ["README.md", "in which they are due.", "in which they are due.\n\nIts speed is in points a day."],
      ],
    },
    {
      subject: "boards, and limits of work in progress",
      files: {
        "data/limits.json": '{\n  "todo": 20,\n  "doing": 3,\n  "review": 2\n}\n',
        "tracker/board.py": `"""Columns, and how much may stand in each."""
import json
from pathlib import Path

LIMITS = json.loads((Path(__file__).parent.parent / "data" / "limits.json").read_text())


class Board:
    def __init__(self, limits=None):
        self.limits = limits if limits is not None else LIMITS
        self.columns = {name: [] for name in self.limits}

    def free(self, column):
        return self.limits[column] - len(self.columns[column])

    def put(self, column, task):
        if column not in self.columns:
            raise KeyError(column)
        if self.free(column) <= 0:
            raise ValueError(column + " is full")
        self.columns[column].append(task.id)

    def move(self, task, before, after):
        self.put(after, task)
        self.columns[before].remove(task.id)

    def counts(self):
        return {name: len(ids) for name, ids in self.columns.items()}
`,
        "tests/test_board.py": `import unittest

from tracker.board import Board
from tracker.task import Task


class BoardTest(unittest.TestCase):
    def test_a_task_moves(self):
        board = Board()
        board.put("todo", Task("a", "x"))
        board.move(Task("a", "x"), "todo", "doing")
        self.assertEqual(board.counts(), {"todo": 0, "doing": 1, "review": 0})

    def test_a_full_column_takes_no_more(self):
        board = Board()
        for name in ("a", "b"):
            board.put("review", Task(name, "x"))
        with self.assertRaisesRegex(ValueError, "review is full"):
            board.put("review", Task("c", "x"))
        self.assertEqual(board.free("doing"), 3)

    def test_an_unknown_column(self):
        with self.assertRaises(KeyError):
            Board({"todo": 1}).put("later", Task("a", "x"))
`,
      },
      edits: [
        [
          "tracker/velocity.py",
          "def days_left(tasks, speed):\n    open_points = sum(task.points for task in tasks if not task.done)\n",
          "def open_points(tasks):\n    return sum(task.points for task in tasks if not task.done)\n\n\ndef days_left(tasks, speed):\n",
        ],
        [
          "tracker/velocity.py",
          "    return math.ceil(open_points / speed)",
          "    return math.ceil(open_points(tasks) / speed)",
        ],
        [
          "tracker/parse.py",
          '"""Tasks from lines of text."""',
          '"""Tasks from lines of text: x id: title #tag *points."""',
        ],
        ["README.md", "points a day.", "points a day.\nLimits are in data/limits.json."],
      ],
    },
    {
      subject: "reports",
      files: {
        "tracker/report.py": `"""What a person reads."""
from tracker.order import by_due
from tracker.task import is_late
from tracker.velocity import open_points


def bar(share, width=10):
    filled = int(round(share * width))
    return "#" * filled + "." * (width - filled)


def progress(tasks):
    if not tasks:
        return 1.0
    total = sum(task.points for task in tasks)
    return (total - open_points(tasks)) / total


def lines(tasks, today):
    rows = []
    for task in by_due(tasks):
        mark = "x" if task.done else "!" if is_late(task, today) else " "
        rows.append(f"{mark} {task.title:<8}{task.points:>3}")
    return rows


def summary(tasks, today):
    late = sum(1 for task in tasks if is_late(task, today))
    return f"{bar(progress(tasks))} {late} late"
`,
        "tests/test_report.py": `import unittest

from tracker.report import bar, lines, progress, summary
from tracker.task import Task

TASKS = [Task("a", "write", 3, due=2, done=True), Task("b", "read", 1, due=1), Task("c", "sleep", 8, due=9)]


class ReportTest(unittest.TestCase):
    def test_a_bar_is_as_long_as_it_should(self):
        self.assertEqual(bar(0.25, 8), "##......")
        self.assertEqual(len(bar(0.7)), 10)

    def test_progress_is_of_points(self):
        self.assertEqual(progress(TASKS), 0.25)
        self.assertEqual(progress([]), 1.0)

    def test_lines_in_order(self):
        self.assertEqual(lines(TASKS, 5), ["! read      1", "x write     3", "  sleep     8"])

    def test_a_summary(self):
        self.assertEqual(summary(TASKS, 5), "##........ 1 late")
`,
      },
      edits: [
        [
          "tracker/board.py",
          "    def counts(self):",
          "    def is_empty(self):\n        return not any(self.columns.values())\n\n    def counts(self):",
        ],
        [
          "tests/test_board.py",
          "    def test_an_unknown_column(self):",
          "    def test_is_empty_at_first(self):\n        self.assertTrue(Board().is_empty())\n\n    def test_an_unknown_column(self):",
        ],
        [
          "tracker/order.py",
          "def ready(tasks):\n    done = {task.id for task in tasks if task.done}\n",
          "def ready(tasks):\n    # What is done needs not be waited for.\n    done = {task.id for task in tasks if task.done}\n",
        ],
        [
          "README.md",
          "Limits are in data/limits.json.",
          "Limits are in data/limits.json.\n\nA report has a bar and a line for each task.",
        ],
      ],
    },
  ],
};
