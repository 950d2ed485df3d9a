# Pings, collectives and parallel I/O on QsNetII: the rows that hold do, on the clusters of their papers
# whatever network is asked for. docs/validation.md tells of the two that do not.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$TAILBACK" validate --seeds 2 --only '[cpq][ov2]*' -f csv -o "$scratch/rows.csv" || [[ $? == 1 ]]
awk -F, '{ print $1, $(NF - 1) }' "$scratch/rows.csv"
failing=$(awk -F, '$(NF - 1) == "fails" { print $1 }' "$scratch/rows.csv" | xargs)
[[ $failing == 'coll.allgather.32k coll.gather.1m' ]]
ties=$(awk -F, '$(NF - 1) == "tie" { print $1 }' "$scratch/rows.csv" | xargs)
[[ $ties == 'coll.allgather.order.short coll.allgather.order.long' ]]
"$TAILBACK" validate --seeds 2 --only 'coll.scatter.*' -n qsnet,vcs=1 >"$scratch/other"
grep -q '^qsnet  *predicted  *2  *2  *0  *0  *0$' "$scratch/other"
