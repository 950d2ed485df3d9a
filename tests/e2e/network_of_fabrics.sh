# What tailback network says of real fabrics: the figures that their owners' files have.
set -eu
fabrics=$TB_SHARED/data/fabric
[[ -d $fabrics ]] || {
	echo "skipped: no folder with real fabrics"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
failed=0

# says FABRIC[,TABLES] WORDS...: the report has these words, line breaks aside.
says() {
	local fabric=${1%%,*} tables=${1#*,} words
	local -a routes=()
	[[ $tables == "$1" ]] || routes=(--routes "$fabrics/$tables")
	shift
	"$TAILBACK" network -n "$fabrics/$fabric" "${routes[@]}" 2>/dev/null >report
	for words in "$@"; do
		tr -s '\n ' ' ' <report | grep -qF -- "$words" || {
			echo "$fabric: the report lacks '$words'"
			failed=1
		}
	done
}

says nvidia-dgx-ndr.ibnetdiscover '191 hosts with 542 adapters, 40 switches on 2 levels, 532 cables between them' \
	'26 cables are missing' 'IBLEAF-01-02:MQM9701/U1 has 14 of 18 cables up' 'hosts and level 0 542 400 Gbit/s'
says stage-qdr-fdr10.ibnetdiscover '8 switches on 2 levels, 47 cables' \
	'MF0;ib1:SX6036/U1 has 7 of 8 cables up: 3 of 4 to MF0;ib8:SX6036/U1' \
	'MF0;ib7:SX6036/U1, of level 1, has 3 hosts' 'levels 0 and 1 47 40 Gbit/s'
# With the tables that OpenSM's minhop made.
says nvidia-dgx-ndr.ibnetdiscover,nvidia-minhop.lfts.gz 'put 4.06 times the mean load' \
	'IBSPINE-04:MQM9701/U1:33 > MF0;B09-P1-IBLEAF-01-05:MQM9701/U1:39, which holds all to all down to 25 %'
says stage-qdr-fdr10.ibnetdiscover,tartu-minhop.lfts.gz 'put 1.29 times the mean load'
says jabl-3.topo '2 switches on 1 level, 1 cable' 'joins switches of one level'

# A path by short names, and what is written reads back to the same report.
"$TAILBACK" network -n "$fabrics/stage-qdr-fdr10.ibnetdiscover" --from stage97 --to stage134 >path 2>/dev/null
[[ $(wc -l <path) == 4 ]] || {
	echo "the path from stage97 to stage134 has not four links: $(cat path)"
	failed=1
}
for fabric in nvidia-dgx-ndr stage-qdr-fdr10; do
	"$TAILBACK" network -n "$fabrics/$fabric.ibnetdiscover" >before 2>/dev/null
	"$TAILBACK" network -n "$fabrics/$fabric.ibnetdiscover" -o "$fabric.topo" 2>/dev/null
	"$TAILBACK" network -n "$fabric.topo" >after 2>/dev/null
	diff before after >differences || {
		echo "$fabric: written and read back it is another fabric: $(head -5 differences)"
		failed=1
	}
done
exit "$failed"
