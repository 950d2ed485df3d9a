// Lists of nodes as resource managers write them.
//
// A host list names hosts, separated by commas; brackets hold numbers and ranges:
// "node[00-15,20],node30" (Slurm, pdsh). The number that a host's name ends with is its
// node, so "node07" and "7" are node 7. Without a name, "0-15,20" will do. A name may
// have several brackets, and go on behind them: "rack[0-1]n[0-3]-ib".
//
// A host file has one host per line, with as many slots as ranks may run there: "node07
// slots=4" (Open MPI), "node07:4" (MPICH), or the same line several times (PBS). `#`
// begins a comment.
//
// In a fabric that was read from a file a host's name is the fabric's, and stands for all
// its network interfaces; the slots of its line are dealt to them, the first ones first.
// Numbers alone are nodes there, too.
#ifndef TB_HOST_LIST_H
#define TB_HOST_LIST_H

#include "network.h"
#include "status.h"

#include <stddef.h>

// A bound above all nodes that a list can name, and the most slots of a job.
#define TB_HOSTS_MAX (UINT32_C(1) << 24)

// How many ranks may run on a node.
struct tb_host_slots {
	uint32_t node;
	uint32_t n_slots; // at least 1
};

// In the order of the list; each node once. A zeroed struct is empty.
struct tb_hosts {
	struct tb_host_slots *hosts;
	uint32_t n;
	size_t room;
};

void tb_hosts_fini(struct tb_hosts *hosts);

// tb_hosts_parse reads a host list. `tasks` has the slots of its hosts in Slurm's form
// (SLURM_TASKS_PER_NODE): "4(x3),2" are four on each of three hosts and two on a fourth;
// NULL: a slot for each node. The network is the one whose hosts are named; NULL:
// names are not looked up. TB_EUSAGE names what cannot be read, or a node that
// is listed twice; TB_ENOMEM. `hosts` is untouched on failure, else to be freed by
// tb_hosts_fini.
int tb_hosts_parse(struct tb_hosts *hosts, const char *list, const char *tasks,
	const struct tb_network *network, struct tb_error *error) TB_MUST_USE;

// tb_hosts_read reads a host file: as tb_hosts_parse, TB_EUSAGE with the line, TB_EIO.
int tb_hosts_read(struct tb_hosts *hosts, const char *path,
	const struct tb_network *network, struct tb_error *error) TB_MUST_USE;

#endif
