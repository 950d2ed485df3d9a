#include "paces.h"

#include "array.h"
#include "credit_params.h"
#include "map.h"
#include "nodes_impl.h"

#include <stdlib.h>

uint32_t tb_congestion_index_at(struct tb_congestion_index *index,
	const struct tb_credit_params *params, tb_time_ps now)
{
	if (index->above > 0) {
		tb_time_ps n = (now - index->since) / params->ccti_timer_ps;
		index->since += n * params->ccti_timer_ps;
		index->above =
			n < (tb_time_ps)index->above ? index->above - (uint32_t)n : 0;
	}
	return params->ccti_min + index->above;
}

void tb_congestion_index_raise(struct tb_congestion_index *index,
	const struct tb_credit_params *params, tb_time_ps now)
{
	uint32_t most = params->ccti_limit - params->ccti_min;
	(void)tb_congestion_index_at(index, params, now);
	if (index->above == 0)
		index->since = now;
	index->above += params->ccti_increase;
	if (index->above > most)
		index->above = most;
}

tb_time_ps tb_congestion_delay(
	const struct tb_credit_params *params, uint32_t index, tb_time_ps packet_ps)
{
	uint64_t square_q32 = (uint64_t)(params->cct_square * 4294967296.0 + 0.5);
	uint64_t multiplier = (uint64_t)index * index * square_q32 >> 32;
	if (multiplier > TB_CCT_MULTIPLIER_MOST)
		multiplier = TB_CCT_MULTIPLIER_MOST;
	return (packet_ps >> params->cct_shift) * (tb_time_ps)multiplier;
}

// Zhu et al., Congestion control for large-scale RDMA deployments, SIGCOMM 2015: g and K
// of section 5.2, F of section 3.3. The step of hyper increase and the lowest rate are
// those of the simulator of HPCC (Li et al., SIGCOMM 2019), ten steps and 100 Mbit/s.
#define ALPHA_ONE   (UINT64_C(1) << 20)
#define ALPHA_TIMER (55 * TB_PS_PER_US)
#define RATE_LEAST  UINT64_C(12500000)
enum { G_SHIFT = 8, FAST_STEPS = 5, HYPER_STEPS = 10 };

#define PACE_ROOTS 3 // of a path of three levels those where queues are long

struct pair_pace { // of the messages of one node to another, of a VL
	uint32_t source;
	bool was_marked; // then at
	tb_time_ps notified_at;
	bool is_limited; // then
	uint64_t rate, target, alpha;
	uint64_t n_bytes; // of the byte counter
	uint32_t n_by_time, n_by_bytes;
	tb_time_ps alpha_at, timer_at; // due next
	tb_time_ps not_before;	       // the next packet
	tb_time_ps free_at;	       // it, without a pace
	tb_time_ps vain_ps;
	// The links at which its packets were marked last, behind that to its
	// destination, and how long each had worked when a packet was cut last, or
	// was marked at another one.
	uint32_t roots[PACE_ROOTS + 1], n_roots, next_root;
	tb_time_ps looked_at, worked_ps[PACE_ROOTS + 1];
	tb_time_ps overworked_ps;	  // 0 or less: what it does not rest next
	struct tb_congestion_index index; // with FECN, in place of a rate
};

struct begun {		  // a message; zeroed: none
	tb_time_ps since; // 1 + when
	uint32_t end, source_rank, destination_rank, job;
};

static inline tb_time_ps begun_at(const struct begun *begun)
{
	return begun->since ? begun->since - 1 : -TB_TIME_NEVER / 2;
}

struct tb_paces {
	const struct tb_network *net;
	bool controls;
	tb_time_ps *sent_at;	 // with control, by node: its last packet is on its link
	struct tb_map number_of; // pairs of nodes, by VL
	struct pair_pace *list;
	size_t n, room;
	// Gaps. By node a ring of the messages that it began last, the newest at
	// `newest`; enough for all of a queue pair's gap. The first places of all nodes
	// lie together, then the second ones: mostly few are used, and memory that is
	// not is never there.
	tb_time_ps pair_gap, gap;
	struct begun *begun;
	uint32_t *newest;
	uint32_t n_begun; // of a ring
};

static inline struct begun *begun_of(
	const struct tb_paces *paces, uint32_t node, uint32_t at)
{
	return &paces->begun[(size_t)at * paces->net->n_nodes + node];
}

