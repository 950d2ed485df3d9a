#include "fluid.h"

#include "credit_params.h"
#include "switchings.h"

#include <stdlib.h>

enum { EVENTS_A_NODE = 4 };

// steps_most: the links of all ways, and two buses.
static uint32_t steps_most(const struct fluid *fluid)
{
	return fluid->ways_most * fluid->replay.net->longest_path + 2;
}

static int fluid_make_links(struct fluid *fluid)
{
	const struct tb_network *net = fluid->replay.net;
	uint32_t n = net->n_links;
	fluid->links = calloc(n, sizeof *fluid->links);
	fluid->cell = calloc(n, sizeof *fluid->cell);
	fluid->cells = malloc(n * sizeof *fluid->cells);
	fluid->listed = malloc(n * sizeof *fluid->listed);
	fluid->ways_most = fluid->is_ideal ? 1 : tb_fluid_ways_most(net);
	fluid->steps = malloc(steps_most(fluid) * sizeof *fluid->steps);
	if (!fluid->links || !fluid->cell || !fluid->cells || !fluid->listed ||
		!fluid->steps)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		fluid->cells[i] = &fluid->cell[i];
	return TB_OK;
}

// make_shares: buses of hosts are links behind those of the network, where any can limit.
// Links of the network are written when first used (flows.c): of a large network
// that may be a few, and the others take no memory.
static int make_shares(struct fluid *fluid)
{
	const struct tb_network *net = fluid->replay.net;
	bool has_buses = false;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		has_buses |= tb_fluid_bus_capacity(net, i) > 0;
	uint64_t n = (uint64_t)net->n_links + (has_buses ? net->n_nodes : 0);
	if (n >= TB_SHARES_NONE)
		return TB_ECAPACITY;
	int status = tb_shares_init(&fluid->shares, (uint32_t)n, steps_most(fluid));
	if (status != TB_OK)
		return status;
	fluid->first_bus = has_buses ? net->n_links : 0;
	for (uint32_t i = 0; has_buses && i < net->n_nodes; i++) {
		uint64_t capacity = tb_fluid_bus_capacity(net, i);
		fluid->shares.links[fluid->first_bus + i].capacity =
			capacity ? TB_SHARE_WHOLE * capacity : UINT64_MAX >> 1;
	}
	return TB_OK;
}

static int make_nodes(struct fluid *fluid)
{
	const struct tb_network *net = fluid->replay.net;
	const struct tb_network_params *params = &net->params;
	fluid->event_at = TB_TIME_NEVER;
	if (tb_credit_params(params)->message_gap_ps) {
		fluid->node_begun_at = malloc(net->n_nodes * sizeof(tb_time_ps));
		if (!fluid->node_begun_at)
			return TB_ENOMEM;
		for (uint32_t i = 0; i < net->n_nodes; i++)
			fluid->node_begun_at[i] =
				-tb_credit_params(params)->message_gap_ps;
	}
	tb_time_ps packet_ps = tb_fluid_duration(
		(fluid_amount)params->packet_payload_bytes * BYTE_AMOUNT,
		net->links[net->injection[0]].bytes_per_s << RATE_SHIFT);
	int status = tb_replay_make(
		&fluid->replay, 1, sizeof(struct tb_packet), packet_ps, EVENTS_A_NODE);
	fluid->replay.prefetches = false;
	fluid->replay.takes_all = fluid->nodes->stores;
	return status;
}

int tb_fluid_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells)
{
	struct fluid *fluid = fluid_of(replay);
	if (options->faults)
		tb_replay_fail(replay, TB_EUSAGE,
			"switching = fluid has no faults: expected a network of "
			"switching = circuits or credits");
	fluid->nodes = tb_switching_nodes(&replay->net->params);
	fluid->is_ideal = options->ideal;
	int status = fluid_make_links(fluid);
	*cells = fluid->cells;
	if (status == TB_OK)
		status = make_shares(fluid);
	return status == TB_OK ? make_nodes(fluid) : status;
}

void tb_fluid_free_links(struct fluid *fluid)
{
	tb_shares_fini(&fluid->shares);
	free(fluid->flows);
	free(fluid->links);
	fluid->flows = NULL;
	fluid->links = NULL;
}

void tb_fluid_free(struct tb_replay *replay)
{
	struct fluid *fluid = fluid_of(replay);
	if (!fluid)
		return;
	tb_replay_fini(replay);
	tb_fluid_free_links(fluid);
	tb_map_fini(&fluid->line_of);
	free(fluid->cell);
	free(fluid->cells);
	free(fluid->listed);
	free(fluid->ends);
	free(fluid->beginning);
	free(fluid->ended);
	free(fluid->steps);
	free(fluid->lines);
	free(fluid->node_begun_at);
	free(fluid);
}
