#include "cabling_levels.h"
#include "cabling_names.h"
#include "names.h"
#include "network.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

#define UNSEEN UINT32_MAX

enum { LEVELS_MOST = 64 };

bool tb_cabling_is_switch(const struct tb_cabling *cabling, uint32_t device)
{
	return cabling->devices[device].kind == TB_DEVICE_SWITCH &&
	       !cabling->devices[device].is_left_out;
}

// Which devices of a fabric hang together.

// find_part stores the part of the one switch of that name.
static int find_part(const struct tb_cabling *cabling, const char *name, uint32_t *part)
{
	bool is_found = false;
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		const struct tb_identity own = {.name = cabling->devices[i].name};
		if (!tb_cabling_is_switch(cabling, i) ||
			tb_names_match(name, &own) != strlen(name))
			continue;
		if (is_found)
			return tb_fail_in(cabling->error, TB_EUSAGE, cabling->file,
				"part=%s is short for several switches", name);
		*part = cabling->devices[i].part;
		is_found = true;
	}
	return is_found ? TB_OK
			: tb_fail_in(cabling->error, TB_EUSAGE, cabling->file,
				  "part=%s: no switch with hosts below is called so",
				  name);
}

// leads_to_switch returns whether a port's cable leads to a switch that is kept.
static bool leads_to_switch(
	const struct tb_cabling *cabling, const struct tb_cabling_port *port)
{
	return port->is_used && tb_cabling_is_switch(cabling, port->peer);
}

// number_parts numbers those that have hosts, and leaves out the switches of others.
static int number_parts_with_hosts(struct tb_cabling *cabling, uint32_t *boss)
{
	uint32_t *number = malloc((cabling->n_devices + 1u) * sizeof *number);
	if (!number)
		return tb_cabling_no_memory(cabling);
	memset(number, 0xff, cabling->n_devices * sizeof *number);
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		const struct tb_cabling_device *at = &cabling->devices[i];
		for (size_t port = 0; port < at->n_ports; port++)
			if (at->kind != TB_DEVICE_SWITCH && !at->is_left_out &&
				leads_to_switch(cabling, &at->ports[port]))
				number[tb_cabling_boss(boss, at->ports[port].peer)] = 0;
	}
	cabling->n_parts = 0;
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		struct tb_cabling_device *at = &cabling->devices[i];
		if (!tb_cabling_is_switch(cabling, i))
			continue;
		uint32_t root = tb_cabling_boss(boss, i);
		if (number[root] == UNSEEN) {
			at->is_left_out = true;
			tb_cabling_note(cabling, TB_REMARK_NO_HOSTS, "%s", at->name);
		} else if (root == i)
			number[i] = cabling->n_parts++;
		at->part = number[root];
	}
	free(number);
	return TB_OK;
}

int tb_cabling_find_parts(struct tb_cabling *cabling, const char *of)
{
	uint32_t *boss = malloc((cabling->n_devices + 1u) * sizeof *boss), kept = 0;
	if (!boss)
		return tb_cabling_no_memory(cabling);
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		boss[i] = i;
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		for (size_t port = 0; port < cabling->devices[i].n_ports; port++) {
			const struct tb_cabling_port *at =
				&cabling->devices[i].ports[port];
			if (!leads_to_switch(cabling, at) ||
				!tb_cabling_is_switch(cabling, i))
				continue;
			uint32_t one = tb_cabling_boss(boss, i);
			uint32_t other = tb_cabling_boss(boss, at->peer);
			boss[one > other ? one : other] = one < other ? one : other;
		}
	int status = number_parts_with_hosts(cabling, boss);
	free(boss);
	bool are_all_switches = cabling->n_devices > 1 && !cabling->has_guids;
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		are_all_switches &= cabling->devices[i].kind == TB_DEVICE_SWITCH;
	if (status == TB_OK && cabling->n_parts == 0)
		status = tb_cabling_refuse_at(cabling, 0,
			are_all_switches
				? "holds no host: every device has several cables, so "
				  "say which are hosts by lines 'host NAME' in a list of "
				  "cables"
				: "holds no host that is cabled to a switch: is the "
				  "whole file there?");
	if (status == TB_OK && of)
		status = find_part(cabling, of, &kept);
	for (uint32_t i = 0; i < cabling->n_devices && status == TB_OK && of; i++)
		if (tb_cabling_is_switch(cabling, i) && cabling->devices[i].part != kept)
			cabling->devices[i].is_left_out = true;
	return status;
}

