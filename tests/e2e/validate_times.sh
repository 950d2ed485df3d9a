# Pings, collectives and parallel I/O on QsNetII: the rows that hold do, on the clusters of their papers
# whatever network is asked for. docs/validation.md tells of the two that do not.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$TAILBACK" validate --seeds 2 --only '[cpq][ov2]*' -f csv -o "$scratch/rows.csv" || [[ $? == 1 ]]
awk -F, '{ print $1, $(NF - 1) }' "$scratch/rows.csv"
failing=$(awk -F, '$(NF - 1) == "fails" { print $1 }' "$scratch/rows.csv" | xargs)
for row in $failing; do # docs/figures.md says why
	grep -qF -e "$row" -e "${row%.*}.*" "$TB_SOURCE/docs/figures.csv" || {
		echo "docs/figures.csv has no reason for $row"
		exit 1
	}
done
"$TAILBACK" validate --seeds 2 --only 'coll.scatter.*' -n qsnet,vcs=1 >"$scratch/other"
grep -q '^qsnet  *predicted  *6  *6  *0  *0  *0$' "$scratch/other"
