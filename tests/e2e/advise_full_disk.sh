# A full disk: what advise and timeline could not write whole is not there, what was proved is told all the same, and
# a store that has no room for it stays as it was.
set -euo pipefail
if ! unshare -rm true 2>/dev/null; then
	echo "skipped: no mounts of one's own here"
	exit 77
fi
if [[ -z ${SMALL:-} ]]; then
	SMALL=$(mktemp -d)
	export SMALL
	trap 'rm -rf "$SMALL"' EXIT
	unshare -rm bash "$0"
	exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said' ERR
cd "$work"
mount -t tmpfs -o size=16k tmpfs "$SMALL"

"$TAILBACK" synth transpose --nodes 64 --message 64K --messages 2 -o job.goal
"$TAILBACK" replay -q job.goal -n qsnet,arity=8,levels=2,ascent=deterministic -o run.db
"$TAILBACK" advise run.db -q --seeds 1 --write whole -f csv >whole.csv 2>said
[[ $(stat -c %s whole/routes-by-traffic.lfts) -gt 16384 ]]

code=0
"$TAILBACK" advise run.db -q --seeds 1 --write "$SMALL/files" -f csv >small.csv 2>said || code=$?
[[ $code == 1 ]]
grep -q 'files/routes-by-traffic.lfts' said
sed "s|$SMALL/files|whole|g" small.csv | cmp - whole.csv
[[ $(sqlite3 run.db "SELECT count(*) FROM tried WHERE command LIKE '%$SMALL%'") -gt 0 ]]
for file in "$SMALL"/files/*; do
	[[ -e $file ]] || continue
	cmp "$file" "whole/${file##*/}"
done
[[ ! -e $SMALL/files/routes-by-traffic.lfts ]]
[[ -z $(find "$SMALL" -name '.*' -type f) ]]

code=0
"$TAILBACK" timeline run.db -o "$SMALL/t.json" 2>said || code=$?
[[ $code == 1 && ! -e $SMALL/t.json && -s said ]]
code=0
dd if=/dev/zero of="$SMALL/rest" bs=4k 2>/dev/null || true
"$TAILBACK" timeline run.db >"$SMALL/t.txt" 2>said || code=$? # a file of the shell's: it says so
[[ $code == 1 && -s said ]]

# A store on a disk that is full.
umount "$SMALL"
mount -t tmpfs -o size=4m tmpfs "$SMALL"
"$TAILBACK" replay -q job.goal -n qsnet,arity=8,levels=2,ascent=deterministic -o "$SMALL/run.db"
sqlite3 "$SMALL/run.db" 'SELECT * FROM run' >before
dd if=/dev/zero of="$SMALL/rest" bs=4k 2>/dev/null || true
"$TAILBACK" advise "$SMALL/run.db" -q --seeds 1 -f csv >full.csv 2>said
grep -q 'what was tried is not kept' said
cut -d, -f1-5 full.csv | sort >told
cut -d, -f1-5 whole.csv | sort | cmp - told
rm "$SMALL/rest"
sqlite3 "$SMALL/run.db" 'SELECT * FROM run' | cmp - before
[[ $(sqlite3 "$SMALL/run.db" 'PRAGMA integrity_check; SELECT count(*) FROM tried' | paste -sd,) == ok,0 ]]