// Places the switches above the leaves, and the leaves with few hosts or none.
//
// Switches are met in waves, from the leaves with many hosts outwards. Where a wave
// arrives at a switch, it is either just above the lowest switches that it is cabled to,
// or just below them, beside the switches that lie there already. It is below when it is
// cabled like one of these, its match: the leaves of a tree share the switches above
// them, but what joins two parts of a tree has cables to both.

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
	bool is_within;	 // it has no more cables, all to where the other has some
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
			n += level[device] == UNSEEN ? level[at->peer] == UNSEEN
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
		(double)common / (double)(n + placing->n_trunks[other] - common),
		shared == n && n <= placing->n_trunks[other]};
}

// best_match looks for the best among the switches of `level` that are cabled to the same
// ones just above.
static struct cable_match best_match(
	const struct level_placing *placing, uint32_t sw, uint32_t level)
{
	const uint32_t *levels = placing->levels->level;
	uint32_t beneath = n_beneath(placing, sw);
	struct cable_match best = {false, 0, 0, false};
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
			best.is_within |= match.is_within;
			best.share = match.share > best.share ? match.share : best.share;
			best.likeness = match.likeness > best.likeness ? match.likeness
								       : best.likeness;
		}
	}
	return best;
}

// may_be_empty_leaf returns whether few enough of the switches around those of level 1
// that a switch is cabled to are without a level: beside a leaf that lost its hosts there
// are more leaves that have some, while tops are as many. Where it is cabled to one
// switch only, it must be the only one.
static bool may_be_empty_leaf(const struct level_placing *placing, uint32_t sw)
{
	const uint32_t *levels = placing->levels->level;
	uint32_t one = UNSEEN, n_leaves = 0, n_open = 0;
	bool are_several = false, are_others = false;
	for (size_t i = 0; i < n_ports(placing, sw); i++) {
		const struct tb_cabling_port *up = trunk(placing, sw, i);
		if (!up)
			continue;
		are_several |= one != UNSEEN && one != up->peer;
		one = up->peer;
		for (size_t j = 0; j < n_ports(placing, up->peer); j++) {
			const struct tb_cabling_port *at = trunk(placing, up->peer, j);
			n_leaves += at && levels[at->peer] == 0;
			n_open += at && levels[at->peer] == UNSEEN;
			are_others |= at && levels[at->peer] == UNSEEN && at->peer != sw;
		}
	}
	return are_several ? n_open < n_leaves : !are_others;
}

