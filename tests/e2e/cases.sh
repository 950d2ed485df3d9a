# docs/cases.md and its pictures are what docs/cases.sh makes of them now.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$TB_SOURCE" || exit 1
bash docs/cases.sh "$TAILBACK" "$folder" || exit 1
diff docs/cases.md "$folder/cases.md" || {
	echo "docs/cases.md is not what docs/cases.sh writes: bash docs/cases.sh build/test/tailback docs"
	exit 1
}
pictures=$(grep -o 'pictures/case_[a-z]*[.]png' docs/cases.md)
[[ $(wc -l <<<"$pictures") == 5 ]] || exit 1
for picture in $pictures; do
	[[ -s docs/$picture ]] && cmp -n 24 "docs/$picture" "$folder/$picture" || exit 1 # as wide and as high
done
