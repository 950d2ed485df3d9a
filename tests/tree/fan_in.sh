# A key of one switching concerns few files: of all sources, at most 100 include the header of
# its parameters, directly or by others. Headers are found by their name, which stands for one.
set -u
cd "$TB_SOURCE" || exit 1
most=100
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || {
	echo "skipped: not a git checkout"
	exit 77
}
git grep -oE '^#include "[^"]+"' -- '*.c' '*.h' | awk -v most="$most" '
	{
		file = $0
		sub(":#include.*", "", file)
		header = $0
		gsub(/.*#include "|"$|.*\//, "", header)
		name = file
		sub(".*/", "", name)
		# Of a header, its name; of a source, its path.
		includer = name ~ /\.h$/ ? name : file
		by[header] = by[header] " " includer
	}
	function fan_in(header, seen, queue, n, at, i, parts, k, sources) {
		queue[n = 1] = header
		for (at = 1; at <= n; at++) {
			k = split(by[queue[at]], parts, " ")
			for (i = 1; i <= k; i++)
				if (!(parts[i] in seen)) {
					seen[parts[i]] = 1
					queue[++n] = parts[i]
					sources += parts[i] ~ /\.c$/
				}
		}
		return sources
	}
	END {
		for (header in by)
			if (header ~ /^(circuit|credit|ethernet)_params\.h$/) {
				sources = fan_in(header)
				n_headers++
				print header ": " sources " sources"
				if (sources > most || sources == 0)
					failed = 1
			}
		if (n_headers != 3)
			failed = 1
		exit failed
	}' || {
	echo "expected three headers, each in 1 to $most sources"
	exit 1
}