static int make_gaps(struct tb_paces *paces, uint32_t n_nodes)
{
	const struct tb_credit_params *params = tb_credit_params(&paces->net->params);
	paces->gap = params->message_gap_ps;
	if (params->queue_pairs == TB_QUEUE_PAIRS_CONNECTION)
		paces->pair_gap = params->queue_pair_gap_ps;
	if (paces->gap == 0)
		return TB_OK;
	paces->n_begun = (uint32_t)(paces->pair_gap / paces->gap) + 1;
	size_t n = (size_t)n_nodes * paces->n_begun;
	paces->begun = calloc(n, sizeof *paces->begun);
	paces->newest = calloc(n_nodes, sizeof *paces->newest);
	return paces->begun && paces->newest ? TB_OK : TB_ENOMEM;
}

int tb_paces_new(
	struct tb_paces **paces, const struct tb_network *network, bool has_faults)
{
	const struct tb_network_params *params = &network->params;
	bool controls =
		tb_credit_params(params)->congestion_control != TB_CONGESTION_NONE &&
		!has_faults;
	if (!controls && tb_credit_params(params)->message_gap_ps == 0)
		return TB_OK;
	struct tb_paces *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	made->net = network;
	made->controls = controls;
	*paces = made;
	if (controls) {
		made->sent_at = calloc(network->n_nodes, sizeof *made->sent_at);
		if (!made->sent_at)
			return TB_ENOMEM;
	}
	return make_gaps(made, network->n_nodes);
}

bool tb_paces_control(const struct tb_paces *paces)
{
	return paces && paces->controls;
}

void tb_paces_free(struct tb_paces *paces)
{
	if (!paces)
		return;
	tb_map_fini(&paces->number_of);
	free(paces->sent_at);
	free(paces->list);
	free(paces->begun);
	free(paces->newest);
	free(paces);
}

static uint64_t line_rate(const struct tb_paces *paces, uint32_t source)
{
	return paces->net->links[paces->net->injection[source]].bytes_per_s;
}

// increase raises a rate by one step (the paper's figure 7).
static void increase(struct pair_pace *pace, uint64_t step, uint64_t line)
{
	uint32_t a = pace->n_by_time, b = pace->n_by_bytes;
	if ((a < b ? a : b) > FAST_STEPS)
		pace->target += HYPER_STEPS * step;
	else if ((a > b ? a : b) >= FAST_STEPS)
		pace->target += step;
	if (pace->target > line)
		pace->target = line;
	pace->rate = (pace->rate + pace->target + 1) / 2;
	pace->is_limited = pace->rate < line;
}

// catch_up carries out all timers that have expired; at equal times alpha's is first.
static void catch_up(const struct tb_paces *paces, struct pair_pace *pace,
	uint32_t source, tb_time_ps now)
{
	const struct tb_credit_params *params = tb_credit_params(&paces->net->params);
	while (pace->is_limited) {
		if (pace->alpha_at <= now && pace->alpha_at <= pace->timer_at) {
			pace->alpha -= pace->alpha >> G_SHIFT;
			pace->alpha_at += ALPHA_TIMER;
		} else if (pace->timer_at <= now) {
			pace->n_by_time++;
			pace->timer_at += params->rate_timer_ps;
			increase(pace, params->rate_step_bytes_per_s,
				line_rate(paces, source));
		} else {
			return;
		}
	}
}

static bool has_table(const struct tb_paces *paces)
{
	return tb_credit_params(&paces->net->params)->congestion_control ==
	       TB_CONGESTION_FECN;
}

// link_takes returns how long a packet takes on its node's link.
static tb_time_ps link_takes(
	const struct tb_paces *paces, uint32_t source, uint32_t wire_bytes)
{
	uint64_t q20 = tb_per_byte_q20(line_rate(paces, source));
	return (tb_time_ps)((wire_bytes * q20 + (UINT64_C(1) << 19)) >> 20);
}

// sent_by_table delays the next packet by the table's delay (C40).
static void sent_by_table(const struct tb_paces *paces, struct pair_pace *pace,
	uint32_t source, uint32_t wire_bytes, tb_time_ps now)
{
	const struct tb_credit_params *params = tb_credit_params(&paces->net->params);
	tb_time_ps takes = link_takes(paces, source, wire_bytes);
	tb_time_ps delay = tb_congestion_delay(
		params, tb_congestion_index_at(&pace->index, params, now), takes);
	if (delay > 0)
		pace->not_before = now + takes + delay;
}

