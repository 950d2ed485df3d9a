#include "replay_parts.h"

#include "circuit_params.h"
#include "late_acks.h"
#include "memory.h"
#include "paces.h"
#include "switching.h"

#include <stdlib.h>

// Windows shorter than this have too little work to be worth it.
enum { SHORTEST_WINDOW_PS = 20000 };

// The number of parts when several processes simulate a network; more with more
// processes.
enum { PARTS_OF_PROCESSES = 8 };

enum { MOST_CABLE_PARTS = 16 }; // for any number of threads

// parts_refusal returns why a replay cannot be cut into parts; NULL: it can. Failures
// have routing tables that all nodes share, limits on partners count at both ends of a
// message (of which late_acks.h takes care where parts own cables), notifications of
// congestion pass from part to part, and the arrays that a caller may clear between calls
// exist once. Where parts own cables, those of a switch may belong to several, which
// cannot take turns at it nor take all its links for a broadcast.
static const char *parts_refusal(const struct tb_replay *replay,
	const struct tb_switching *model, const struct tb_engine_options *options)
{
	if (options->peers && (!model->in_parts || model->in_one_memory))
		return "only networks with credits, such as ib-hdr, can be";
	if (!model->in_parts)
		return "its switching is simulated as a whole";
	if (replay->choice.dead_at)
		return "faults concern all of its routes";
	if (model->owns_cables && replay->choice.turns)
		return "headers take turns at its switches";
	if (model->owns_cables && replay->net->params.broadcast)
		return "broadcasts take all links of a level at once";
	if (!model->owns_cables && tb_circuit_params(&replay->net->params)->partners)
		return "partners are counted at both ends of messages";
	if (options->delays || options->job_bytes)
		return "sums over all of it are asked for";
	return tb_paces_control(replay->paces)
		       ? "congestion control acts on sources from afar"
		       : NULL;
}

static uint32_t n_processes(const struct tb_engine_options *options)
{
	return options->peers ? tb_peer_streams_n(options->peers) : 1;
}

// least_hop is the least time in which a flit comes from one link to the next.
static tb_time_ps least_hop(const struct tb_network *net)
{
	tb_time_ps least = TB_TIME_NEVER;
	for (uint32_t i = 0; i < net->n_links; i++) {
		uint64_t q20 = tb_per_byte_q20(net->links[i].bytes_per_s);
		tb_time_ps hop =
			net->links[i].latency_ps +
			(tb_time_ps)((tb_circuit_params(&net->params)->flit_bytes * q20 +
					     (UINT64_C(1) << 19)) >>
				     20);
		least = hop < least ? hop : least;
	}
	return least;
}

// give_cables gives cables to parts if the carrier wants that.
static int give_cables(
	struct tb_parts *parts, const struct tb_replay *replay, const char **undivided)
{
	int status = tb_parts_own_cables(parts, replay->net);
	if (status != TB_OK)
		return status;
	parts->latency_ps = least_hop(replay->net);
	if (!replay->choice.fixed && tb_parts_split_group(parts, replay->net))
		*undivided = "headers choose among links of several parts";
	return TB_OK;
}

// n_wanted is into how many parts to cut, 0: as the network is cut best. Processes get as
// many each. Where parts own cables each does little in a window, as windows are short,
// so that more parts than threads take more time.
static uint32_t n_wanted(const struct tb_replay *replay, const struct tb_switching *model,
	const struct tb_engine_options *options)
{
	uint32_t n = n_processes(options);
	if (options->n_parts)
		return options->n_parts;
	if (n > 1)
		return n * ((PARTS_OF_PROCESSES + n - 1) / n);
	if (!model->owns_cables)
		return 0;
	if (replay->net->n_nodes < TB_PARTS_NODES || options->n_threads <= 1)
		return 1;
	return options->n_threads < MOST_CABLE_PARTS ? options->n_threads
						     : MOST_CABLE_PARTS;
}

// side_new gives the whole its side, with `parts`, which it takes, and those to come.
static int side_new(struct tb_replay *whole, struct tb_parts *parts, tb_time_ps window_ps)
{
	struct tb_side *side = calloc(1, sizeof *side);
	if (!side) {
		tb_parts_free(parts);
		return TB_ENOMEM;
	}
	whole->side = side;
	*side = (struct tb_side){.whole = whole,
		.parts = parts,
		.by_part = calloc(parts->n, sizeof(struct tb_replay *)),
		.sides = calloc(parts->n, sizeof *side->sides),
		.window_ps = window_ps,
		.part = parts->n};
	return side->by_part && side->sides ? TB_OK : TB_ENOMEM;
}

void tb_side_free(struct tb_side *side)
{
	if (!side)
		return;
	for (uint32_t part = 0; side->sides && part < side->parts->n; part++)
		tb_late_acks_free(side->sides[part].late);
	tb_joint_records_free(side->records);
	tb_parts_free(side->parts);
	free(side->by_part);
	free(side->sides);
	free(side);
}

// cut_nodes makes the state of the nodes that this process simulates, whose parts
// `replay` has.
static int cut_nodes(struct tb_replay *replay)
{
	uint32_t n = replay->net->n_nodes, n_vls = replay->n_vls;
	replay->nics =
		tb_replay_lines_new(replay, (size_t)n * n_vls, sizeof *replay->nics);
	for (uint32_t i = 0; replay->nics && i < n; i++)
		for (uint32_t vl = 0; vl < n_vls && tb_replay_has_node(replay, i); vl++)
			tb_nic_init(tb_nic_at(replay, i, vl), replay->net);
	return replay->nics ? TB_OK : TB_ENOMEM;
}

