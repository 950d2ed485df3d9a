// One event of a profile, as far as it matters to a job.
#ifndef TB_EVENT_H
#define TB_EVENT_H

#include "json_items.h"

enum tb_event_kind {
	TB_EVENT_OTHER,
	TB_EVENT_KERNEL,  // of a GPU
	TB_EVENT_COPY,	  // memory copied or set, by a GPU
	TB_EVENT_COMM,	  // record_param_comms, of a CPU
	TB_EVENT_RUNTIME, // a call of CUDA's or HIP's
	TB_EVENT_SYNC,	  // cuda_sync: which stream waits for which
};

struct tb_event {
	enum tb_event_kind kind;
	struct tb_raw name, args;
	uint64_t begin_ns, end_ns;
};

// tb_event_read looks at an element of traceEvents. Of an event that does not matter only
// the kind is stored. TB_EFORMAT for one that matters and is broken; `path` for errors.
int tb_event_read(struct tb_event *event, const struct tb_json_item *item,
	const char *path, struct tb_error *error) TB_MUST_USE;

// The arguments that tie events together; UINT64_MAX where there are none.
struct tb_event_ties {
	uint64_t device, stream, order, external;
};

struct tb_event_ties tb_event_ties(struct tb_raw args);

#endif
