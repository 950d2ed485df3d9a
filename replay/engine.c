// Time: the loop over instants and their phases, the life of an engine.
#include "engine.h"

#include "engine_impl.h"

#include <stdlib.h>
#include <string.h>

void tb_engine_fail(struct tb_engine *engine, enum tb_status code, const char *sentence)
{
	if (engine->failure.code == TB_OK)
		tb_fail(&engine->failure, code, "%s", sentence);
}

// per_byte_q20 is picoseconds a byte with 20 binary places, rounded.
static uint64_t per_byte_q20(uint64_t bytes_per_s)
{
	if (bytes_per_s == 0)
		return 0;
	return (((uint64_t)TB_PS_PER_S << 20) + bytes_per_s / 2) / bytes_per_s;
}

// smallest_fifo is the length of a run: whole flits, and no FIFO holds less.
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

// lines allocates zeroed memory that begins with a cache line: what one crossing touches
// should lie in as few of them as it can.
static void *lines(size_t n, size_t size)
{
	size_t bytes = (n * size + 63) / 64 * 64;
	void *memory = aligned_alloc(64, bytes);
	if (memory)
		memset(memory, 0, bytes);
	return memory;
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
	engine->run_bytes = smallest_fifo(net);
	engine->runs_most =
		(uint32_t)((wire + engine->run_bytes - 1) / engine->run_bytes);
	engine->hops_most = net->longest_path;
	engine->vcs_most = most_vcs(net);
	engine->equal_rates = rates_are_equal(net);
	engine->hop_bytes = sizeof(struct hop) + engine->runs_most * sizeof(struct span);
	if (!engine->equal_rates) // see middle_at
		engine->hop_bytes += engine->runs_most * sizeof(tb_time_ps);
	engine->packet_bytes =
		sizeof(struct packet) + engine->hops_most * engine->hop_bytes;
	uint64_t packets = (uint64_t)net->n_nodes * (engine->vcs_most + 1);
	// An EV_READY names packet and hop in 32 bits.
	if (packets * engine->hops_most > UINT32_MAX)
		return TB_ECAPACITY;
	engine->n_packets_most = (uint32_t)packets;
	return TB_OK;
}

static void make_link(struct tb_engine *engine, uint32_t id)
{
	const struct tb_link_info *info = &engine->net->links[id];
	struct link *link = &engine->links[id];
	link->byte_q20 = per_byte_q20(info->bytes_per_s);
	link->flit_ps = link_time(link, engine->net->params.flit_bytes);
	link->hop_ps = info->latency_ps + link->flit_ps;
	link->held_since = TB_TIME_NEVER;
	link->from = info->from;
	link->to = info->to;
	link->ejection = info->kind == TB_LINK_EJECTION;
	link->injection = info->kind == TB_LINK_INJECTION;
	uint32_t room = info->fifo_bytes / engine->run_bytes;
	link->room_runs = (uint16_t)(room < RUNS_ALWAYS ? room : RUNS_ALWAYS);
	if (link->ejection)
		link->room_runs = RUNS_ALWAYS;
	// VCs that the link does not have never fall free.
	for (uint32_t v = info->n_vcs; v < engine->vcs_most; v++)
		engine->vcs[(size_t)id * engine->vcs_most + v].free_at = TB_TIME_NEVER;
}

static int make_links(struct tb_engine *engine)
{
	uint32_t n = engine->net->n_links;
	engine->links = lines(n, sizeof *engine->links);
	engine->vcs = lines((size_t)n * engine->vcs_most, sizeof *engine->vcs);
	if (!engine->links || !engine->vcs)
		return TB_ENOMEM;
	for (uint32_t id = 0; id < n; id++)
		make_link(engine, id);
	return TB_OK;
}

// make_switches gives each switch room for as many waiting headers as VCs lead into it.
static int make_switches(struct tb_engine *engine)
{
	const struct tb_network *net = engine->net;
	uint32_t *n_inputs = calloc(net->n_switches, sizeof *n_inputs);
	engine->switches = lines(net->n_switches, sizeof *engine->switches);
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
	engine->packets = lines(n, engine->packet_bytes);
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
	engine->nodes = lines(net->n_nodes, sizeof *engine->nodes);
	engine->links_now.ids = malloc(net->n_links * sizeof(uint32_t));
	engine->switches_now.ids = malloc(net->n_switches * sizeof(uint32_t));
	engine->nodes_now.ids = malloc(net->n_nodes * sizeof(uint32_t));
	if (!engine->nodes || !engine->links_now.ids || !engine->switches_now.ids ||
		!engine->nodes_now.ids)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		engine->nodes[i] = (struct node){.wake_at = TB_TIME_NEVER,
			.queue = NOTHING,
			.queue_end = NOTHING,
			.fetched = NOTHING,
			.fetching = NOTHING};
	return TB_OK;
}

