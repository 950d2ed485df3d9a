// SQL by which a test changes what happened on links in time bins: a store has them
// packed (analyze/store/link_pack.h), and its view link_bin cannot be written.
// LINKS_UNPACKED makes a temporary table `links` of link_bin's columns, LINKS_PACKED puts
// what has become of it back into `main`.
#ifndef TB_TEST_PACKED_LINKS_H
#define TB_TEST_PACKED_LINKS_H

#define LINKS_UNPACKED "CREATE TEMP TABLE links AS SELECT * FROM main.link_bin;"

// LINKS_WIDENED makes it with bins twice as wide.
#define LINKS_WIDENED(schema)                                                            \
	"CREATE TEMP TABLE links AS SELECT run, bin / 2 AS bin, link, sum(wait_ps) AS "  \
	"wait_ps, sum(stall_ps) AS stall_ps, sum(busy_ps) AS busy_ps, sum(bytes) AS "    \
	"bytes, sum(packets) AS packets, sum(blocked) AS blocked, max(longest_wait_ps) " \
	"AS longest_wait_ps, max(largest_queue_bytes) AS largest_queue_bytes "           \
	"FROM " schema ".link_bin GROUP BY run, bin / 2, link;"

#define LINKS_PACKED                                                                     \
	"DELETE FROM main.link_pack;"                                                    \
	"INSERT INTO main.link_pack (run, bin, pack, links) "                            \
	"SELECT k.run, k.bin, k.pack, (SELECT json_group_array(json_array(link, "        \
	"wait_ps, stall_ps, busy_ps, bytes, packets, blocked, longest_wait_ps, "         \
	"largest_queue_bytes)) FROM (SELECT * FROM links AS l WHERE l.run = k.run AND "  \
	"l.bin = k.bin AND l.link / 1024 = k.pack ORDER BY l.link)) "                    \
	"FROM (SELECT DISTINCT run, bin, link / 1024 AS pack FROM links) AS k;"          \
	"DROP TABLE links;"

#endif