// decide returns the level of a switch that has a cable to one that is placed.
static uint32_t decide(struct level_placing *placing, uint32_t sw)
{
	const uint32_t *levels = placing->levels->level;
	uint32_t lowest = UNSEEN;
	struct cable_match match = {false, 0, 0, false};
	for (size_t port = 0; port < n_ports(placing, sw); port++) {
		const struct tb_cabling_port *at = trunk(placing, sw, port);
		if (!at || levels[at->peer] == UNSEEN)
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
	// A leaf that lost its hosts may have lost cables, too, or be cabled unevenly.
	is_like |= !has_hosts && lowest == 1 && match.is_within &&
		   may_be_empty_leaf(placing, sw);
	// Where nothing is below the others, they hang down themselves.
	bool is_below = lowest > 0 && (is_like || !match.is_found);
	placing->levels->is_doubtful[sw] =
		lowest > 0 && (is_below ? like <= SURE : match.share > LIKE);
	return is_below ? lowest - 1 : lowest + 1;
}

// place_switches fills in level and is_doubtful of all switches but the leaves, the first
// `n` devices of the queue, which has room for all. TB_ENOMEM.
static int place_switches(struct tb_cabling_levels *levels,
	const struct tb_cabling *cabling, const uint32_t *n_hosts,
	const uint32_t *n_trunks, uint32_t *queue, uint32_t n)
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
		for (uint32_t i = 0; i < levels->n_switches; i++)
			levels->level[levels->switches[i]] = UNSEEN;
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

// Whether the hosts reach each other by going up and then down.

enum { N_WORDS = 4, N_AT_ONCE = 64 * N_WORDS };

// Some of the switches with hosts, the `n` from `first` on: a bit each.
struct block {
	uint64_t bits[N_WORDS];
};

struct reaching {
	const struct tb_cabling *cabling;
	const struct tb_cabling_levels *levels;
	uint32_t *place;      // by device: where a switch stands in the order
	uint32_t *with_hosts; // places of the switches that have hosts, in order
	uint32_t n_with_hosts;
	struct block *met; // by place: those that a path leads from, up and then down
};

// reach_pass_block hands what one end of the cables up from a switch has met to the other
// end.
static void reach_pass_block(struct reaching *reaching, uint32_t place, bool up)
{
	const struct tb_cabling_device *at =
		&reaching->cabling->devices[reaching->levels->switches[place]];
	for (size_t port = 0; port < at->n_ports; port++) {
		uint32_t peer = at->ports[port].peer;
		if (!at->ports[port].is_used ||
			!tb_cabling_is_switch(reaching->cabling, peer) ||
			reaching->place[peer] <= place)
			continue;
		struct block *own = &reaching->met[place];
		struct block *above = &reaching->met[reaching->place[peer]];
		struct block *to = up ? above : own;
		const struct block *more = up ? own : above;
		for (int i = 0; i < N_WORDS; i++)
			to->bits[i] |= more->bits[i];
	}
}

// block_meets returns whether the block of switches from `first` on reach all others:
// what is above each is found from the bottom up, and what is below that from the top
// down.
static bool block_meets(struct reaching *reaching, uint32_t first)
{
	uint32_t n = reaching->levels->n_switches;
	struct block block = {{0}};
	memset(reaching->met, 0, n * sizeof *reaching->met);
	for (uint32_t i = 0; i < N_AT_ONCE && first + i < reaching->n_with_hosts; i++) {
		uint64_t bit = UINT64_C(1) << i % 64;
		block.bits[i / 64] |= bit;
		reaching->met[reaching->with_hosts[first + i]].bits[i / 64] |= bit;
	}
	for (uint32_t i = 0; i < n; i++)
		reach_pass_block(reaching, i, true);
	for (uint32_t i = n; i-- > 0;)
		reach_pass_block(reaching, i, false);
	for (uint32_t i = 0; i < reaching->n_with_hosts; i++)
		if (memcmp(&reaching->met[reaching->with_hosts[i]], &block,
			    sizeof *&block) != 0)
			return false;
	return true;
}

static bool has_hosts(const struct tb_cabling *cabling, uint32_t device)
{
	const struct tb_cabling_device *at = &cabling->devices[device];
	for (size_t port = 0; port < at->n_ports; port++)
		if (at->ports[port].is_used &&
			cabling->devices[at->ports[port].peer].kind != TB_DEVICE_SWITCH)
			return true;
	return false;
}

static bool reach(struct reaching *reaching)
{
	for (uint32_t i = 0; i < reaching->levels->n_switches; i++) {
		uint32_t device = reaching->levels->switches[i];
		reaching->place[device] = i;
		if (has_hosts(reaching->cabling, device))
			reaching->with_hosts[reaching->n_with_hosts++] = i;
	}
	for (uint32_t i = 0; i < reaching->n_with_hosts; i += N_AT_ONCE)
		if (!block_meets(reaching, i))
			return false;
	return true;
}

// The levels that are being found.
struct finding {
	struct tb_cabling *cabling;
	struct tb_cabling_levels *levels;
	uint32_t n_switches;	      // of all parts
	const bool *is_root;	      // by device; NULL: nobody named any
	uint32_t *n_hosts, *n_trunks; // by device
	uint32_t *queue;
	bool *is_leaf;
};

void tb_cabling_levels_fini(struct tb_cabling_levels *levels)
{
	free(levels->level);
	free(levels->switches);
	free(levels->is_doubtful);
	*levels = (struct tb_cabling_levels){0};
}

static uint32_t most_hosts(const struct finding *finding)
{
	const struct tb_cabling_levels *levels = finding->levels;
	uint32_t most = 0;
	for (uint32_t i = 0; i < levels->n_switches; i++)
		if (finding->n_hosts[levels->switches[i]] > most)
			most = finding->n_hosts[levels->switches[i]];
	return most;
}

// choose_leaves marks the leaves; where none has few enough cables to other switches,
// those with many hosts.
static void choose_leaves(struct finding *finding)
{
	const struct tb_cabling_levels *levels = finding->levels;
	uint32_t most = most_hosts(finding), n = 0;
	for (int strict = 1; strict >= 0 && n == 0; strict--)
		for (uint32_t i = 0; i < levels->n_switches; i++) {
			uint32_t sw = levels->switches[i];
			uint64_t n_hosts = finding->n_hosts[sw];
			finding->is_leaf[sw] =
				n_hosts * 4 >= most && n_hosts > 0 &&
				(!strict || n_hosts * 2 >= finding->n_trunks[sw]);
			n += finding->is_leaf[sw];
		}
}

// level_measure sets the level of each switch to its distance from those in the queue,
// the first `n`, and returns the largest.
static uint32_t level_measure(struct finding *finding, uint32_t n)
{
	const struct tb_cabling *cabling = finding->cabling;
	uint32_t *level = finding->levels->level, *queue = finding->queue;
	for (uint32_t i = 0; i < finding->levels->n_switches; i++)
		level[finding->levels->switches[i]] = UNSEEN;
	for (uint32_t i = 0; i < n; i++)
		level[queue[i]] = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_cabling_device *at = &cabling->devices[queue[i]];
		for (size_t port = 0; port < at->n_ports; port++) {
			uint32_t peer = at->ports[port].peer;
			if (!at->ports[port].is_used ||
				!tb_cabling_is_switch(cabling, peer) ||
				level[peer] != UNSEEN)
				continue;
			level[peer] = level[queue[i]] + 1;
			queue[n++] = peer;
		}
	}
	return level[queue[n - 1]];
}

