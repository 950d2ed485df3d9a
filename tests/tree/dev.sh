# ./dev test runs a few tests that failed again, alone, and says which; the second run decides, once a
# test. It names what was skipped, before ctest's own closing lines. What it needs it installs, although
# apt is busy for a moment.
set -eu
command -v ctest >/dev/null || {
	echo "skipped: no ctest"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$TB_SOURCE/dev" .
mkdir -p tools tests build/test build/asan build/Testing/Temporary
cp "$TB_SOURCE/tests/skipped.awk" tests/
: >tests/repeated.txt
PATH=$scratch/tools:$PATH
fail() {
	echo "$*:"
	cat said
	exit 1
}

# tool NAME: a program that ./dev calls, from standard input.
tool() {
	{
		echo '#!/bin/sh'
		cat
	} >"tools/$1"
	chmod +x "tools/$1"
}

# dev CODE ARGUMENT...: ./dev ends with CODE; "said" is what it says.
dev() {
	local expected=$1 code=0
	shift
	./dev "$@" >said 2>&1 || code=$?
	[[ $code == "$expected" ]] || fail "./dev $* exits with $code"
}
has() { grep -qxF -- "$*" said || fail "it does not say '$*'"; }
lacks() { if grep -qF -- "$*" said; then fail "it says '$*'"; fi; }

# Builds that need no compiler, of tests that are shell commands; "ran" has a line per test that ran.
echo 'exit 0' | tool cmake
echo 'printf installed' | tool dpkg-query
add_test() {
	printf 'add_test(%s bash -c [=[echo %s >>"%s"; %s]=])\n' "$2" "$2" "$scratch/ran" "$3"
	printf 'set_tests_properties(%s PROPERTIES SKIP_RETURN_CODE 77 LABELS %s)\n' "$2" "${4-quick}"
} >>"build/$1/CTestTestfile.cmake"
fails_once() { add_test "$1" "$2" "test -e $scratch/$2.tried || { touch $scratch/$2.tried; exit 1; }"; }
ran() {
	[[ $(LC_ALL=C sort ran | uniq -c | awk '{ print $2 "*" $1 }' | xargs) == "$*" ]] || fail "ran: $(xargs <ran)"
	rm -f ran ./*.tried
}
announcement='==> these failed beside others and are run again, alone:'

# All pass: no second try.
add_test test passes true
add_test asan asan.passes true
add_test test takes_minutes true long
add_test asan asan.takes_minutes true long
dev 0 test
lacks "$announcement"
ran 'asan.passes*1 passes*1'

# What takes minutes runs with --long, with another sanitized build; a choice is a choice of all.
dev 0 test --long
ran 'asan.takes_minutes*1 takes_minutes*1'
dev 0 test -R minutes
ran 'asan.takes_minutes*1 takes_minutes*1'

# Each skipped case is named with its reason, and ctest's lines are the last ones.
add_test test whole 'echo "skipped: no tool"; exit 77'
add_test asan asan.some 'echo "[ RUN      ] a_claim"; echo "skipped: no file"; echo "[  SKIPPED ] a_claim"'
dev 0 test
has 'skipped cases, and why: 2'
has '  whole: no tool'
has '  asan.some, a_claim: no file'
[[ $(grep -n '^skipped cases' said | cut -d : -f 1) -lt $(grep -n 'tests passed' said | cut -d : -f 1) ]] ||
	fail "it names what is skipped too late"
tail -n 2 said | grep -q 'whole (Skipped)' || fail "its last lines are not those of ctest"
rm -f ran
sed -i '/whole\|some/d' build/*/CTestTestfile.cmake

# A limit of the caller's ends a test.
add_test test slow 'sleep 60'
dev 8 test --timeout 1
grep -q 'slow (Timeout)' said || fail "it does not end what takes longer than the limit"
rm -f ran
sed -i /slow/d build/test/CTestTestfile.cmake

# ctest itself fails: none either, least of all of what failed in an earlier run.
echo 1:passes >build/Testing/Temporary/LastTestsFailed.log
cp build/asan/CTestTestfile.cmake kept
echo 'add_test(' >>build/asan/CTestTestfile.cmake
./dev test >said 2>&1 && fail "./dev test passes"
lacks "$announcement"
mv kept build/asan/CTestTestfile.cmake

# One of each build fails once.
fails_once test by_chance
fails_once asan asan.by_chance
dev 0 test
has "$announcement by_chance asan.by_chance"
has '100% tests passed, 0 tests failed out of 2'
ran 'asan.by_chance*2 asan.passes*1 by_chance*2 passes*1'

# Both are listed, and the next time that decides.
[[ $(xargs <tests/repeated.txt) == 'by_chance asan.by_chance' ]] || fail "listed: $(<tests/repeated.txt)"
dev 8 test
lacks "$announcement"
has '==> no second try: these needed one before, says tests/repeated.txt: by_chance asan.by_chance'
ran 'asan.by_chance*1 asan.passes*1 by_chance*1 passes*1'
: >tests/repeated.txt

# One that fails always is refused, both reasons are shown, and it alone is named last.
add_test test always 'echo the reason; exit 1'
dev 8 test
has "$announcement by_chance always asan.by_chance"
has '67% tests passed, 1 tests failed out of 3'
[[ $(grep -c '^the reason' said) == 2 ]] || fail "it does not show why"
ran 'always*2 asan.by_chance*2 asan.passes*1 by_chance*2 passes*1'

# Whoever chooses tests sees at once that one fails.
dev 8 test -R 'always|by_chance'
lacks "$announcement"
ran 'always*1 asan.by_chance*1 by_chance*1'

# More than five are not by chance.
for i in 1 2 3; do
	fails_once test "more$i"
done
dev 8 test
lacks "$announcement"
ran 'always*1 asan.by_chance*1 asan.passes*1 by_chance*1 more1*1 more2*1 more3*1 passes*1'

# Another release of Debian is tried where a root of it can be made.
echo 'echo 1000' | tool id
dev 77 test --release trixie
has 'skipped: no root of Debian trixie: that takes the rights of root'
echo 'echo 0' | tool id
echo 'exit 1' | tool unshare
dev 77 test --release trixie
has 'skipped: no root of Debian trixie: nothing can be mounted here'
echo 'exit 0' | tool unshare
echo 'exit 0' | tool apt-get
echo 'echo "E: no such mirror"; exit 1' | tool debootstrap
dev 77 test --release trixie
has 'skipped: no root of Debian trixie: E: no such mirror'
[[ ! -e build/roots/trixie ]] || fail "half a root is left"
dev 1 test --release
rm tools/{id,unshare,apt-get,debootstrap}

# What passed only when it was run again is named at the end of .ci/run.
mkdir -p ci/.ci ci/tests
cp "$TB_SOURCE/.ci/run" ci/.ci/
echo known >ci/tests/repeated.txt
printf '#!/bin/sh\n[ "$2" != --long ] || echo "$ADDS" >>tests/repeated.txt\n' >ci/dev
chmod +x ci/dev
ADDS=by_chance ci/.ci/run >said 2>&1 || fail "it fails though all passed in the end"
grep -q 'these passed only when they were run again' said || fail "it does not name what was repeated"
has '< by_chance'
printf '#!/bin/sh\n' >ci/dev
ci/.ci/run >said 2>&1 || fail "it fails although nothing did"
[[ ! -s said ]] || fail "it names what was not repeated"
printf '#!/bin/sh\n[ "$2" != --long ] || exit 3\n' >ci/dev
ci/.ci/run >said 2>&1 && fail "it passes although a test failed"

# A package is missing, and another apt has the lock: until the third try, or for good.
rm -f tools/dpkg-query
echo "test -e $scratch/there && printf installed" | tool dpkg-query
echo 'exec "$@"' | tool sudo
echo "echo sleep >>$scratch/ran" | tool sleep
tool apt-get <<END
case "\$*" in
*simulate*) exit 0 ;;
*update) echo update >>$scratch/ran; exit 0 ;;
esac
echo install >>$scratch/ran
test \$(grep -c install $scratch/ran) -ge "\$TRIES" && touch $scratch/there && exit 0
echo 'the lock is held'
exit 100
END
export TRIES=3
mkdir -p build/release
install /dev/null build/release/tailback
dev 0 build
has '==> the program is build/release/tailback'
ran 'install*3 sleep*2 update*2'
rm there
TRIES=9 dev 1 build
[[ $(grep -c 'the lock is held' said) == 1 ]] || fail "it does not give the reason once"
ran 'install*4 sleep*3 update*3'
