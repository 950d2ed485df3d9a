// The parts of an engine: sized after its network, made and given back.
#include "engine_impl.h"

#include "faulty.h"
#include "lines.h"

#include <stdlib.h>
#include <string.h>

// per_byte_q20 is picoseconds a byte with 20 binary places, rounded.
static uint64_t per_byte_q20(uint64_t bytes_per_s)
{
	if (bytes_per_s == 0)
		return 0;
	return (((uint64_t)TB_PS_PER_S << 20) + bytes_per_s / 2) / bytes_per_s;
}

// smallest_fifo is the length of a burst: whole flits, and no FIFO holds less.
static uint32_t smallest_fifo(const struct tb_network *net)
{
	uint32_t bytes = UINT32_MAX;
	for (uint32_t i = 0; i < net->n_links; i++)
		if (net->links[i].fifo_bytes < bytes)
			bytes = net->links[i].fifo_bytes;
	return bytes - bytes % net->params.flit_bytes;
}

static uint32_t most_vcs(const struct tb_network *net)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < net->n_links; i++)
		if (net->links[i].n_vcs > most)
			most = net->links[i].n_vcs;
	return most;
}

static bool rates_are_equal(const struct tb_network *net)
{
	for (uint32_t i = 1; i < net->n_links; i++)
		if (net->links[i].bytes_per_s != net->links[0].bytes_per_s)
			return false;
	return true;
}

static int size_up(struct tb_engine *engine)
{
	const struct tb_network *net = engine->net;
	const struct tb_network_params *params = &net->params;
	uint64_t wire =
		(uint64_t)params->packet_payload_bytes + params->packet_overhead_bytes;
	engine->burst_bytes = smallest_fifo(net);
	engine->bursts_most =
		(uint32_t)((wire + engine->burst_bytes - 1) / engine->burst_bytes);
	engine->hops_most = net->longest_path;
	if (engine->choice.dead_at && engine->hops_most < 2 * net->n_levels)
		engine->hops_most = 2 * net->n_levels; // up and down around what died
	engine->vcs_most = most_vcs(net);
	engine->equal_rates = rates_are_equal(net);
	engine->hop_bytes =
		sizeof(struct hop) + engine->bursts_most * sizeof(struct span);
	if (!engine->equal_rates) // see middle_at
		engine->hop_bytes += engine->bursts_most * sizeof(tb_time_ps);
	engine->packet_bytes =
		sizeof(struct packet) + engine->hops_most * engine->hop_bytes;
	engine->packet_bytes = (engine->packet_bytes + 63) / 64 * 64;
	engine->first_injection = net->first_out[net->n_switches];
	engine->n_slots = engine->first_injection + net->n_nodes;
	uint64_t packets = (uint64_t)net->n_nodes * (engine->vcs_most + 1);
	// An EV_READY names packet and hop in 32 bits.
	while (1u << engine->hops_shift < engine->hops_most)
		engine->hops_shift++;
	if (packets << engine->hops_shift > UINT32_MAX)
		return TB_ECAPACITY;
	engine->n_packets_most = (uint32_t)packets;
	return TB_OK;
}

static void make_link(struct tb_engine *engine, uint32_t slot, uint32_t id)
{
	const struct tb_link_info *info = &engine->net->links[id];
	struct link *link = &engine->links[slot];
	engine->slot_of_link[id] = slot;
	link->id = link->cell.link = id;
	engine->cells[id] = &link->cell;
	link->n_vcs = (uint8_t)info->n_vcs;
	link->byte_q20 = per_byte_q20(info->bytes_per_s);
	link->flit_ps = link_time(link, engine->net->params.flit_bytes);
	link->hop_ps = info->latency_ps + link->flit_ps;
	link->from = info->from;
	link->to = info->to;
	link->ejection = info->kind == TB_LINK_EJECTION;
	link->injection = info->kind == TB_LINK_INJECTION;
	uint32_t room = info->fifo_bytes / engine->burst_bytes;
	link->room_bursts = (uint16_t)(room < BURSTS_ALWAYS ? room : BURSTS_ALWAYS - 1);
	if (link->ejection)
		link->room_bursts = BURSTS_ALWAYS;
	for (uint32_t v = 0; v < info->n_vcs; v++)
		free_at(engine, slot)[v] = 0;
}

