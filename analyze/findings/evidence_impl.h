// The parts in which evidence is gathered. Private to analyze/.
#ifndef TB_EVIDENCE_IMPL_H
#define TB_EVIDENCE_IMPL_H

#include "evidence.h"

// tb_evidence_blame gathers roots, ends and pairs of jobs; wait_ps and jobs are known.
int tb_evidence_blame(struct tb_evidence *evidence, struct tb_error *error) TB_MUST_USE;

// tb_evidence_traffic finds the grouping that shows whose traffic waits for whose.
int tb_evidence_traffic(struct tb_evidence *evidence, struct tb_error *error) TB_MUST_USE;

#endif
