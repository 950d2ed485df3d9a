#include "cabling_impl.h"

#include <stdlib.h>
#include <string.h>

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

int tb_cabling_reach(
	const struct tb_cabling *cabling, const struct tb_cabling_levels *levels)
{
	size_t n = levels->n_switches + 1u;
	struct reaching reaching = {.cabling = cabling,
		.levels = levels,
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
