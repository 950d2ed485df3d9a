#include "cabling_impl.h"

#include "cabling_names.h"

#include <stdlib.h>
#include <string.h>

#define UNSEEN UINT32_MAX

enum { LEVELS_MOST = 64 };

// The levels that are being found.
struct finding {
	struct tb_cabling *cabling;
	struct tb_cabling_levels *levels;
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

bool tb_cabling_is_switch(const struct tb_cabling *cabling, uint32_t device)
{
	return cabling->devices[device].kind == TB_DEVICE_SWITCH &&
	       !cabling->devices[device].is_left_out;
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
	memset(level, 0xff, cabling->n_devices * sizeof *level);
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

// hang_from_root finds the switch from which the farthest is nearest, of several the one
// with fewest hosts, and counts the levels from there.
static uint32_t hang_from_root(struct finding *finding)
{
	struct tb_cabling_levels *levels = finding->levels;
	uint32_t root = levels->switches[0], least = UNSEEN;
	for (uint32_t i = 0; i < levels->n_switches; i++) {
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
	return status == TB_OK ? tb_cabling_reach(finding->cabling, finding->levels)
			       : status;
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
		return tb_cabling_refuse(finding->cabling, 0,
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
	int reaches = tb_cabling_place(levels, finding->cabling, finding->n_hosts,
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

static int level_find_all(struct finding *finding)
{
	const struct tb_cabling_levels *levels = finding->levels;
	const struct tb_cabling *cabling = finding->cabling;
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		const struct tb_cabling_device *at = &cabling->devices[i];
		if (!tb_cabling_is_switch(cabling, i))
			continue;
		finding->levels->switches[finding->levels->n_switches++] = i;
		for (size_t port = 0; port < at->n_ports; port++) {
			if (!at->ports[port].is_used)
				continue;
			if (tb_cabling_is_switch(cabling, at->ports[port].peer))
				finding->n_trunks[i]++;
			else
				finding->n_hosts[i]++;
		}
	}
	int status =
		finding->is_root ? find_from_roots(finding) : find_from_leaves(finding);
	if (status != TB_OK)
		return status;
	if (finding->cabling->remarks[TB_REMARK_LEVELS].n == 0)
		note_doubts(finding);
	if (levels->n_levels > LEVELS_MOST)
		return tb_fail_in(finding->cabling->error, TB_ECAPACITY,
			finding->cabling->file,
			"has %u levels, and at most %d are simulated", levels->n_levels,
			LEVELS_MOST);
	return TB_OK;
}

int tb_cabling_levels_init(
	struct tb_cabling_levels *levels, struct tb_cabling *cabling, const bool *is_root)
{
	size_t n = cabling->n_devices + 1u;
	*levels = (struct tb_cabling_levels){0};
	struct finding finding = {.cabling = cabling,
		.levels = levels,
		.is_root = is_root,
		.n_hosts = calloc(n, sizeof *finding.n_hosts),
		.n_trunks = calloc(n, sizeof *finding.n_trunks),
		.queue = malloc(n * sizeof *finding.queue),
		.is_leaf = calloc(n, sizeof *finding.is_leaf)};
	levels->level = malloc(n * sizeof *levels->level);
	levels->switches = malloc(n * sizeof *levels->switches);
	levels->is_doubtful = calloc(n, sizeof *levels->is_doubtful);
	int status = TB_OK;
	if (!finding.n_hosts || !finding.n_trunks || !finding.queue || !finding.is_leaf ||
		!levels->level || !levels->switches || !levels->is_doubtful)
		status = tb_cabling_no_memory(cabling);
	if (status == TB_OK)
		status = level_find_all(&finding);
	free(finding.n_hosts);
	free(finding.n_trunks);
	free(finding.queue);
	free(finding.is_leaf);
	if (status != TB_OK)
		tb_cabling_levels_fini(levels);
	return status;
}
