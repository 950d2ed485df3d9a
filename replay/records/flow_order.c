#include "flow_order.h"

#include <stdlib.h>

// The samples are 120 bytes each, so what is sorted is where they stand.
struct flow_place {
	uint64_t key;
	size_t flow;
};

// sort_byte sorts by one byte of the keys; places with the same one keep their order.
static void sort_byte(
	const struct flow_place *from, size_t n, struct flow_place *to, unsigned shift)
{
	size_t next[256] = {0}, sum = 0;
	for (size_t i = 0; i < n; i++)
		next[from[i].key >> shift & 255]++;
	for (size_t byte = 0; byte < 256; byte++) {
		size_t n_of = next[byte];
		next[byte] = sum;
		sum += n_of;
	}
	for (size_t i = 0; i < n; i++)
		to[next[from[i].key >> shift & 255]++] = from[i];
}

int tb_flows_in_order(
	const struct tb_flow_sample *flows, size_t n, struct tb_flow_sample *sorted)
{
	struct flow_place *both = malloc((2 * n + 1) * sizeof *both);
	struct flow_place *places = both, *other = both + n;
	uint64_t differs = 0;
	if (!both)
		return TB_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t key = tb_flow_key(
			flows[i].job, flows[i].source.id, flows[i].destination.id);
		places[i] = (struct flow_place){key, i};
		differs |= key ^ places[0].key;
	}
	for (unsigned shift = 0; shift < 64; shift += 8) {
		if ((differs >> shift & 255) == 0)
			continue;
		sort_byte(places, n, other, shift);
		struct flow_place *swapped = places;
		places = other;
		other = swapped;
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = flows[places[i].flow];
	free(both);
	return TB_OK;
}
