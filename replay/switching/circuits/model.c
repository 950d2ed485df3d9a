// The circuits as a switching model: their function table, and how they handle each
// event.
#include "circuits.h"

#include "array.h"
#include "circuit_params.h"
#include "clock.h"
#include "idle.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

static struct circuits *circuits_of_replay(struct tb_replay *replay)
{
	return (void *)replay;
}

static const struct circuits *of_const(const struct tb_replay *replay)
{
	return (const void *)replay;
}

// tail: the last flit of a packet has arrived where the packet ends.
static void tail(struct circuits *circuits, uint32_t id)
{
	if (circuits->replay.retries && tb_circuits_end_failed(circuits, id))
		return;
	if (circuits->delays)
		tb_circuits_add_delays(circuits, circuit_packet_at(circuits, id));
	tb_nodes_arrive(&circuits->replay, id);
}

static void circuits_arrive(struct tb_replay *replay, struct tb_event event)
{
	struct circuits *circuits = circuits_of_replay(replay);
	uint32_t id = event.subject;
	switch ((enum circuit_event_kind)event.kind) {
	case EV_HEADER:
		tb_circuits_header(circuits, id >> circuits->hops_shift);
		break;
	case EV_TAIL:
		tail(circuits, id);
		break;
	case EV_READY:
		tb_bursts_ready(circuits, id);
		break;
	case EV_LINK:
		circuits->links[id].event_set = false;
		tb_list_add(&circuits->links_now, id, &circuits->links[id].listed);
		break;
	case EV_SWITCH:
		tb_list_add(&circuits->switches_now, id, &circuits->switches[id].listed);
		break;
	case EV_BROADCAST:
		circuits->broadcasts.listed = true;
		break;
	}
}

static void circuits_choose(struct tb_replay *replay)
{
	struct circuits *circuits = circuits_of_replay(replay);
	if (circuits->broadcasts.listed)
		tb_branches_choose(circuits);
	for (uint32_t i = 0; i < circuits->switches_now.n; i++)
		tb_circuits_switch(circuits, circuits->switches_now.ids[i]);
	circuits->switches_now.n = 0;
}

static __attribute__((noinline)) void serve_links(struct circuits *circuits)
{
	for (uint32_t i = 0; i < circuits->links_now.n; i++)
		tb_bursts_serve(circuits, circuits->links_now.ids[i]);
	circuits->links_now.n = 0;
}

static inline void circuits_serve(struct tb_replay *replay)
{
	if (circuits_of_replay(replay)->links_now.n)
		serve_links(circuits_of_replay(replay));
}

static void circuits_alone(struct tb_replay *replay, struct tb_event event)
{
	struct circuits *circuits = circuits_of_replay(replay);
	uint32_t id = event.subject;
	switch ((enum circuit_event_kind)event.kind) {
	case EV_HEADER:
		tb_circuits_header_alone(circuits, id >> circuits->hops_shift);
		break;
	case EV_TAIL:
		tail(circuits, id);
		return;
	case EV_READY:
		tb_bursts_ready(circuits, id);
		break;
	case EV_LINK:
		circuits->links[id].event_set = false;
		tb_bursts_serve(circuits, id);
		break;
	case EV_SWITCH:
		tb_circuits_switch(circuits, id);
		break;
	case EV_BROADCAST:
		tb_branches_choose(circuits);
		break;
	}
	circuits_serve(replay);
}

static void circuits_link_failed(struct tb_replay *replay, uint32_t link)
{
	if (replay->net->links[link].kind != TB_LINK_INJECTION)
		tb_circuits_route_again(
			circuits_of_replay(replay), replay->net->links[link].from);
}

static tb_time_ps circuits_injects_at(
	const struct tb_replay *replay, uint32_t node, uint32_t packet)
{
	const struct circuits *circuits = of_const(replay);
	(void)packet;
	return first_free(circuits, circuits->first_injection + node);
}

static tb_time_ps circuits_release(struct tb_replay *replay, uint32_t packet,
	tb_time_ps ack_at, tb_time_ps drained_at)
{
	(void)drained_at; // a node accepts every packet
	struct circuit_packet *released =
		circuit_packet_at(circuits_of_replay(replay), packet);
	return tb_circuits_release(circuits_of_replay(replay), released, ack_at);
}

static const char *circuits_branch(
	struct tb_replay *replay, const struct tb_message *message, uint32_t *end)
{
	return tb_branches_prepare(circuits_of_replay(replay), message, end);
}

