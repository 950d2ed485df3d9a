// A map file: which node an endpoint is, and to which job the node belongs.
//
// It is text with one endpoint per line: ENDPOINT NODE [JOB], separated by blanks; `#`
// begins a comment. ENDPOINT is an address as tb_address_parse reads it, NODE a number
// from 0 or, in all lines, the name of a host, JOB a word. Hosts are numbered in the
// order in which they are named first, and stand for nodes until a network is known that
// has them. Several endpoints may be one node (an adapter's LID and its IP address);
// their lines must name the same job. Not thread safe.
#ifndef TB_MAP_FILE_H
#define TB_MAP_FILE_H

#include "address.h"
#include "ids.h"

#define TB_MAP_FILE_NODES_MAX (UINT32_C(1) << 24)
#define TB_MAP_FILE_JOBS_MAX  65535 // plus one for nodes without a job

struct tb_map_file; // opaque

// tb_map_file_new makes an empty map; tb_map_file_add adds what a line of a file would
// (`job` may be NULL), with the same errors.
int tb_map_file_new(struct tb_map_file **map, struct tb_error *error) TB_MUST_USE;
int tb_map_file_add(struct tb_map_file *map, const char *endpoint, struct tb_node node,
	const char *job, struct tb_error *error) TB_MUST_USE;

// tb_map_file_read reads the whole file. TB_EUSAGE, naming the line, when it makes no
// sense; TB_EIO when the system refuses.
int tb_map_file_read(
	struct tb_map_file **map, const char *path, struct tb_error *error) TB_MUST_USE;
void tb_map_file_free(struct tb_map_file *map);

// tb_map_file_node stores the node of an address; false when it is not in the map.
bool tb_map_file_node(const struct tb_map_file *map, const struct tb_address *address,
	struct tb_node *node);

// tb_map_file_job returns the job of a node: below tb_map_file_n_jobs, or TB_ID_NONE when
// the map names none. Jobs are numbered in the order of the file.
uint32_t tb_map_file_job(const struct tb_map_file *map, struct tb_node node);
uint32_t tb_map_file_n_jobs(const struct tb_map_file *map);
// tb_map_file_leaves_jobs returns whether some node of the map has no job.
bool tb_map_file_leaves_jobs(const struct tb_map_file *map);

// tb_map_file_n_nodes returns the highest node of the map + 1.
uint32_t tb_map_file_n_nodes(const struct tb_map_file *map);

// tb_map_file_hosts returns the hosts' names by their numbers; NULL when the file has the
// numbers of nodes.
const char *const *tb_map_file_hosts(const struct tb_map_file *map);

// The endpoints are numbered in the order of the file; tb_map_file_node_at returns the
// node of one.
uint32_t tb_map_file_n_endpoints(const struct tb_map_file *map);
struct tb_node tb_map_file_node_at(const struct tb_map_file *map, uint32_t endpoint);

// tb_map_file_dense makes a map of the same endpoints and jobs whose nodes are numbered
// without gaps, in their order, and stores in `nodes`, which the caller frees, which node
// each was.
int tb_map_file_dense(struct tb_map_file **dense, uint32_t **nodes,
	const struct tb_map_file *map, struct tb_error *error) TB_MUST_USE;

const char *tb_map_file_job_name(const struct tb_map_file *map, uint32_t job);

#endif