// joins_leaves returns whether a switch has cables to two other leaves or more.
static bool joins_leaves(const struct finding *finding, uint32_t sw)
{
	const struct tb_cabling_device *at = &finding->cabling->devices[sw];
	uint32_t one = UNSEEN;
	for (size_t port = 0; port < at->n_ports; port++) {
		uint32_t peer = at->ports[port].peer;
		if (!at->ports[port].is_used || !finding->is_leaf[peer])
			continue;
		if (one != UNSEEN && peer != one)
			return true;
		one = peer;
	}
	return false;
}

// queue_leaves puts the leaves into the queue and returns how many there are. A leaf with
// few hosts that joins others is doubtful: it may be a spine.
static uint32_t queue_leaves(struct finding *finding)
{
	const struct tb_cabling_levels *levels = finding->levels;
	uint32_t most = most_hosts(finding), n = 0;
	for (uint32_t i = 0; i < levels->n_switches; i++) {
		uint32_t sw = levels->switches[i];
		if (!finding->is_leaf[sw])
			continue;
		finding->queue[n++] = sw;
		levels->is_doubtful[sw] = (uint64_t)finding->n_hosts[sw] * 2 < most &&
					  joins_leaves(finding, sw);
	}
	return n;
}

static uint32_t measure_from(struct finding *finding, uint32_t sw)
{
	finding->queue[0] = sw;
	return level_measure(finding, 1);
}

// turn makes distances from the top levels from the bottom.
static uint32_t turn(struct finding *finding, uint32_t highest, bool is_doubtful)
{
	struct tb_cabling_levels *levels = finding->levels;
	for (uint32_t i = 0; i < levels->n_switches; i++) {
		uint32_t *level = &levels->level[levels->switches[i]];
		*level = highest - *level;
		levels->is_doubtful[levels->switches[i]] = is_doubtful;
	}
	return highest;
}

// How many cables are followed at most to find a root: all from each switch of fabrics
// with 4,000 switches and 64,000 cables.
#define FOLLOWED_MOST (UINT64_C(1) << 28)

// hang_from_root finds the switch from which the farthest is nearest, of several the one
// with fewest hosts, and counts the levels from there. Of huge fabrics only the first
// switches are tried, so that no file takes minutes.
static uint32_t hang_from_root(struct finding *finding)
{
	struct tb_cabling_levels *levels = finding->levels;
	uint32_t root = levels->switches[0], least = UNSEEN;
	uint64_t left = FOLLOWED_MOST / (finding->cabling->n_ports + 1);
	for (uint32_t i = 0; i < levels->n_switches && left-- > 0; i++) {
		uint32_t sw = levels->switches[i], far = measure_from(finding, sw);
		if (far < least ||
			(far == least && finding->n_hosts[sw] < finding->n_hosts[root])) {
			least = far;
			root = sw;
		}
	}
	tb_cabling_note(finding->cabling, TB_REMARK_LEVELS, "%s",
		finding->cabling->devices[root].name);
	return turn(finding, measure_from(finding, root), true);
}

