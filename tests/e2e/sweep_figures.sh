# The sweeps for the papers' figures can be read and run, and their curves drawn: all of their axes
# but load, in windows that are too short to mean anything.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
n=0
for file in "$TB_SOURCE"/schemas/sweeps/*.ini; do
	n=$((n + 1))
	short=(--set seed=1)
	# Jobs that are timed, and single messages, have no window.
	grep -qE '^experiment = (one-way|there|allgather|elan|pvfs|scatter|gather|alltoall|both|latency)' "$file" ||
		short+=(--set warm=20us --set window=20us)
	if grep -q '^load' "$file"; then
		short+=(--set 'load=0.5, 1')
	fi
	"$TAILBACK" sweep "$file" "${short[@]}" -q -o "$n.db" 2>said || {
		echo "$file: $(cat said)"
		exit 1
	}
	"$TAILBACK" plot "$n.db" -f csv >"$n.csv" 2>said || {
		echo "$file: $(cat said)"
		exit 1
	}
	# More than one point.
	[[ $(wc -l <"$n.csv") -gt 2 ]] || {
		echo "$file: draws next to nothing"
		exit 1
	}
	"$TAILBACK" plot "$n.db" -o "$n.svg"
done
echo "$n sweeps"
[[ $n -ge 36 ]]
