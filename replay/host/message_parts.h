// How a delivered message's latency came about, for a source that asks. Private to
// replay/.
#ifndef TB_MESSAGE_PARTS_H
#define TB_MESSAGE_PARTS_H

#include "observer.h"
#include "source.h"

static inline void tb_measure_message(const struct tb_source *source, uint64_t cookie,
	const struct tb_message_sample *message, tb_time_ps paced_ps)
{
	tb_time_ps latency = message->delivered_ps - message->posted_ps;
	tb_source_measure(source, cookie,
		&(struct tb_message_parts){.queue_ps = (tb_time_ps)message->queue_ps,
			.software_ps = latency - (tb_time_ps)message->queue_ps -
				       (tb_time_ps)message->network_ps,
			.ideal_ps = (tb_time_ps)message->ideal_ps,
			.held_ps = (tb_time_ps)(message->network_ps - message->ideal_ps),
			.paced_ps = paced_ps});
}

#endif
