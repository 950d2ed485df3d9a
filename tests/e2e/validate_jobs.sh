# What tailback validate finds does not depend on how many experiments run at once.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for jobs in 1 2 5; do
	"$TAILBACK" validate --only 'ping.*' --seeds 2 --jobs "$jobs" -f csv -o "$scratch/$jobs"
	cmp "$scratch/1" "$scratch/$jobs"
done
