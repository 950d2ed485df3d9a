#!/usr/bin/env python3
"""Plants random mechanical faults and tells which the quick tests notice: ./dev mutate --random N --seed S

A fault changes one operator, constant or condition (faults.py) on a random line of the product that a
quick test executes. The tests that execute the line run until one fails, the quickest first, and that one
has to pass without the fault (tried once per test), else it does not count. What does not compile, with warnings as errors, is
not counted, and another fault is drawn. A test that takes more than 20 s and 20 times as long as without
the fault has noticed it. What no test notices is given to those that `./dev test` runs with sanitizers, too.

Everything happens in build/mutation/random/: `copy` holds the sources as they are now and two builds of
them; `KEY.map` tells which test executes which line (KEY stands for the sources); `KEY-all-SEED.tsv` has a
line a fault. A run that was interrupted goes on where it stopped, and a larger N adds to what is there.
After a change only the tests are measured again that run another program, script or data than before.
"""
import argparse
import collections
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import faults

ROOMS = ("base", "capture", "replay", "analyze", "viz", "program", "mpi")
SANITIZED = "asan"  # the preset, and the prefix of its tests
KINDS = {"unit", "property", "physics", "golden", "e2e"}
# What scripts run beside the program: modules and helpers, as far as they are built here.
FOR_SCRIPTS = ("tailback", "tailback-window", "tailback-archive", "tailback-mpi", "tailback-trace-openmpi",
               "tailback-trace-mpich", "mpilog_goal", "infer_judge")
# What only one test reads, or none when it passes.
OF_ONE_TEST = re.compile(r"tests/(unit|property|physics|fuzz|bench|mutation|tree|support|golden/pictures)/"
                         r"|tests/(golden/[^/]*[.]golden|golden/(account|infer_truth|library_choices|cablings)[.]txt|e2e/[^/]*[.]sh)$")
# What pins nearly all that is answered, and comes early although it takes long: after so many CPU seconds.
WIDE = {"property.analyze_account", "unit.viz_viewer_walk", "golden.pinned_answers"}
WIDE_AFTER = 3
MEMORY = 8 << 30  # bytes of address space that a test may take


def say(text):
    print("mutate: " + text, file=sys.stderr, flush=True)


def fail(text):
    sys.exit("mutate: " + text)


def output_of(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout


class Tree:
    """The sources, and a copy of them in which faults are planted."""

    def __init__(self, top):
        self.top = pathlib.Path(top).resolve()
        self.work = self.top / "build/mutation/random"
        self.copy = self.work / "copy/tailback"

    def files(self):
        names = output_of("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
                          cwd=self.top).split("\0")
        return sorted(name for name in names if name and (self.top / name).is_file())

    def renew(self):
        """Makes the copy equal to the sources; what did not change keeps its time. Returns its key."""
        digest = hashlib.sha256()
        wanted = self.files()
        for name in wanted:
            content = (self.top / name).read_bytes()
            digest.update(name.encode() + b"\0" + content)
            there = self.copy / name
            if not there.is_file() or there.read_bytes() != content:
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.top / name, there)
        for folder, folders, names in os.walk(self.copy):
            if pathlib.Path(folder) == self.copy and "build" in folders:
                folders.remove("build")
            for name in names:
                path = pathlib.Path(folder, name)
                if str(path.relative_to(self.copy)) not in wanted:
                    path.unlink()
        shared = self.top.parent / "shared"
        beside = self.copy.parent / "shared"
        if shared.exists() and not beside.exists():
            beside.symlink_to(shared.resolve())
        return digest.hexdigest()[:12]

    def product_lines(self, executed):
        """{file: {line: text}} of the lines in `executed`, {file: lines}, without comments and strings."""
        found = {}
        for file, lines in executed.items():
            texts = faults.code_only((self.copy / file).read_text()).split("\n")
            found[file] = {line: texts[line - 1] for line in lines if line <= len(texts)}
        return found