// The last circuits are held a little beyond the last event.
static tb_time_ps circuits_lasts_until(const struct tb_replay *replay)
{
	const struct circuits *circuits = of_const(replay);
	tb_time_ps end = replay->now;
	for (uint32_t i = 0; i < circuits->n_own; i++) {
		const tb_time_ps *frees = free_at(circuits, own_slot(circuits, i));
		for (uint32_t v = 0; v < circuits->vcs_most; v++)
			if (frees[v] != TB_TIME_NEVER && frees[v] > end)
				end = frees[v];
	}
	return end;
}

static uint32_t circuits_link_bytes(const struct tb_replay *replay)
{
	uint32_t vcs_most = of_const(replay)->vcs_most;
	return (uint32_t)(sizeof(struct circuit_link) +
			  vcs_most * (sizeof(struct vc) + sizeof(tb_time_ps)) +
			  sizeof(uint32_t) + sizeof(struct tb_cell *) +
			  sizeof(struct tb_link_sample));
}

static int circuits_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);
static void circuits_window(struct tb_replay *replay, tb_time_ps until);

const struct tb_switching tb_circuits = {.name = "circuits",
	.carrier = {.injects_at = circuits_injects_at,
		.inject = tb_circuits_inject,
		.release = circuits_release,
		.branch = circuits_branch,
		.ideal_ps = tb_idle_latency_ps},
	.in_parts = true,
	.in_one_memory = true,
	.owns_cables = true,
	.bytes = sizeof(struct circuits),
	.can_fail = true,
	.make = tb_circuits_make,
	.free = tb_circuits_free,
	.run = circuits_run,
	.arrive = circuits_arrive,
	.choose = circuits_choose,
	.serve = circuits_serve,
	.alone = circuits_alone,
	.prefetch_first = tb_circuits_prefetch_first,
	.prefetch_second = tb_circuits_prefetch_second,
	.prefetch_third = tb_circuits_prefetch_third,
	.link_failed = circuits_link_failed,
	.settle = tb_circuits_settle,
	.lasts_until = circuits_lasts_until,
	.blame_open = tb_circuits_blame_open,
	.link_bytes = circuits_link_bytes,
	.join = tb_circuits_join,
	.window = circuits_window,
	.receive = tb_circuits_receive};

static int circuits_run(
	struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error)
{
	return tb_clock_run(replay, &tb_circuits, n_rounds, error);
}

static void circuits_window(struct tb_replay *replay, tb_time_ps until)
{
	tb_circuits_begin_window(circuits_of_replay(replay));
	circuits_serve(replay);
	tb_clock_window(replay, &tb_circuits, until);
	tb_circuits_end_window(circuits_of_replay(replay), until);
}

// Allocates the parts of the circuits, sized for the network, and frees them.

// Packet records larger than this in total do not stay in the cache of one processor:
// when the window of a part begins, the cache is full of other parts' records.
enum { CACHE_BYTES = 1 << 22 };

// smallest_fifo is the length of a burst: whole flits, as many as fit into every FIFO.
static uint32_t smallest_fifo(const struct tb_network *net)
{
	uint32_t bytes = UINT32_MAX;
	for (uint32_t i = 0; i < net->n_links; i++)
		if (net->links[i].fifo_bytes < bytes)
			bytes = net->links[i].fifo_bytes;
	return bytes - bytes % tb_circuit_params(&net->params)->flit_bytes;
}

static uint32_t circuits_most_vcs(const struct tb_network *net)
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

static int circuits_size_up(
	struct circuits *circuits, uint32_t *n_packets, size_t *packet_bytes)
{
	const struct tb_network *net = circuits->replay.net;
	const struct tb_network_params *params = &net->params;
	uint64_t wire =
		(uint64_t)params->packet_payload_bytes + params->packet_overhead_bytes;
	circuits->wire_most = (uint32_t)wire;
	circuits->burst_bytes = smallest_fifo(net);
	circuits->bursts_most =
		(uint32_t)((wire + circuits->burst_bytes - 1) / circuits->burst_bytes);
	circuits->hops_most = net->longest_path;
	if (circuits->replay.choice.dead_at && circuits->hops_most < 2 * net->n_levels)
		circuits->hops_most = 2 * net->n_levels; // up and down around what died
	circuits->vcs_most = circuits_most_vcs(net);
	circuits->equal_rates = rates_are_equal(net);
	circuits->hop_bytes =
		sizeof(struct hop) + circuits->bursts_most * sizeof(struct burst_span);
	if (!circuits->equal_rates) // see middle_at
		circuits->hop_bytes += circuits->bursts_most * sizeof(tb_time_ps);
	*packet_bytes =
		sizeof(struct circuit_packet) + circuits->hops_most * circuits->hop_bytes;
	*packet_bytes = (*packet_bytes + 63) / 64 * 64;
	circuits->first_injection = net->first_out[net->n_switches];
	circuits->n_slots = circuits->first_injection + net->n_nodes;
	uint64_t packets = (uint64_t)net->n_nodes * (circuits->vcs_most + 1);
	// An EV_READY names packet and hop in 32 bits.
	while (1u << circuits->hops_shift < circuits->hops_most)
		circuits->hops_shift++;
	if (packets << circuits->hops_shift > UINT32_MAX)
		return TB_ECAPACITY;
	*n_packets = (uint32_t)packets;
	return TB_OK;
}

