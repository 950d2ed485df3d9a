// Finds the messages between machines, by which their clocks are corrected (tbt_clock.h):
// sends and receives paired in their order by source, destination, communicator and tag,
// and collective calls in which everybody waits for everybody.
#ifndef TB_TBT_LINKS_H
#define TB_TBT_LINKS_H

#include "tbt_clock.h"
#include "tbt_groups.h"
#include "tbt_rank_file.h"

struct tb_tbt_links; // opaque

// tb_tbt_links_new: `clock_of` is the clock of each of the ranks; it and `groups` are
// borrowed until the links are freed.
int tb_tbt_links_new(struct tb_tbt_links **links, const struct tb_tbt_groups *groups,
	const uint32_t *clock_of, struct tb_error *error) TB_MUST_USE;
void tb_tbt_links_free(struct tb_tbt_links *links);

// tb_tbt_links_rank takes what a rank did, whose communicators the groups know already.
// Memory: 8 bytes per message with another machine.
int tb_tbt_links_rank(struct tb_tbt_links *links, const struct tb_tbt_rank *file,
	struct tb_error *error) TB_MUST_USE;

// tb_tbt_links_tell gives the clocks the messages, when all ranks are taken.
int tb_tbt_links_tell(const struct tb_tbt_links *links, struct tb_tbt_clocks *clocks,
	struct tb_error *error) TB_MUST_USE;

#endif
