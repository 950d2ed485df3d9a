# Random faults: which ones a line of C can have, which are drawn, and that `./dev mutate --random` tells
# what tests notice from what they do not, in a project of one function.
set -eu
for tool in python3 gcov cmake ninja git; do
	command -v "$tool" >/dev/null || {
		echo "skipped: no $tool"
		exit 77
	}
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PYTHONPATH=$TB_SOURCE/tests/mutation PYTHONDONTWRITEBYTECODE=1
python3 - <<'END'
import random
import faults

def changed(text):
    return [faults.planted(line, fault) for line in faults.code_only(text).split("\n")
            for fault in faults.faults_of_line(line)]

assert changed("x = a + b;") == ["x = a - b;"]
assert changed("if (a < b)") == ["if (a <= b)", "if (a > b)", "if (!(a < b))"], changed("if (a < b)")
assert changed("n = 12u;") == ["n = 0u;", "n = 11u;", "n = 13u;"], changed("n = 12u;")
assert changed("n = 0;") == ["n = 1;"]
assert changed("done = !found;") == ["done = found;"]
assert changed("at++;") == ["at--;"]
assert changed("return true;") == ["return false;"]
# No operators: a pointer, an address, a sign, an arrow, a part of a name or of a fraction.
assert changed("struct tb_x1 *x = &y->z[-k]; f(1.5);") == []
# Nothing in comments, strings, the preprocessor's lines and asserts.
assert changed('/* a + b\n 1 */ f("a + 1"); // a + b') == []
assert changed("#define A \\\n\t(1 + 2)") == []
assert changed("assert(a < b);") == []
assert changed("c = '\"' + d; e = \"x\" + 1;") == [
    "c =     - d; e =     + 1;", "c =     + d; e =     - 1;", "c =     + d; e =     + 0;", "c =     + d; e =     + 2;"]
assert changed("c = '\"'; d = \"a + b\"; e = '\"';") == []

lines = {"b.c": {n: "x = a + b;" for n in range(1, 50)}, "a.c": {3: "f(x);", 4: "y = 1;"}}
drawn = list(faults.choose(lines, random.Random(7)))
assert len(drawn) == 50 and ("a.c", 3) not in {place[:2] for place in drawn}
assert drawn == list(faults.choose(lines, random.Random(7)))
assert drawn != list(faults.choose(lines, random.Random(8)))

low, high = faults.interval(73, 98)
assert round(low, 3) == 0.650 and round(high, 3) == 0.821, (low, high)
assert faults.interval(0, 0) == (0.0, 1.0)
END

# A project with a function that its test asserts something about, one that it only calls, one of which
# only a sanitizer notices a fault, and one that nothing calls.
mkdir -p "$scratch/base" "$scratch/tests"
cd "$scratch"
cat >base/known.c <<'END'
int known(int a, int b);
int loose(int a, int b);
int first(const char *x);
int unknown(int a, int b);

int known(int a, int b)
{
	return a + b;
}

int loose(int a, int b)
{
	return a + b;
}

int first(const char *x)
{
	return x[0];
}

int unknown(int a, int b)
{
	return a + b;
}
END
cat >tests/test.c <<'END'
#include <stdlib.h>
int known(int a, int b);
int loose(int a, int b);
int first(const char *x);

int main(void)
{
	char *one = calloc(1, 1);
	(void)loose(3, 4);
	(void)first(one);
	free(one);
	return known(1, 2) != 3;
}
END
# It passes only where coverage is measured.
cat >tests/flaky.c <<'END'
#include <stdlib.h>
int loose(int a, int b);

int main(void)
{
	return loose(3, 4) == 0 || getenv("GCOV_PREFIX") == 0;
}
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(known C)
add_executable(unit_known tests/test.c base/known.c)
add_executable(unit_flaky tests/flaky.c base/known.c)
add_custom_target(quick_tests DEPENDS unit_known unit_flaky)
enable_testing()
add_test(NAME unit.known COMMAND unit_known)
add_test(NAME unit.flaky COMMAND unit_flaky)
set_tests_properties(unit.known unit.flaky PROPERTIES LABELS "unit;quick" ENVIRONMENT "A=b")
END
cat >CMakePresets.json <<'END'
{"version": 6, "configurePresets": [
  {"name": "test", "generator": "Ninja", "binaryDir": "build"},
  {"name": "asan", "generator": "Ninja", "binaryDir": "build/asan",
   "cacheVariables": {"CMAKE_C_FLAGS": "-fsanitize=address"}}]}
END
echo asan.unit.flaky >tests/long.txt
echo build/ >.gitignore
git init -q .

plant() { python3 "$TB_SOURCE/tests/mutation/plant.py" --top "$scratch" "$@" >said 2>log || { cat log; exit 1; }; }
has() { grep -qE -- "$1" said || { echo "it does not say '$1':"; cat said log; exit 1; }; }
plant 1 --seed 1
cp log build/first
printf 'noticed\tbase/kno' >>build/mutation/random/*.tsv # as a kill leaves it
plant 9 --seed 1
cut -f 1 build/mutation/random/*.tsv | sort -u | xargs >build/outcomes
[[ $(<build/outcomes) == "NOT NOTICED noticed" ]] || { echo "outcomes: $(<build/outcomes)"; exit 1; }
grep -qF 'unit.flaky fails without the fault, too' build/first log || { echo "a test that fails anyway counts"; cat build/first log; exit 1; }
has '^base +2 of +3 noticed,  67 %'
grep -q 'noticed.base/known.c.*x.1.*asan.unit.known' build/mutation/random/*.tsv || { echo 'sanitizers notice nothing'; cat log; exit 1; }
has '^base/known.c:13: return a \+ b; -> return a - b;$'
[[ $(grep -c 'base/known.c' build/mutation/random/*.tsv) == 3 ]] || { echo "it planted one twice"; exit 1; }
grep -q 'building, to see' log && { echo "it measured the same sources twice"; exit 1; }
git -C "$scratch" diff --quiet && cmp -s base/known.c build/mutation/random/copy/tailback/base/known.c