class Build:
    """A build of the copy."""

    def __init__(self, tree, name, *options, preset="test"):
        self.folder = tree.copy / "build" / name
        self.log = tree.work / ("%s.log" % name)
        self.configure = ["cmake", "--preset", preset, "-B", str(self.folder), *options]
        self.tree = tree
        self.tests = {}
        self.targets = set()

    def prepare(self):
        """Builds what the quick tests run, for ctest does not know the command of a program that is not there."""
        if not (self.log_of(self.configure) and self.log_of(["ninja", "-C", str(self.folder), "--quiet", "quick_tests"])):
            fail("the copy does not build: %s" % self.log)
        shown = json.loads(output_of("ctest", "--test-dir", str(self.folder), "--show-only=json-v1"))
        for test in shown["tests"]:
            properties = {each["name"]: each["value"] for each in test["properties"]}
            labels = set(properties.get("LABELS", []))
            if "command" in test and "quick" in labels and labels & KINDS:
                self.tests[test["name"]] = Test(test["name"], test["command"], properties)
        self.list_targets()

    def list_targets(self):
        listed = output_of("ninja", "-C", str(self.folder), "-t", "targets", "all")
        self.targets = {line.split(":")[0] for line in listed.splitlines()}

    def keys(self):
        """{name of a test: what stands for all that it runs and reads}."""
        data = hashlib.sha256()
        for name in self.tree.files():
            if name.split("/")[0] not in ROOMS and not OF_ONE_TEST.match(name):
                data.update(name.encode() + b"\0" + (self.tree.copy / name).read_bytes())
        programs = data.copy()
        for program in FOR_SCRIPTS:
            for path in sorted(self.folder.rglob(program)):
                if path.is_file():
                    programs.update(path.read_bytes())
        keys = {}
        for test in self.tests.values():
            in_build = os.path.relpath(test.command[0], self.folder) in self.targets
            digest = data.copy() if in_build else programs.copy()
            for word in test.command:
                if str(self.tree.copy) in word and os.path.isfile(word):
                    digest.update(pathlib.Path(word).read_bytes())
            keys[test.name] = digest.hexdigest()[:16]
        return keys

    def log_of(self, command):
        """Runs the command, with its output in the log. Returns whether it ends well."""
        with open(self.log, "w") as log:
            return subprocess.run(command, cwd=self.tree.copy, stdout=log, stderr=log).returncode == 0

    def make(self, tests):
        """Builds what these tests run. Returns whether it compiles."""
        targets = set()
        for test in tests:
            program = os.path.relpath(test.command[0], self.folder)
            targets |= {program} if program in self.targets else set(FOR_SCRIPTS)
        return self.log_of(["ninja", "-C", str(self.folder), "--quiet", *sorted(targets & self.targets)])


class SanitizedBuild(Build):
    """The build whose tests have a prefix, for what the plain tests do not notice; built as far as they need it."""

    def __init__(self, tree, plain):
        super().__init__(tree, SANITIZED, preset=SANITIZED)
        self.plain = plain
        self.long = (tree.copy / "tests/long.txt").read_text().split()
        if not self.log_of(self.configure):
            fail("the copy does not build: %s" % self.log)
        self.list_targets()

    @staticmethod
    def known(tree):
        presets = json.loads((tree.copy / "CMakePresets.json").read_text())
        return SANITIZED in {each["name"] for each in presets["configurePresets"]}

    def tests_like(self, tests):
        """The same tests in this build, as far as they are quick there."""
        return [Test(SANITIZED + "." + test.name, *test.moved(self.plain.folder, self.folder), sanitized=True)
                for test in tests if test.name.split(".")[0] in ("unit", "property")
                and not {test.name, SANITIZED + "." + test.name} & set(self.long)]


