# Pings, collectives and parallel I/O on QsNetII: the rows that hold do, on the clusters of their papers
# whatever network is asked for. docs/validation.md tells of the three that do not.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$TAILBACK" validate --seeds 2 --only '[cpq][ov2]*' -f csv -o "$scratch/rows.csv" || [[ $? == 1 ]]
awk -F, '{ print $1, $NF }' "$scratch/rows.csv"
failing=$(awk -F, '$NF == "fails" { print $1 }' "$scratch/rows.csv" | xargs)
[[ $failing == 'coll.allgather.32k coll.gather.1m pvfs.read.gain' ]]
[[ $(grep -c ',holds$' "$scratch/rows.csv") == 21 ]]
"$TAILBACK" validate --seeds 2 --only 'coll.scatter.*' -n qsnet,vcs=1 >"$scratch/other"
grep -q '^2 of 2 rows hold' "$scratch/other"
