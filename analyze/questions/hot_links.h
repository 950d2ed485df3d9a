// The links with the longest wait, hottest first, as reports and the viewer list them.
#ifndef TB_HOT_LINKS_H
#define TB_HOT_LINKS_H

#include "run.h"

struct tb_hot_link {
	struct tb_link_sample sample;
	uint32_t rank;		// 1 is the hottest
	double percent_of_top;	// of the hottest link's wait, 0..100
	double percent_of_wait; // of the whole network's wait, 0..100
	double utilisation;	// busy time / window time, 0..100
	double waiting; // wait time / window time, 0..100 (may exceed 100: several
			// headers)
};

// tb_hot_links stores the `top` hottest links (fewer when fewer waited; 0: all that
// waited) in a malloc'ed array that the caller frees. Ties by link id.
int tb_hot_links(struct tb_run *run, struct tb_window window, uint32_t top,
	struct tb_hot_link **links, uint32_t *n, struct tb_error *error) TB_MUST_USE;

#endif
