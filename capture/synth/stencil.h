// The pattern `stencil` (synth.h), whose ranks exchange with their neighbours in rounds.
#ifndef TB_STENCIL_H
#define TB_STENCIL_H

#include "synth.h"

// tb_stencil_neighbours stores the neighbours of a rank of `n` ranks, at most six, each
// once, and returns how many there are.
uint32_t tb_stencil_neighbours(uint32_t n, uint32_t rank, uint32_t neighbours[6]);

// tb_stencil_build adds the operations of all ranks; the options are checked.
void tb_stencil_build(
	struct tb_job_builder *builder, const struct tb_synth_options *options);

#endif
