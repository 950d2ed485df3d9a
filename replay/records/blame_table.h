// The blame table: who waited for whom, added up during a replay. Private to replay/.
//
// It is given every wait once, when it ends, and keeps what struct tb_blame_record holds:
// exact sums by root, by root and time, by flow, by pairs of jobs and time, by link and
// job, by root and job; and the heaviest waits by link and flows, by time and flows, by
// groups of flows, and by time, root and link. Memory: 16 bytes per link, 8 per link and
// slice of the sums by root (32 MB, or 32 bytes per link if that is more), 32 to 64
// per key of the sums by job, up to 3 MB for the heaviest, 1 to 2 MB for the log.
//
// Time is cut into TB_BLAME_BINS slices at most: the base width times a power of two,
// doubled whenever the replay outgrows them. The sums by root have wider slices where
// links are many; what waited for a root in all follows from them.
//
// Waits are logged, and the log is entered when it is full. Many waits are like one
// shortly before: the same two flows, at the same link, for the same root, in the same
// slice. Those of a log that are found to be like each other are one entry; which are
// does not matter. When the log is entered, its entries are added up twice more: by the
// two flows, from which follow the sums by flow, the groups and the heaviest by time, and
// by the two links, from which follow the sums by root and the trees. Then each table is
// entered by itself, so that the cache holds one table at a time.
//
// Batches: the lists of the heaviest are cut to their length between batches alone. A
// batch is over after the instant by which TB_BLAME_BATCH waits or more have ended since
// the batch before. So it is the same waits however a network is cut into parts, and so
// is what is kept of them, whatever the order in which they are added.
#ifndef TB_BLAME_TABLE_H
#define TB_BLAME_TABLE_H

#include "heaviest.h"
#include "map.h"
#include "network_impl.h"
#include "observer.h"
#include "status.h"
#include "team.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Exact sums of waits by a key: a table that grows with the keys that occur. Private to
// replay/.

struct tb_wait_sum { // two figures, both 0 in a free slot
	struct tb_wait_key key;
	uint64_t first, second;
};

struct tb_wait_sums {		   // zeroed: empty
	struct tb_wait_sum *slots; // open addressing
	size_t n_slots;		   // 0 or a power of two
	size_t n_used;
};

void tb_wait_sums_fini(struct tb_wait_sums *sums);

// tb_wait_sums_add adds to both figures of a key; not both are 0. TB_ENOMEM leaves the
// sums as they were.
int tb_wait_sums_add(struct tb_wait_sums *sums, struct tb_wait_key key, uint64_t first,
	uint64_t second) TB_MUST_USE;

// tb_wait_sums_list moves the sums, sorted by key, to the front of the slots: `n_used` of
// them. The table is then a list; do not add to it.
void tb_wait_sums_list(struct tb_wait_sums *sums);

// tb_wait_sums_widen adds up the sums whose keys differ in a by 1, from an even one:
// slices twice as wide. TB_ENOMEM as above.
int tb_wait_sums_widen(struct tb_wait_sums *sums) TB_MUST_USE;

#define TB_BLAME_BINS  TB_HEAVIEST_BINS
#define TB_BLAME_LOG   10240
#define TB_BLAME_BATCH 8192
#define TB_BLAME_PIECE 256

struct tb_blame_key {
	uint32_t link, root;	  // by which the header came in; what limited the holder
	uint32_t victim, culprit; // flows, numbers in the records
};

struct tb_blame_wait {
	struct tb_blame_key key;
	tb_time_ps from, to;
};

// A flow in whose name waits are kept. With rails, those of one pair of hosts are one.
struct tb_blame_party {
	uint32_t flow, job;
	uint32_t group[TB_GROUPINGS];
};

struct tb_blame_sum { // of like waits: those of its last slice, and of those before
	struct tb_blame_key key;
	uint64_t wait_ps;
	uint16_t n_waits; // that ended in the slice
	uint16_t bin;
	uint32_t before; // the part of another slice; TB_ID_NONE: none
};

struct tb_blame_part { // of a sum, in an earlier slice
	uint64_t wait_ps;
	uint16_t n_waits;
	uint16_t bin;
	uint32_t before;
};

// The log is full with TB_BLAME_LOG waits, or with as many parts in earlier slices. Added
// up by flows or by links, sums can have as many more of those as there were sums.
enum { TB_BLAME_NUMBERS = 1 << 14 };
struct tb_blame_log {
	uint32_t n, n_parts;
	struct tb_blame_sum sums[TB_BLAME_LOG];
	struct tb_blame_part parts[2 * TB_BLAME_LOG + TB_BLAME_BINS];
	uint16_t numbers[TB_BLAME_NUMBERS]; // hashed: a sum's, perhaps of an earlier log
};

