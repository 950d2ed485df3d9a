"""Mechanical faults that a line of C can have: one operator, constant or condition changed.

The sources are laid out by clang-format, so a binary operator has a space on both sides and a unary
one has none behind it; a scanner that knows strings and comments needs no more of C than that.
"""
import math
import re

# A binary operator, and what takes its place.
OPERATORS = {
    "<": ["<=", ">"], "<=": ["<", ">"], ">": [">=", "<"], ">=": [">", "<"],
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"],
    "&": ["|"], "|": ["&"], "^": ["|"], "<<": [">>"], ">>": ["<<"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "|=": ["&="], "&=": ["|="],
    "<<=": [">>="], ">>=": ["<<="],
}
BINARY = re.compile(r"(?<= )(%s)(?= |$)" % "|".join(
    re.escape(operator) for operator in sorted(OPERATORS, key=len, reverse=True)))
STEP = re.compile(r"\+\+|--")
NOT = re.compile(r"!(?=[\w(])")
CONSTANT = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)(?![\w.])")
WORD = re.compile(r"\b(true|false)\b")
CONDITION = re.compile(r"\b(if|while) \(")
# Lines about which the tests need not notice anything.
LEFT_OUT = re.compile(r"\b(assert|static_assert|_Static_assert|TB_UNREACHABLE|__builtin_unreachable)\b")


def code_only(text):
    """The text with the insides of comments, strings and characters, and all of the preprocessor's
    lines, made blank, so that places stay where they are."""
    pattern = re.compile(
        r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
        r"|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def closing(line, at):
    """Where the bracket that opens at `at` closes in this line, or None."""
    depth = 0
    for i in range(at, len(line)):
        depth += {"(": 1, ")": -1}.get(line[i], 0)
        if depth == 0:
            return i
    return None


def faults_of_line(line):
    """All faults of a line of code_only(): (column, length, what takes the place)."""
    if LEFT_OUT.search(line):
        return []
    faults = []
    for found in BINARY.finditer(line):
        for other in OPERATORS[found.group()]:
            faults.append((found.start(), len(found.group()), other))
    for found in STEP.finditer(line):
        faults.append((found.start(), 2, "--" if found.group() == "++" else "++"))
    for found in NOT.finditer(line):
        faults.append((found.start(), 1, ""))
    for found in CONSTANT.finditer(line):
        value = int(found.group(1), 0) if found.group(1).lower().startswith("0x") else int(found.group(1))
        for other in sorted({value + 1, max(value - 1, 0), 0} - {value}):
            faults.append((found.start(), len(found.group()), "%d%s" % (other, found.group(2))))
    for found in WORD.finditer(line):
        faults.append((found.start(), len(found.group()), "false" if found.group() == "true" else "true"))
    for found in CONDITION.finditer(line):
        begin = found.end() - 1
        end = closing(line, begin)
        if end is not None:
            faults.append((begin + 1, end - begin - 1, None))  # None: the condition is negated
    return faults


def planted(line, fault):
    """The line with the fault in it."""
    column, length, other = fault
    was = line[column:column + length]
    return line[:column] + ("!(%s)" % was if other is None else other) + line[column + length:]


def choose(lines_of_file, random):
    """Draws without end: (file, line number, fault), each line at most once. lines_of_file gives for
    each file the lines that tests execute, as {number: text of code_only()}. Equal input and equal
    state of random give equal draws."""
    places = [(file, number) for file in sorted(lines_of_file) for number in sorted(lines_of_file[file])]
    random.shuffle(places)
    for file, number in places:
        faults = faults_of_line(lines_of_file[file][number])
        if faults:
            yield file, number, random.choice(faults)


def interval(noticed, counted):
    """Wilson's 95 % interval of a share (E. B. Wilson, JASA 22, 1927)."""
    if counted == 0:
        return 0.0, 1.0
    z = 1.959964
    share = noticed / counted
    middle = (share + z * z / (2 * counted)) / (1 + z * z / counted)
    half = z / (1 + z * z / counted) * math.sqrt(
        share * (1 - share) / counted + z * z / (4 * counted * counted))
    return max(0.0, middle - half), min(1.0, middle + half)
