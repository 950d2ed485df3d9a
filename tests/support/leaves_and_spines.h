// A fabric of two levels, with holes: for the tests of what is said about fabrics.
#ifndef LEAVES_AND_SPINES_H
#define LEAVES_AND_SPINES_H

#include "network_builder.h"
#include "preset.h"

#include <stdio.h>
#include <stdlib.h>

struct leaves_and_spines {
	const char *preset;
	uint32_t leaves, hosts;	 // of each leaf
	uint32_t spines, cables; // between each leaf and each spine
	uint32_t spine_hosts;	 // on the first spine
	uint64_t holes; // bit (leaf * spines + spine) * cables + cable: it is missing
	uint64_t slow_hosts; // bit by host of a leaf: a quarter of the rate
	uint64_t slow;	     // likewise: half the rate
};

static inline void leaves_check(int status, const struct tb_error *error)
{
	if (status != TB_OK) {
		fprintf(stderr, "%s\n", error->text);
		abort();
	}
}

static inline void leaves_cable(struct tb_network_builder *builder,
	const struct leaves_and_spines *shape, const struct tb_switch *leaf,
	const struct tb_switch *spine, uint32_t number)
{
	uint32_t per_leaf = shape->spines * shape->cables;
	uint32_t from = number / per_leaf, to = number % per_leaf / shape->cables;
	struct tb_network_params params;
	struct tb_error error = {0};
	leaves_check(tb_network_preset(&params, shape->preset, &error), &error);
	struct tb_cable cable = {.bytes_per_s = params.link_bytes_per_s};
	if (number < 64 && shape->slow >> number & 1)
		cable.bytes_per_s /= 2;
	if (number < 64 && shape->holes >> number & 1)
		return;
	leaves_check(
		tb_network_add_cable(builder, leaf[from],
			shape->hosts + number % per_leaf, spine[to],
			from * shape->cables + number % shape->cables, &cable, &error),
		&error);
}

// leaves_new builds it: leaves first, then spines; hosts leaf by leaf, then those of the
// spine.
static inline struct tb_network *leaves_new(struct leaves_and_spines shape)
{
	struct tb_network_params params;
	struct tb_network_builder *builder = NULL;
	struct tb_network *net = NULL;
	struct tb_switch leaf[32], spine[32];
	struct tb_error error = {0};
	uint32_t up = shape.spines * shape.cables, down = shape.leaves * shape.cables;
	leaves_check(tb_network_preset(&params, shape.preset, &error), &error);
	leaves_check(tb_network_builder_new(&builder, &params, &error), &error);
	for (uint32_t i = 0; i < shape.leaves; i++)
		leaves_check(tb_network_add_switch(
				     builder, 0, shape.hosts, up, &leaf[i], &error),
			&error);
	for (uint32_t i = 0; i < shape.spines; i++)
		leaves_check(
			tb_network_add_switch(builder, 1,
				down + (i ? 0 : shape.spine_hosts), 0, &spine[i], &error),
			&error);
	for (uint32_t i = 0; i < shape.leaves * shape.hosts; i++) {
		struct tb_cable cable = {.bytes_per_s = params.link_bytes_per_s};
		if (i < 64 && shape.slow_hosts >> i & 1)
			cable.bytes_per_s /= 4;
		leaves_check(tb_network_add_node(builder, leaf[i / shape.hosts],
				     i % shape.hosts, &cable, &error),
			&error);
	}
	for (uint32_t i = 0; i < shape.spine_hosts; i++)
		leaves_check(
			tb_network_add_node(builder, spine[0], down + i, NULL, &error),
			&error);
	for (uint32_t i = 0; i < shape.leaves * up; i++)
		leaves_cable(builder, &shape, leaf, spine, i);
	leaves_check(tb_network_finish(builder, &net, &error), &error);
	tb_network_builder_free(builder);
	return net;
}

#endif
