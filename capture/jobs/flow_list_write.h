// Writes a job as a flow list (capture/jobs/flow_list.h): each message is a flow, which
// begins at a time or by a trigger. Private to capture/jobs/.
//
// A flow begins when the messages that its send waits for in the job have been sent or
// received; computation in between, processors and network interfaces are left out, and
// so are messages of a rank to itself. The computation before a rank's first messages is
// their time. One that is sent or received can fire one trigger: where flows need it with
// different others, the later one waits until the earlier one is sent.
#ifndef TB_FLOW_LIST_WRITE_H
#define TB_FLOW_LIST_WRITE_H

#include "job.h"

// tb_flow_list_write writes to a file; see tb_job_write. TB_EUSAGE as of
// tb_job_order_init, and for a job without messages.
int tb_flow_list_write(const struct tb_job *job, const char *path, char **note,
	struct tb_error *error) TB_MUST_USE;

#endif
