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
known='neither (a store nor )?a packet capture \(pcap, pcapng\) nor a job \(GOAL, flow list\)'
n=0
for file in "$data"/{chakra/ring8,kineto,paraver,fabric}/* "$data"/otf2/tracer-32/*.{def,otf2} "$data"/jobs/* \
	"$scratch"/coll64_mtu/*00.log "$data"/captures/mix64_mtu.phases.txt; do
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
[[ $n -ge 40 && ! -e $scratch/none.db ]]
