# Fills in the lists of a manual page: a comment '.\"words COMMAND OPTION [END]' becomes the words that the
# option takes, as the program has them, with END behind the last one. Run with -v program=PATH.
/^\.\\"words / {
	list = "\"" program "\" " $2 " --words " $3
	n = 0
	while ((list | getline word) > 0)
		words[++n] = word
	if (close(list) != 0 || n == 0) {
		print FILENAME ": " program " has no words for " $2 " " $3 >"/dev/stderr"
		exit failed = 1
	}
	for (i = 1; i <= n; i++) {
		if (i == n && n > 1)
			print "and"
		print ".Cm " words[i] (i < n - 1 ? " ," : i == n && $4 ? " " $4 : "")
	}
	next
}
{ print }
