#include "distances.h"

#include <stdlib.h>
#include <string.h>

#define FAR TB_DISTANCES_FAR

int tb_distances_init(struct tb_distances *distances, const struct tb_network *net,
	const tb_time_ps *dead_at, tb_time_ps at)
{
	*distances = (struct tb_distances){.net = net, .dead_at = dead_at, .at = at};
	distances->order = malloc(net->n_switches * sizeof *distances->order);
	distances->down = malloc(net->n_switches * sizeof *distances->down);
	distances->any = malloc(net->n_switches * sizeof *distances->any);
	if (!distances->order || !distances->down || !distances->any) {
		tb_distances_fini(distances);
		return TB_ENOMEM;
	}
	uint32_t *order = distances->order;
	uint32_t n = 0;
	for (uint32_t level = 0; level < net->n_levels; level++)
		for (uint32_t sw = 0; sw < net->n_switches; sw++)
			if (net->switches[sw].level == level)
				order[n++] = sw;
	return TB_OK;
}

void tb_distances_fini(struct tb_distances *distances)
{
	free(distances->order);
	free(distances->down);
	free(distances->any);
	*distances = (struct tb_distances){0};
}

// leads returns whether a cable joins the port to another switch and is alive.
static bool leads(const struct tb_distances *distances, uint32_t link)
{
	if (link == TB_ID_NONE || distances->net->links[link].kind == TB_LINK_EJECTION)
		return false;
	return tb_distances_has(distances, link);
}

// nearest is one more than the least of `behind` over the ports [first, end).
static uint16_t nearest(const struct tb_distances *distances, const uint16_t *behind,
	uint32_t first, uint32_t end)
{
	uint16_t best = FAR;
	for (uint32_t port = first; port < end; port++) {
		uint32_t link = distances->net->out_links[port];
		if (leads(distances, link) &&
			behind[distances->net->links[link].to] < best)
			best = behind[distances->net->links[link].to];
	}
	return best == FAR ? FAR : (uint16_t)(best + 1);
}

static uint32_t first_up(const struct tb_network *net, uint32_t sw)
{
	return net->first_out[sw] + net->switches[sw].n_down_ports;
}

void tb_distances_measure(struct tb_distances *distances, uint32_t home)
{
	const struct tb_network *net = distances->net;
	distances->home = home;
	for (uint32_t i = 0; i < net->n_switches; i++) {
		uint32_t sw = distances->order[i];
		distances->down[sw] =
			sw == home ? 0
				   : nearest(distances, distances->down,
					     net->first_out[sw], first_up(net, sw));
	}
	for (uint32_t i = net->n_switches; i-- > 0;) {
		uint32_t sw = distances->order[i];
		distances->any[sw] = distances->down[sw];
		if (distances->any[sw] == FAR)
			distances->any[sw] = nearest(distances, distances->any,
				first_up(net, sw), net->first_out[sw + 1]);
	}
}

// Down where the home is below at all: a header that descends must not turn up again.
uint32_t tb_distances_on(
	const struct tb_distances *distances, uint32_t sw, uint32_t *links)
{
	const struct tb_network *net = distances->net;
	bool below = distances->down[sw] != FAR;
	const uint16_t *behind = below ? distances->down : distances->any;
	uint32_t port = below ? net->first_out[sw] : first_up(net, sw);
	uint32_t end = below ? first_up(net, sw) : net->first_out[sw + 1];
	uint32_t n = 0;
	for (; distances->any[sw] != FAR && port < end; port++) {
		uint32_t link = net->out_links[port];
		if (leads(distances, link) &&
			behind[net->links[link].to] + 1 == distances->any[sw])
			links[n++] = link;
	}
	return n;
}
