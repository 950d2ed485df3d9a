// Makes a job of what the ranks called.
//
// Rules (docs/inputs.md): computation becomes a calc; a send or receive becomes one
// operation, by rendezvous several; a collective call becomes the messages of the
// library's algorithm. A job's tags are new: each pair of a group and a tag has one, and
// each collective call some of its own.
#ifndef TB_CALLS_JOB_H
#define TB_CALLS_JOB_H

#include "calls.h"
#include "job.h"
#include "reading.h"

// tb_calls_job makes the job, which the caller frees. `name` as in tb_job_finish; `made`
// is the library that made the trace, or NULL if unknown; reading->library goes before
// it. Where the ranks would wait for each other for ever because of rendezvous, there is
// none. The notes of the calls, what was dropped and which rule expanded which collective
// calls are in the job's notes; the hosts are in the job. Without reading->lenient,
// TB_EFORMAT names rank, time and partner of a send or receive without counterpart, and
// the collective call that a member did not make or made otherwise. TB_EUSAGE for what
// `reading` names wrongly; TB_EDEADLOCK, TB_ECAPACITY, TB_ENOMEM, TB_ESTOPPED.
int tb_calls_job(const struct tb_calls *calls, const char *name, const char *made,
	const struct tb_reading *reading, struct tb_job **job,
	struct tb_error *error) TB_MUST_USE;

#endif
