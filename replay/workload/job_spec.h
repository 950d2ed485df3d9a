// A job as the command line names it: "FILE,key=value,...".
//
//   io.goal,start=5ms,placement=cyclic,nodes=node[48-63],name=io
//
// The keys: `name`; `start`, a time; `sl`, the service level of its packets; `placement`,
// as tb_placement_parse reads it; `per-node`, how many ranks run on a node where no host
// file gives slots, or those of each host of `nodes` ("4(x3),2"); and one of `nodes` (a
// host list), `hosts` (a host file) and `map` (a file of ranks and nodes). A number
// `per-node` is also how many ranks libraries take a host to have, and no more than that
// beside a map. The words `shared`, which lets it sit on other jobs' nodes, and
// `closed-loop`, which makes a job of a capture, have no value. Another part without `=`
// belongs to the value before it, so a host list needs no quotes and a file's name may
// have commas.
#ifndef TB_JOB_SPEC_H
#define TB_JOB_SPEC_H

#include "placement.h"

#define TB_PER_NODE_MAX 65536

struct tb_job_spec {
	char *text; // what the others point into
	const char *file;
	const char *name; // the file's without its folder, when none is given
	tb_time_ps start_ps;
	uint8_t service_level; // 0 to 15
	struct tb_placement placement;
	bool placed;	  // a placement, nodes or a map were given
	bool closed_loop; // a capture becomes a job
};

// tb_job_spec_parse reads one. TB_EUSAGE names the part that cannot be read.
int tb_job_spec_parse(
	struct tb_job_spec *spec, const char *text, struct tb_error *error) TB_MUST_USE;
// A zeroed struct may be finished too.
void tb_job_spec_fini(struct tb_job_spec *spec);

#endif
