#include "workload_impl.h"

#include <assert.h>
#include <stdlib.h>

#define COOKIE_BITS 48

struct joined_source {
	struct tb_source_part what;
	tb_time_ps next_at; // when it has something to post, in the time of the whole
};

struct tb_sources {
	struct joined_source *parts;
	uint32_t n;
	uint32_t first; // of the parts that are next, the one before the others
};

int tb_sources_new(struct tb_sources **sources, const struct tb_source_part *parts,
	uint32_t n, struct tb_error *error)
{
	assert(n > 0 && n < 1u << (64 - COOKIE_BITS));
	struct tb_sources *made = calloc(1, sizeof *made);
	if (made)
		made->parts = calloc(n, sizeof *made->parts);
	if (!made || !made->parts) {
		tb_sources_free(made);
		return tb_fail_memory(error, "the jobs");
	}
	made->n = n;
	for (uint32_t i = 0; i < n; i++)
		made->parts[i].what = parts[i];
	*sources = made;
	return TB_OK;
}

void tb_sources_free(struct tb_sources *sources)
{
	if (!sources)
		return;
	free(sources->parts);
	free(sources);
}

static tb_time_ps part_when(const struct joined_source *part)
{
	tb_time_ps at = part->what.source.when(part->what.source.context);
	return at < TB_TIME_NEVER - part->what.start_ps ? at + part->what.start_ps
							: TB_TIME_NEVER;
}

static void find_first(struct tb_sources *sources)
{
	const struct joined_source *parts = sources->parts;
	sources->first = 0;
	for (uint32_t i = 1; i < sources->n; i++)
		if (parts[i].next_at < parts[sources->first].next_at)
			sources->first = i;
}

// ask_again updates the order after one part received a call or gave a message.
static void ask_again(struct tb_sources *sources, uint32_t i)
{
	struct joined_source *parts = sources->parts;
	tb_time_ps before = parts[i].next_at;
	parts[i].next_at = part_when(&parts[i]);
	tb_time_ps first_at = parts[sources->first].next_at;
	if (i != sources->first) {
		if (parts[i].next_at < first_at ||
			(parts[i].next_at == first_at && i < sources->first))
			sources->first = i;
		return;
	}
	if (parts[i].next_at > before)
		find_first(sources);
}

static tb_time_ps sources_next_at(void *context)
{
	const struct tb_sources *sources = context;
	return sources->parts[sources->first].next_at;
}

static int sources_take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	struct tb_sources *sources = context;
	uint32_t i = sources->first;
	while (sources->parts[i].next_at <= now) {
		const struct tb_source_part *what = &sources->parts[i].what;
		int status = what->source.take(
			what->source.context, now - what->start_ps, message, error);
		ask_again(sources, i);
		if (status < 0)
			return status;
		if (status > 0) {
			assert(message->cookie >> COOKIE_BITS == 0);
			message->cookie |= (uint64_t)i << COOKIE_BITS;
			message->job += what->first_job;
			if (what->node_of) {
				message->source.id = what->node_of[message->source.id];
				message->destination.id =
					what->node_of[message->destination.id];
			}
			return 1;
		}
		i = sources->first;
	}
	return 0;
}

enum news { SENT, DELIVERED, UNDELIVERED };

static int sources_report(struct tb_sources *sources, enum news news, tb_time_ps now,
	uint64_t cookie, struct tb_error *error)
{
	uint32_t i = (uint32_t)(cookie >> COOKIE_BITS);
	const struct tb_source_part *what = &sources->parts[i].what;
	int (*const calls[])(void *, tb_time_ps, uint64_t, struct tb_error *) = {
		[SENT] = what->source.sent,
		[DELIVERED] = what->source.delivered,
		[UNDELIVERED] = what->source.undelivered};
	int (*call)(void *, tb_time_ps, uint64_t, struct tb_error *) = calls[news];
	if (!call)
		return TB_OK;
	int status = call(what->source.context, now - what->start_ps,
		cookie & ((UINT64_C(1) << COOKIE_BITS) - 1), error);
	ask_again(sources, i);
	return status;
}

static int sources_sent(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	return sources_report(context, SENT, now, cookie, error);
}

static int sources_delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	return sources_report(context, DELIVERED, now, cookie, error);
}

static int sources_undelivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	return sources_report(context, UNDELIVERED, now, cookie, error);
}

static void sources_crossed(
	void *context, uint64_t cookie, const struct tb_latency_parts *crossing)
{
	const struct tb_sources *sources = context;
	const struct tb_source_part *what = &sources->parts[cookie >> COOKIE_BITS].what;
	struct tb_latency_parts own = *crossing;
	own.started_at -= what->start_ps;
	own.drained_at -= what->start_ps;
	if (what->source.crossed)
		what->source.crossed(what->source.context,
			cookie & ((UINT64_C(1) << COOKIE_BITS) - 1), &own);
}

static void sources_measured(
	void *context, uint64_t cookie, const struct tb_message_parts *parts)
{
	const struct tb_sources *sources = context;
	tb_source_measure(&sources->parts[cookie >> COOKIE_BITS].what.source,
		cookie & ((UINT64_C(1) << COOKIE_BITS) - 1), parts);
}

static int sources_finish(void *context, struct tb_error *error)
{
	const struct tb_sources *sources = context;
	int status = TB_OK;
	for (uint32_t i = 0; status == TB_OK && i < sources->n; i++) {
		const struct tb_source *source = &sources->parts[i].what.source;
		if (source->finish)
			status = source->finish(source->context, error);
	}
	return status;
}

struct tb_source tb_sources_source(struct tb_sources *sources)
{
	bool asks = false, measures = false;
	for (uint32_t i = 0; i < sources->n; i++) {
		sources->parts[i].next_at = part_when(&sources->parts[i]);
		asks |= sources->parts[i].what.source.crossed != NULL;
		measures |= sources->parts[i].what.source.measured != NULL;
	}
	find_first(sources);
	return (struct tb_source){.context = sources,
		.when = sources_next_at,
		.take = sources_take,
		.sent = sources_sent,
		.delivered = sources_delivered,
		.undelivered = sources_undelivered,
		.crossed = asks ? sources_crossed : NULL,
		.measured = measures ? sources_measured : NULL,
		.finish = sources_finish};
}

static void open_loop_read_head(struct tb_open_loop *loop)
{
	do
		loop->status = tb_packets_next(loop->packets, &loop->head, &loop->error);
	while (loop->status > 0 && loop->job != TB_ID_NONE &&
		loop->head.job != loop->job);
	loop->has_head = loop->status > 0;
}

void tb_open_loop_init(
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
