# Completion offers commands, options, values and files where each belongs.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/bin" "$scratch/share/tailback" "$scratch/files/folder"
ln -s "$TAILBACK" "$scratch/bin/tailback"
ln -s "$TB_SOURCE/schemas" "$scratch/share/tailback/networks"
cd "$scratch/files"
touch a.pcap b.pcapng.zst c.goal d.db e.txt f.ini
# shellcheck source=/dev/null
. "$TB_SOURCE/packaging/tailback.bash"
failed=0

# offers WANTED WORD...: what is offered for the last word, in order, is WANTED.
offers() {
	local wanted=$1 got
	shift
	COMP_WORDS=("$scratch/bin/tailback" "$@")
	COMP_CWORD=$#
	_tailback || true
	got=$(printf '%s\n' "${COMPREPLY[@]}" | sort | xargs)
	[[ $got == "$wanted" ]] || {
		echo "tailback $*: offers '$got', not '$wanted'"
		failed=1
	}
}

offers 'replay report' rep
offers 'complement' synth com
offers 'allgather allreduce alltoall' synth al
offers 'clustered distributed' synth --io-place ''
offers 'binomial linear sequential' synth scatter --algorithm ''
offers 'binomial linear linear-sync sequential tree' synth gather --algorithm ''
offers 'direct dissemination double-ring doubling' synth --algorithm d
offers 'read resize' synth io re
offers 'io io-fixed io-random' synth i
offers 'adaptive' synth io read --rendezvous a
offers '--messages' synth --messages
offers 'exponential' synth --size-dist = exp
offers 'a.pcap b.pcapng.zst c.goal folder' replay ''
networks=$(cd "$TB_SOURCE/schemas" && printf '%s\n' f.ini folder *.ini | sed '3,$s/\.ini$//' | LC_ALL=C sort | paste -sd ' ')
offers "$networks" replay -n ''
offers 'tcp tports' replay -n qsnet2,rails=2 -H t
offers 'none' replay -n my.ini -H ''
offers 'd.db folder' replay a.pcap -o ''
offers 'auto no yes' replay --dedup = ''
offers 'a.pcap b.pcapng.zst c.goal folder' replay --dedup ''
offers 'd.db folder' matrix ''
offers "$networks" network -n ''
offers 'csv dot edges graph ibnetdiscover ini json lfts pdf png svg text' network -f ''
offers 'pdf png' matrix d.db -f p
offers 'csv github html json markdown pdf prometheus text' report d.db --format ''
offers 'hot' sweep hot
offers 'seed= sizes=' sweep hot --set s
offers 'd.db folder' sweep f.ini -o ''
offers 'd.db folder' merge ''
offers '--partial' merge d.db --p
mkdir own && touch own/mine.ini
export TAILBACK_NETWORKS=own
offers 'mine' replay -n mi
exit "$failed"
