# A validation that is stopped keeps the rows that it has measured, and says that it is not whole; a row
# whose replay was stopped, too, is not measured.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

stopped() { # SIGNAL SECONDS OPTIONS: as a terminal does, the replays of rows, too
	setsid "$TAILBACK" validate "${@:3}" 2>said &
	sleep "$2"
	kill -s "$1" -- "-$!"
	if wait "$!"; then
		echo "was not stopped: ${*:3}"
		return 1
	fi
}
rows=(--only '[hpu][oin]*' --seeds 1 --jobs 1) # pings are quick, and come first
"$TAILBACK" validate --only 'ping.*' --seeds 1 -f csv >pings || [[ $? == 1 ]]
all=$(grep -c '^\(hot\|ping\|uniform\)\.' "$TB_SOURCE/schemas/quadrics.csv")
for signal in INT TERM; do
	for seconds in 0.3 0.6 1.2 2.4 4.8; do # until some are done
		stopped "$signal" "$seconds" "${rows[@]}" -f csv -o rows.csv
		n=$(grep -c '^ping' rows.csv) || true
		[[ $n -lt 3 ]] || break
	done
	n=$(grep -vc '^\(id\|sum\)' rows.csv)
	[[ $n -ge 3 && $n -lt $all ]]
	grep -qx "tailback: stopped early: $n of $all rows were measured, and are in rows.csv" said
	grep -qx "sum.unmeasured,,,,,,,,rows,,,,,$((all - n)),,,," rows.csv
	grep '^\(id\|ping\)' rows.csv | grep -vxFf pings && exit 1
	rm rows.csv
done

# Text says it first; JSON counts; a whole one has nothing left.
stopped INT 0.6 --only 'uniform.*' >text
head -1 text | grep -qx 'Stopped early: 9 rows were not measured\.'
stopped INT 0.6 --only 'uniform.*' -f json | grep -q '"unmeasured": 9'
grep -qx 'sum.unmeasured,,,,,,,,rows,,,,,0,,,,' pings

# The signal ends the replays of rows, too.
stopped INT 0.5 --only 'ethernet.*' -f csv -o rows.csv
grep '^[a-z].*,fails' rows.csv && exit 1
grep -q '^sum.unmeasured,.*,[1-9]' rows.csv