static void circuits_make_link(struct circuits *circuits, uint32_t slot, uint32_t id)
{
	const struct tb_link_info *info = &circuits->replay.net->links[id];
	struct circuit_link *link = &circuits->links[slot];
	circuits->slot_of_link[id] = slot;
	link->id = id;
	tb_cell_clear(&link->cell, id);
	circuits->cells[id] = &link->cell;
	link->n_vcs = (uint8_t)info->n_vcs;
	link->byte_q20 = tb_per_byte_q20(info->bytes_per_s);
	link->hop_ps = info->latency_ps + flit_time(circuits, link);
	link->from = info->from;
	link->to = info->to;
	link->ejection = info->kind == TB_LINK_EJECTION;
	link->injection = info->kind == TB_LINK_INJECTION;
	uint32_t room = info->fifo_bytes / circuits->burst_bytes;
	link->room_bursts = (uint16_t)(room < BURSTS_ALWAYS ? room : BURSTS_ALWAYS - 1);
	if (link->ejection)
		link->room_bursts = BURSTS_ALWAYS;
	for (uint32_t v = 0; v < info->n_vcs; v++)
		free_at(circuits, slot)[v] = 0;
}

static int circuits_make_links(struct circuits *circuits)
{
	const struct tb_network *net = circuits->replay.net;
	uint32_t n = circuits->n_slots;
	size_t n_vcs = (size_t)n * circuits->vcs_most;
	circuits->least_loaded = tb_least_loaded_best();
	circuits->links = tb_lines_new(n, sizeof *circuits->links);
	circuits->vcs = tb_lines_new(n_vcs, sizeof *circuits->vcs);
	circuits->free_at = tb_lines_new(n_vcs + 3, sizeof *circuits->free_at);
	circuits->slot_of_link = malloc(net->n_links * sizeof *circuits->slot_of_link);
	circuits->cells = malloc(net->n_links * sizeof *circuits->cells);
	if (!circuits->links || !circuits->vcs || !circuits->free_at ||
		!circuits->slot_of_link || !circuits->cells)
		return TB_ENOMEM;
	for (uint32_t slot = 0; slot < n; slot++)
		circuits->links[slot].held_since = TB_TIME_NEVER;
	// VCs that a link does not have never fall free.
	for (size_t v = 0; v < n_vcs; v++)
		circuits->free_at[v] = TB_TIME_NEVER;
	for (uint32_t slot = 0; slot < circuits->first_injection; slot++)
		if (net->out_links[slot] != TB_ID_NONE)
			circuits_make_link(circuits, slot, net->out_links[slot]);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		circuits_make_link(
			circuits, circuits->first_injection + node, net->injection[node]);
	circuits->equal_hop_ps = circuits->links[circuits->first_injection].hop_ps;
	for (uint32_t i = 0; i < net->n_links; i++)
		if (circuits->links[circuits->slot_of_link[i]].hop_ps !=
			circuits->equal_hop_ps)
			circuits->equal_hop_ps = 0;
	return TB_OK;
}

// make_trains pairs each link with its reverse, when links carry tokens.
static int make_trains(struct circuits *circuits)
{
	const struct tb_network *net = circuits->replay.net;
	if (tb_circuit_params(&net->params)->link_tokens == 0)
		return TB_OK;
	circuits->trains = tb_link_tokens_new(
		circuits->n_slots, tb_circuit_params(&net->params)->link_tokens);
	if (!circuits->trains)
		return TB_ENOMEM;
	for (uint32_t id = 0; id < net->n_links; id++)
		tb_link_tokens_pair(circuits->trains, circuits->slot_of_link[id],
			circuits->slot_of_link[net->links[id].reverse.id]);
	for (uint32_t id = 0; id < net->n_links; id++) {
		uint32_t slot = circuits->slot_of_link[id];
		circuits->links[slot].train = tb_link_tokens_of(circuits->trains, slot);
	}
	return TB_OK;
}

