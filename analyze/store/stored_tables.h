// Rows that are written by this room and read by others, and their tables. Private to
// analyze/.
#ifndef TB_STORED_TABLES_H
#define TB_STORED_TABLES_H

#include "congestion.h"
#include "network.h"
#include "observer.h"
#include "stored_rows.h"

// A link of a network.
struct tb_link_row {
	struct tb_link_row_end {
		uint32_t node, in_switch; // TB_ID_NONE: it is at the other one
		uint32_t port;
		uint32_t number; // what the port goes by
	} from, to;
	struct tb_link_info at;
};
extern const struct tb_stored_table tb_topology_links;

// What links come to in a bin of the run.
struct tb_bin_sum {
	uint64_t bin;
	struct tb_link_sample sample;
};
extern const struct tb_stored_table tb_bin_sums_stored;

// Messages, and what nodes sent: records are struct tb_message_sample, and struct
// tb_flow_sample with its source.
extern const struct tb_stored_table tb_messages_stored, tb_sender_totals_stored;

// Who waited for whom: records are struct tb_root_job_sample, tb_job_wait_sample,
// tb_job_link_sample and tb_blame_sample (observer.h).
extern const struct tb_stored_table tb_root_jobs_stored, tb_job_waits_stored,
	tb_job_links_stored, tb_blame_waits_stored;

// What captures recorded of congestion: a row of the table in question has the job and
// one of the rest.
struct tb_congestion_row {
	uint32_t job;
	struct tb_congestion_pair pair;
	struct tb_congestion_bin bin; // of recorded_capture the width, as from_ps
	struct tb_congestion_pause pause;
	int64_t at_most_ps; // of a pause; -1: not known
};
extern const struct tb_stored_table tb_recorded_captures_stored, tb_recorded_pairs_stored,
	tb_recorded_bins_stored, tb_recorded_pauses_stored;

#endif
