# For scripts that send a signal to a program in the background and measure what it still does. They
# need job control (set -m), without which it is deaf to SIGINT.
# shellcheck disable=SC2034 # what is set is for the script

# spent FILE: processor time in ms, the user's and the system's, of the children in what the
# shell's `times` prints.
spent() {
	awk -F'[ms ]+' 'END { print int(1000 * ($1 * 60 + $2 + $3 * 60 + $4)) }' "$1"
}

# look PID: its processor time so far in ms, as ticks, and its state; fails when it is over.
look() {
	local line fields
	ticks=0 state=Z
	read -r line 2>/dev/null <"/proc/$1/stat" || return 1
	read -r -a fields <<<"${line##*) }"
	state=${fields[0]}
	ticks=$(((fields[11] + fields[12]) * 10))
	[[ $state != [ZX] ]]
}

# pause: 10 ms, without a process whose time would count.
mkfifo never
exec {never}<>never
rm never
pause() {
	read -r -t 0.01 -u "$never" || true
}

# strike SIGNAL PID: sends the signal, and waits for the end. Sets code, how it ended, and took, the
# processor time that it used after the signal. It is sent to a process that stands still: else it
# would go on working between a look at its time and the signal, for as long as this shell has to wait
# for a processor. Fails when the program was over before.
strike() {
	local at_signal=
	took=0
	if kill -STOP "$2" 2>/dev/null; then
		while look "$2" && [[ $state != T ]]; do pause; done
	fi
	if look "$2"; then
		at_signal=$ticks
		times >before
		kill -"$1" "$2"
		kill -CONT "$2" 2>/dev/null
		while look "$2"; do pause; done
	fi
	code=0
	wait "$2" 2>/dev/null || code=$?
	[[ -n $at_signal ]] || return 1
	times >after
	took=$(($(spent after) - $(spent before) - at_signal))
}
