#include "endless.h"

#include "array.h"
#include "stop.h"

#include <stdlib.h>

struct endless {
	const struct tb_source *source;
	tb_time_ps now, last_ps; // of the last message
	uint64_t *cookies;	 // of the messages of this instant
	size_t n, room;
};

// endless_take_all takes all messages that are posted now.
static int endless_take_all(struct endless *endless, struct tb_error *error)
{
	const struct tb_source *source = endless->source;
	struct tb_message message;
	int status;
	endless->n = 0;
	while ((status = source->take(source->context, endless->now, &message, error)) >
		0) {
		if (TB_ARRAY_RESERVE(&endless->cookies, &endless->room, endless->n + 1))
			return tb_fail_memory(error, "the messages of an instant");
		endless->cookies[endless->n++] = message.cookie;
	}
	return status;
}

// endless_step simulates one instant.
static int endless_step(struct endless *endless, struct tb_error *error)
{
	int status = endless_take_all(endless, error);
	if (endless->n > 0)
		endless->last_ps = endless->now;
	for (size_t i = 0; i < endless->n && status == TB_OK; i++) {
		uint64_t cookie = endless->cookies[i];
		const struct tb_source *source = endless->source;
		const struct tb_latency_parts parts = {
			.started_at = endless->now, .drained_at = endless->now};
		if (source->crossed)
			source->crossed(source->context, cookie, &parts);
		if (source->delivered)
			status = source->delivered(
				source->context, endless->now, cookie, error);
		if (status == TB_OK && source->sent)
			status = source->sent(
				source->context, endless->now, cookie, error);
	}
	return status;
}

static int endless_simulate(struct endless *endless, const volatile sig_atomic_t *stop,
	struct tb_error *error)
{
	const struct tb_source *source = endless->source;
	int status = TB_OK;
	while (status == TB_OK) {
		tb_time_ps next = source->when(source->context);
		if (next == TB_TIME_NEVER)
			break;
		if (tb_stop_asked(stop))
			return 1;
		endless->now = next > endless->now ? next : endless->now;
		status = endless_step(endless, error);
	}
	return status == TB_OK && source->finish ? source->finish(source->context, error)
						 : status;
}

int tb_endless_run(const struct tb_source *source, const volatile sig_atomic_t *stop,
	tb_time_ps *took_ps, struct tb_error *error)
{
	struct endless endless = {.source = source};
	int status = endless_simulate(&endless, stop, error);
	free(endless.cookies);
	if (status == TB_OK)
		*took_ps = endless.last_ps;
	return status;
}