// tb_parts_cut: a message that the source posts in a window must not enter the network in
// it, unless the source can be asked before the window begins.
int tb_parts_cut(struct tb_replay *replay, const struct tb_switching *model,
	const struct tb_engine_options *options, const char **undivided)
{
	uint32_t wanted = n_wanted(replay, model, options);
	bool asked = options->n_parts || options->peers;
	bool alone = wanted == 0 && options->n_threads <= 1; // quicker uncut
	*undivided = parts_refusal(replay, model, options);
	if (alone || wanted == 1 || *undivided)
		return TB_OK;
	struct tb_parts *parts = NULL;
	int status = tb_parts_new(&parts, replay->net, wanted);
	if (status == TB_OK && model->owns_cables && parts->n > 1)
		status = give_cables(parts, replay, undivided);
	if (status != TB_OK) {
		tb_parts_free(parts);
		return status;
	}
	tb_time_ps window_ps = parts->latency_ps;
	tb_time_ps overhead_ps = replay->net->params.send_overhead_ps;
	if (!tb_source_is_open_loop(replay->source) && overhead_ps < window_ps)
		window_ps = overhead_ps;
	if (parts->n < n_processes(options))
		*undivided = "it has fewer switches with nodes";
	else if (window_ps < (asked ? 1 : SHORTEST_WINDOW_PS))
		*undivided = "its links or messages take no time";
	if (parts->n == 1 || *undivided) {
		tb_parts_free(parts);
		return TB_OK;
	}
	if (options->peers) {
		// Give each process a stretch of the parts.
		const struct tb_peer_streams *peers = options->peers;
		uint64_t n = parts->n, rank = tb_peer_streams_rank(peers);
		parts->own_first = (uint32_t)(n * rank / tb_peer_streams_n(peers));
		parts->own_end = (uint32_t)(n * (rank + 1) / tb_peer_streams_n(peers));
	}
	status = side_new(replay, parts, window_ps);
	return status == TB_OK ? cut_nodes(replay) : status;
}

int tb_parts_join_records(struct tb_replay *whole)
{
	return tb_joint_records_new(
		&whole->side->records, &whole->records, whole->net, whole->side->parts);
}

// A part shares with the whole everything that it does not own.
void tb_replay_join(struct tb_replay *replay, struct tb_replay *whole, uint32_t part)
{
	struct tb_side *side = &whole->side->sides[part];
	*side = *whole->side;
	side->sides = NULL;
	side->part = part;
	*replay = *whole;
	replay->side = side;
	replay->borrows = true;
	replay->n_simulated = (double)whole->net->n_nodes / side->parts->n;
	replay->now = -1;
	replay->source_at = replay->fault_at = replay->outside_at = TB_TIME_NEVER;
	replay->pause_at = TB_TIME_NEVER;
	replay->handover_at = TB_TIME_NEVER;
	replay->records = (struct tb_records){0};
	replay->wheel = (struct tb_wheel){0};
	replay->packets = NULL;
	replay->free_packets = NULL;
	replay->idle_times = NULL;
	replay->n_free_packets = replay->n_packets_most = replay->n_forgotten = 0;
	replay->starting[0] = replay->starting[1] = (struct tb_ring){0};
	replay->nodes_now = (struct tb_list){0};
	replay->partners = (struct tb_partners){0};
	replay->pairs.buckets = NULL;
	replay->pairs.n_buckets = replay->pairs.n_listed = 0;
	replay->endings = NULL;
	replay->n_endings = 0;
	replay->endings_room = 0;
	replay->stats = (struct tb_engine_stats){0};
	side->by_part[part] = replay;
}

int tb_replay_open_part(struct tb_replay *replay)
{
	struct tb_side *side = replay->side;
	int status = tb_joint_records_join(side->records, side->part, &replay->records);
	return status == TB_OK ? tb_late_acks_new(replay) : status;
}

int tb_replay_join_elsewhere(
	struct tb_replay **replay, struct tb_replay *whole, uint32_t part)
{
	struct tb_replay *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	tb_replay_join(made, whole, part);
	made->side->elsewhere = true;
	*replay = made;
	return tb_joint_records_join(whole->side->records, part, &made->records);
}

void tb_replay_free_elsewhere(struct tb_replay *replay)
{
	tb_replay_fini(replay);
	free(replay);
}

static bool has_all(const struct tb_replay *replay)
{
	const struct tb_parts *parts = tb_parts_of(replay);
	return !parts || parts->own_end - parts->own_first == parts->n;
}

void *tb_replay_lines_new_untouched(const struct tb_replay *replay, size_t n, size_t size)
{
	return has_all(replay) ? tb_lines_new_untouched(n, size)
			       : tb_lines_new_sparse(n, size);
}

void *tb_replay_lines_new(const struct tb_replay *replay, size_t n, size_t size)
{
	return has_all(replay) ? tb_lines_new(n, size) : tb_lines_new_sparse(n, size);
}

void tb_parts_post(struct tb_replay *whole)
{
	const struct tb_side *side = whole->side;
	tb_messages_take(whole);
	for (uint32_t part = 0; part < side->parts->n; part++) {
		side->by_part[part]->messages = whole->messages;
		side->by_part[part]->records.flows = whole->records.flows;
	}
	for (unsigned i = 0; i < 2; i++)
		while (whole->starting[i].n) {
			uint32_t id = tb_messages_unqueue(&whole->starting[i]);
			uint32_t node = whole->messages[id].what.source.id;
			tb_messages_await(
				side->by_part[side->parts->of_node[node]], i, id);
		}
}
