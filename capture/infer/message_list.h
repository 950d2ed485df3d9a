// From the records of connections to messages: rules L1 to L4 of docs/closed-loop.md.
//
// Records are added in the order of time, each with what the ports made of it. A message
// is kept from its first record on; those of one ordered pair are in the order in which
// they began. Memory grows with messages and connections.
#ifndef TB_MESSAGE_LIST_H
#define TB_MESSAGE_LIST_H

#include "infer.h"

struct tb_message {
	uint32_t source, destination; // nodes
	uint64_t bytes;
	int64_t called_ns;    // the earliest instant at which its sender can have called
	int64_t left_ns;      // the latest: its first byte left the sender
	int64_t began_ns;     // the first byte of the run that it was cut from left
	int64_t last_ns;      // its last byte was captured
	int64_t delivered_ns; // its last byte left the receiver's port
	int64_t acked_ns;     // its receiver's acknowledgement left; INT64_MAX: not seen
	uint32_t n_missing;   // bytes that were not captured
};

// What the ports say of a record.
struct tb_passage {
	int64_t called_ns, left_ns; // as in struct tb_message
	int64_t delivered_ns;
	int64_t frame_ns; // that the sender's port takes for a full frame
	int64_t busy_ns;  // since when the sender's port was hardly idle
};

struct tb_message_list {
	struct tb_message *rows;
	size_t n, room;
};

struct tb_messages; // opaque

int tb_messages_new(struct tb_messages **messages) TB_MUST_USE;
void tb_messages_free(struct tb_messages *messages);

// tb_messages_add takes up a record. TB_ENOMEM, TB_ECAPACITY.
int tb_messages_add(struct tb_messages *messages, const struct tb_packet_record *record,
	const struct tb_passage *passage) TB_MUST_USE;

// tb_messages_end cuts what is left, splits messages by the sizes of others, and gives
// the list, ordered by `left_ns`, to the caller, who frees its rows. It counts in
// `report`.
int tb_messages_end(struct tb_messages *messages, struct tb_message_list *list,
	struct tb_infer_report *report) TB_MUST_USE;

#endif
