// Places the switches above the leaves, and the leaves with few hosts or none.
//
// Switches are met in waves, from the leaves with many hosts outwards. Where a wave
// arrives at a switch, it is either just above the lowest switches that it is cabled to,
// or just below them, beside the switches that lie there already. It is below when it is
// cabled like one of these, its match: the leaves of a tree share the switches above
// them, but what joins two parts of a tree has cables to both.
#include "cabling_impl.h"

#include <stdlib.h>
#include <string.h>

#define UNPLACED UINT32_MAX

// Shares of a switch's cables. A top with as many cables to either of two parts shares
// half with each, so beyond half it is cabled like one of them. Hosts may be on a top as
// well, beside a part to which most of its cables lead: three quarters.
#define LIKE	   0.5
#define LIKE_HOSTS 0.75
#define SURE	   0.75 // a match beyond which there is no doubt

struct level_placing {
	const struct tb_cabling *cabling;
	const uint32_t *n_hosts, *n_trunks; // by device
	struct tb_cabling_levels *levels;
	uint32_t *queue; // those that are placed, then those of the wave
	uint32_t *next;	 // by device: its level in the wave
	uint32_t *own;	 // by device: cables of the switch at hand to it
	uint32_t *seen;	 // by device: cables of a match to it so far
	bool *is_met;
};

// How a switch is cabled in terms of another.
struct cable_match {
	bool is_found;
	double share;	 // of its cables, those to where the other has some, too
	double likeness; // cables that both have, of those that either has
};

// trunk returns a port that leads to another switch, else NULL.
static const struct tb_cabling_port *trunk(
	const struct level_placing *placing, uint32_t device, size_t port)
{
	const struct tb_cabling_port *at = &placing->cabling->devices[device].ports[port];
	return at->is_used && tb_cabling_is_switch(placing->cabling, at->peer) ? at
									       : NULL;
}

static size_t n_ports(const struct level_placing *placing, uint32_t device)
{
	return placing->cabling->devices[device].n_ports;
}

// n_beneath counts the cables to lower switches, or, of a switch that is not placed, to
// others that are not.
static uint32_t n_beneath(const struct level_placing *placing, uint32_t device)
{
	const uint32_t *level = placing->levels->level;
	uint32_t n = 0;
	for (size_t port = 0; port < n_ports(placing, device); port++) {
		const struct tb_cabling_port *at = trunk(placing, device, port);
		if (at)
			n += level[device] == UNPLACED ? level[at->peer] == UNPLACED
						       : level[at->peer] < level[device];
	}
	return n;
}

// match_with compares a switch, whose cables `own` counts, with another. Which switches
// are beneath the two does not matter, only how many cables lead there.
static struct cable_match match_with(const struct level_placing *placing, uint32_t sw,
	uint32_t n_beneath_sw, uint32_t other)
{
	uint64_t shared = 0, common = 0, n = placing->n_trunks[sw];
	for (size_t port = 0; port < n_ports(placing, other); port++) {
		const struct tb_cabling_port *at = trunk(placing, other, port);
		uint32_t n_own = at ? placing->own[at->peer] : 0;
		if (n_own == 0)
			continue;
		uint32_t n_seen = placing->seen[at->peer]++;
		shared += n_seen == 0 ? n_own : 0;
		common += n_seen < n_own;
	}
	for (size_t port = 0; port < n_ports(placing, other); port++) {
		const struct tb_cabling_port *at = trunk(placing, other, port);
		if (at)
			placing->seen[at->peer] = 0;
	}
	uint32_t beneath = n_beneath(placing, other);
	beneath = beneath < n_beneath_sw ? beneath : n_beneath_sw;
	common += beneath;
	return (struct cable_match){true, (double)(shared + beneath) / (double)n,
		(double)common / (double)(n + placing->n_trunks[other] - common)};
}

