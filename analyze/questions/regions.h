// Percent time stalled of every link, and congestion regions: neighbouring links that are
// stalled for about the same share of the time.
//
// Both as Jha et al. define them (Measuring Congestion in High-Performance Datacenter
// Interconnects, NSDI 2020, 3.2 and 3.3), with the values of their program Monet. The
// percent time stalled is the share of the time in which a link was stalled. A region
// grows from a seed by neighbours whose percent differs by no more than TB_REGION_STEP
// points from the link that they join; then neighbouring regions merge whose means differ
// by no more than TB_REGION_MERGE points. A region is as congested as its mean says.
//
// What differs here. The paper's links join routers of a torus, and those within two hops
// of each other are neighbours; here two links are when they begin or end at one switch.
// Seeds are taken by percent, largest first, ties by link, and merging goes over the
// regions in this order until nothing merges, so the result is the same every time. Links
// at or below TB_STALL_LOW belong to no region. The paper drops regions of fewer than 20
// of its 41,472 links; here the smallest is one link.
//
// A Cray link is stalled when it has flits to send and no credit. A link of circuits is
// when one of its VCs is held and nothing moves (docs/model.md): besides what waits
// further on, it counts the acknowledgement on its way back. So a link that carries full
// packets one after the other is stalled for up to 17 % of the time without any wait
// (QsNet, complement traffic on 64 nodes, measured): a region of little wait is busy, not
// congested.
#ifndef TB_REGIONS_H
#define TB_REGIONS_H

#include "run.h"

// Of the levels, in percent of the time: not above is negligible, low, medium; above the
// last is high.
#define TB_STALL_LOW	5.0
#define TB_STALL_MEDIUM 15.0
#define TB_STALL_HIGH	25.0

#define TB_REGION_STEP	4.0 // points, from a link to the next of its region
#define TB_REGION_MERGE 4.0 // points, between the means of two regions

enum tb_stall_level {
	TB_STALLED_HARDLY,
	TB_STALLED_LOW,
	TB_STALLED_MEDIUM,
	TB_STALLED_HIGH
};

// tb_stall_level_of returns the level of a percent time stalled; its name is
// "negligible", "low", "medium" or "high".
enum tb_stall_level tb_stall_level_of(double percent);
const char *tb_stall_level_name(enum tb_stall_level level);

struct tb_region {
	enum tb_stall_level level;
	double percent;	      // time stalled, mean over its links
	struct tb_link worst; // the most stalled; ties by link
	uint32_t n_links;
	uint32_t n_of_kind[4];	    // by enum tb_link_kind
	uint64_t stall_ps, wait_ps; // sums; the wait that leads in the run (run.h)
};

struct tb_regions {
	double *percent;	   // time stalled of every link, by link, 0..100
	uint32_t *region_of;	   // index below n by link, TB_ID_NONE of links in none
	struct tb_region *regions; // longest wait, then longest stall first
	uint32_t n;
};

// tb_regions_init finds the regions of a window. Cost: some passes over the links, and
// quadratic in a switch's links. Errors as of tb_run_look, whose samples it voids;
// TB_ENOMEM. tb_regions_fini frees them; a zeroed struct is fine to free.
int tb_regions_init(struct tb_regions *regions, struct tb_run *run,
	struct tb_window window, struct tb_error *error) TB_MUST_USE;
void tb_regions_fini(struct tb_regions *regions);

// tb_region_text writes what a region consists of: "64 links from nodes, 16 links up
// and 4 links down". Returns `buffer`; 160 bytes suffice.
char *tb_region_text(const struct tb_region *region, char *buffer, size_t size);

#endif
