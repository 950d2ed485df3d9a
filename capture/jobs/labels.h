// The labels of one rank in a GOAL text, and the operations that they name.
//
// Most writers label the first operation l1, the second l2 and so on; such labels are
// only counted. Others go into an open-addressing hash table that keeps its memory from
// rank to rank. A zeroed struct is an empty table. Not thread safe.
#ifndef TB_LABELS_H
#define TB_LABELS_H

#include "status.h"

#include "map.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_labels {
	uint32_t n_counted;    // labels l1 to ln name the first n operations
	struct tb_map of_hash; // where each other one is in `text`
	char *text;	       // these names, each behind its length and operation
	size_t n_text, text_room;
};

void tb_labels_fini(struct tb_labels *labels);

// tb_labels_clear forgets all labels.
void tb_labels_clear(struct tb_labels *labels);

// tb_labels_put adds a label and returns 1; or 0 when the rank has it already (it keeps
// its operation), or TB_ENOMEM.
int tb_labels_put(struct tb_labels *labels, const char *name, size_t length,
	uint32_t index) TB_MUST_USE;

bool tb_labels_find(
	const struct tb_labels *labels, const char *name, size_t length, uint32_t *index);

#endif