// pace_sent: a packet has been cut. The next one follows at the pair's rate.
static void pace_sent(const struct tb_paces *paces, struct pair_pace *pace,
	uint32_t source, uint32_t wire_bytes, tb_time_ps now)
{
	const struct tb_credit_params *params = tb_credit_params(&paces->net->params);
	if (has_table(paces)) {
		sent_by_table(paces, pace, source, wire_bytes, now);
		return;
	}
	catch_up(paces, pace, source, now);
	if (!pace->is_limited)
		return;
	pace->n_bytes += wire_bytes;
	if (pace->n_bytes >= params->rate_bytes) {
		pace->n_bytes -= params->rate_bytes;
		pace->n_by_bytes++;
		increase(pace, params->rate_step_bytes_per_s, line_rate(paces, source));
	}
	pace->not_before =
		now + (tb_time_ps)((uint64_t)wire_bytes * TB_PS_PER_S / pace->rate);
}

static uint64_t pair_key(uint32_t source, uint32_t destination, uint32_t vl)
{
	return (uint64_t)vl << 60 ^ (uint64_t)source << 32 ^ destination;
}

static struct pair_pace *pace_find(
	const struct tb_paces *paces, uint32_t source, uint32_t destination, uint32_t vl)
{
	uint32_t number = 0;
	uint64_t key = pair_key(source, destination, vl);
	return tb_map_find(&paces->number_of, key, &number) ? &paces->list[number] : NULL;
}

// find_or_add returns the number of a pair's pace, made if it has none; TB_NOTHING
// without memory.
static uint32_t find_or_add(
	struct tb_replay *replay, uint32_t source, uint32_t destination, uint32_t vl)
{
	struct tb_paces *paces = replay->paces;
	uint64_t key = pair_key(source, destination, vl);
	uint32_t number = 0;
	if (tb_map_find(&paces->number_of, key, &number))
		return number;
	number = (uint32_t)paces->n;
	if (TB_ARRAY_RESERVE(&paces->list, &paces->room, paces->n + 1) != TB_OK ||
		tb_map_put(&paces->number_of, key, number) != TB_OK) {
		tb_replay_no_memory(replay, "the rates of nodes");
		return TB_NOTHING;
	}
	const struct tb_link_info *links = paces->net->links;
	paces->list[paces->n++] = (struct pair_pace){.source = source,
		.roots = {links[paces->net->injection[destination]].reverse.id}};
	return number;
}

// pace_has_gap returns whether the next packet of a message is limited by gaps: its first
// one. A captured packet is sent at the time that the capture has.
static bool pace_has_gap(const struct tb_paces *paces, const struct tb_posted *message)
{
	return paces->gap && message->n_unfetched == message->n_packets &&
	       !message->what.captured;
}

// pair_allows is when a message may begin after the one before it between the same two
// processes.
static tb_time_ps pair_allows(const struct tb_paces *paces, uint32_t node,
	const struct tb_posted *message, tb_time_ps now)
{
	const struct tb_message *what = &message->what;
	for (uint32_t i = 0, at = paces->newest[node]; i < paces->n_begun; i++) {
		const struct begun *begun = begun_of(paces, node, at);
		tb_time_ps allows = begun_at(begun) + paces->pair_gap;
		if (allows <= now)
			break;
		if (begun->end == message->end &&
			begun->destination_rank == what->destination_rank &&
			begun->source_rank == what->source_rank &&
			begun->job == what->job)
			return allows;
		at = at ? at - 1 : paces->n_begun - 1;
	}
	return now;
}

// allows is when the first packet of a node's message in turn may go by its queue pair.
static tb_time_ps allows(
	const struct tb_replay *replay, uint32_t node, const struct tb_posted *message)
{
	const struct tb_paces *paces = replay->paces;
	tb_time_ps at = replay->now;
	if (paces->controls) {
		const struct pair_pace *pace =
			pace_find(paces, node, message->end, message->vl);
		if (pace && pace->not_before > at)
			at = pace->not_before;
	}
	if (pace_has_gap(paces, message)) {
		tb_time_ps by_gap = pair_allows(paces, node, message, replay->now);
		if (by_gap > at)
			at = by_gap;
	}
	return at;
}

