#include "exact.h"

#include "clock.h"
#include "fluid_edges.h"

#include <stdlib.h>

// Buffers of flows empty before the first packet is cut.
enum phase { BEFORE, EMPTYING, WITHIN, DRAINING, BEHIND };

struct tb_exact {
	const struct tb_switching *fluid, *packets;
	struct tb_engine_options options; // for the replays to come
	tb_time_ps from, to;
	enum phase phase;
	tb_time_ps empty_at;
	tb_time_ps pause_at; // as the engine is asked to
	const char *refusal; // what a fluid has not, and this has been asked for; NULL
};

// exact_refusal: what packets could do in the window, and flows beside it could not.
static const char *exact_refusal(
	const struct tb_network *network, const struct tb_engine_options *options)
{
	if (options->faults)
		return "switching = fluid has no faults, in a window of packets either";
	for (uint32_t i = 0; options->service_levels && i < options->n_service_levels;
		i++)
		if (options->service_levels[i])
			return "switching = fluid has no service levels, in a window of "
			       "packets either";
	if (network->params.broadcast)
		return "switching = fluid has no broadcasts, in a window of packets "
		       "either";
	return NULL;
}

int tb_exact_new(struct tb_exact **exact, const struct tb_switching *fluid,
	const struct tb_switching *packets, const struct tb_network *network,
	struct tb_engine_options *options)
{
	struct tb_exact *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	options->n_parts = 1;
	made->fluid = fluid;
	made->packets = packets;
	made->from = network->params.exact_from_ps;
	made->to = network->params.exact_to_ps;
	made->pause_at = TB_TIME_NEVER;
	made->phase = made->from > 0 ? BEFORE : WITHIN;
	made->refusal = exact_refusal(network, options);
	options->faults = NULL;
	options->service_levels = NULL;
	made->options = *options;
	*exact = made;
	return TB_OK;
}

void tb_exact_free(struct tb_exact *exact)
{
	free(exact);
}

const struct tb_switching *tb_exact_first(const struct tb_exact *exact)
{
	return exact->phase == BEFORE ? exact->fluid : exact->packets;
}

// The two replays and models of a change.
struct exact_change {
	const struct tb_switching *from, *to;
	struct tb_replay *before, *after;
};

// exact_follow makes the replay that goes on, and closes the bins of the one before.
static int exact_follow(
	const struct tb_exact *exact, struct exact_change *change, struct tb_error *error)
{
	struct tb_replay *before = change->before;
	struct tb_cell **cells = NULL;
	int status = tb_clock_pass_bins(before, change->from, before->now, error);
	if (status != TB_OK)
		return status;
	(void)change->from->settle(before, before->now);
	struct tb_replay *after = calloc(1, change->to->bytes);
	if (!after)
		return tb_fail_memory(error, "the network");
	tb_replay_follow(after, before, &change->to->carrier);
	if (change->to->make(after, &exact->options, &cells) != TB_OK) {
		tb_replay_abandon(after);
		change->to->free(after);
		return tb_fail_memory(error, "the network");
	}
	after->records.holds_stall = change->to->holds_stall;
	change->after = after;
	bool leaves_fluid = change->from == exact->fluid;
	if (leaves_fluid)
		tb_fluid_leave(before);
	tb_replay_take_over(after, before, cells, leaves_fluid ? tb_fluid_waits : NULL);
	return TB_OK;
}

// to_packets and to_flows hand over what is left of all messages.
static void to_packets(struct exact_change *change)
{
	const uint32_t *ids = NULL;
	uint32_t n = tb_fluid_left(change->before, change->after->messages, &ids);
	change->after->failure = change->before->failure;
	for (uint32_t i = 0; i < n; i++)
		tb_messages_go_on(change->after, ids[i]);
}

static int change_model(const struct tb_exact *exact, const struct tb_switching **model,
	struct tb_replay **replay, struct tb_error *error)
{
	bool to_fluid = *model == exact->packets;
	struct exact_change change = {
		*model, to_fluid ? exact->fluid : exact->packets, *replay, NULL};
	uint32_t *ids = NULL;
	uint32_t n = to_fluid ? tb_messages_left(*replay, &ids) : 0;
	int status = exact_follow(exact, &change, error);
	if (status != TB_OK) {
		free(ids);
		return status;
	}
	if (to_fluid) {
		if (n == TB_NOTHING)
			tb_replay_no_memory(change.after, "the messages in flight");
		else
			tb_fluid_enter(change.after, ids, n);
		free(ids);
	} else
		to_packets(&change);
	(*model)->free(*replay);
	*model = change.to;
	*replay = change.after;
	return TB_OK;
}

// exact_edge_of is when the phase ends; TB_TIME_NEVER: not at an instant known before.
static tb_time_ps exact_edge_of(const struct tb_exact *exact)
{
	if (exact->phase == BEFORE)
		return exact->from;
	if (exact->phase == EMPTYING)
		return exact->empty_at;
	return exact->phase == WITHIN ? exact->to : TB_TIME_NEVER;
}

void tb_exact_pause_at(struct tb_exact *exact, tb_time_ps at)
{
	exact->pause_at = at;
}

// exact_check_end_time refuses a window that begins when all is over.
static int exact_check_end_time(const struct tb_exact *exact,
	const struct tb_replay *replay, struct tb_error *error)
{
	char from[24], end[24];
	if (exact->phase != BEFORE || exact->options.window_may_miss)
		return 0;
	return tb_fail(error, TB_EUSAGE,
		"exact_from = %s: the run is over after %s: expected a window that "
		"begins before",
		tb_format_time(exact->from, from, sizeof from),
		tb_format_time(replay->last_reported, end, sizeof end));
}

int tb_exact_run(struct tb_exact *exact, const struct tb_switching **model,
	struct tb_replay **replay, uint64_t n_rounds, struct tb_error *error)
{
	if (exact->refusal)
		return tb_fail(error, TB_EUSAGE, "%s", exact->refusal);
	for (uint64_t i = 0; i < n_rounds; i++) {
		// Begin the next phase where one is over.
		int status = TB_OK;
		bool is_over = (*replay)->now >= exact_edge_of(exact);
		if (exact->phase == WITHIN && is_over) {
			(*replay)->holds_back = true;
			exact->phase = DRAINING;
		}
		if (exact->phase == DRAINING && (tb_replay_in_flight(*replay) == 0)) {
			exact->phase = BEHIND;
			status = change_model(exact, model, replay, error);
		}
		if (exact->phase == BEFORE && is_over) {
			exact->phase = EMPTYING;
			exact->empty_at = tb_fluid_stop(*replay);
			exact->to = tb_time_later(exact->to, exact->empty_at);
			is_over = (*replay)->now >= exact->empty_at;
		}
		if (exact->phase == EMPTYING && is_over) {
			exact->phase = WITHIN;
			status = change_model(exact, model, replay, error);
		}
		tb_time_ps edge = exact_edge_of(exact);
		(*replay)->pause_at = edge < exact->pause_at ? edge : exact->pause_at;
		if (status != TB_OK)
			return status;
		bool drains = exact->phase == DRAINING;
		status = (*model)->run(*replay, drains ? 1 : n_rounds, error);
		if (status == 0)
			return exact_check_end_time(exact, *replay, error);
		bool at_edge = (*replay)->now >= exact_edge_of(exact);
		if (status < 0 || (status == TB_ENGINE_PAUSED && !at_edge) ||
			(status != TB_ENGINE_PAUSED && !drains))
			return status;
	}
	return 1;
}