struct placed {
	uint32_t level, device;
	const char *name;
};

static int by_place(const void *one, const void *other)
{
	const struct placed *a = one, *b = other;
	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	int order =
		tb_cabling_compare(a->name, strlen(a->name), b->name, strlen(b->name));
	if (order != 0)
		return order;
	return a->device < b->device ? -1 : a->device > b->device;
}

static int order(struct finding *finding, uint32_t highest)
{
	struct tb_cabling_levels *levels = finding->levels;
	struct placed *placed = malloc((levels->n_switches + 1u) * sizeof *placed);
	if (!placed)
		return tb_cabling_no_memory(finding->cabling);
	for (uint32_t i = 0; i < levels->n_switches; i++) {
		uint32_t sw = levels->switches[i];
		placed[i] = (struct placed){
			levels->level[sw], sw, finding->cabling->devices[sw].name};
	}
	qsort(placed, levels->n_switches, sizeof *placed, by_place);
	for (uint32_t i = 0; i < levels->n_switches; i++)
		levels->switches[i] = placed[i].device;
	levels->n_levels = highest + 1;
	free(placed);
	return TB_OK;
}

// try_levels orders the switches by the levels that were measured: 1 when every host
// reaches every other, 0 when not.
static int try_levels(struct finding *finding, uint32_t highest)
{
	int status = order(finding, highest);
	if (status != TB_OK)
		return status;
	// 1 when a path leads up and then down between every two switches with hosts, by
	// the order of `levels`. Cost: cables times switches with hosts, 256 of these at
	// once; memory grows with devices.
	const struct tb_cabling *cabling = finding->cabling;
	size_t n = finding->levels->n_switches + 1u;
	struct reaching reaching = {.cabling = cabling,
		.levels = finding->levels,
		.place = malloc((cabling->n_devices + 1u) * sizeof *reaching.place),
		.with_hosts = malloc(n * sizeof *reaching.with_hosts),
		.met = malloc(n * sizeof *reaching.met)};
	int reaches = TB_ENOMEM;
	if (reaching.place && reaching.with_hosts && reaching.met)
		reaches = reach(&reaching);
	else
		tb_cabling_no_memory(cabling);
	free(reaching.place);
	free(reaching.with_hosts);
	free(reaching.met);
	return reaches;
}

// find_from_roots counts the levels from the roots that were named.
static int find_from_roots(struct finding *finding)
{
	const struct tb_cabling_levels *levels = finding->levels;
	uint32_t n = 0;
	for (uint32_t i = 0; i < levels->n_switches; i++)
		if (finding->is_root[levels->switches[i]])
			finding->queue[n++] = levels->switches[i];
	int reaches =
		try_levels(finding, turn(finding, level_measure(finding, n), false));
	if (reaches == 0)
		return tb_cabling_refuse_at(finding->cabling, 0,
			"by the roots that are named not every host reaches every other "
			"by going up and then down: is one missing?");
	return reaches < 0 ? reaches : TB_OK;
}

// find_from_leaves counts them from the leaves: by how all other switches are cabled; if
// by these not every host reaches every other, by distance; or else from a root.
static int find_from_leaves(struct finding *finding)
{
	struct tb_cabling_levels *levels = finding->levels;
	uint32_t highest = 0;
	choose_leaves(finding);
	int reaches = place_switches(levels, finding->cabling, finding->n_hosts,
		finding->n_trunks, finding->queue, queue_leaves(finding));
	if (reaches != TB_OK)
		return reaches;
	for (uint32_t i = 0; i < levels->n_switches; i++)
		if (levels->level[levels->switches[i]] > highest)
			highest = levels->level[levels->switches[i]];
	reaches = try_levels(finding, highest);
	if (reaches == 0)
		reaches = try_levels(
			finding, level_measure(finding, queue_leaves(finding)));
	if (reaches == 0)
		reaches = try_levels(finding, hang_from_root(finding));
	return reaches < 0 ? reaches : TB_OK;
}

static void note_doubts(const struct finding *finding)
{
	const struct tb_cabling_levels *levels = finding->levels;
	for (uint32_t i = 0; i < levels->n_switches; i++)
		if (levels->is_doubtful[levels->switches[i]])
			tb_cabling_note(finding->cabling, TB_REMARK_DOUBTFUL_LEVEL,
				"%s, taken for level %u",
				finding->cabling->devices[levels->switches[i]].name,
				levels->level[levels->switches[i]]);
}

