#include "paces.h"

#include "array.h"
#include "map.h"
#include "nodes_impl.h"

#include <stdlib.h>

// Zhu et al., Congestion control for large-scale RDMA deployments, SIGCOMM 2015: g and K
// of section 5.2, F of section 3.3. The step of hyper increase and the lowest rate are
// those of the simulator of HPCC (Li et al., SIGCOMM 2019), ten steps and 100 Mbit/s.
#define ALPHA_ONE   (UINT64_C(1) << 20)
#define ALPHA_TIMER (55 * TB_PS_PER_US)
#define RATE_LEAST  UINT64_C(12500000)
enum { G_SHIFT = 8, FAST_STEPS = 5, HYPER_STEPS = 10 };

struct pace { // of the messages of one node to another
	uint32_t source;
	bool was_marked; // then at
	tb_time_ps notified_at;
	bool is_limited; // then
	uint64_t rate, target, alpha;
	uint64_t n_bytes; // of the byte counter
	uint32_t n_by_time, n_by_bytes;
	tb_time_ps alpha_at, timer_at; // due next
	tb_time_ps not_before;	       // the next packet
};

struct tb_paces {
	const struct tb_network *net;
	struct tb_map number_of; // pairs of nodes
	struct pace *list;
	size_t n, room;
};

int tb_paces_new(struct tb_paces **paces, const struct tb_network *network)
{
	if (network->params.credits.congestion_control == TB_CONGESTION_NONE)
		return TB_OK;
	*paces = calloc(1, sizeof **paces);
	if (!*paces)
		return TB_ENOMEM;
	(*paces)->net = network;
	return TB_OK;
}

void tb_paces_free(struct tb_paces *paces)
{
	if (!paces)
		return;
	tb_map_fini(&paces->number_of);
	free(paces->list);
	free(paces);
}

static uint64_t line_rate(const struct tb_paces *paces, uint32_t source)
{
	return paces->net->links[paces->net->injection[source]].bytes_per_s;
}

// increase raises a rate by one step (the paper's figure 7).
static void increase(struct pace *pace, uint64_t step, uint64_t line)
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

// catch_up does what timers have been due to do; of two in one instant alpha's is first.
static void catch_up(
	const struct tb_paces *paces, struct pace *pace, uint32_t source, tb_time_ps now)
{
	const struct tb_credit_params *params = &paces->net->params.credits;
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

// sent: a packet has been cut. The next one follows at the pair's rate.
static void sent(const struct tb_paces *paces, struct pace *pace, uint32_t source,
	uint32_t wire_bytes, tb_time_ps now)
{
	const struct tb_credit_params *params = &paces->net->params.credits;
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

static struct pace *find(
	const struct tb_paces *paces, uint32_t source, uint32_t destination)
{
	uint32_t number = 0;
	uint64_t key = (uint64_t)source << 32 | destination;
	return tb_map_find(&paces->number_of, key, &number) ? &paces->list[number] : NULL;
}

// go_first puts a message of a node's queue before the others, whose order stays.
static void go_first(struct tb_replay *replay, struct tb_nic *nic, uint32_t id)
{
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
}

uint32_t tb_paces_cut(struct tb_replay *replay, uint32_t node, tb_time_ps *at)
{
	struct tb_nic *nic = &replay->nics[node];
	*at = TB_TIME_NEVER;
	for (uint32_t id = nic->queue; id != TB_NOTHING; id = replay->messages[id].next) {
		struct pace *pace = find(replay->paces, node, replay->messages[id].end);
		if (pace && pace->not_before > replay->now) {
			if (pace->not_before < *at)
				*at = pace->not_before;
			continue;
		}
		go_first(replay, nic, id);
		uint32_t packet = tb_nodes_cut(replay, nic);
		if (pace)
			sent(replay->paces, pace, node,
				tb_packet_at(replay, packet)->wire_bytes, replay->now);
		return packet;
	}
	return TB_NOTHING;
}

// add makes the pace of a pair and returns its number; TB_NOTHING without memory.
static uint32_t add(struct tb_paces *paces, uint64_t key)
{
	uint32_t number = (uint32_t)paces->n;
	if (TB_ARRAY_RESERVE(&paces->list, &paces->room, paces->n + 1) != TB_OK ||
		tb_map_put(&paces->number_of, key, number) != TB_OK)
		return TB_NOTHING;
	paces->list[paces->n++] = (struct pace){.source = (uint32_t)(key >> 32)};
	return number;
}

uint32_t tb_paces_marked(struct tb_replay *replay, uint32_t source, uint32_t destination)
{
	struct tb_paces *paces = replay->paces;
	uint64_t key = (uint64_t)source << 32 | destination;
	uint32_t number = 0;
	if (!tb_map_find(&paces->number_of, key, &number))
		number = add(paces, key);
	if (number == TB_NOTHING) {
		tb_replay_no_memory(replay, "the rates of nodes");
		return number;
	}
	struct pace *pace = &paces->list[number];
	tb_time_ps interval = replay->net->params.credits.cnp_interval_ps;
	if (pace->was_marked && replay->now < pace->notified_at + interval)
		return TB_NOTHING;
	pace->was_marked = true;
	pace->notified_at = replay->now;
	return number;
}

void tb_paces_notified(struct tb_replay *replay, uint32_t number)
{
	const struct tb_paces *paces = replay->paces;
	struct pace *pace = &paces->list[number];
	uint32_t source = pace->source;
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
	pace->timer_at = replay->now + replay->net->params.credits.rate_timer_ps;
}
