# One name, one thing: no struct's name is defined twice in the product, and no static function hides
# one of the system's.
set -u
cd "$TB_SOURCE" || exit 1
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || {
	echo "skipped: not a git checkout"
	exit 77
}
rooms=(base capture replay analyze viz program mpi)
failed=0

# What is still to be renamed. These lists only shrink.
twice=''
hiding=''

# beyond EXCUSED: prints the lines of standard input that are not among these words.
beyond() { grep -vxF -f <(tr ' ' '\n' <<<"$1" | grep .); }

while read -r name; do
	echo "struct $name is defined more than once:"
	git grep -nE "^struct $name \{" -- "${rooms[@]}"
	failed=1
done < <(git grep -hoE '^struct [a-z_0-9]+ \{' -- "${rooms[@]}" | awk '{ print $2 }' | sort | uniq -d |
	beyond "$twice")

system='^static [^;=]*[ *](open|close|read|write|send)\('
while IFS=: read -r floor name; do
	echo "a static function hides $name():"
	git grep -nE "$system" -- "$floor" | grep "[ *]$name("
	failed=1
done < <(git grep -oE "$system" -- "${rooms[@]}" | sed -E 's#/.*[ *]([a-z]+)\($#:\1#' | sort -u |
	beyond "$hiding")
exit "$failed"
