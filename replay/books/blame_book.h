// The blame book: who waited for whom, added up during a replay. Private to replay/.
//
// One entry per combination of link, root, victim and culprit, in a table of bounded
// size: when it is full, the lighter half is added up by job, so that no wait is lost.
// Flows are numbers in the books, whose array is borrowed by the calls that need their
// jobs.
#ifndef TB_BLAME_BOOK_H
#define TB_BLAME_BOOK_H

#include "observer.h"

#include <stdbool.h>

// Stands for all flows of a job that are added up.
#define TB_FLOW_OF_JOB UINT32_C(0x80000000)

struct tb_blame_entry {
	uint32_t link, root;
	uint32_t victim, culprit; // flows, or TB_FLOW_OF_JOB with the job's number
	uint64_t n_waits;	  // 0: the slot is free
	uint64_t wait_ps;
};

// Waits held back while the cache fetches their slots.
#define TB_BLAME_HELD 8

struct tb_blame_book {
	struct tb_blame_entry *slots; // open addressing; NULL: nothing is kept
	uint32_t room, n_used;	      // room: what is folded when depends on it
	uint32_t n_slots;	      // beyond some room, no more than the entries need
	bool is_list; // the entries lie at the front, without room for more
	struct tb_blame_entry held[TB_BLAME_HELD]; // a ring
	uint64_t hashes[TB_BLAME_HELD];
	uint32_t n_held, next_held;
};

// A zeroed book ignores what is added. tb_blame_book_init makes one that keeps it;
// tb_blame_book_fini frees it and leaves it zeroed.
int tb_blame_book_init(struct tb_blame_book *book) TB_MUST_USE;
void tb_blame_book_fini(struct tb_blame_book *book);
bool tb_blame_book_is_kept(const struct tb_blame_book *book);

// tb_blame_book_add adds the waits of `more` to their entry. After TB_ENOMEM the book
// keeps nothing.
int tb_blame_book_add(struct tb_blame_book *book, const struct tb_flow_sample *flows,
	const struct tb_blame_entry *more) TB_MUST_USE;

// tb_blame_book_list lists all entries by link and root, the order of the store's table;
// of more than a few thousand the lighter are added up by job. The caller frees the
// samples; the book can go on. TB_ENOMEM as above.
int tb_blame_book_list(struct tb_blame_book *book, const struct tb_flow_sample *flows,
	struct tb_blame_sample **samples, size_t *n) TB_MUST_USE;

#endif
