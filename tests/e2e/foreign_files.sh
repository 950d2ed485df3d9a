# Traces of kinds that Tailback does not read are refused in one sentence that says which it reads.
set -eu
data=$TB_SHARED/data
[[ -d $data ]] || {
	echo "skipped: no shared/data"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -C "$scratch" --zstd -xf "$data/jobs/coll64_mtu.tar.zst"
# An archive is looked into as the folder that it holds.
# A fabric is named, and what takes it.
known='(is a fabric \(.*\): .tailback network .*|is a folder without a trace: expected .*|neither (a store nor )?a packet capture \(pcap, pcapng\) nor a job \(GOAL, [-a-zA-Z0-9, ]*\))'
n=0
for file in "$data"/fabric/* "$data"/paraver/*.{pcf,row} "$data"/otf2/*/*.def "$data"/jobs/* "$data"/whatif/src/* \
	"$scratch"/coll64_mtu/*00.log "$data"/captures/*.phases.txt "$data"/whatif/times.csv; do
	[[ -f $file ]] || continue
	for command in "info" "replay -q -o $scratch/none.db"; do
		code=0
		# shellcheck disable=SC2086
		"$TAILBACK" $command "$file" >"$scratch/out" 2>"$scratch/err" || code=$?
		if [[ $code != 1 || -s $scratch/out ]] || ! grep -qE "^tailback: .*: $known\$" "$scratch/err" ||
			[[ $(wc -l <"$scratch/err") != 1 ]]; then
			echo "$command $file: exit $code"
			cat "$scratch/err"
			exit 1
		fi
		n=$((n + 1))
	done
done
[[ $n -ge 30 && ! -e $scratch/none.db ]]
