#include "workload_impl.h"

static void open_loop_read_head(struct tb_open_loop *loop)
{
	do
		loop->status = tb_packets_next(loop->packets, &loop->head, &loop->error);
	while (loop->status > 0 && loop->job != TB_ID_NONE &&
		loop->head.job != loop->job);
	loop->has_head = loop->status > 0;
}

void tb_open_loop_init(struct tb_open_loop *loop, struct tb_packets *packets)
{
	tb_open_loop_init_job(loop, packets, TB_ID_NONE);
}

void tb_open_loop_init_job(
	struct tb_open_loop *loop, struct tb_packets *packets, uint32_t job)
{
	*loop = (struct tb_open_loop){.packets = packets, .job = job};
	open_loop_read_head(loop);
}

static tb_time_ps open_loop_next_at(void *context)
{
	const struct tb_open_loop *loop = context;
	return loop->has_head ? loop->head.at_ps : TB_TIME_NEVER;
}

static int open_loop_take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	struct tb_open_loop *loop = context;
	(void)error;
	if (!loop->has_head || loop->head.at_ps > now)
		return 0;
	*message = (struct tb_message){.source = loop->head.source,
		.destination = loop->head.destination,
		.bytes = loop->head.wire_bytes,
		.captured = true,
		.job = loop->head.job};
	open_loop_read_head(loop);
	return 1;
}

static int open_loop_finish(void *context, struct tb_error *error)
{
	const struct tb_open_loop *loop = context;
	if (loop->status < 0 && error)
		*error = loop->error;
	return loop->status < 0 ? loop->status : TB_OK;
}

struct tb_source tb_open_loop_source(struct tb_open_loop *loop)
{
	return (struct tb_source){.context = loop,
		.when = open_loop_next_at,
		.take = open_loop_take,
		.finish = open_loop_finish};
}
