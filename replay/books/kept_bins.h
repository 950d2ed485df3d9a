// Kept bins: the samples of closed time bins, packed, until the width of the bins is
// final. Private to replay/.
//
// A bin's samples are sorted by link. Packed, a sample takes some 20 bytes instead of 56:
// every figure as many as it needs, links by their distance. Two neighbouring bins are
// merged in place. Cost: some 40 ns a sample to keep, and the same to read it.
#ifndef TB_KEPT_BINS_H
#define TB_KEPT_BINS_H

#include "observer.h"

#include <stdbool.h>

struct tb_kept_bins { // zeroed: none
	unsigned char *bytes;
	size_t n_bytes, room;
	size_t last;	      // byte at which the bin begun last begins
	uint32_t link;	      // of its last sample
	unsigned char *first; // of two bins to be merged
	size_t first_room;
};

void tb_kept_bins_fini(struct tb_kept_bins *kept);

// tb_kept_bins_begin begins bin number `bin`, greater than those before it; any number of
// tb_kept_bins_add add its samples, sorted by link. A bin without any is left out.
// TB_ENOMEM.
int tb_kept_bins_begin(struct tb_kept_bins *kept, uint32_t bin) TB_MUST_USE;
int tb_kept_bins_add(struct tb_kept_bins *kept, const struct tb_link_sample *samples,
	uint32_t n) TB_MUST_USE;

// tb_kept_bins_read reads the bin that begins at byte `from` into `samples`, which has
// room for all links; returns the byte after it.
size_t tb_kept_bins_read(const struct tb_kept_bins *kept, size_t from, uint32_t *bin,
	struct tb_link_sample *samples, uint32_t *n);

// tb_kept_bins_widen merges bins 2b and 2b + 1 into b. TB_ENOMEM, with which bins are
// lost.
int tb_kept_bins_widen(struct tb_kept_bins *kept) TB_MUST_USE;

#endif
