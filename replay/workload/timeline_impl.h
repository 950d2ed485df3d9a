// What the files of the timeline share. Private to replay/workload/.
#ifndef TB_TIMELINE_IMPL_H
#define TB_TIMELINE_IMPL_H

#include "op_log.h"
#include "timeline.h"
#include "workload_impl.h"

// tb_spans_merge merges neighbours among `n` spans, each of which begins or ends where
// the next one does, until there are at most `most`. No merged span is longer than one in
// `most` parts of them all needs to be, within a factor of two. Returns how many are
// left.
size_t tb_spans_merge(struct tb_rank_span *spans, size_t n, size_t most);

// tb_timeline_most returns how many spans, or calls, a rank may have.
size_t tb_timeline_most(const struct tb_workload *workload);

#endif