static int make_groups(struct circuits *circuits)
{
	const struct tb_network *net = circuits->replay.net;
	uint32_t n_slots = 0;
	for (uint32_t g = 0; g < net->n_groups; g++)
		n_slots += net->groups[g].n;
	circuits->group_slots = malloc((n_slots + 1u) * sizeof *circuits->group_slots);
	if (!circuits->group_slots ||
		TB_ARRAY_RESERVE(&circuits->groups, &circuits->groups_room,
			(size_t)net->n_groups + 1) != TB_OK)
		return TB_ENOMEM;
	uint32_t *slots = circuits->group_slots;
	for (uint32_t g = 0; g < net->n_groups; g++) {
		uint32_t n = net->groups[g].n;
		bool follow = true;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t id = net->group_links[net->groups[g].first + i];
			slots[i] = circuits->slot_of_link[id];
			follow &= slots[i] == slots[0] + i;
		}
		circuits->groups[g] = (struct link_group){.n = n,
			.first = n ? slots[0] : 0,
			.slots = follow ? NULL : slots,
			.at_once = follow && circuits->vcs_most == 2 && n > 0 &&
				   n <= TB_LEAST_LOADED_LINKS &&
				   circuits->replay.choice.turns == NULL &&
				   !circuits->replay.choice.lowest};
		slots += n;
	}
	return TB_OK;
}

// make_owners stores the part of each link, and makes what parts share besides links.
static int make_owners(struct circuits *circuits)
{
	const struct tb_parts *parts = tb_parts_of(&circuits->replay);
	uint32_t n_links = circuits->replay.net->n_links;
	uint8_t *part_of_slot = malloc(circuits->n_slots + 1u);
	circuits->part_of_slot = part_of_slot;
	circuits->arrivals =
		tb_lines_new((size_t)parts->n_crossing * circuits->vcs_most + 1,
			sizeof *circuits->arrivals);
	circuits->came = malloc(((size_t)circuits->n_slots * circuits->vcs_most + 1) *
				sizeof *circuits->came);
	if (!part_of_slot || !circuits->arrivals || !circuits->came)
		return TB_ENOMEM;
	memset(part_of_slot, UINT8_MAX, circuits->n_slots); // without a cable
	for (uint32_t id = 0; id < n_links; id++) {
		uint32_t slot = circuits->slot_of_link[id];
		part_of_slot[slot] = parts->of_link[id];
		circuits->links[slot].crossing = parts->crossing_of[id] != TB_ID_NONE;
	}
	return TB_OK;
}

// make_switches gives each switch room for as many waiting headers as VCs lead into it.
static int make_switches(struct circuits *circuits)
{
	const struct tb_network *net = circuits->replay.net;
	uint32_t *n_inputs = calloc(net->n_switches, sizeof *n_inputs);
	circuits->switches = tb_lines_new(net->n_switches, sizeof *circuits->switches);
	if (!n_inputs || !circuits->switches) {
		free(n_inputs);
		return TB_ENOMEM;
	}
	size_t n = 0;
	circuits->few_ports = true;
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		circuits->few_ports &= net->first_out[sw + 1] - net->first_out[sw] <= 32;
	for (uint32_t i = 0; i < net->n_links; i++)
		if (net->links[i].kind != TB_LINK_EJECTION)
			n_inputs[net->links[i].to] += net->links[i].n_vcs;
	for (uint32_t i = 0; i < circuits->n_own_switches; i++)
		n += n_inputs[own_switch(circuits, i)];
	circuits->waiters = malloc((n + 1) * sizeof *circuits->waiters);
	struct waiter *next = circuits->waiters;
	for (uint32_t i = 0; i < circuits->n_own_switches; i++) {
		uint32_t sw = own_switch(circuits, i);
		circuits->switches[sw].wake_at = TB_TIME_NEVER;
		circuits->switches[sw].waiters = next;
		if (next)
			next += n_inputs[sw];
	}
	free(n_inputs);
	return circuits->waiters ? TB_OK : TB_ENOMEM;
}

static int make_lists(struct circuits *circuits)
{
	circuits->links_now.ids = malloc(circuits->n_slots * sizeof(uint32_t));
	circuits->switches_now.ids =
		malloc(circuits->replay.net->n_switches * sizeof(uint32_t));
	return circuits->links_now.ids && circuits->switches_now.ids ? TB_OK : TB_ENOMEM;
}

