# Each fault in tests/mutation/*.faults can still be planted: its file is there and holds the text
# exactly once. A rename would otherwise take faults away without a word.
set -u
cd "$TB_SOURCE" || exit 1
failed=0
while IFS= read -r fault; do
	file=${fault%% ::: *}
	rest=${fault#* ::: }
	text=${rest%% ::: *}
	found=0
	[[ -f $file ]] && found=$(grep -oF -- "$text" "$file" | wc -l)
	if [[ $found != 1 ]]; then
		echo "$file holds this $found times, not once: $text"
		failed=1
	fi
done < <(cat tests/mutation/*.faults | grep -vE '^(#|$)')
exit "$failed"