uint32_t tb_paces_next(
	struct tb_replay *replay, uint32_t node, const struct tb_nic *nic, tb_time_ps *at)
{
	const struct tb_paces *paces = replay->paces;
	uint32_t first = nic->queue;
	*at = TB_TIME_NEVER;
	// Mostly a message goes on, and nothing limits it.
	if (first != TB_NOTHING && !paces->controls &&
		!pace_has_gap(paces, &replay->messages[first]))
		return first;
	for (uint32_t id = first; id != TB_NOTHING; id = replay->messages[id].next) {
		const struct tb_posted *message = &replay->messages[id];
		tb_time_ps by_pair = allows(replay, node, message);
		if (by_pair > replay->now) {
			if (by_pair < *at)
				*at = by_pair;
			continue;
		}
		if (!pace_has_gap(paces, message))
			return id;
		tb_time_ps by_node =
			begun_at(begun_of(paces, node, paces->newest[node])) + paces->gap;
		if (by_node <= replay->now)
			return id;
		if (by_node < *at)
			*at = by_node;
		return TB_NOTHING;
	}
	return TB_NOTHING;
}

tb_time_ps tb_paces_vain(const struct tb_paces *paces, const struct tb_posted *message)
{
	const struct pair_pace *pace = paces ? pace_find(paces, message->what.source.id,
						       message->end, message->vl)
					     : NULL;
	return pace ? pace->vain_ps : 0;
}

// pace_look keeps how long a pair's links have worked, and returns for how long since it
// did so last the busiest of them has rested.
static tb_time_ps pace_look(const struct tb_replay *replay, struct pair_pace *pace)
{
	tb_time_ps rested_ps = replay->now - pace->looked_at;
	for (uint32_t i = 0; i <= pace->n_roots; i++) {
		tb_time_ps ps = replay->carrier->worked(replay, pace->roots[i]);
		rested_ps = tb_time_earlier(rested_ps,
			replay->now - pace->looked_at - (ps - pace->worked_ps[i]));
		pace->worked_ps[i] = ps;
	}
	pace->looked_at = replay->now;
	return rested_ps;
}

// pace_waited counts the time for which a packet that is cut now was kept in vain: of
// what its links rested meanwhile no more than it was kept. As a link may work ahead,
// what it rested too little counts against what it rests next.
static void pace_waited(const struct tb_replay *replay, struct pair_pace *pace,
	const struct tb_posted *message)
{
	tb_time_ps from = tb_time_later(message->start_at, pace->free_at);
	tb_time_ps to = tb_time_earlier(replay->now, pace->not_before);
	tb_time_ps rested_ps = pace_look(replay, pace) + pace->overworked_ps;
	from = tb_time_later(from, replay->paces->sent_at[pace->source]);
	pace->overworked_ps = tb_time_earlier(0, rested_ps);
	pace->vain_ps += tb_time_later(0, tb_time_earlier(to - from, rested_ps));
}

// cut_at_pace does so with congestion control.
static __attribute__((noinline)) uint32_t cut_at_pace(
	struct tb_replay *replay, uint32_t node, struct tb_nic *nic, uint32_t id)
{
	const struct tb_paces *paces = replay->paces;
	uint32_t end = replay->messages[id].end, vl = replay->messages[id].vl;
	struct pair_pace *pace = pace_find(paces, node, end, vl);
	if (!pace) {
		// Where the table's least index is above 0, a pair has a pace before
		// anything is marked.
		pace = NULL;
		if (has_table(replay->paces) &&
			tb_credit_params(&replay->paces->net->params)->ccti_min != 0) {
			uint32_t number = find_or_add(replay, node, end, vl);
			pace = number == TB_NOTHING ? NULL : &replay->paces->list[number];
		}
	}
	if (pace && replay->carrier->worked)
		pace_waited(replay, pace, &replay->messages[id]);
	uint32_t packet = tb_nodes_cut(replay, nic);
	uint32_t bytes = tb_packet_at(replay, packet)->wire_bytes;
	paces->sent_at[node] = replay->now + link_takes(paces, node, bytes);
	if (pace) {
		pace->free_at = paces->sent_at[node];
		pace_sent(paces, pace, node, bytes, replay->now);
		if (replay->messages[id].n_unfetched == 0)
			replay->messages[id].paced_ps += pace->vain_ps;
	}
	return packet;
}

