// Sorts records that are nearly in the order of time, by holding each back until the
// newest stamp is TB_REORDER_WINDOW_NS later.
//
// Almost all records come in order; they pass through a ring at constant cost. The others
// go through a heap. Records with equal stamps leave in the order of arrival. A record
// that is older than the window's edge is late: it leaves with the stamp of the edge. At
// most TB_REORDER_RECORDS_MAX records are held, whatever their stamps. Not thread safe.
#ifndef TB_REORDER_H
#define TB_REORDER_H

#include "frame.h"

#define TB_REORDER_WINDOW_NS   INT64_C(2000000) // captures step back by up to 1.1 ms
#define TB_REORDER_RECORDS_MAX (UINT32_C(1) << 16)

// A frame held back; the struct fills a cache line.
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
	size_t heap_n, heap_room;
	uint64_t n_arrived;
	int64_t newest_ns;
	int64_t edge_ns;      // no record leaves with an earlier stamp any more
	struct tb_held taken; // the record last taken from the heap
	// Statistics.
	uint64_t n_reordered;
	uint64_t n_late;
	int64_t peak_ns; // largest step back in time
};

// A zeroed struct is empty. tb_reorder_fini frees what it holds.
void tb_reorder_fini(struct tb_reorder *reorder);

// tb_reorder_stamp must see the stamp of every record, even of those that will not be
// put. It returns the stamp with which the record may be put.
int64_t tb_reorder_stamp(struct tb_reorder *reorder, int64_t at_ns);

// tb_reorder_place returns room for the next record, of which the caller fills all but
// `at_ns`; NULL when there is no memory. The record is held only once tb_reorder_put puts
// it, with a stamp from tb_reorder_stamp. The pointer lives until then. This saves a copy
// per record.
struct tb_held *tb_reorder_place(struct tb_reorder *reorder);
int tb_reorder_put(struct tb_reorder *reorder, int64_t at_ns) TB_MUST_USE;

// tb_reorder_take removes and returns the oldest record if it is due, or with `all` in
// any case; NULL when there is none. The record lives until the next call.
struct tb_held *tb_reorder_take(struct tb_reorder *reorder, bool all);

#endif
