# One name, one thing: no struct's name is defined twice in the product, no static function hides one of the
# system's, and few functions share their name with one of another file: one idea with one signature.
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

# Definitions at file level, as clang-format lays them out: name and file.
SHARED_MOST=300
shared=$(git ls-files -- "${rooms[@]/%//*.[ch]}" | xargs awk '
	FNR == 1 { head = "" }
	/^(struct|union|enum) [A-Za-z_0-9]+ \{/ { print $2, FILENAME }
	/^\{/ { sub(/__attribute__\(\([a-z_]+(\([^)]*\))?\)\)/, "", head) }
	/^\{/ && match(head, /[A-Za-z_0-9]+\(/) { print substr(head, RSTART, RLENGTH - 1), FILENAME }
	/^[A-Za-z_]/ { head = $0; next }
	/^[ \t]/ { head = head $0; next }
	{ head = "" }' | sort -u | awk '
	{ n[$1]++; files[$1] = files[$1] " " $2 }
	END { for (name in n) if (n[name] > 1) print n[name], name ":" files[name] }' | sort -rn)
n_shared=$(awk '{ n += $1 } END { print n + 0 }' <<<"$shared")
((n_shared <= SHARED_MOST)) || {
	echo "$n_shared functions and types share their name with one of another file, $SHARED_MOST at most may; the most common:"
	head -n 20 <<<"$shared"
	failed=1
}
exit "$failed"
