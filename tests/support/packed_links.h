// SQL by which a test changes what a store has packed (analyze/store/link_pack.h), whose
// views cannot be written. LINKS_UNPACKED makes a temporary table `links` of the rows of
// link_bin, LINKS_PACKED puts what has become of it back into `main`; TOTALS_... do the
// same with `totals` of link_total, FLOWS_... with `flows` of flow.
#ifndef TB_TEST_PACKED_LINKS_H
#define TB_TEST_PACKED_LINKS_H

#define LINKS_UNPACKED "CREATE TEMP TABLE links AS SELECT * FROM main.link_bin;"

// LINKS_WIDENED makes it with bins twice as wide.
#define LINKS_WIDENED(schema)                                                            \
	"CREATE TEMP TABLE links AS SELECT run, bin / 2 AS bin, link, sum(came_by_ps) "  \
	"AS "                                                                            \
	"came_by_ps, sum(wait_for_ps) AS wait_for_ps, sum(stall_ps) AS stall_ps, "       \
	"sum(busy_ps) AS busy_ps, sum(bytes) AS "                                        \
	"bytes, sum(packets) AS packets, sum(blocked) AS blocked, max(longest_wait_ps) " \
	"AS longest_wait_ps, max(largest_queue_bytes) AS largest_queue_bytes "           \
	"FROM " schema ".link_bin GROUP BY run, bin / 2, link;"

#define LINKS_PACKED                                                                     \
	"DELETE FROM main.link_pack;"                                                    \
	"INSERT INTO main.link_pack (run, bin, pack, links) "                            \
	"SELECT k.run, k.bin, k.pack, (SELECT json_group_array(json_array(link, "        \
	"came_by_ps, wait_for_ps, stall_ps, busy_ps, bytes, packets, blocked, "          \
	"longest_wait_ps, "                                                              \
	"largest_queue_bytes)) FROM (SELECT * FROM links AS l WHERE l.run = k.run AND "  \
	"l.bin = k.bin AND l.link / 1024 = k.pack ORDER BY l.link)) "                    \
	"FROM (SELECT DISTINCT run, bin, link / 1024 AS pack FROM links) AS k;"          \
	"DROP TABLE links;"

#define TOTALS_UNPACKED "CREATE TEMP TABLE totals AS SELECT * FROM main.link_total;"

#define TOTALS_PACKED                                                                    \
	"DELETE FROM main.total_pack;"                                                   \
	"INSERT INTO main.total_pack (run, pack, links) "                                \
	"SELECT k.run, k.pack, (SELECT json_group_array(json_array(link, came_by_ps, "   \
	"wait_for_ps, stall_ps, busy_ps, bytes, packets, blocked, longest_wait_ps, "     \
	"largest_queue_bytes)) FROM (SELECT * FROM totals AS l WHERE l.run = k.run AND " \
	"l.link / 1024 = k.pack ORDER BY l.link)) "                                      \
	"FROM (SELECT DISTINCT run, link / 1024 AS pack FROM totals) AS k;"              \
	"DROP TABLE totals;"

#define FLOWS_UNPACKED "CREATE TEMP TABLE flows AS SELECT * FROM main.flow;"

#define FLOWS_PACKED                                                                     \
	"DELETE FROM main.flow_pack;"                                                    \
	"INSERT INTO main.flow_pack (run, job, source, destination, flows) "             \
	"SELECT run, job, f ->> '$[0][0]', f ->> '$[0][1]', f FROM (SELECT run, job, "   \
	"json_group_array(json_array(source, destination, messages, packets, bytes, "    \
	"latency_ps, queue_ps, network_ps, worst_latency_ps, ideal_ps, wait_ps, "        \
	"blamed_ps, first_ps, last_ps)) AS f FROM (SELECT * FROM flows ORDER BY run, "   \
	"job, source, destination) GROUP BY run, job);"                                  \
	"DROP TABLE flows;"

#endif
