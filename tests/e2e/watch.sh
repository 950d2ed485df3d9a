# A run is looked at while it is written: the terminal view and the viewer show what is there, a
# replay with --watch starts them itself, and keys reach the terminal view.
set -eu
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT
cd "$scratch"
unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER COLORTERM
"$TAILBACK" synth bit-reversal --nodes 64 --message 64K --messages 2 -o short.goal
"$TAILBACK" synth bit-reversal --nodes 64 --message 256K --messages 2000 -o long.goal

fail() {
	echo "$*"
	exit 1
}

# until_shows TEXT COMMAND...: waits until the command prints it.
until_shows() {
	local text=$1 i
	shift
	for ((i = 0; i < 2000; i++)); do
		# Before its first commit the store cannot be opened.
		if "$@" >out 2>/dev/null && grep -qF -- "$text" out; then
			return 0
		fi
		sleep 0.1
	done
	cat out
	fail "$* never showed '$text'"
}

# on_terminal COMMAND [TEXT KEYS]...: runs the command on a terminal whose output is kept in typed, and
# types the keys when it has shown the text.
on_terminal() {
	local i command=$1
	shift
	rm -f typed
	while (($#)); do
		for ((i = 0; i < 2000; i++)); do
			grep -qF -- "$1" typed 2>/dev/null && break
			sleep 0.1
		done
		printf %b "$2"
		shift 2
	done | timeout 400 script -qefc "$command" typed >/dev/null
}

# A replay that nobody waits for: what is there is seen to grow, and its end is seen.
"$TAILBACK" replay long.goal -q -o run.db --bin 50us 2>err &
writer=$!
until_shows 'the run has not ended' "$TAILBACK" top run.db --once
until_shows 'Hot links by wait' "$TAILBACK" top run.db
first=$(sed -n 's/.*, \([0-9]*\) bins of.*/\1/p' out)
cat >steps <<'END'
expect not ended
END
SDL_VIDEODRIVER=dummy "$TAILBACK" view run.db --script steps
for ((i = 0; i < 2000; i++)); do
	"$TAILBACK" top run.db >out
	[[ $(sed -n 's/.*, \([0-9]*\) bins of.*/\1/p' out) -gt ${first:-0} ]] && break
	sleep 0.1
done
((i < 2000)) || fail "the run does not grow"
kill -INT $writer
wait $writer && fail "a stopped replay should fail"
"$TAILBACK" top run.db | grep -q 'not ended' || fail "a stopped run should say so"
# So does one that was to stop by itself, later.
"$TAILBACK" replay long.goal -q -o part.db --bin 50us --window 0,1000000000000000 2>err &
writer=$!
until_shows 'the run has not ended' "$TAILBACK" top part.db --once
kill -INT $writer
wait $writer && fail "a replay that was stopped before its window's end should fail"

# Keys, on a terminal: the next metric, a window, the whole run, a page of links, and the end.
export TERM=xterm
on_terminal "$TAILBACK top run.db" 'Hot links by wait' s 'Hot links by stall' '\033[C0\033[6~q' || fail "top failed on a terminal"
for by in wait stall; do
	grep -q "Hot links by $by" typed || fail "top showed no links by $by on a terminal"
done
grep -q $'\033\\[?1049l' typed || fail "top did not give the screen back"

# --watch shows it in the terminal where there is no display, and ends with the key.
on_terminal "$TAILBACK replay short.goal -o watched.db --watch" 'Congestion matrix' q ||
	fail "replay --watch failed in the terminal"
grep -q 'Congestion matrix' typed || fail "replay --watch showed nothing in the terminal"
"$TAILBACK" info watched.db | grep -q 'complete\|short.goal' || fail "the watched run is not in the store"

# And in a window where there is one; what the viewer cannot do does not harm the replay.
SDL_VIDEODRIVER=nonsense timeout 300 "$TAILBACK" replay short.goal -q -o unseen.db --watch 2>err ||
	fail "a replay must not fail because nobody can see it"
grep -q 'tailback:' err || fail "nobody was told that there is no window"
SDL_VIDEODRIVER=dummy "$TAILBACK" replay short.goal -q -o seen.db --watch &
watcher=$!
until_shows ' bins of ' "$TAILBACK" top seen.db
for ((i = 0; i < 2000; i++)); do
	viewer=$(pgrep -P $watcher || true)
	[[ -n $viewer ]] && break
	sleep 0.1
done
[[ -n $viewer ]] || fail "replay --watch started no viewer"
sleep 0.5
kill -TERM $viewer
wait $watcher || fail "replay --watch failed"

# capture --watch replays packets as they come; the file has them all whoever looks or does not,
# and nothing else is left.
mkdir -m 1777 tmp
chmod 755 "$scratch" # root captures as nobody
export TMPDIR=$scratch/tmp
trace=$TB_SOURCE/tests/data/alltoall16.pcap.zst
if command -v zstdcat >/dev/null; then
	zstdcat "$trace" >all.pcap
	SDL_VIDEODRIVER=nonsense timeout 300 "$TAILBACK" capture -r all.pcap -w seen.pcapng --watch 2>err ||
		fail "capture --watch failed because nobody could see it: $(cat err)"
	grep -q '5238 packets captured' err || fail "capture --watch lost packets"
	on_terminal "$TAILBACK capture -r all.pcap -w shown.pcapng --watch --network qsnet,levels=2" \
		'standard input on qsnet, 16 nodes' q ||
		fail "capture --watch failed in the terminal"
	grep -q 'standard input on qsnet, 16 nodes' typed || fail "capture --watch showed nothing"
	cmp seen.pcapng shown.pcapng || fail "who looks changes what is captured"
	[[ -z $(ls tmp) ]] || fail "left behind: $(ls tmp)"
fi
code=0
"$TAILBACK" capture -r all.pcap -w none.pcapng --network qsnet 2>err || code=$?
[[ $code == 2 ]] && grep -q -- '--network goes with --watch' err
