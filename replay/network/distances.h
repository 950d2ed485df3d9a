// Distances: how many links lie between each switch and one home switch, by shortest
// paths that ascend and then descend over links that are alive. Private to replay/.
//
// Cost: a measurement looks at every link once. Memory: 8 bytes per switch.
#ifndef TB_DISTANCES_H
#define TB_DISTANCES_H

#include "network_impl.h"

struct tb_distances {
	const struct tb_network *net;
	const tb_time_ps *dead_at; // by link; NULL: all links live for ever
	tb_time_ps at;		   // links that are dead by then lead nowhere
	uint32_t home;		   // the switch measured to
	uint32_t *order;	   // switches, lowest level first
	uint16_t *down, *any;	   // links to the home, down only and at all
};

#define TB_DISTANCES_FAR UINT16_MAX // the home is not below, or is out of reach

// tb_distances_init borrows network and `dead_at`.
int tb_distances_init(struct tb_distances *distances, const struct tb_network *net,
	const tb_time_ps *dead_at, tb_time_ps at) TB_MUST_USE;
void tb_distances_fini(struct tb_distances *distances);

// tb_distances_has returns whether a link is alive then.
static inline bool tb_distances_has(const struct tb_distances *distances, uint32_t link)
{
	return !distances->dead_at || distances->dead_at[link] > distances->at;
}

// tb_distances_measure fills `down` and `any` for the paths to the switch `home`.
void tb_distances_measure(struct tb_distances *distances, uint32_t home);

// tb_distances_on writes the links that lead on from a switch other than the home, in the
// order of ports, and returns how many; `links` has room for all of its ports.
uint32_t tb_distances_on(
	const struct tb_distances *distances, uint32_t sw, uint32_t *links);

#endif
