# Output that cannot be written is never lost with exit 0, whichever command printed it and however it
# ended: it says so in one line, and exits with 1. A reader that has seen enough (head) is no failure.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
tests=0

"$TAILBACK" synth uniform --nodes 8 --message 1K --messages 4 -o job.goal || exit 1
for store in a b; do "$TAILBACK" replay -q job.goal -n qsnet -o $store.db 2>/dev/null || exit 1; done
# check HOW CODE COMMAND...: how the command ended whose standard output was made useless by HOW.
check() {
	local how=$1 code=$2
	shift 2
	tests=$((tests + 1))
	if [[ $code != 1 ]] || [[ $(grep -c '^tailback: .*writing failed: ' err) != 1 ]]; then
		echo "tailback $* $how: exit $code, and says '$(cat err)'"
		failed=1
	fi
}

# prints COMMAND...: it succeeds and prints something, so losing that is a failure.
prints() {
	"$TAILBACK" "$@" >out 2>err </dev/null
	local code=$?
	if [[ $code != 0 || ! -s out ]]; then
		echo "tailback $*: exit $code, prints $(stat -c %s out) bytes: $(cat err)"
		failed=1
	fi
	"$TAILBACK" "$@" >/dev/full 2>err </dev/null
	check ">/dev/full" $? "$@"
	"$TAILBACK" "$@" >&- 2>err </dev/null
	check ">&-" $? "$@"
	# The pipe has no reader: SIGPIPE ends it, without a word.
	(
		trap - PIPE
		"$TAILBACK" "$@" 2>err </dev/null
		echo $? >code
	) | true
	if [[ $(cat code) != [01] && $(cat code) != 141 ]] || grep -q tailback: err; then
		echo "tailback $* | true: exit $(cat code), and says '$(cat err)'"
		failed=1
	fi
}

prints --help
prints --version
prints help
prints help info
prints info --usage
commands=$("$TAILBACK" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')
[[ $(wc -w <<<"$commands") -ge 18 ]] || { echo "only these commands: $commands"; failed=1; }
for command in $commands "sweep plot" "sweep merge"; do
	# shellcheck disable=SC2086 # a part of a command is two words
	prints $command --help
done
prints network --list
prints network --list -f json
prints network -n qsnet
prints network -n qsnet -f json
prints sweep --list
prints sweep --list --json
prints replay --words --network
prints info a.db
prints info --json a.db
prints info job.goal
prints info --json job.goal
prints report a.db
prints report -f json a.db
prints report --schema
prints matrix -f csv a.db
prints matrix a.db
prints top --once a.db
prints timeline a.db
prints timeline -f json a.db
prints compare a.db b.db
prints compare -f json a.db b.db
prints compare --schema
prints convert job.goal -o -
prints synth uniform --nodes 8 --message 1K --messages 2 -o -
prints timeline --schema
prints validate --words --model
prints advise --schema

# Without standard output no file takes its number: what is printed lands nowhere.
"$TAILBACK" replay job.goal -n qsnet -o c.db >&- 2>/dev/null || { echo "replay >&- fails"; failed=1; }
cmp <("$TAILBACK" report -f csv a.db) <("$TAILBACK" report -f csv c.db) || failed=1
"$TAILBACK" convert job.goal -o one.goal || failed=1
"$TAILBACK" convert job.goal -o other.goal >&- <&- || { echo "convert >&- <&- fails"; failed=1; }
cmp one.goal other.goal || failed=1
"$TAILBACK" info - <&- >out 2>err && { echo "info - <&- succeeds"; failed=1; }
((tests > 95)) || { echo "only $tests tests"; failed=1; }
exit $failed
