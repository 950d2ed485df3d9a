// Messages, each by itself: when they were posted, when they entered the network and when
// they were delivered, for a flow on a time axis.
//
// A run keeps all of its messages, or, of more than 16,384, those that lost most time in
// the network (replay/records/slowest_messages.h). info.n_messages_kept of
// info.n_messages are there; a run that did not end has none.
#ifndef TB_FLOW_MESSAGES_H
#define TB_FLOW_MESSAGES_H

#include "run.h"

// What a message is asked for by.
struct tb_flow_messages_wanted {
	uint32_t job;
	struct tb_node source, destination;
	tb_time_ps from_ps, to_ps; // it was under way within [from, to)
};

struct tb_flow_messages {
	struct tb_message_sample *list; // in the order of posting
	uint32_t n;
};

// tb_flow_messages_init stores the kept messages of a flow that were under way in a
// stretch of time: posted before its end, delivered after its beginning. Cost: reads all
// kept messages of the flow. TB_ENOMEM, TB_EFORMAT when the file is damaged.
int tb_flow_messages_init(struct tb_flow_messages *messages, struct tb_run *run,
	const struct tb_flow_messages_wanted *wanted, struct tb_error *error) TB_MUST_USE;
// tb_flow_messages_fini frees them; a zeroed struct is fine to free.
void tb_flow_messages_fini(struct tb_flow_messages *messages);

#endif