// make_replay makes the nodes' part. A packet is ten events or so, most of them for its
// headers and tail.
static int make_replay(struct circuits *circuits, uint32_t n_packets, size_t packet_bytes)
{
	const struct tb_network_params *params = &circuits->replay.net->params;
	const struct circuit_link *link = &circuits->links[circuits->first_injection];
	tb_time_ps packet_ps = link_time(
		link, params->packet_payload_bytes + params->packet_overhead_bytes);
	return tb_replay_make(&circuits->replay, n_packets, packet_bytes, packet_ps, 6);
}

// n_packets_of_part is the most packets that a part can have: those of its own nodes, and
// one for each VC from another part.
static uint32_t n_packets_of_part(const struct circuits *circuits)
{
	const struct tb_replay *replay = &circuits->replay;
	const struct tb_side *side = replay->side;
	uint64_t n = 64;
	for (uint32_t node = 0; node < replay->net->n_nodes; node++)
		n += side->parts->of_node[node] == side->part ? circuits->vcs_most + 1
							      : 0;
	for (uint32_t i = 0; i < circuits->n_own_switches; i++) {
		uint32_t sw = circuits->own_switches[i];
		uint64_t n_ports =
			replay->net->first_out[sw + 1] - replay->net->first_out[sw];
		n += side->parts->of_switch[sw] == side->part
			     ? 0
			     : n_ports * circuits->vcs_most;
	}
	uint64_t most = UINT32_MAX >> circuits->hops_shift;
	return (uint32_t)(n < most ? n : most);
}

int tb_circuits_make_part(struct circuits *circuits)
{
	circuits->links_now = circuits->switches_now = (struct tb_list){0};
	int status = make_switches(circuits);
	if (status == TB_OK)
		status = make_lists(circuits);
	if (status == TB_OK)
		status = make_replay(
			circuits, n_packets_of_part(circuits), circuits->packet_bytes);
	circuits->replay.prefetches = circuits->prefetches;
	return status;
}

static int circuits_allocate(struct circuits *circuits)
{
	uint32_t n_packets = 0;
	int status = circuits_size_up(circuits, &n_packets, &circuits->packet_bytes);
	if (status == TB_OK)
		status = circuits_make_links(circuits);
	if (status == TB_OK)
		status = make_trains(circuits);
	if (status == TB_OK)
		status = make_groups(circuits);
	if (status != TB_OK)
		return status;
	if (!circuits->replay.side) {
		// Make what a network of one part has besides its links.
		circuits->n_own = circuits->n_slots;
		circuits->n_own_switches = circuits->replay.net->n_switches;
		status = make_switches(circuits);
		if (status == TB_OK)
			status = make_lists(circuits);
		return status == TB_OK
			       ? make_replay(circuits, n_packets, circuits->packet_bytes)
			       : status;
	}
	circuits->prefetches = n_packets * circuits->packet_bytes >= CACHE_BYTES;
	status = make_owners(circuits);
	return status == TB_OK ? make_replay(circuits, 1, circuits->packet_bytes)
			       : status;
}

int tb_circuits_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells)
{
	struct circuits *circuits = (void *)replay;
	circuits->age_q10 =
		(int64_t)(tb_circuit_params(&replay->net->params)->age_weight * 1024 +
			  0.5);
	circuits->hops_to_check = NOTHING;
	circuits->delays = options->delays;
	circuits->odd_routes = replay->choice.fixed || replay->choice.dead_at;
	int status = circuits_allocate(circuits);
	*cells = circuits->cells;
	return status;
}

void tb_circuits_free(struct tb_replay *replay)
{
	struct circuits *circuits = (void *)replay;
	if (!circuits)
		return;
	if (!tb_replay_is_part(replay)) {
		// Free what parts have in common.
		for (uint32_t g = 0; g < circuits->n_late; g++)
			free(circuits->late_slots[g]);
		free(circuits->late_slots);
		free(circuits->links);
		free(circuits->vcs);
		free(circuits->free_at);
		tb_link_tokens_free(circuits->trains);
		free(circuits->slot_of_link);
		free(circuits->cells);
		free(circuits->groups);
		free(circuits->group_slots);
		free(circuits->part_of_slot);
		free(circuits->arrivals);
		free(circuits->came);
	}
	tb_replay_fini(replay);
	free(circuits->switches);
	free(circuits->waiters);
	free(circuits->broadcasts.waiters);
	free(circuits->branches);
	free(circuits->links_now.ids);
	free(circuits->switches_now.ids);
	free(circuits->slots);
	free(circuits->own_switches);
	free(circuits->queue_ends);
	free(circuits->received);
	free(circuits);
}
