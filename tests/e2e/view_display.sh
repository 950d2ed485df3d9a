# A window on a real X display, driven with real keys and a real mouse: what the window then shows
# is read from the SVG that it saves. Also: what is remembered from one session to the next.
set -eu
for tool in Xvfb xdotool; do
	command -v $tool >/dev/null || {
		echo "skipped: $tool is not installed (./dev packages test names its package)"
		exit 77
	}
done
scratch=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$scratch"' EXIT
cd "$scratch"
unset WAYLAND_DISPLAY SDL_VIDEODRIVER
# What the display's driver leaves behind when it is unloaded is not ours; the sessions of
# view_session.sh look for leaks.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export XDG_STATE_HOME=$scratch/state XDG_RUNTIME_DIR=$scratch HOME=$scratch

# display_comes starts a display and waits until it answers: two that start at once can pick the
# same number, and one of them then ends.
display_comes() {
	local server
	: >display
	# Without -noreset it throws everybody out once its last client, here xdotool, has left.
	Xvfb -displayfd 3 -noreset -screen 0 1600x1000x24 -nolisten tcp 3>display 2>/dev/null &
	server=$!
	pids+=("$server")
	for ((i = 0; i < 600; i++)); do
		kill -0 "$server" 2>/dev/null || return 1
		if [[ -s display ]] && DISPLAY=:$(cat display) xdotool getdisplaygeometry >/dev/null 2>&1; then
			return 0
		fi
		sleep 0.1
	done
	return 1
}
display_comes || display_comes || display_comes || {
	echo 'skipped: Xvfb does not start here'
	exit 77
}
DISPLAY=:$(cat display)
export DISPLAY

"$TAILBACK" replay "$TB_SOURCE/tests/data/bit_reversal_64.goal" -o run.db -q

# begin ARGUMENT...: opens the viewer and waits for its window.
begin() {
	"$TAILBACK" view run.db "$@" &
	viewer=$!
	pids+=("$viewer")
	for ((i = 0; i < 600; i++)); do
		window=$(xdotool search --pid "$viewer" --onlyvisible --name Tailback 2>/dev/null | head -1) || true
		[[ -n $window ]] && break
		sleep 0.1
	done
	[[ -n $window ]] || {
		echo 'no window came up'
		exit 1
	}
	xdotool windowfocus "$window" 2>/dev/null || true
	xdotool windowmove "$window" 0 0
	sleep 0.4
}

# quit ends the viewer by its key and wants success.
quit() {
	keys q
	for ((i = 0; i < 600; i++)); do
		kill -0 "$viewer" 2>/dev/null || break
		sleep 0.1
	done
	((i < 600)) || {
		echo 'the viewer does not end'
		exit 1
	}
	wait "$viewer"
}

# at X Y STEP...: the mouse, in the window's own coordinates wherever that stands.
at() {
	xdotool mousemove --window "$window" "$1" "$2" "${@:3}"
}

keys() { xdotool key --delay 60 "$@"; }
type() { xdotool type --delay 40 "$1"; }

# picture NAME: what the window shows now, as SVG. Keys can get lost on a busy display.
picture() {
	for ((try = 0; try < 6; try++)); do
		keys ctrl+s ctrl+u
		type "$1"
		keys Return
		for ((tenth = 0; tenth < 50; tenth++)); do
			[[ -s $1 ]] && return
			sleep 0.1
		done
	done
	echo "$1 was not saved"
	exit 1
}

shows() {
	grep -q "$2" "$1" || {
		echo "$1 does not show '$2'"
		exit 1
	}
}

# soon NAME PATTERN: what the window shows within some seconds: on a busy machine it lags behind
# the keys.
soon() {
	for ((again = 0; again < 20; again++)); do
		rm -f "$1"
		picture "$1"
		grep -q "$2" "$1" && return
		sleep 0.2
	done
	shows "$1" "$2"
}

begin --size 1280x720
soon first.svg '100 % of a link'
soon first.svg ' of 384'

# The mouse: a link in the list, the wheel over the matrix, a drag on the time strip.
for ((i = 0; i < 5; i++)); do # the window may still be on its way to its place
	at 1100 102 click 1
	rm -f selected.svg
	picture selected.svg
	grep -q latency selected.svg && break
	sleep 0.5
done
shows selected.svg latency
at 400 300 click --repeat 3 --delay 60 4
for ((i = 0; i < 20; i++)); do
	rm -f zoomed.svg
	picture zoomed.svg
	cmp -s selected.svg zoomed.svg || break
	sleep 0.2
done
if cmp -s selected.svg zoomed.svg; then
	echo 'the wheel did nothing'
	exit 1
fi
at 300 640 mousedown 1
at 400 640
at 500 640 mouseup 1
for ((i = 0; i < 20; i++)); do
	rm -f brushed.svg
	picture brushed.svg
	grep -q '(whole run)' brushed.svg || break
	sleep 0.2
done
if grep -q '(whole run)' brushed.svg; then
	echo 'the drag chose no window'
	exit 1
fi

# Keys: views, search, the palette.
keys F3
soon tree.svg 'width: time busy'
keys slash
type 'node 9'
keys Return
soon node.svg 'Wait at its switch'
keys ctrl+p
type 'congestion trees'
keys Return
soon roots.svg 'Roots by what they hold up'
keys 0 t
soon light.svg '(whole run)'
xdotool windowsize "$window" 1400 900
sleep 0.5
quit

# The next session begins as this one ended; an option takes precedence.
begin
soon again.svg 'Roots by what they hold up'
shows again.svg 'viewBox="0 0 1400 900"'
shows again.svg "$(grep -o 'fill="#fafaf8"' light.svg | head -1)"
quit
begin --size 1000x600 --theme dark
soon asked.svg 'viewBox="0 0 1000 600"'

# A store that goes away is told of in the window, which stays.
mv run.db gone.db
for ((i = 0; i < 8; i++)); do
	sleep 1
	rm -f gone.svg
	picture gone.svg
	grep -q 'the store is gone' gone.svg && break
done
shows gone.svg 'the store is gone'
quit
