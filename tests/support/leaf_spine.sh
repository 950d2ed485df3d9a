# leaf_spine SED: prints a fabric of edges: 4 leaf switches with 4 hosts each and 2 spines, two cables of 100 Gbit/s between
# each leaf and spine; then changed by a script of sed.
leaf_spine() {
	for leaf in 0 1 2 3; do
		for host in 0 1 2 3; do echo "leaf$leaf $host gpu$((4 * leaf + host)) 0 100Gbit/s"; done
		for spine in 0 1; do
			for cable in 0 1; do
				echo "leaf$leaf $((4 + 2 * spine + cable)) spine$spine $((2 * leaf + cable)) 100Gbit/s"
			done
		done
	done | sed "$1"
}
