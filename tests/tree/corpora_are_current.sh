# The fuzzer's stores have the present schema: readers refuse others before they read anything.
set -u
corpus=$TB_SOURCE/tests/fuzz/corpus/analyze_store
first=$("$TAILBACK" info "$corpus/whole" 2>&1 | head -1)
[[ $first == *': store of 1 run' ]] || {
	echo "$first"
	echo "after a change of the schema: bash tests/fuzz/renew_stores.sh"
	exit 1
}
