# Fills a manual page in from the program's tables. Run with -v program=PATH. Comments of the page become:
#   .\"words COMMAND OPTION [END]  the words that an option takes, with END behind the last one
#   .\"item --NAME...              the head of a list's item: names and arguments of options; the page's text follows
#   .\"option --NAME               the same with the sentence of --help
#   .\"options                     options that the page does not name otherwise, and --help
BEGIN {
	command = FILENAME == "" ? ARGV[1] : FILENAME
	sub(/.*tailback-/, "", command)
	sub(/\.1$/, "", command)
	list = "\"" program "\" " command " --options 2>/dev/null"
	while (command !~ /\// && (list | getline row) > 0) {
		split(row, field, "\t")
		name = field[2]
		names[++n_names] = name
		letter[name] = field[1]
		argument[name] = field[3]
		sentence[name] = field[4]
	}
	while ((getline row < ARGV[1]) > 0)
		if (row ~ /^\.\\"(item|option) /)
			while (match(row, /--[a-z-]+/)) {
				placed[substr(row, RSTART + 2, RLENGTH - 2)] = 1
				row = substr(row, RSTART + RLENGTH)
			}
}
function fail(text) {
	print ARGV[1] ": " text >"/dev/stderr"
	exit failed = 1
}
# head returns an option as an item's head names it; what may be left out is in brackets in the table.
function head(name, text, optional) {
	if (!(name in sentence))
		fail("there is no option --" name)
	text = (letter[name] == "-" ? "" : "Fl " letter[name] " , ") "Fl -" name
	if (argument[name] == "-")
		return text
	optional = argument[name] ~ /^\[.*\]$/
	gsub(/^\[|\]$/, "", argument[name])
	return text (optional ? " Ns Op = Ns Ar " : " Ar ") tolower(argument[name])
}
# tell prints the sentence of --help, in which the argument's name is set as one.
function tell(name, word, n, i, text, plain) {
	n = split(sentence[name], word, " ")
	for (i = 1; i <= n; i++) {
		plain = word[i]
		gsub(/\\/, "\\e", plain)
		if (plain == argument[name] && plain ~ /^[A-Z-]+$/)
			plain = "\\fI" tolower(plain) "\\fR"
		text = text (i > 1 ? " " : "") plain
	}
	print (text ~ /^[.']/ ? "\\&" : "") text (text ~ /\.$/ ? "" : ".")
}
/^\.\\"words / {
	list = "\"" program "\" " $2 " --words " $3
	n = 0
	while ((list | getline word) > 0)
		words[++n] = word
	if (close(list) != 0 || n == 0)
		fail(program " has no words for " $2 " " $3)
	for (i = 1; i <= n; i++) {
		if (i == n && n > 1)
			print "and"
		print ".Cm " words[i] (i < n - 1 ? " ," : i == n && $4 ? " " $4 : "")
	}
	next
}
/^\.\\"(item|option) / {
	text = ""
	for (i = 2; i <= NF; i++)
		text = text (i > 2 ? " , " : "") head(substr($i, 3))
	print ".It " text
	if ($1 ~ /option$/)
		tell(substr($2, 3))
	next
}
/^\.\\"options$/ {
	for (i = 1; i <= n_names; i++)
		if (!(names[i] in placed)) {
			print ".It " head(names[i])
			tell(names[i])
		}
	print ".It Fl \\&? , Fl -help , Fl -usage"
	print "Prints the options, at length or in short, and exits."
	next
}
{ print }
