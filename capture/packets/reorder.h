// Puts records that are nearly in the order of time into that order, by holding each back
// until the newest stamp is TB_REORDER_WINDOW_NS ahead of it.
//
// Almost all records come in order: they pass through a ring at constant cost. The others
// go through a heap beside it. Equal stamps leave in the order of their arrival. A record
// that is older than the window's edge is late: it leaves at the edge. No more than
// TB_REORDER_RECORDS_MAX are held, whatever their stamps. Not thread safe.
#ifndef TB_REORDER_H
#define TB_REORDER_H

#include "frame.h"

#define TB_REORDER_WINDOW_NS   INT64_C(2000000) // captures step back by up to 1.1 ms
#define TB_REORDER_RECORDS_MAX (UINT32_C(1) << 16)

// A frame that waits: a cache line.
struct tb_held {
	int64_t at_ns;
	uint32_t source; // numbers of endpoints
	uint32_t destination;
	struct tb_frame frame;
};

struct tb_reorder {
	struct tb_held *ring;
	uint32_t ring_first;
	uint32_t ring_n;
	uint32_t ring_capacity; // a power of two
	struct tb_straggler *heap;
	uint32_t heap_n;
	uint32_t heap_capacity;
	uint64_t n_arrived;
	int64_t newest_ns;
	int64_t edge_ns;      // nothing older leaves any more
	struct tb_held taken; // from the heap
	// What was seen.
	uint64_t n_reordered;
	uint64_t n_late;
	int64_t peak_ns;
};

// A zeroed struct is empty. tb_reorder_fini frees what it holds.
void tb_reorder_fini(struct tb_reorder *reorder);

// tb_reorder_stamp takes note of a record's stamp, also of one that is not to be held,
// and returns the stamp under which it may be put.
int64_t tb_reorder_stamp(struct tb_reorder *reorder, int64_t at_ns);

// tb_reorder_place is where the next record may be written, all but `at_ns`: NULL without
// memory. It lives until any next call and holds nothing until tb_reorder_put puts it in,
// under a stamp that tb_reorder_stamp gave.
struct tb_held *tb_reorder_place(struct tb_reorder *reorder);
int tb_reorder_put(struct tb_reorder *reorder, int64_t at_ns) TB_MUST_USE;

// tb_reorder_take gives the oldest record if it is due, and with `all` set whether or not
// it is; NULL when there is none. The record lives until the next call.
struct tb_held *tb_reorder_take(struct tb_reorder *reorder, bool all);

#endif
