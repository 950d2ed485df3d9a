// What each message waited for: rules L7 to L12 of docs/closed-loop.md.
#ifndef TB_CAUSES_H
#define TB_CAUSES_H

#include "message_list.h"

#define TB_CAUSES_MAX 12 // of one message

// A cause: a delivery to the message's sender, or a call of its own before.
struct tb_cause {
	uint32_t message;
	bool is_call;
};

enum tb_cause_kind { TB_CAUSE_FIRST, TB_CAUSE_NEAREST, TB_CAUSE_RECURRING };

struct tb_caused {
	uint32_t first, n; // its causes, in `rows` of the list
	uint8_t kind;	   // enum tb_cause_kind
	bool hidden;
	int64_t gap_ns; // of computation, after the last of the causes
};

struct tb_causes {
	struct tb_caused *of; // by message
	struct tb_cause *rows;
	size_t n_rows, rows_room;
};

// tb_causes_find finds the causes of the messages of `n_nodes` nodes, which are ordered
// by `left_ns`; time begins at `begin_ns`. tb_causes_fini frees what it holds.
int tb_causes_find(struct tb_causes *causes, const struct tb_message_list *list,
	uint32_t n_nodes, int64_t begin_ns) TB_MUST_USE;
void tb_causes_fini(struct tb_causes *causes);

#endif
