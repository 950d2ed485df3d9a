// The tree book: how congestion trees grow and dissolve. Waits of headers by time, by
// root and by the link where they stood, added up during a replay. Private to replay/.
//
// Time is cut into TB_TREE_BINS slices at most: a multiple of the base width by a power
// of two, doubled whenever the replay outgrows it. Each slice gets the part of a wait
// that lies in it, so that all slices together are the waits of the replay to the
// picosecond.
//
// Memory is bounded: when the table is full, the lighter half of the closed slices'
// entries is added up per slice, without root and link (TB_ID_NONE).
#ifndef TB_TREE_BOOK_H
#define TB_TREE_BOOK_H

#include "observer.h"

#include <stdbool.h>

#define TB_TREE_BINS  64
#define TB_TREE_FRONT 512 // a power of two

struct tb_tree_entry {
	uint32_t bin, root, link;
	uint64_t wait_ps; // 0: the slot is free
};

struct tb_tree_book {
	struct tb_tree_entry *slots; // open addressing; NULL: nothing is kept
	uint32_t room, n_used;
	tb_time_ps bin_ps;
	tb_time_ps bin_start; // of the slice at hand
	uint32_t bin;	      // its number
	// What was added last, one entry per hash: most waits are for few roots.
	struct tb_tree_entry front[TB_TREE_FRONT];
};

// A zeroed book ignores what is added. tb_tree_book_init makes one that keeps it, in
// slices of a multiple of base_ps; tb_tree_book_fini frees it and leaves it zeroed.
int tb_tree_book_init(struct tb_tree_book *book, tb_time_ps base_ps) TB_MUST_USE;
void tb_tree_book_fini(struct tb_tree_book *book);

// tb_tree_book_add adds a wait of [from, to). After TB_ENOMEM the book keeps nothing.
int tb_tree_book_add(struct tb_tree_book *book, uint32_t root, uint32_t link,
	tb_time_ps from, tb_time_ps to) TB_MUST_USE;

// tb_tree_book_list lists all entries by bin, root and link; those beyond some thousand
// are added up without root and link. The caller frees the samples; the book can go on.
// TB_ENOMEM as above.
int tb_tree_book_list(struct tb_tree_book *book, struct tb_tree_sample **samples,
	size_t *n) TB_MUST_USE;

#endif
