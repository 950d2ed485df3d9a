// What the reference engine counts: intervals of time on links, added when they end and
// split over bins. Private to replay/.
//
// A cell holds one link in one bin and exists once anything was counted there. An
// automatic width begins small and doubles when time outgrows the number of bins.
#ifndef TB_FLITS_BOOKS_H
#define TB_FLITS_BOOKS_H

#include "map.h"
#include "observer.h"

#include <stdbool.h>

struct tb_flits_books_cell {
	uint64_t bin;
	uint64_t held_ps;
	struct tb_link_sample sample; // its stall is made of held and busy when told
};

struct tb_flits_books {
	const struct tb_observer *observer; // may be NULL
	uint32_t n_links;
	tb_time_ps bin_ps;
	uint64_t bins_most; // 0: the width is fixed
	struct tb_map cell_of;
	struct tb_flits_books_cell *cells;
	uint32_t n_cells, cells_room;
	uint64_t wait_ps; // all waits
	bool failed;	  // out of memory
};

void tb_flits_books_init(struct tb_flits_books *books, const struct tb_observer *observer,
	uint32_t n_links, tb_time_ps bin_ps, uint64_t bins_most);
void tb_flits_books_fini(struct tb_flits_books *books);

// A block of `bytes` crossed `link` in [begin, end).
void tb_flits_books_busy(struct tb_flits_books *books, uint32_t link, tb_time_ps begin,
	tb_time_ps end, uint64_t bytes);
// At least one VC of `link` was held in [begin, end).
void tb_flits_books_held(
	struct tb_flits_books *books, uint32_t link, tb_time_ps begin, tb_time_ps end);
// A header that had come in by `link` waited in [begin, end).
void tb_flits_books_wait(
	struct tb_flits_books *books, uint32_t link, tb_time_ps begin, tb_time_ps end);
// A header that came in by `link` must wait from `at` on.
void tb_flits_books_blocked(struct tb_flits_books *books, uint32_t link, tb_time_ps at);
// A header begins to cross `link`.
void tb_flits_books_header(struct tb_flits_books *books, uint32_t link, tb_time_ps at);

// tb_flits_books_tell tells the observer the width and all bins.
int tb_flits_books_tell(
	const struct tb_flits_books *books, struct tb_error *error) TB_MUST_USE;

#endif
