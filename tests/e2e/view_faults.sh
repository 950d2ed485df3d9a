# The viewer and stores that are not as they should be: one clear sentence, no crash, no hang, and
# the store is only ever read. An idle viewer costs next to nothing.
set -eu
scratch=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$scratch"' EXIT
cd "$scratch"
export SDL_VIDEODRIVER=dummy XDG_STATE_HOME=$scratch/state
unset DISPLAY WAYLAND_DISPLAY

fail() {
	echo "$*"
	exit 1
}

# refused STORE PATTERN: viewer, terminal view and comparison say one sentence and fail.
refused() {
	local command code
	for command in "view $1 --script /dev/null" "top $1" "compare whole.db $1"; do
		code=0
		# shellcheck disable=SC2086 # the words of a command
		timeout 60 "$TAILBACK" $command >out 2>err || code=$?
		[[ $code == 1 ]] || fail "$command: exit $code, expected 1: $(cat err)"
		[[ $(wc -l <err) == 1 ]] && grep -qE "$2" err ||
			fail "$command: expected one sentence with '$2': $(cat err)"
	done
}

"$TAILBACK" replay "$TB_SOURCE/tests/data/bit_reversal_64.goal" -o whole.db -q
: >empty.db
refused empty.db 'empty\.db: is empty'
refused nowhere.db 'nowhere\.db: cannot be opened'
mkdir folder.db
refused folder.db 'folder\.db: '
cp whole.db newer.db
sqlite3 newer.db 'PRAGMA user_version = 99' 2>/dev/null && refused newer.db 'newer\.db: is a store of version 99'

# Cut short anywhere: told, or what is left is shown.
size=$(stat -c %s whole.db)
for part in 1 99 100 4096 $((size / 3)) $((size / 2)) $((size - 5000)) $((size - 1)); do
	head -c "$part" whole.db >cut.db
	for command in 'view cut.db --script steps' 'top cut.db' 'compare whole.db cut.db'; do
		printf 'key .\nkey 7\nkey End\nkey 0\nwait 100\n' >steps
		code=0
		# shellcheck disable=SC2086 # the words of a command
		timeout 60 "$TAILBACK" $command >out 2>err || code=$?
		[[ $code == 0 || $code == 1 ]] || fail "$command, cut at $part: exit $code: $(cat err)"
		[[ $code == 0 || $(wc -l <err) == 1 ]] || fail "cut at $part: $(cat err)"
	done
done

# A run in which nothing waited.
"$TAILBACK" replay "$TB_SOURCE/tests/data/binary_tree_32.goal" -o calm.db -q
printf 'expect Nothing to show: wait is 0\nkey F3\nkey F4\nkey F5\nkey F6\nkey F7\nkey .\nkey Space\nwait 500\n' |
	timeout 60 "$TAILBACK" view calm.db --script -
printf 'expect Two runs\n' | timeout 60 "$TAILBACK" view calm.db calm.db --script -
"$TAILBACK" top calm.db | grep -q 'Nothing to show'

# Open and idle: the store is open for reading alone, and next to nothing is spent. (SDL's dummy
# driver asks for events a thousand times a second, a window on a display is told.)
"$TAILBACK" view whole.db &
viewer=$!
pids+=("$viewer")
flags=
for ((i = 0; i < 600; i++)); do # it may open and close the store before it keeps it open
	for descriptor in /proc/$viewer/fd/*; do
		[[ $(readlink "$descriptor") == "$scratch/whole.db" ]] &&
			flags=$(sed -n 's/^flags:[[:space:]]*//p' "/proc/$viewer/fdinfo/${descriptor##*/}" 2>/dev/null) &&
			break 2
	done
	sleep 0.1
done
[[ -n $flags ]] || fail "the viewer does not open the store"
[[ $((0$flags & 3)) == 0 ]] || fail "the store is open for writing: flags $flags"
ticks() {
	local fields
	read -r -a fields <"/proc/$viewer/stat"
	echo $((fields[13] + fields[14]))
}
for ((i = 0; i < 20; i++)); do # what it reads ahead is read
	before=$(ticks)
	sleep 0.5
	(($(ticks) - before <= 1)) && break
done
now() { # in hundredths of a second, as ticks are
	local up
	read -r up _ </proc/uptime
	echo "${up/./}"
}
before=$(ticks) began=$(now)
sleep 3
spent=$(($(ticks) - before)) lasted=$(($(now) - began))
most=10
grep -q __asan_init "$TAILBACK" && most=20 # with sanitizers all takes longer
((100 * spent <= most * lasted)) || fail "idle, the viewer took $spent hundredths of a second in $lasted"

# Deleted, then replaced, while it is shown: it lives on.
cp whole.db other.db
rm whole.db
sleep 0.3
cp other.db whole.db
sleep 2.5
kill -0 $viewer || fail "the viewer ended when its store was replaced"
kill $viewer
for ((i = 0; i < 300; i++)); do
	kill -0 $viewer 2>/dev/null || break
	sleep 0.1
done
((i < 300)) || fail "the viewer does not end when it is asked to"

# A display that goes away ends it, without a hang or a crash: while it is shown, and while its window is opened, which
# Mesa's GLX does not survive.
if command -v Xvfb >/dev/null; then
	unset SDL_VIDEODRIVER
	for shown in 1.5 0.2 0.3 0.4 0.5 0.6 0.7 0.8; do
		rm -f display
		Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp 3>display 2>/dev/null &
		server=$!
		pids+=("$server")
		for ((i = 0; i < 100; i++)); do
			[[ -s display ]] && break
			sleep 0.1
		done
		[[ -s display ]] || continue
		DISPLAY=:$(cat display) "$TAILBACK" view whole.db 2>err &
		viewer=$!
		pids+=("$viewer")
		sleep $shown
		kill -9 $server
		for ((i = 0; i < 300; i++)); do
			kill -0 $viewer 2>/dev/null || break
			sleep 0.1
		done
		((i < 300)) || fail "the viewer hangs without its display"
		code=0
		wait $viewer || code=$?
		((code < 128)) || fail "the viewer crashed without its display after $shown s: exit $code"
	done
fi
