# A build from a checkout is known by its commit, which stores keep; the same commit gives the same text.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() {
	echo "$*"
	exit 1
}

mkdir source
git -C source init -q
echo one >source/file
git -C source add file
git -C source -c user.name=t -c user.email=t@t commit -qm one
commit=$(git -C source rev-parse --short=9 HEAD)

# made WITH: the version of a build
made() {
	cmake -DFILE="$scratch/version.c" -DSOURCE="$scratch/source" -DVERSION=0.2.0 -DWITH="$1" -P "$TB_SOURCE/base/version.cmake"
	sed -n 's/.*"\(0.*\)";/\1/p' version.c
}
[[ $(made commit) == "0.2.0+$commit" ]] || fail "of commit $commit it is $(made commit)"
touch -d '2001-01-01' version.c
made commit >again
[[ $(date -r version.c +%Y) == 2001 ]] || fail "what is the same is written anew"
[[ $(made none) == 0.2.0 ]] || fail "without the commit it is $(made none)"
echo two >source/file
[[ $(made commit) == "0.2.0+$commit.dirty" ]] || fail "of other files it is $(made commit)"
rm -rf source/.git
[[ $(made commit) == 0.2.0 ]] || fail "without a checkout it is $(made commit)"

# What --version prints is what a store keeps.
"$TAILBACK" synth uniform --nodes 4 --message 1K --messages 1 -o job.goal
"$TAILBACK" replay job.goal -n qsnet -q -o run.db
[[ "tailback $(sqlite3 run.db 'SELECT program_version FROM run')" == "$("$TAILBACK" --version)" ]] ||
	fail "the store was made by $(sqlite3 run.db 'SELECT program_version FROM run')"
