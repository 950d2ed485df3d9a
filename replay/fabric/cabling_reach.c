#include "cabling_impl.h"

#include <stdlib.h>

// For each switch, by its place in the order: those that lie above it, itself included.
struct above {
	uint64_t *bits; // n x n_words
	size_t n, n_words;
	uint32_t *place; // by device
	bool *has_hosts;
};

static uint64_t *row(const struct above *above, size_t place)
{
	return &above->bits[place * above->n_words];
}

// fill goes from the top down, so that all that a switch's up cables lead to is known.
static void fill(const struct above *above, const struct tb_cabling *cabling,
	const struct tb_cabling_levels *levels)
{
	for (size_t i = above->n; i-- > 0;) {
		const struct tb_cabling_device *at =
			&cabling->devices[levels->switches[i]];
		uint64_t *own = row(above, i);
		own[i / 64] |= UINT64_C(1) << i % 64;
		for (size_t port = 0; port < at->n_ports; port++) {
			if (!at->ports[port].is_used)
				continue;
			uint32_t peer = at->ports[port].peer;
			bool is_host = cabling->devices[peer].kind != TB_DEVICE_SWITCH;
			above->has_hosts[i] |= is_host;
			if (is_host || above->place[peer] <= i)
				continue;
			const uint64_t *up = row(above, above->place[peer]);
			for (size_t word = i / 64; word < above->n_words; word++)
				own[word] |= up[word];
		}
	}
}

// is_common returns whether one switch lies above all that have hosts.
static bool is_common(const struct above *above)
{
	for (size_t word = 0; word < above->n_words; word++) {
		uint64_t common = UINT64_MAX;
		for (size_t i = 0; i < above->n; i++)
			if (above->has_hosts[i])
				common &= row(above, i)[word];
		if (common)
			return true;
	}
	return false;
}

static bool meet(const struct above *above, size_t one, size_t other)
{
	const uint64_t *a = row(above, one), *b = row(above, other);
	for (size_t word = other / 64; word < above->n_words; word++)
		if (a[word] & b[word])
			return true;
	return false;
}

static bool all_meet(const struct above *above)
{
	for (size_t i = 0; i < above->n; i++)
		for (size_t j = i + 1; above->has_hosts[i] && j < above->n; j++)
			if (above->has_hosts[j] && !meet(above, i, j))
				return false;
	return true;
}

int tb_cabling_reach(
	const struct tb_cabling *cabling, const struct tb_cabling_levels *levels)
{
	struct above above = {.n = levels->n_switches,
		.n_words = levels->n_switches / 64 + 1u,
		.place = malloc((cabling->n_devices + 1u) * sizeof *above.place),
		.has_hosts = calloc(levels->n_switches + 1u, sizeof *above.has_hosts)};
	above.bits = calloc(above.n + 1, above.n_words * sizeof *above.bits);
	int reaches = TB_ENOMEM;
	if (above.bits && above.place && above.has_hosts) {
		for (uint32_t i = 0; i < levels->n_switches; i++)
			above.place[levels->switches[i]] = i;
		fill(&above, cabling, levels);
		reaches = is_common(&above) || all_meet(&above);
	} else {
		tb_cabling_no_memory(cabling);
	}
	free(above.bits);
	free(above.place);
	free(above.has_hosts);
	return reaches;
}