class Test:
    """A test of ctest, run without ctest: many at once would disturb each other's times."""

    def __init__(self, name, command, properties, sanitized=False):
        self.name = name
        self.properties = properties
        self.sanitized = sanitized
        self.command = command
        self.folder = properties["WORKING_DIRECTORY"]
        self.environment = dict(os.environ)
        self.environment.update(each.split("=", 1) for each in properties.get("ENVIRONMENT", []))

    def moved(self, folder, to):
        """Its command and properties with another folder of the build."""
        text = json.dumps([self.command, self.properties])
        return json.loads(text.replace(str(folder), str(to)))

    def begin(self):
        """Between fork and exec: a limit of memory, and Ctrl-C heard although we may be in the background."""
        if not self.sanitized: # which takes addresses without end
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)

    def run(self, limit_s, environment=None):
        """Returns the exit code, None when the limit ended it, and the CPU seconds that it took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(
            self.command, cwd=self.folder, env={**self.environment, **(environment or {})},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=self.begin)
        try:
            code = process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            code = None
        try:  # what it left behind, too
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return code, (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


class Coverage:
    """Which tests execute which line, and how long they take."""

    def __init__(self):
        self.seconds = {}  # by test
        self.lines = collections.defaultdict(lambda: collections.defaultdict(set))  # file, line: tests

    @staticmethod
    def measure(tree, path):
        build = Build(tree, "coverage", "-DTB_WERROR=OFF", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=--coverage -DNDEBUG",
                      "-DCMAKE_C_FLAGS_DEBUG=-O1")
        say("building, to see which lines the quick tests execute")
        build.prepare()
        if not build.make(build.tests.values()): # with what scripts run
            fail("the copy does not build: %s" % build.log)
        # Counters go to a folder of their own, in which gcov finds the notes of the compiler beside them.
        counters = tree.work / "counters"
        shutil.rmtree(counters, ignore_errors=True)
        notes = list(build.folder.rglob("*.gcno"))
        for note in notes:
            there = counters / note.relative_to("/")
            there.parent.mkdir(parents=True, exist_ok=True)
            there.symlink_to(note)
        coverage = Coverage()
        partial = path.with_suffix(".partial")
        drop_partial_line(partial)
        keys = build.keys()
        earlier = {}
        for each in [*tree.work.glob("*.map"), partial]:
            for record in read_records(each):
                if record.get("key") == keys.get(record["test"], ""):
                    earlier[record["test"]] = record
        with open(partial, "w") as kept:
            for n, test in enumerate(build.tests.values(), 1):
                record = earlier.get(test.name)
                if not record:
                    record = {**Coverage.of_test(test, tree, counters), "key": keys[test.name]}
                    say("%d of %d: %s, %.1f s" % (n, len(build.tests), test.name, record["seconds"]))
                kept.write(json.dumps(record) + "\n")
                kept.flush()
                coverage.add(record)
        shutil.rmtree(counters, ignore_errors=True)
        partial.rename(path)
        return coverage

    @staticmethod
    def of_test(test, tree, counters):
        """Runs the test. Returns what stands in the map about it."""
        code, seconds = test.run(600, {"GCOV_PREFIX": str(counters)})
        executed = Coverage.executed_lines(tree, counters)
        if code not in (0, 77):
            say("%s fails without any fault, and is left out" % test.name)
        return {"test": test.name, "seconds": seconds, "lines": executed if code == 0 else {}}

    @staticmethod
    def executed_lines(tree, counters):
        """{file: lines} of the product, from the counters of one test, which it removes."""
        found = collections.defaultdict(set)
        data = sorted(str(each) for each in counters.rglob("*.gcda"))
        for first in range(0, len(data), 200):
            texts = output_of("gcov", "--json-format", "--stdout", *data[first:first + 200], cwd=counters)
            for text in texts.splitlines():
                shown = json.loads(text)
                for file in shown["files"]:
                    name = os.path.join(shown["current_working_directory"], file["file"])
                    name = os.path.relpath(os.path.realpath(name), tree.copy)
                    if name.split("/")[0] in ROOMS:
                        found[name] |= {line["line_number"] for line in file["lines"] if line["count"]}
        for each in data:
            os.unlink(each)
        return {file: sorted(lines) for file, lines in found.items()}

    def add(self, record):
        self.seconds[record["test"]] = record["seconds"]
        for file, lines in record["lines"].items():
            for line in lines:
                self.lines[file][line].add(record["test"])


def read_records(path):
    """What an interrupted run, or a whole one, measured: a record a test."""
    if path.exists():
        for text in open(path):
            yield json.loads(text)


class Result:
    """A planted fault and what became of it: a line of the results."""

    def __init__(self, outcome, file, line, change, by):
        self.outcome, self.file, self.line, self.change, self.by = outcome, file, int(line), change, by

    def text(self):
        return "\t".join([self.outcome, self.file, str(self.line), self.change, self.by])


def drop_partial_line(path):
    """Cuts what a kill left of the last line, behind which the next one would stand."""
    if path.exists():
        content = path.read_bytes()
        os.truncate(path, content.rfind(b"\n") + 1)


def read_results(path):
    if not path.exists():
        return []
    return [Result(*text.rstrip("\n").split("\t")) for text in open(path)]


def change_of(before, after):
    """The changed line, as `before` -> `after`, without what is equal at its ends."""
    return "%s -> %s" % (before.strip(), after.strip())


class Planter:
    """Plants faults in the copy, one at a time, and has tests look for them."""

    def __init__(self, tree, build, coverage, most_s, plain):
        self.tree, self.build, self.coverage, self.most_s = tree, build, coverage, most_s
        self.sanitized = SanitizedBuild(tree, build) if not plain and SanitizedBuild.known(tree) else None
        self.left_out = set()
        self.passed = set()  # tests, without any fault

    def tests_of(self, file, line):
        """The quickest first, but those that pin much before others once these have taken a few seconds."""
        names = self.coverage.lines[file][line] & set(self.build.tests)
        names = sorted(names, key=lambda name: (self.coverage.seconds[name], name))
        ends = itertools.accumulate(self.coverage.seconds[name] for name in names)
        late = [name for name, end in zip(names, ends) if end > WIDE_AFTER]
        quick = names[:len(names) - len(late)]
        late.sort(key=lambda name: name not in WIDE)  # stable
        return [self.build.tests[name] for name in quick + late]

    def plant(self, file, line, fault):
        path = self.tree.copy / file
        original = path.read_text() # not the sources': they may have changed since
        lines = original.split("\n")
        before = lines[line - 1]
        lines[line - 1] = faults.planted(before, fault)
        tests = self.tests_of(file, line)
        builds = [(self.build, tests)]
        if self.sanitized:
            builds.append((self.sanitized, self.sanitized.tests_like(tests)))
        for build, tests in builds:
            tests = [test for test in tests if test.name not in self.left_out]
            outcome, by = self.look_until(build, tests, path, original, "\n".join(lines))
            if outcome != "NOT NOTICED":
                break
        return Result(outcome, file, line, change_of(before, lines[line - 1]), by)

    def look_until(self, build, tests, path, original, changed):
        """Looks until no test notices the fault, or one that passes without it."""
        while True:
            path.write_text(changed)
            try:
                outcome, by, noticing = self.look(build, tests)
            finally:
                path.write_text(original)
            if outcome != "noticed" or self.passes(build, noticing):
                return outcome, by
            say("%s fails without the fault, too, and is left out" % noticing.name)
            self.left_out.add(noticing.name)
            tests = tests[tests.index(noticing) + 1:]

    def limit_s(self, test):
        return 20 + 20 * self.coverage.seconds[test.name.removeprefix(SANITIZED + ".")]

    def passes(self, build, test):
        """The control, once per test: whether it passes without any fault."""
        if test.name not in self.passed and build.make([test]) and test.run(self.limit_s(test))[0] == 0:
            self.passed.add(test.name)
        return test.name in self.passed

    def look(self, build, tests):
        """Builds and runs a few tests at a time, for what is noticed is mostly noticed at once.
        Returns the outcome, by what, and the test that noticed it."""
        spent, n = 0.0, 4
        while tests:
            some, tests = tests[:n], tests[n:]
            n *= 4
            if not build.make(some):
                return "not counted", "it does not compile", None
            for i, test in enumerate(some, 1):
                code, seconds = test.run(self.limit_s(test))
                if code is None:
                    return "noticed", test.name + " (hangs)", test
                if code not in (0, 77):
                    return "noticed", test.name, test
                spent += seconds
                if spent > self.most_s:
                    return "NOT NOTICED", "%d tests left out after %d s" % (len(some) - i + len(tests), spent), None
        return "NOT NOTICED", "", None


def room_of(file):
    return os.path.dirname(file)


def report(results, depth):
    """Prints shares by room, and the survivors."""
    counted = collections.Counter()
    noticed = collections.Counter()
    for result in results:
        if result.outcome == "not counted":
            continue
        for room in ("all", "/".join(room_of(result.file).split("/")[:depth])):
            counted[room] += 1
            noticed[room] += result.outcome == "noticed"
    for room in sorted(counted, key=lambda room: (room == "all", room)):
        low, high = faults.interval(noticed[room], counted[room])
        print("%-28s %4d of %4d noticed, %3.0f %% (95 %%: %.0f to %.0f)" % (
            room, noticed[room], counted[room], 100 * noticed[room] / counted[room], 100 * low, 100 * high))
    survivors = [result for result in results if result.outcome == "NOT NOTICED"]
    if survivors:
        print("\nNot noticed:")
    for result in sorted(survivors, key=lambda result: (result.file, result.line)):
        print("%s:%d: %s%s" % (result.file, result.line, result.change, result.by and " (%s)" % result.by))
    return len(survivors)


def arguments():
    parser = argparse.ArgumentParser(prog="./dev mutate --random", description=__doc__.split("\n")[0])
    parser.add_argument("count", type=int, metavar="N", help="how many faults are counted")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which faults are drawn (1)")
    parser.add_argument("--depth", type=int, default=2, metavar="D", help="folders in a room's name (2)")
    parser.add_argument("--seconds", type=float, default=120, metavar="T",
                        help="CPU seconds after which a fault is given up as not noticed (120)")
    parser.add_argument("--plain", action="store_true", help="without sanitizers, which notice more, but whose build takes long")
    parser.add_argument("--top", default=pathlib.Path(__file__).parents[2], help=argparse.SUPPRESS)
    parser.add_argument("where", nargs="*", metavar="PATH", help="only in files whose path begins so")
    return parser.parse_args()


def main():
    asked = arguments()
    tree = Tree(asked.top)
    key = tree.renew()
    map_path = tree.work / ("%s.map" % key)
    if map_path.exists():
        coverage = Coverage()
        for record in read_records(map_path):
            coverage.add(record)
    else:
        coverage = Coverage.measure(tree, map_path)
    build = Build(tree, "test")
    build.prepare()
    lines = tree.product_lines({
        file: list(lines) for file, lines in coverage.lines.items()
        if not asked.where or file.startswith(tuple(asked.where))})
    say("%d lines in %d files are executed by quick tests" % (sum(map(len, lines.values())), len(lines)))
    if not lines:
        fail("no quick test executes a line of %s" % " ".join(asked.where))

    planter = Planter(tree, build, coverage, asked.seconds, asked.plain)
    where = hashlib.sha256(" ".join(asked.where).encode()).hexdigest()[:6] if asked.where else "all"
    where += "-plain" if asked.plain else ""
    path = tree.work / ("%s-%s-%d.tsv" % (key, where, asked.seed))
    drop_partial_line(path)
    results = read_results(path)
    n_counted = sum(result.outcome != "not counted" for result in results)
    draws = faults.choose(lines, random.Random(asked.seed))
    for _ in results:
        next(draws)
    with open(path, "a") as kept:
        while n_counted < asked.count:
            drawn = next(draws, None)
            if drawn is None:
                say("there are no more lines")
                break
            begin = time.monotonic()
            result = planter.plant(*drawn)
            kept.write(result.text() + "\n")
            kept.flush()
            results.append(result)
            n_counted += result.outcome != "not counted"
            say("%d of %d: %s, %s:%d: %s%s, %.0f s" % (
                n_counted, asked.count, result.outcome, result.file, result.line, result.change,
                result.by and " (%s)" % result.by, time.monotonic() - begin))
    print()
    report(results, asked.depth)


if __name__ == "__main__":
    main()
