# What tailback validate finds does not depend on how many experiments run at once.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for jobs in 1 2 5; do
	"$TAILBACK" validate --only 'ping.*' --seeds 2 --jobs "$jobs" -f csv -o "$scratch/$jobs" || [[ $? == 1 ]]
	cmp "$scratch/1" "$scratch/$jobs"
done
# Each seed is a run of its own: the mean of random traffic has an interval.
"$TAILBACK" validate --only hot.16.write --seeds 2 -f csv | awk -F, '/^hot/ { exit !($(NF - 3) > 0) }'
