// Makes samples of links.
#include "measured_impl.h"

#include <math.h>
#include <stdio.h>

// The sum of the times of all links has to fit.
#define SUMS_MOST 4e18

// Counters and clocks are read one after the other: so much more than all is all.
#define SLACK 1.05

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
	uint64_t all = (uint64_t)measured->interval_ps, divisor = measured->divisor;
	uint64_t busy = measured_time_ps(link->bytes.amount, 1, at.bytes_per_s);
	uint64_t stall =
		link->stall_ps.known == TB_NOT_MEASURED ? 0 : link->stall_ps.amount;
	if ((double)stall > (double)all * SLACK)
		note_link(measuring, &measuring->long_stall, i);
	if ((double)busy > (double)all * SLACK)
		note_link(measuring, &measuring->too_fast, i);
	stall = (stall < all ? stall : all) / divisor;
	measured->known[i] = (struct tb_link_known){link->stall_ps.known,
		link->bytes.known, link->packets.known, TB_NOT_MEASURED};
	measured->links[i] = (struct tb_link_sample){.link = {i},
		.wait_for_ps = stall,
		.stall_ps = stall,
		.busy_ps = (busy < all ? busy : all) / divisor,
		.bytes = link->bytes.amount / divisor,
		.n_packets = link->packets.amount / divisor};
}

void measuring_samples(struct measuring *measuring)
{
	struct tb_measured *measured = measuring->measured;
	uint32_t n = tb_network_n_links(measured->network);
	double sums = (double)measured->interval_ps * n;
	measured->divisor = sums > SUMS_MOST ? (uint64_t)ceil(sums / SUMS_MOST) : 1;
	for (uint32_t i = 0; i < n; i++)
		make_sample(measuring, i);
}
