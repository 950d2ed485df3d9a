# Real forwarding tables on the real fabrics that they were computed for: they are read and
# checked, and the product's own routes load no cable more than OpenSM's do.
set -u
data=$TB_SHARED/data/fabric
[[ -r $data/nvidia-minhop.lfts.gz ]] || {
	echo "skipped: no $data"
	exit 77
}

# most FABRIC [OPTION...]: the most pairs of hosts over a cable between switches.
most() {
	local fabric=$1
	shift
	timeout 60 "$TAILBACK" network -n "$data/$fabric" "$@" |
		awk '/^Pairs of hosts/ { on = 1 } /^Share/ { on = 0 }
			on && /(up|down) (from|to) level/ { if ($7 > most) most = $7 } END { print most + 0 }'
}

failed=0
while read -r fabric tables expected; do
	theirs=$(most "$fabric.ibnetdiscover" --routes "$data/$tables.lfts.gz")
	own=$(most "$fabric.ibnetdiscover,ascent=deterministic")
	echo "$fabric: most pairs over a cable: OpenSM $theirs, own routes $own"
	[[ $theirs == "$expected" ]] || failed=1
	((own > 0 && own <= theirs)) || failed=1
done <<-END
	stage-qdr-fdr10 tartu-minhop 472
	nvidia-dgx-ndr nvidia-minhop 2168
END

# The tables of one fabric are not those of the other.
refusal=$(timeout 60 "$TAILBACK" network -n "$data/nvidia-dgx-ndr.ibnetdiscover" \
	--routes "$data/tartu-minhop.lfts.gz" 2>&1)
[[ $refusal == *"tables of another fabric: of the file's 8 switches 0 are in this one"* ]] || {
	echo "the tables of another fabric: $refusal"
	failed=1
}
exit $failed