static int make_links(struct tb_engine *engine)
{
	const struct tb_network *net = engine->net;
	uint32_t n = engine->n_slots;
	size_t n_vcs = (size_t)n * engine->vcs_most;
	engine->least_loaded = tb_least_loaded_best();
	engine->links = tb_lines_new(n, sizeof *engine->links);
	engine->vcs = tb_lines_new(n_vcs, sizeof *engine->vcs);
	engine->free_at = tb_lines_new(n_vcs + 3, sizeof *engine->free_at);
	engine->slot_of_link = malloc(net->n_links * sizeof *engine->slot_of_link);
	engine->cells = malloc(net->n_links * sizeof *engine->cells);
	if (!engine->links || !engine->vcs || !engine->free_at || !engine->slot_of_link ||
		!engine->cells)
		return TB_ENOMEM;
	for (uint32_t slot = 0; slot < n; slot++)
		engine->links[slot].held_since = TB_TIME_NEVER;
	// VCs that a link does not have never fall free.
	for (size_t v = 0; v < n_vcs; v++)
		engine->free_at[v] = TB_TIME_NEVER;
	for (uint32_t slot = 0; slot < engine->first_injection; slot++)
		if (net->out_links[slot] != TB_ID_NONE)
			make_link(engine, slot, net->out_links[slot]);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		make_link(engine, engine->first_injection + node, net->injection[node]);
	return TB_OK;
}

static int make_groups(struct tb_engine *engine)
{
	const struct tb_network *net = engine->net;
	uint32_t n_slots = 0;
	for (uint32_t g = 0; g < net->n_groups; g++)
		n_slots += net->groups[g].n;
	engine->groups = calloc(net->n_groups + 1u, sizeof *engine->groups);
	engine->group_slots = malloc((n_slots + 1u) * sizeof *engine->group_slots);
	if (!engine->groups || !engine->group_slots)
		return TB_ENOMEM;
	uint32_t *slots = engine->group_slots;
	for (uint32_t g = 0; g < net->n_groups; g++) {
		uint32_t n = net->groups[g].n;
		bool follow = true;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t id = net->group_links[net->groups[g].first + i];
			slots[i] = engine->slot_of_link[id];
			follow &= slots[i] == slots[0] + i;
		}
		engine->groups[g] = (struct group){.n = n,
			.first = n ? slots[0] : 0,
			.slots = follow ? NULL : slots,
			.at_once = follow && engine->vcs_most == 2 && n > 0 &&
				   n <= TB_LEAST_LOADED_LINKS &&
				   engine->choice.turns == NULL &&
				   !engine->choice.lowest};
		slots += n;
	}
	return TB_OK;
}

// make_switches gives each switch room for as many waiting headers as VCs lead into it.
static int make_switches(struct tb_engine *engine)
{
	const struct tb_network *net = engine->net;
	uint32_t *n_inputs = calloc(net->n_switches, sizeof *n_inputs);
	engine->switches = tb_lines_new(net->n_switches, sizeof *engine->switches);
	if (!n_inputs || !engine->switches) {
		free(n_inputs);
		return TB_ENOMEM;
	}
	size_t n = 0;
	for (uint32_t i = 0; i < net->n_links; i++)
		if (net->links[i].kind != TB_LINK_EJECTION) {
			n_inputs[net->links[i].to] += net->links[i].n_vcs;
			n += net->links[i].n_vcs;
		}
	engine->waiters = malloc((n + 1) * sizeof *engine->waiters);
	struct waiter *next = engine->waiters;
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		engine->switches[sw].wake_at = TB_TIME_NEVER;
		engine->switches[sw].waiters = next;
		if (next)
			next += n_inputs[sw];
	}
	free(n_inputs);
	return engine->waiters ? TB_OK : TB_ENOMEM;
}

static int make_packets(struct tb_engine *engine)
{
	uint32_t n = engine->n_packets_most;
	engine->packets = tb_lines_new(n, engine->packet_bytes);
	engine->free_packets = malloc(n * sizeof *engine->free_packets);
	if (!engine->packets || !engine->free_packets)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		packet_at(engine, i)->id = i;
		engine->free_packets[engine->n_free_packets++] = n - 1 - i;
	}
	return TB_OK;
}

static int make_nodes(struct tb_engine *engine)
{
	const struct tb_network *net = engine->net;
	engine->nodes = tb_lines_new(net->n_nodes, sizeof *engine->nodes);
	engine->links_now.ids = malloc(engine->n_slots * sizeof(uint32_t));
	engine->switches_now.ids = malloc(net->n_switches * sizeof(uint32_t));
	engine->nodes_now.ids = malloc(net->n_nodes * sizeof(uint32_t));
	if (!engine->nodes || !engine->links_now.ids || !engine->switches_now.ids ||
		!engine->nodes_now.ids)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		engine->nodes[i] = (struct node){.wake_at = TB_TIME_NEVER,
			.queue = NOTHING,
			.queue_end = NOTHING,
			.fetched = NOTHING};
	return TB_OK;
}

