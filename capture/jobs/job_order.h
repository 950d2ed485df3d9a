// An order in which a job can run, and which receive takes which send, for those who
// write it in another form. Private to capture/jobs/.
#ifndef TB_JOB_ORDER_H
#define TB_JOB_ORDER_H

#include "job.h"

struct tb_job_order {
	uint32_t *match;      // by operation: a send's receive, a receive's send
	uint32_t *first_pred; // n_ops + 1: what operation i waits for is preds[first_pred
	uint32_t *preds;      // [i]] and so on, with TB_DEP_START (job.h)
	uint32_t *order;      // all operations
};

// tb_job_order_init pairs the sends and receives of a channel as they stand in the job,
// and orders the operations. TB_EUSAGE, naming `form`, for receives with a wildcard, and
// where such pairs wait for each other. Cost: O(n log n). tb_job_order_fini frees it; a
// zeroed struct is fine to free.
int tb_job_order_init(struct tb_job_order *order, const struct tb_job *job,
	const char *form, struct tb_error *error) TB_MUST_USE;
void tb_job_order_fini(struct tb_job_order *order);

#endif