// list_by_part lists the switches, those of a part together.
static int list_by_part(struct finding *finding, uint32_t *switches)
{
	const struct tb_cabling *cabling = finding->cabling;
	uint32_t *next = calloc(cabling->n_parts + 1u, sizeof *next);
	if (!next)
		return tb_cabling_no_memory(cabling);
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		if (tb_cabling_is_switch(cabling, i)) {
			next[cabling->devices[i].part + 1]++;
			finding->n_switches++;
		}
	for (uint32_t part = 1; part < cabling->n_parts; part++)
		next[part] += next[part - 1];
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		if (tb_cabling_is_switch(cabling, i))
			switches[next[cabling->devices[i].part]++] = i;
	free(next);
	return TB_OK;
}

// level_find_part finds the levels of a part, whose switches follow those of the parts
// before it.
static int level_find_part(
	struct finding *finding, struct tb_cabling_levels *all, uint32_t part)
{
	const struct tb_cabling *cabling = finding->cabling;
	struct tb_cabling_levels *levels = finding->levels;
	uint64_t n_hanging = cabling->remarks[TB_REMARK_LEVELS].n;
	bool has_root = false;
	*levels = (struct tb_cabling_levels){.level = all->level,
		.switches = all->switches + all->n_switches,
		.is_doubtful = all->is_doubtful};
	for (; all->n_switches + levels->n_switches < finding->n_switches;
		levels->n_switches++) {
		uint32_t i = levels->switches[levels->n_switches];
		const struct tb_cabling_device *at = &cabling->devices[i];
		if (at->part != part)
			break;
		has_root |= finding->is_root && finding->is_root[i];
		for (size_t port = 0; port < at->n_ports; port++) {
			if (!at->ports[port].is_used)
				continue;
			if (tb_cabling_is_switch(cabling, at->ports[port].peer))
				finding->n_trunks[i]++;
			else
				finding->n_hosts[i]++;
		}
	}
	if (levels->n_switches == 0)
		return TB_OK;
	int status = has_root ? find_from_roots(finding) : find_from_leaves(finding);
	if (status != TB_OK)
		return status;
	if (cabling->remarks[TB_REMARK_LEVELS].n == n_hanging)
		note_doubts(finding);
	if (levels->n_levels > LEVELS_MOST)
		return tb_fail_in(cabling->error, TB_ECAPACITY, cabling->file,
			"has %u levels, and at most %d are simulated", levels->n_levels,
			LEVELS_MOST);
	all->n_switches += levels->n_switches;
	all->n_levels =
		levels->n_levels > all->n_levels ? levels->n_levels : all->n_levels;
	return TB_OK;
}

int tb_cabling_levels_init(
	struct tb_cabling_levels *levels, struct tb_cabling *cabling, const bool *is_root)
{
	size_t n = cabling->n_devices + 1u;
	*levels = (struct tb_cabling_levels){0};
	struct tb_cabling_levels part_levels = {0};
	struct finding finding = {.cabling = cabling,
		.levels = &part_levels,
		.is_root = is_root,
		.n_hosts = calloc(n, sizeof *finding.n_hosts),
		.n_trunks = calloc(n, sizeof *finding.n_trunks),
		.queue = malloc(n * sizeof *finding.queue),
		.is_leaf = calloc(n, sizeof *finding.is_leaf)};
	levels->level = malloc(n * sizeof *levels->level);
	levels->switches = malloc(n * sizeof *levels->switches);
	levels->is_doubtful = calloc(n, sizeof *levels->is_doubtful);
	bool has_memory = finding.n_hosts && finding.n_trunks && finding.queue &&
			  finding.is_leaf && levels->level && levels->switches &&
			  levels->is_doubtful;
	int status = has_memory ? list_by_part(&finding, levels->switches)
				: tb_cabling_no_memory(cabling);
	for (uint32_t part = 0; part < cabling->n_parts && status == TB_OK; part++)
		status = level_find_part(&finding, levels, part);
	free(finding.n_hosts);
	free(finding.n_trunks);
	free(finding.queue);
	free(finding.is_leaf);
	if (status != TB_OK)
		tb_cabling_levels_fini(levels);
	return status;
}