// make_wheel makes buckets that hold an event or so each: ten a packet, a packet a node
// and serialization time; and as many as reach over four such times, where that is
// little memory.
static int make_wheel(struct tb_engine *engine)
{
	const struct link *link = &engine->links[engine->first_injection];
	double packet_ps = (double)link_time(
		link, engine->net->params.packet_payload_bytes +
			      engine->net->params.packet_overhead_bytes);
	double apart = packet_ps / (10.0 * engine->net->n_nodes);
	unsigned shift = 4, buckets = 12;
	while (shift < 20 && (double)(UINT64_C(2) << shift) < apart)
		shift++;
	while (buckets < 16 && (double)(UINT64_C(1) << (shift + buckets)) < 4 * packet_ps)
		buckets++;
	while (shift < 20 && (double)(UINT64_C(1) << (shift + buckets)) < 4 * packet_ps)
		shift++;
	return tb_wheel_init(&engine->wheel, shift, buckets);
}

static int make(struct tb_engine *engine, const struct tb_engine_options *options)
{
	int status = tb_route_choice_init(
		&engine->choice, engine->net, options->seed, options->faults);
	if (status == TB_OK)
		status = size_up(engine);
	if (status == TB_OK)
		status = make_links(engine);
	if (status == TB_OK)
		status = make_groups(engine);
	if (status == TB_OK)
		status = make_switches(engine);
	if (status == TB_OK)
		status = make_packets(engine);
	if (status == TB_OK)
		status = make_nodes(engine);
	if (status == TB_OK)
		status = tb_partners_init(&engine->partners, engine->net->params.partners,
			engine->net->n_nodes);
	engine->fault_at = TB_TIME_NEVER;
	engine->odd_routes = engine->choice.fixed || engine->choice.dead_at;
	if (status == TB_OK && engine->choice.dead_at)
		status = tb_faulty_new(engine);
	return status == TB_OK ? make_wheel(engine) : status;
}

int tb_engine_new(struct tb_engine **engine, const struct tb_network *network,
	const struct tb_source *source, const struct tb_observer *observer,
	const struct tb_engine_options *options, struct tb_error *error)
{
	struct tb_engine *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail(error, TB_ENOMEM, "no memory for the engine");
	made->net = network;
	made->source = source;
	made->age_q10 = (int64_t)(network->params.age_weight * 1024 + 0.5);
	made->slice_packets = tb_slice_packets(&network->params);
	made->bus_q20 = per_byte_q20(network->params.bus_bytes_per_s);
	made->free_message = NOTHING;
	made->hops_to_look_at = NOTHING;
	made->delays = options->delays;
	int status = make(made, options);
	if (status == TB_OK)
		status = tb_books_init(&made->books, observer, made->cells,
			network->n_links, options->bin_ps,
			observer && !options->without_blame);
	if (status != TB_OK) {
		tb_engine_free(made);
		return tb_fail(error, (enum tb_status)status,
			status == TB_ENOMEM
				? "no memory for a network of %u nodes"
				: "a network of %u nodes is too large to replay on",
			network->n_nodes);
	}
	tb_endpoint_look_outside(made);
	*engine = made;
	return TB_OK;
}

void tb_engine_free(struct tb_engine *engine)
{
	if (!engine)
		return;
	tb_books_fini(&engine->books);
	tb_faulty_free(engine);
	tb_partners_fini(&engine->partners);
	tb_route_choice_fini(&engine->choice);
	tb_wheel_fini(&engine->wheel);
	free(engine->links);
	free(engine->vcs);
	free(engine->free_at);
	free(engine->slot_of_link);
	free(engine->cells);
	free(engine->groups);
	free(engine->group_slots);
	free(engine->switches);
	free(engine->waiters);
	free(engine->broadcasts.waiters);
	free(engine->branches);
	free(engine->nodes);
	free(engine->packets);
	free(engine->free_packets);
	free(engine->messages);
	free(engine->posted);
	free(engine->endings);
	free(engine->links_now.ids);
	free(engine->switches_now.ids);
	free(engine->nodes_now.ids);
	free(engine);
}
