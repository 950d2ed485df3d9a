// What all models share: making a replay, and the ends of bins and of the replay.
#include "switching.h"

#include "clock.h"

#include <stdlib.h>

int tb_switching_make(struct tb_replay **replay, const struct tb_switching *model,
	const struct tb_network *network, const struct tb_source *source,
	const struct tb_observer *observer, const struct tb_engine_options *options,
	const char **undivided)
{
	const struct tb_replay_options own = {.seed = options->seed,
		.faults = model->can_fail ? options->faults : NULL,
		.n_jobs = options->n_jobs,
		.job_bytes = options->job_bytes,
		.bin_ps = options->bin_ps,
		.from_ps = options->from_ps,
		.to_ps = options->to_ps,
		.without_blame = options->without_blame};
	struct tb_replay *made = calloc(1, model->bytes);
	if (!made)
		return TB_ENOMEM;
	struct tb_cell **cells = NULL;
	int status = tb_replay_init(made, network, source, &model->carrier, &own);
	if (status == TB_OK)
		status = tb_parts_cut(made, model, options, undivided);
	if (status == TB_OK)
		status = model->make(made, options, &cells);
	if (status == TB_OK)
		status = tb_replay_open(made, observer, cells, &own);
	if (status == TB_OK && made->side)
		status = tb_parts_join_records(made);
	made->records.holds_stall = model->holds_stall;
	if (status == TB_OK)
		*replay = made;
	else
		tb_switching_free(made, model);
	return status;
}

void tb_switching_free(struct tb_replay *replay, const struct tb_switching *model)
{
	struct tb_side *side = replay ? replay->side : NULL;
	model->free(replay);
	tb_side_free(side);
}

int tb_clock_pass_bins(struct tb_replay *replay, const struct tb_switching *model,
	tb_time_ps next, struct tb_error *error)
{
	struct tb_records *records = &replay->records;
	while (next >= records->bin_end) {
		bool lasts = model->settle(replay, records->bin_end);
		int status = tb_records_close(records, error);
		if (status != TB_OK)
			return status;
		if (!lasts && next >= records->bin_end && tb_records_idle(records))
			tb_records_jump(records, next);
	}
	return TB_OK;
}

int tb_clock_pause(struct tb_replay *replay, const struct tb_switching *model,
	struct tb_error *error)
{
	replay->now = replay->pause_at;
	int status = tb_clock_pass_bins(replay, model, replay->now, error);
	return status == TB_OK ? TB_ENGINE_PAUSED : status;
}

int tb_clock_end(struct tb_replay *replay, struct tb_error *error)
{
	const struct tb_source *source = replay->source;
	replay->over = true;
	return source->finish ? source->finish(source->context, error) : 0;
}

int tb_clock_finish(struct tb_replay *replay, const struct tb_switching *model,
	struct tb_error *error)
{
	// A replay that failed has returned its error already, and what it counted until
	// then is kept.
	bool was_well = !tb_clock_failed(replay);
	tb_time_ps end = model->lasts_until(replay);
	int status = tb_clock_pass_bins(replay, model, end, error);
	if (status != TB_OK)
		return status;
	(void)model->settle(replay, end);
	model->blame_open(replay, end);
	if (was_well && tb_clock_failed(replay)) {
		if (error)
			*error = replay->failure;
		return replay->failure.code;
	}
	status = tb_records_close(&replay->records, error);
	if (model->leave)
		model->leave(replay);
	return status == TB_OK ? tb_records_finish(&replay->records, error) : status;
}

// The branches of a broadcast, found by the routes to its receivers.

uint32_t tb_broadcast_end(
	const struct tb_network *network, const struct tb_message *message)
{
	uint32_t source = message->source.id, first = message->destination.id;
	uint32_t last = first + message->n_receivers - 1;
	uint32_t to_first = tb_network_ascending(network, source, first);
	bool last_is_further = tb_network_ascending(network, source, last) >= to_first;
	return last_is_further && last != source ? last : first;
}

static uint32_t broadcast_link_at(const struct tb_network *network, uint32_t node,
	uint32_t apex, uint32_t ascending, uint32_t depth)
{
	uint32_t link = tb_network_route(network, apex, node, ascending, ascending);
	for (uint32_t i = 1; i <= depth; i++)
		link = tb_network_route(
			network, network->links[link].to, node, ascending + i, ascending);
	return link;
}

// Nodes of a contiguous range that share a link follow each other.
uint32_t tb_broadcast_links(const struct tb_network *network,
	const struct tb_message *message, uint32_t apex, uint32_t ascending,
	uint32_t depth, uint32_t *links)
{
	uint32_t n = 0, first = message->destination.id;
	for (uint32_t node = first; node < first + message->n_receivers; node++) {
		uint32_t link = broadcast_link_at(network, node, apex, ascending, depth);
		if (n == 0 || links[n - 1] != link)
			links[n++] = link;
	}
	return n;
}

const char *tb_broadcast_refusal(const struct tb_network *network,
	const struct tb_message *message, bool with_faults)
{
	if (with_faults)
		return "a broadcast cannot be replayed on a network with faults";
	if (!network->regular || network->n_rails > 1)
		return "a broadcast can be replayed on a k-ary n-tree of one rail only";
	if (message->destination.id >= network->n_nodes ||
		message->n_receivers > network->n_nodes - message->destination.id)
		return "a broadcast names nodes that the network does not have";
	return NULL;
}
