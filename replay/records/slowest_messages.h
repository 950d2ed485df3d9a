// The messages of a replay, each by itself: all of them, or, where they are too many,
// those that lost most time in the network. Private to replay/.
//
// What a message lost is its time in the network less what that takes when the network is
// idle. Of messages that lost as much, those delivered earlier stay. So the same replay
// keeps the same messages.
//
// Memory: 80 bytes a message, at most 1.7 MB. Cost: constant until it is full,
// then a comparison, and for a message that replaces another one at most 2
// log2(TB_MESSAGES_KEPT) of them.
#ifndef TB_SLOWEST_MESSAGES_H
#define TB_SLOWEST_MESSAGES_H

#include "observer.h"

// Storing one takes about as long as replaying a packet.
#define TB_MESSAGES_KEPT 16384

struct tb_kept_message;

struct tb_slowest_messages { // zeroed: empty
	struct tb_message_sample *samples;
	size_t n, room;
	uint64_t n_seen;
	// Once it is full: a heap of its messages, the one to go first on top.
	struct tb_kept_message *heap;
};

void tb_slowest_messages_fini(struct tb_slowest_messages *slowest);

// tb_slowest_messages_add adds a message that is delivered, in the order of delivery.
// TB_OK or TB_ENOMEM.
int tb_slowest_messages_add(struct tb_slowest_messages *slowest,
	const struct tb_message_sample *message) TB_MUST_USE;

// tb_slowest_messages_report sorts what was kept and passes it to observer->messages,
// whose status it returns. Add no more after it.
int tb_slowest_messages_report(struct tb_slowest_messages *slowest,
	const struct tb_observer *observer) TB_MUST_USE;

#endif
