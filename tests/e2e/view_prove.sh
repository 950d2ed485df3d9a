# What the findings propose is tried from the viewer: by a key or a click, cancelled again without a trace, and refused in a
# sentence where the store cannot be written or its input is gone.
set -eu
export SDL_VIDEODRIVER=dummy
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir tmp elsewhere
export TMPDIR=$scratch/tmp
view() { timeout 300 "$TAILBACK" view "$@"; }
tried() { sqlite3 "$1" 'SELECT count(*) FROM tried'; }

"$TAILBACK" synth bit-reversal --nodes 16 --message 16K --messages 2 -o job.goal
"$TAILBACK" replay job.goal -n qsnet,levels=2,ascent=deterministic -q -o run.db
cp run.db clicked.db

cat >steps <<'END_OF_STEPS'
resize 1280 900
key F9
expect Worth trying
expect Try adaptive routing.
expect Prove (P)
refuse Tried, this
key P
expect Trying what the findings propose
expect Cancel (P)
await Best is ascent=adaptive
await Tried, this helps: run time -
refuse Prove (P)
refuse Cancel (P)
key P
expect All that the findings propose was tried.
dump text
END_OF_STEPS
view run.db --script steps
[[ $(tried run.db) == 1 && -z $(ls tmp) ]]

# The button, with the pointer: it is where its text is.
printf 'resize 1280 900\nkey F9\ndump shown\n' | view clicked.db --script -
read -r x y < <(sed -n 's/^text \([0-9.]*\) \([0-9.]*\) .*"Prove (P)"$/\1 \2/p' shown)
printf 'resize 1280 900\nkey F9\nclick %d %d\nawait Tried, this helps\n' $((${x%.*} + 20)) $((${y%.*} + 10)) |
	view clicked.db --script -
[[ $(tried clicked.db) == 1 && -z $(ls tmp) ]]

# Cancelled when a part of it has been replayed, by the key and by closing the window; and the viewer can start again.
"$TAILBACK" synth bit-reversal --nodes 64 --message 64K --messages 8 -o long.goal
"$TAILBACK" replay long.goal -n qsnet,ascent=deterministic -q -o long.db
before=$(sha256sum long.db)
printf 'key F9\nkey P\nawait %%, 0:\nkey P\nawait Cancelled: nothing was kept.\nexpect Prove (P)\nrefuse Tried, this\nkey P\nexpect Cancel (P)\n' |
	view long.db --script -
for _ in $(seq 500); do
	[[ -n $(ls tmp) ]] || break
	sleep 0.1
done
[[ -z $(ls tmp) && $(sha256sum long.db) == "$before" ]]

# Its input is gone, or is looked for in another folder.
cp long.db elsewhere/
(cd elsewhere && printf 'key F9\nkey P\nawait long.goal is not in\nexpect Prove (P)\n' | view long.db --script -)
rm long.goal
printf 'key F9\nkey P\nawait long.goal is not in\nexpect Prove (P)\n' | view long.db --script -

# The store cannot be written. Root can write any.
cp "$TAILBACK" elsewhere/tailback
chmod 755 "$scratch" elsewhere elsewhere/*
as_other=()
if [[ $(id -u) == 0 ]]; then
	as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
else
	chmod 444 elsewhere/long.db
fi
printf 'key F9\nkey P\nexpect long.db: cannot be written, so nothing that is tried could be kept\n' >steps
"${as_other[@]}" elsewhere/tailback view elsewhere/long.db --script steps

# A run without proposals.
"$TAILBACK" synth neighbour --nodes 4 --message 1K --messages 1 -o idle.goal
"$TAILBACK" replay idle.goal -n qsnet,levels=2 -q -o idle.db
printf 'key F9\nkey P\nexpect The findings propose nothing to try.\nrefuse Prove (P)\n' | view idle.db --script -
[[ -z $(ls tmp) ]]
