# For scripts with real inputs: all of them are in the shared folder, the small ones in tests/real.

# there NAME...: whether these are in $TB_SHARED/data; else it prints that they are skipped.
there() {
	local name
	for name; do
		[[ -e $TB_SHARED/data/$name ]] && continue
		echo "skipped: the real input $name is not here"
		return 1
	done
}