struct tb_blame_table {
	const struct tb_network *net;
	uint32_t *leaf_of;   // switch by node
	_Atomic bool failed; // out of memory: it keeps nothing any more
	struct tb_blame_log waits, pairs,
		places; // logged; by flows alone, by links alone
	struct tb_blame_party victims[TB_BLAME_LOG], culprits[TB_BLAME_LOG]; // of pairs
	uint32_t n_logged;						     // waits
	struct tb_map party_of; // with rails: by job and hosts
	uint64_t n_waits;
	uint32_t n_in_batch, batch; // waits; TB_BLAME_BATCH, but in tests
	uint32_t piece; // waits or sums of a step; TB_BLAME_PIECE, but in tests
	bool trims;	// the log is entered as the end of a batch
	bool enters;	// in steps, of which the next one is this:
	uint32_t stage, row;
	tb_time_ps last_to;    // of the wait added last
	tb_time_ps bin_ps;     // width of a slice
	tb_time_ps begin, end; // of the slice in which waits end now, `bin`
	uint16_t bin;
	unsigned sum_shift;		    // a slice of the sums is 2^sum_shift of them
	uint64_t *root_waits;		    // how many, by link
	uint64_t *root_bins[TB_BLAME_BINS]; // by slice and link; NULL: nothing yet
	uint64_t *link_ps;		    // wait by link, until there are several jobs
	bool several;			    // jobs
	uint32_t first_job;		    // of the waits; TB_ID_NONE: no wait yet
	struct tb_wait_sums root_jobs, job_waits, job_links;
	struct tb_heaviest by_link, by_time, groups[TB_GROUPINGS], trees;
};

// tb_blame_table_new makes an empty table, whose slices are multiples of base_ps. NULL
// when memory runs out. It borrows the network.
struct tb_blame_table *tb_blame_table_new(
	const struct tb_network *net, tb_time_ps base_ps);
void tb_blame_table_free(struct tb_blame_table *blame); // NULL is fine

// tb_blame_table_add adds waits, none of which is empty, and ends a batch when that is
// over: they come in the order in which they end, but for those that end no batch. It
// adds to `blamed_ps` of the flows, perhaps later, and sets `failed`.
void tb_blame_table_add(struct tb_blame_table *blame, struct tb_flow_sample *flows,
	const struct tb_blame_wait *waits, size_t n);

// tb_blame_table_put adds waits of the present batch, in any order, and
// tb_blame_table_end_batch ends that. The log is entered by a team, each table by one
// thread; NULL: by the caller. What comes out is the same.
void tb_blame_table_put(struct tb_blame_table *blame, struct tb_flow_sample *flows,
	const struct tb_blame_wait *waits, size_t n, struct tb_team *team);
void tb_blame_table_end_batch(
	struct tb_blame_table *blame, struct tb_flow_sample *flows, struct tb_team *team);

// tb_blame_table_begin_end begins to end the batch in steps of some microseconds.
// tb_blame_table_step does the next one; false: there is none left. Until then nothing
// else may be done with the table.
void tb_blame_table_begin_end(struct tb_blame_table *blame);
bool tb_blame_table_step(struct tb_blame_table *blame, struct tb_flow_sample *flows);

// tb_blame_table_enter enters the log.
void tb_blame_table_enter(
	struct tb_blame_table *blame, struct tb_flow_sample *flows, struct tb_team *team);

// Copies of struct tb_blame_record (observer.h), which own their arrays.

// tb_blame_record_copy stores a copy of `from`; free it by tb_blame_record_free. Upon
// TB_ENOMEM there is nothing to free.
int tb_blame_record_copy(
	struct tb_blame_record *copy, const struct tb_blame_record *from) TB_MUST_USE;

// tb_blame_record_free frees the arrays of a record that owns them, and zeroes it.
void tb_blame_record_free(struct tb_blame_record *record);

// What the blame table comes to, as the observer is given it. Private to replay/.

// tb_blame_record_give lists the table, whose log is entered, into a record, gives this
// to the observer and stores what that returned. The table is used up; free it then.
// TB_ENOMEM.
int tb_blame_record_give(struct tb_blame_table *blame, const struct tb_flow_sample *flows,
	const struct tb_observer *observer, int *returned) TB_MUST_USE;

#endif