// best_match looks for the best among the switches of `level` that are cabled to the same
// ones just above.
static struct cable_match best_match(
	const struct level_placing *placing, uint32_t sw, uint32_t level)
{
	const uint32_t *levels = placing->levels->level;
	uint32_t beneath = n_beneath(placing, sw);
	struct cable_match best = {false, 0, 0};
	for (size_t i = 0; i < n_ports(placing, sw) && best.likeness < 1; i++) {
		const struct tb_cabling_port *up = trunk(placing, sw, i);
		if (!up || levels[up->peer] != level + 1)
			continue;
		for (size_t j = 0; j < n_ports(placing, up->peer); j++) {
			const struct tb_cabling_port *at = trunk(placing, up->peer, j);
			if (!at || levels[at->peer] != level)
				continue;
			struct cable_match match =
				match_with(placing, sw, beneath, at->peer);
			best.is_found = true;
			best.share = match.share > best.share ? match.share : best.share;
			best.likeness = match.likeness > best.likeness ? match.likeness
								       : best.likeness;
		}
	}
	return best;
}

// decide returns the level of a switch that has a cable to one that is placed.
static uint32_t decide(struct level_placing *placing, uint32_t sw)
{
	const uint32_t *levels = placing->levels->level;
	uint32_t lowest = UNPLACED;
	struct cable_match match = {false, 0, 0};
	for (size_t port = 0; port < n_ports(placing, sw); port++) {
		const struct tb_cabling_port *at = trunk(placing, sw, port);
		if (!at || levels[at->peer] == UNPLACED)
			continue;
		placing->own[at->peer]++;
		lowest = levels[at->peer] < lowest ? levels[at->peer] : lowest;
	}
	if (lowest > 0)
		match = best_match(placing, sw, lowest - 1);
	for (size_t port = 0; port < n_ports(placing, sw); port++) {
		const struct tb_cabling_port *at = trunk(placing, sw, port);
		if (at)
			placing->own[at->peer] = 0;
	}
	bool has_hosts = placing->n_hosts[sw] > 0;
	double like = has_hosts ? match.share : match.likeness;
	bool is_like = match.share > LIKE && like > (has_hosts ? LIKE_HOSTS : LIKE);
	// Where nothing is below the others, they hang down themselves.
	bool is_below = lowest > 0 && (is_like || !match.is_found);
	placing->levels->is_doubtful[sw] =
		lowest > 0 && (is_below ? like <= SURE : match.share > LIKE);
	return is_below ? lowest - 1 : lowest + 1;
}

int tb_cabling_place(struct tb_cabling_levels *levels, const struct tb_cabling *cabling,
	const uint32_t *n_hosts, const uint32_t *n_trunks, uint32_t *queue, uint32_t n)
{
	size_t room = cabling->n_devices + 1u;
	struct level_placing placing = {.cabling = cabling,
		.n_hosts = n_hosts,
		.n_trunks = n_trunks,
		.levels = levels,
		.queue = queue,
		.next = malloc(room * sizeof *placing.next),
		.own = calloc(room, sizeof *placing.own),
		.seen = calloc(room, sizeof *placing.seen),
		.is_met = calloc(room, sizeof *placing.is_met)};
	bool ready = placing.next && placing.own && placing.seen && placing.is_met;
	if (ready) {
		memset(levels->level, 0xff, room * sizeof *levels->level);
		for (uint32_t i = 0; i < n; i++)
			levels->level[queue[i]] = 0;
		// Place all switches, of which the first `n` in the queue are.
		uint32_t begin = 0, end = n;
		for (uint32_t i = 0; i < n; i++)
			placing.is_met[placing.queue[i]] = true;
		while (begin < end) {
			uint32_t more = end;
			for (uint32_t i = begin; i < end; i++)
				for (size_t j = 0;
					j < n_ports(&placing, placing.queue[i]); j++) {
					const struct tb_cabling_port *at =
						trunk(&placing, placing.queue[i], j);
					if (!at || placing.is_met[at->peer])
						continue;
					placing.is_met[at->peer] = true;
					placing.queue[more++] = at->peer;
				}
			for (uint32_t i = end; i < more; i++)
				placing.next[i] = decide(&placing, placing.queue[i]);
			for (uint32_t i = end; i < more; i++)
				placing.levels->level[placing.queue[i]] = placing.next[i];
			begin = end;
			end = more;
		}
	}
	free(placing.next);
	free(placing.own);
	free(placing.seen);
	free(placing.is_met);
	return ready ? TB_OK : tb_cabling_no_memory(cabling);
}
