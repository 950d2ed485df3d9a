// Splits messages that ran together in a connection: rule L3 of docs/closed-loop.md.
#ifndef TB_MESSAGE_SPLIT_H
#define TB_MESSAGE_SPLIT_H

#include "message_list.h"

// A message while it is cut.
struct tb_entry {
	struct tb_message message;
	uint32_t stream;
	uint32_t next; // of the stream
	uint32_t end;  // sequence number after its last byte
};

// tb_message_split appends the entries to `list`, in their order, and for each that is
// two or more sizes of its stream together, its parts. TB_ENOMEM.
int tb_message_split(const struct tb_entry *entries, size_t n,
	struct tb_message_list *list) TB_MUST_USE;

#endif
