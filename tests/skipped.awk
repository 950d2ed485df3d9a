# Names what was skipped in a run of ctest, from its LastTest.log: a line a case and reason. Whoever
# skips prints "skipped: " and why: a whole test, which then ends with 77, or a case of cmocka (skip()).
function put(what) {
	what = what ": " reason
	reason = ""
	if (!times[what]++)
		cases[n++] = what
}
function flush() { if (reason != "") put(test) }
/^[0-9]+\/[0-9]+ Testing: / { flush(); test = $3 }
/^skip(ped)?: ./ { flush(); reason = $0; sub(/^[^:]*: /, "", reason) }
/^\[  SKIPPED \] [a-z]/ {
	if (seen[test, $4]++)
		next
	if (reason == "")
		reason = "it gives no reason"
	put(test ", " $4)
}
END {
	flush()
	if (n)
		printf "\nskipped cases, and why: %d\n", n
	for (i = 0; i < n; i++)
		print "  " cases[i] (times[cases[i]] > 1 ? " (" times[cases[i]] " times)" : "")
}
