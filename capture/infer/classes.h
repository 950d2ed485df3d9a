// Messages of one ordered pair and size, or place in the program, which are taken for
// repetitions of one event: rule L7 of docs/closed-loop.md.
#ifndef TB_CLASSES_H
#define TB_CLASSES_H

#include "message_list.h"

// The messages of an ordered pair are by_pair[first] to by_pair[first + n - 1], in the
// order in which they left.
struct tb_pair {
	uint32_t source, destination;
	uint32_t first, n;
};

// The members of class c are members[first[c]] to members[first[c + 1] - 1], in the order
// in which they left. Classes of one source stand together, ordered by source; by_node
// lists those that reach a node.
struct tb_classes {
	uint32_t n;
	uint32_t *first;
	uint32_t *members;
	uint32_t *of;	      // by message: its class
	uint32_t *place;      // by message: its place within the class
	bool *by_place;	      // by message: its class is that of its place
	uint32_t *sent_first; // n_nodes + 1: node v sends classes [v] to [v + 1] - 1
	uint32_t *got_first;  // n_nodes + 1, into `got`
	uint32_t *got;	      // classes that reach a node
	uint32_t n_pairs;
	struct tb_pair *pairs; // ordered by source, then destination
	uint32_t *by_pair;
};

int tb_classes_find(struct tb_classes *classes, const struct tb_message_list *list,
	uint32_t n_nodes) TB_MUST_USE;
void tb_classes_fini(struct tb_classes *classes);

// tb_classes_pair returns an ordered pair, or NULL when it has no messages.
const struct tb_pair *tb_classes_pair(
	const struct tb_classes *classes, uint32_t source, uint32_t destination);

static inline uint32_t tb_classes_size(const struct tb_classes *classes, uint32_t c)
{
	return classes->first[c + 1] - classes->first[c];
}

#endif
