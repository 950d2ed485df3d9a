// What the oracle counts: intervals of time on links, added when they end and
// split over bins. Private to replay/.
//
// A cell holds one link in one bin and exists once anything was counted there. An
// automatic width begins small and doubles when time outgrows the number of bins.
#ifndef ORACLE_BOOKS_H
#define ORACLE_BOOKS_H

#include "map.h"
#include "observer.h"

#include <stdbool.h>

struct oracle_books_cell {
	uint64_t bin;
	uint64_t held_ps;
	struct tb_link_sample sample; // its stall is made of held and busy when told
};

struct oracle_books {
	const struct tb_observer *observer; // may be NULL
	uint32_t n_links;
	tb_time_ps bin_ps;
	uint64_t bins_most; // 0: the width is fixed
	struct tb_map cell_of;
	struct oracle_books_cell *cells;
	uint32_t n_cells, cells_room;
	uint64_t wait_ps; // all waits
	bool failed;	  // out of memory
};

void oracle_books_init(struct oracle_books *books, const struct tb_observer *observer,
	uint32_t n_links, tb_time_ps bin_ps, uint64_t bins_most);
void oracle_books_fini(struct oracle_books *books);

// A block of `bytes` crossed `link` in [begin, end).
void oracle_books_busy(struct oracle_books *books, uint32_t link, tb_time_ps begin,
	tb_time_ps end, uint64_t bytes);
// At least one VC of `link` was held in [begin, end).
void oracle_books_held(
	struct oracle_books *books, uint32_t link, tb_time_ps begin, tb_time_ps end);
// A header that had come in by `link` waited in [begin, end).
void oracle_books_wait(
	struct oracle_books *books, uint32_t link, tb_time_ps begin, tb_time_ps end);
// A header that came in by `link` must wait from `at` on.
void oracle_books_blocked(struct oracle_books *books, uint32_t link, tb_time_ps at);
// A header begins to cross `link`.
void oracle_books_header(struct oracle_books *books, uint32_t link, tb_time_ps at);

// oracle_books_tell tells the observer the width and all bins.
int oracle_books_tell(
	const struct oracle_books *books, struct tb_error *error) TB_MUST_USE;

#endif