void tb_paces_begin(
	struct tb_replay *replay, uint32_t node, struct tb_nic *nic, uint32_t id)
{
	struct tb_paces *paces = replay->paces;
	// Put a message of a node's queue before the others, whose order stays.
	if (nic->queue != id) {
		tb_nic_replace(replay, nic, id, TB_NOTHING);
		replay->messages[id].next = nic->queue;
		nic->queue = id;
	}
	// A message whose turn is over stands behind others from the next turn on.
	if (nic->turned != TB_NOTHING && !replay->messages[id].is_behind) {
		replay->messages[nic->turned].behind_since = replay->now;
		nic->turned = TB_NOTHING;
	}
	if (pace_has_gap(paces, &replay->messages[id])) {
		const struct tb_posted *message = &replay->messages[id];
		tb_time_ps now = replay->now;
		uint32_t at = paces->newest[node];
		// Those before one whose gap is over count no more.
		bool over = begun_at(begun_of(paces, node, at)) + paces->pair_gap <= now;
		at = over || at + 1 == paces->n_begun ? 0 : at + 1;
		paces->newest[node] = at;
		*begun_of(paces, node, at) = (struct begun){.since = now + 1,
			.end = message->end,
			.source_rank = message->what.source_rank,
			.destination_rank = message->what.destination_rank,
			.job = message->what.job};
	}
}

uint32_t tb_paces_cut(
	struct tb_replay *replay, uint32_t node, struct tb_nic *nic, uint32_t id)
{
	tb_paces_begin(replay, node, nic, id);
	return replay->paces->controls ? cut_at_pace(replay, node, nic, id)
				       : tb_nodes_cut(replay, nic);
}

// pair_number is the number of the pair of a packet.
static uint32_t pair_number(struct tb_replay *replay, const struct tb_packet *packet)
{
	const struct tb_posted *message = &replay->messages[packet->message];
	return find_or_add(
		replay, message->what.source.id, packet->destination, message->vl);
}

void tb_paces_queued(
	struct tb_replay *replay, const struct tb_packet *packet, uint32_t link)
{
	uint32_t number = pair_number(replay, packet);
	struct pair_pace *pace = &replay->paces->list[number];
	uint32_t i = 0;
	if (number == TB_NOTHING)
		return;
	while (i <= pace->n_roots && pace->roots[i] != link)
		i++;
	if (i <= pace->n_roots)
		return;
	(void)pace_look(replay, pace);
	if (pace->n_roots < PACE_ROOTS)
		i = ++pace->n_roots;
	else
		i = 1 + pace->next_root++ % PACE_ROOTS;
	pace->roots[i] = link;
	pace->worked_ps[i] = replay->carrier->worked(replay, link);
}

uint32_t tb_paces_marked(struct tb_replay *replay, const struct tb_packet *packet)
{
	uint32_t number = pair_number(replay, packet);
	if (number == TB_NOTHING)
		return number;
	struct pair_pace *pace = &replay->paces->list[number];
	tb_time_ps interval = tb_credit_params(&replay->net->params)->cnp_interval_ps;
	if (pace->was_marked && replay->now < pace->notified_at + interval)
		return TB_NOTHING;
	pace->was_marked = true;
	pace->notified_at = replay->now;
	return number;
}

void tb_paces_notified(struct tb_replay *replay, uint32_t number)
{
	const struct tb_paces *paces = replay->paces;
	struct pair_pace *pace = &paces->list[number];
	uint32_t source = pace->source;
	if (has_table(paces)) {
		tb_congestion_index_raise(
			&pace->index, tb_credit_params(&paces->net->params), replay->now);
		return;
	}
	catch_up(paces, pace, source, replay->now);
	if (!pace->is_limited) {
		pace->rate = line_rate(paces, source);
		pace->alpha = ALPHA_ONE;
	}
	pace->is_limited = true;
	pace->target = pace->rate;
	pace->rate -= pace->rate * pace->alpha >> 21;
	if (pace->rate < RATE_LEAST)
		pace->rate = pace->target < RATE_LEAST ? pace->target : RATE_LEAST;
	pace->alpha += (ALPHA_ONE >> G_SHIFT) - (pace->alpha >> G_SHIFT);
	pace->n_bytes = 0;
	pace->n_by_time = pace->n_by_bytes = 0;
	pace->alpha_at = replay->now + ALPHA_TIMER;
	pace->timer_at =
		replay->now + tb_credit_params(&replay->net->params)->rate_timer_ps;
}