// bucket_shift makes a bucket hold a handful of events: ten a packet, a packet a node and
// serialization time.
static unsigned bucket_shift(const struct tb_engine *engine)
{
	const struct link *link = &engine->links[engine->net->injection[0]];
	double packet_ps = (double)link_time(
		link, engine->net->params.packet_payload_bytes +
			      engine->net->params.packet_overhead_bytes);
	double apart = packet_ps / (10.0 * engine->net->n_nodes);
	unsigned shift = 7;
	while (shift < 20 && (double)(UINT64_C(1) << shift) < 8 * apart)
		shift++;
	return shift;
}

static int make(struct tb_engine *engine)
{
	int status = size_up(engine);
	if (status == TB_OK)
		status = make_links(engine);
	if (status == TB_OK)
		status = make_switches(engine);
	if (status == TB_OK)
		status = make_packets(engine);
	if (status == TB_OK)
		status = make_nodes(engine);
	return status == TB_OK ? tb_wheel_init(&engine->wheel, bucket_shift(engine))
			       : status;
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
	made->seed = options->seed;
	made->age_q10 = (int64_t)(network->params.age_weight * 1024 + 0.5);
	made->bus_q20 = per_byte_q20(network->params.bus_bytes_per_s);
	made->free_message = NOTHING;
	int status = make(made);
	if (status == TB_OK)
		status = tb_recorder_init(&made->recorder, observer, network->n_links,
			options->bin_ps, observer && !options->without_blame);
	if (status != TB_OK) {
		tb_engine_free(made);
		return tb_fail(error, (enum tb_status)status,
			status == TB_ENOMEM
				? "no memory for a network of %u nodes"
				: "a network of %u nodes is too large to replay on",
			network->n_nodes);
	}
	made->source_at = source->when(source->context);
	*engine = made;
	return TB_OK;
}

