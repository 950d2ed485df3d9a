// Makes samples of links, times or relative.
#include "measured_impl.h"

#include <math.h>
#include <stdio.h>

// The sum of the times of all links has to fit.
#define SUMS_MOST 4e18

// Counters and clocks are read one after the other: so much more than all is all.
#define SLACK 1.05

// relate decides whether times are times or relative, and makes them so.
static void relate(struct measuring *measuring)
{
	struct tb_measured *measured = measuring->measured;
	uint32_t n = tb_network_n_links(measured->network);
	double worst = 0;
	for (uint32_t i = 0; i < n; i++) {
		measured->has_stall |= measuring->links[i].has_stall;
		worst = fmax(worst, measuring->links[i].frames);
	}
	if (measured->has_stall || worst == 0)
		return;
	measured->has_stall = measured->is_relative = true;
	for (uint32_t i = 0; i < n; i++)
		measuring->links[i].stall = measuring->links[i].frames / worst *
					    (double)measured->interval_ps;
}

static void note_link(const struct measuring *measuring, struct case_of *what, uint32_t i)
{
	struct tb_link_info at =
		tb_network_link(measuring->measured->network, (struct tb_link){i});
	const char *name =
		at.kind == TB_LINK_INJECTION
			? tb_network_node_identity(
				  measuring->measured->network, (struct tb_node){at.from})
				  .name
			: tb_network_switch_identity(measuring->measured->network,
				  (struct tb_switch){at.from})
				  .name;
	if (what->n++ == 0)
		snprintf(what->first, sizeof what->first, "the link from %s, port %u",
			*name ? name : "a device without name",
			at.kind == TB_LINK_INJECTION
				? 1
				: tb_network_port_number(measuring->measured->network,
					  (struct tb_switch){at.from}, at.from_port));
}

static void make_sample(struct measuring *measuring, uint32_t i)
{
	struct tb_measured *measured = measuring->measured;
	const struct link_state *link = &measuring->links[i];
	struct tb_link_info at = tb_network_link(measured->network, (struct tb_link){i});
	double all = (double)measured->interval_ps, divisor = (double)measured->divisor;
	double busy = (double)link->bytes * 1e12 / (double)at.bytes_per_s;
	if (link->stall > all * SLACK)
		note_link(measuring, &measuring->long_stall, i);
	if (busy > all * SLACK)
		note_link(measuring, &measuring->too_fast, i);
	uint64_t stall = (uint64_t)(fmin(link->stall, all) / divisor);
	measured->is_measured[i] = link->is_measured;
	measured->tells_stall[i] = link->has_stall || measured->is_relative;
	measured->links[i] = (struct tb_link_sample){.link = {i},
		.wait_for_ps = stall,
		.stall_ps = stall,
		.busy_ps = (uint64_t)(fmin(busy, all) / divisor),
		.bytes = link->bytes / measured->divisor,
		.n_packets = link->packets / measured->divisor};
}

void measuring_samples(struct measuring *measuring)
{
	relate(measuring);
	struct tb_measured *measured = measuring->measured;
	uint32_t n = tb_network_n_links(measured->network);
	double sums = (double)measured->interval_ps * n;
	measured->divisor = sums > SUMS_MOST ? (uint64_t)ceil(sums / SUMS_MOST) : 1;
	for (uint32_t i = 0; i < n; i++)
		make_sample(measuring, i);
}