void tb_engine_free(struct tb_engine *engine)
{
	if (!engine)
		return;
	tb_recorder_fini(&engine->recorder);
	tb_wheel_fini(&engine->wheel);
	free(engine->links);
	free(engine->vcs);
	free(engine->switches);
	free(engine->waiters);
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

static void handle(struct tb_engine *engine, struct tb_event event)
{
	uint32_t id = event.subject;
	switch ((enum event_kind)event.kind) {
	case EV_HEADER:
		tb_wormhole_header(engine, id);
		break;
	case EV_TAIL:
		tb_endpoint_tail(engine, id);
		break;
	case EV_READY:
		tb_wormhole_ready(engine, id);
		break;
	case EV_LINK:
		engine->links[id].event_set = false;
		list_add(&engine->links_now, id, &engine->links[id].listed);
		break;
	case EV_SWITCH:
		list_add(&engine->switches_now, id, &engine->switches[id].listed);
		break;
	case EV_NODE:
		list_add(&engine->nodes_now, id, &engine->nodes[id].listed);
		break;
	case EV_FETCHED:
		tb_endpoint_fetched(engine, id);
		break;
	case EV_SENT:
	case EV_DELIVERED:
		tb_endpoint_ended(engine, id, (enum event_kind)event.kind);
		break;
	}
}

static tb_time_ps posted_at(const struct tb_engine *engine)
{
	if (engine->n_posted == 0)
		return TB_TIME_NEVER;
	return engine->messages[engine->posted[engine->posted_first]].start_at;
}

static void start_posted(struct tb_engine *engine)
{
	while (posted_at(engine) <= engine->now) {
		uint32_t id = engine->posted[engine->posted_first];
		engine->posted_first = (engine->posted_first + 1) % engine->posted_room;
		engine->n_posted--;
		tb_endpoint_start(engine, id);
	}
}

static void take_messages(struct tb_engine *engine)
{
	const struct tb_source *source = engine->source;
	struct tb_message message;
	int status;
	while ((status = source->take(
			source->context, engine->now, &message, &engine->failure)) > 0)
		tb_endpoint_post(engine, &message);
	if (status < 0)
		engine->failure.code = (enum tb_status)status;
	engine->source_at = source->when(source->context);
}

// settle_choices is phases 2 and 3 of an instant.
static void settle_choices(struct tb_engine *engine)
{
	for (uint32_t i = 0; i < engine->switches_now.n; i++)
		tb_wormhole_switch(engine, engine->switches_now.ids[i]);
	engine->switches_now.n = 0;
	for (uint32_t i = 0; i < engine->nodes_now.n; i++)
		tb_endpoint_node(engine, engine->nodes_now.ids[i]);
	engine->nodes_now.n = 0;
	for (uint32_t i = 0; i < engine->links_now.n; i++)
		tb_wormhole_link(engine, engine->links_now.ids[i]);
	engine->links_now.n = 0;
}

// outside_at is when something comes from outside the network: a post, or the end of a
// send overhead.
static tb_time_ps outside_at(const struct tb_engine *engine)
{
	tb_time_ps posted = posted_at(engine);
	return posted < engine->source_at ? posted : engine->source_at;
}

// One instant, phase by phase. What is put for this same instant (an empty fetch, a
// message without overhead) makes a further round.
static void instant(struct tb_engine *engine)
{
	struct tb_wheel *wheel = &engine->wheel;
	do {
		if (engine->source_at <= engine->now)
			take_messages(engine);
		if (engine->n_posted)
			start_posted(engine);
		while (tb_wheel_next(wheel, engine->now) <= engine->now) {
			engine->stats.n_events++;
			handle(engine, tb_wheel_take(wheel));
		}
		tb_endpoint_tell_source(engine);
		settle_choices(engine);
	} while ((tb_wheel_next(wheel, engine->now) <= engine->now ||
			 outside_at(engine) <= engine->now) &&
		 engine->failure.code == TB_OK);
}

static tb_time_ps next_instant(struct tb_engine *engine)
{
	tb_time_ps outside = outside_at(engine);
	tb_time_ps event = tb_wheel_next(&engine->wheel, outside);
	return event < outside ? event : outside;
}

// pass_bins closes the bins that end at or before `next`, and jumps over time in which
// nothing is held and nothing waits.
static int pass_bins(struct tb_engine *engine, tb_time_ps next, struct tb_error *error)
{
	struct tb_recorder *recorder = &engine->recorder;
	while (next >= recorder->bin_end) {
		bool lasts = tb_wormhole_settle(engine, recorder->bin_end);
		int status = tb_recorder_close(recorder, error);
		if (status != TB_OK)
			return status;
		if (!lasts && next >= recorder->bin_end && tb_recorder_idle(recorder))
			tb_recorder_jump(recorder, next);
	}
	return TB_OK;
}

int tb_engine_run(struct tb_engine *engine, uint64_t n_instants, struct tb_error *error)
{
	for (uint64_t i = 0; i < n_instants; i++) {
		tb_time_ps next = next_instant(engine);
		if (next == TB_TIME_NEVER) {
			engine->over = true;
			if (engine->source->finish)
				return engine->source->finish(
					engine->source->context, error);
			return 0;
		}
		if (next >= engine->recorder.bin_end) {
			int status = pass_bins(engine, next, error);
			if (status != TB_OK)
				return status;
		}
		engine->now = next;
		instant(engine);
		if (engine->wheel.failed)
			tb_engine_fail(engine, TB_ENOMEM, "no memory for the events");
		if (engine->recorder.failed)
			tb_engine_fail(
				engine, TB_ENOMEM, "no memory for what is counted");
		if (engine->failure.code != TB_OK) {
			if (error)
				*error = engine->failure;
			return engine->failure.code;
		}
	}
	return 1;
}

int tb_engine_checkpoint(struct tb_engine *engine, struct tb_error *error)
{
	return tb_recorder_tell_bins(&engine->recorder, error);
}

int tb_engine_finish(struct tb_engine *engine, struct tb_error *error)
{
	// The last circuits are held a little beyond the last event.
	tb_time_ps end = engine->now;
	for (size_t i = 0; i < (size_t)engine->net->n_links * engine->vcs_most; i++) {
		tb_time_ps at = engine->vcs[i].free_at;
		if (at != TB_TIME_NEVER && at > end)
			end = at;
	}
	int status = pass_bins(engine, end, error);
	if (status != TB_OK)
		return status;
	(void)tb_wormhole_settle(engine, end);
	tb_wormhole_blame_open(engine, end);
	status = tb_recorder_close(&engine->recorder, error);
	return status == TB_OK ? tb_recorder_finish(&engine->recorder, error) : status;
}

struct tb_engine_stats tb_engine_stats(const struct tb_engine *engine)
{
	struct tb_engine_stats stats = engine->stats;
	stats.now_ps = engine->over ? engine->last_told : engine->now;
	stats.wait_ps = engine->recorder.wait_ps;
	stats.n_in_flight = engine->n_packets_most - engine->n_free_packets;
	return stats;
}
