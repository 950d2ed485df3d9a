// How communicators were set up: their ranks, rings, trees and connections.
#include "nccl_impl.h"

#include "array.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static int find_thread(struct nl_log *log, const struct nl_line *line, uint32_t process,
	struct nl_thread **thread)
{
	uint32_t at;
	uint64_t key = line->thread * UINT64_C(0x9e3779b97f4a7c15) ^ process;
	for (; tb_map_find(&log->thread_of, key, &at); key++) {
		*thread = &log->threads[at];
		if ((*thread)->id == line->thread && (*thread)->process == process)
			return TB_OK;
	}
	if (TB_ARRAY_RESERVE(&log->threads, &log->threads_room, log->n_threads + 1) !=
			TB_OK ||
		tb_map_put(&log->thread_of, key, (uint32_t)log->n_threads) != TB_OK)
		return tb_nl_no_memory(log);
	*thread = &log->threads[log->n_threads++];
	**thread = (struct nl_thread){line->thread, process, NL_NONE};
	return TB_OK;
}

// set_up stores the communicator that the line's thread is setting up, one without name
// where it has begun none: older NCCL names it at the end.
static int set_up(struct nl_log *log, const struct nl_line *line, struct nl_comm **comm)
{
	struct nl_thread *thread;
	uint32_t process;
	int status = tb_nl_process(log, line, &process);
	if (status == TB_OK)
		status = find_thread(log, line, process, &thread);
	if (status == TB_OK && thread->comm == NL_NONE)
		status = tb_nl_comm_add(log,
			&(struct nl_comm){.process = process,
				.device = line->device,
				.rank = NL_NONE},
			&thread->comm);
	if (status == TB_OK)
		*comm = &log->comms[thread->comm];
	return status;
}

static int comm_find_channel(struct nl_log *log, struct nl_comm *comm, uint64_t number,
	struct nl_channel **channel)
{
	for (size_t i = comm->n_channels; i-- > 0;) {
		*channel = &comm->channels[i];
		if ((*channel)->number == number)
			return TB_OK;
	}
	if (TB_ARRAY_RESERVE(
		    &comm->channels, &comm->channels_room, comm->n_channels + 1) != TB_OK)
		return tb_nl_no_memory(log);
	*channel = &comm->channels[comm->n_channels++];
	**channel = (struct nl_channel){.number = (uint32_t)number};
	return TB_OK;
}

// next_rank reads a rank, or "-1" for nobody, and what stands behind it.
static bool next_rank(const char **text, const char *behind, uint32_t *rank)
{
	char *end;
	if (!isdigit((unsigned char)(*text)[0]) && (*text)[0] != '-')
		return false;
	long value = strtol(*text, &end, 10);
	if (end == *text || value < -1 || value >= (long)NL_RANKS_MAX ||
		!text_begins(end, behind))
		return false;
	*rank = value < 0 ? NL_NONE : (uint32_t)value;
	*text = end + strlen(behind);
	return true;
}

// "Ring 00 : 7 -> 0 -> 1"
static int read_ring(struct nl_log *log, const struct nl_line *line)
{
	char *end;
	struct nl_comm *comm = NULL;
	struct nl_channel *channel = NULL;
	uint32_t previous, rank, next;
	unsigned long number = strtoul(line->text + strlen("Ring "), &end, 10);
	const char *at = text_begins(end, " : ") ? end + 3 : "";
	if (number >= NL_CHANNELS_MAX || !next_rank(&at, " -> ", &previous) ||
		!next_rank(&at, " -> ", &rank) || !next_rank(&at, "", &next))
		return TB_OK;
	int status = set_up(log, line, &comm);
	if (status == TB_OK)
		status = comm_find_channel(log, comm, number, &channel);
	if (status != TB_OK)
		return status;
	comm->rank = rank;
	channel->has_ring = true;
	channel->previous = previous;
	channel->next = next;
	return TB_OK;
}

// read_tree reads "1/-1/-1->0->-1": children, the rank, its parent. Before 2.6 it is the
// other way round: "-1->0->1/-1/-1".
static bool read_tree(const char *at, struct nl_channel *tree, uint32_t *rank)
{
	const char *old = at;
	if (next_rank(&at, "/", &tree->down[0]) && next_rank(&at, "/", &tree->down[1]) &&
		next_rank(&at, "->", &tree->down[2]) && next_rank(&at, "->", rank) &&
		next_rank(&at, "", &tree->up))
		return true;
	return next_rank(&old, "->", &tree->up) && next_rank(&old, "->", rank) &&
	       next_rank(&old, "/", &tree->down[0]) &&
	       next_rank(&old, "/", &tree->down[1]) &&
	       next_rank(&old, "", &tree->down[2]);
}

// "Trees [0] 1/-1/-1->0->-1 [1] ..."
static int topology_read_trees(struct nl_log *log, const struct nl_line *line)
{
	struct nl_comm *comm = NULL;
	int status = set_up(log, line, &comm);
	const char *at = line->text + strlen("Trees");
	while (status == TB_OK && (at = strchr(at, '['))) {
		char *end;
		struct nl_channel *channel = NULL, tree = {0};
		uint32_t rank;
		unsigned long number = strtoul(at + 1, &end, 10);
		at = text_begins(end, "] ") ? end + 2 : "";
		if (number >= NL_CHANNELS_MAX || !read_tree(at, &tree, &rank))
			continue;
		status = comm_find_channel(log, comm, number, &channel);
		if (status != TB_OK)
			break;
		comm->rank = rank;
		channel->has_tree = true;
		channel->up = tree.up;
		memcpy(channel->down, tree.down, sizeof tree.down);
	}
	return status;
}

// ring_count_ranks returns how many ranks a list of them has, 0 of another text.
static uint32_t ring_count_ranks(const char *at)
{
	uint32_t n = 0, rank;
	for (at += strspn(at, " "); *at; at += strspn(at, " "), n++)
		if (!next_rank(&at, "", &rank) || rank == NL_NONE)
			return 0;
	return n;
}

// "Channel 00/08 :    0   1   2   3"
static int read_order(struct nl_log *log, const struct nl_line *line)
{
	char *end;
	struct nl_comm *comm = NULL;
	struct nl_channel *channel = NULL;
	unsigned long number = strtoul(line->text + strlen("Channel "), &end, 10);
	const char *at = strstr(end, " : ");
	uint32_t n = at ? ring_count_ranks(at + 3) : 0;
	if (n == 0 || number >= NL_CHANNELS_MAX)
		return TB_OK;
	int status = set_up(log, line, &comm);
	if (status == TB_OK)
		status = comm_find_channel(log, comm, number, &channel);
	if (status != TB_OK)
		return status;
	free(channel->order);
	channel->n_order = 0;
	channel->order = calloc(n, sizeof *channel->order);
	if (!channel->order)
		return tb_nl_no_memory(log);
	for (at += 3; channel->n_order < n; channel->n_order++) {
		at += strspn(at, " ");
		if (!next_rank(&at, "", &channel->order[channel->n_order]))
			break;
	}
	return TB_OK;
}

// take_adapter notes which adapter a GPU sends or receives with: "NET/IB/3/GDRDMA".
static int take_adapter(
	struct nl_log *log, const struct nl_line *line, const char *transport)
{
	uint32_t process, gpu;
	const char *name = transport + strlen("NET/");
	size_t n = strcspn(name, "/ ");
	char *end;
	if (name[n] != '/' || !isdigit((unsigned char)name[n + 1]) ||
		line->device == NL_NONE)
		return TB_OK;
	unsigned long number = strtoul(name + n + 1, &end, 10);
	int status = tb_nl_process(log, line, &process);
	if (status == TB_OK)
		status = tb_nl_gpu(log, process, line->device, &gpu);
	if (status != TB_OK || number >= 64)
		return status;
	log->gpus[gpu].adapters |= UINT64_C(1) << number;
	snprintf(log->gpus[gpu].network, sizeof log->gpus[gpu].network, "%.*s", (int)n,
		name);
	return TB_OK;
}

// "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/3/GDRDMA"
static int read_connection(struct nl_log *log, const struct nl_line *line)
{
	const char *via = strstr(line->text, " via ");
	if (!via || !strstr(line->text, "->"))
		return TB_OK;
	via += strlen(" via ");
	size_t n = strcspn(via, " ,\t");
	if (text_begins(via, "direct "))
		n = strlen(via);
	char name[64];
	size_t length = 0;
	// The numbers of adapters are no part of the kind.
	for (size_t i = 0; i < n && length + 1 < sizeof name; i++) {
		if (via[i] == '/' && isdigit((unsigned char)via[i + 1]))
			i += strspn(via + i + 1, "0123456789") + 1;
		if (i < n)
			name[length++] = via[i];
	}
	tb_nl_count(&log->connections, name, length);
	return text_begins(via, "NET/") ? take_adapter(log, line, via) : TB_OK;
}

static bool comm_fits(const struct nl_comm *comm, const struct nl_comm *read)
{
	return !comm->is_gone &&
	       (comm->rank == read->rank || comm->rank == NL_NONE ||
		       read->rank == NL_NONE) &&
	       (comm->n_ranks == read->n_ranks || comm->n_ranks == 0) &&
	       (comm->id == read->id || comm->id == 0 || read->id == 0) &&
	       !(read->is_begun && comm->is_begun) &&
	       !(read->is_complete && comm->is_complete);
}

static void take_over(struct nl_comm *comm, const struct nl_comm *read)
{
	comm->pointer = read->pointer;
	comm->rank = read->rank;
	comm->n_ranks = read->n_ranks;
	if (read->id)
		comm->id = read->id;
	if (read->device != NL_NONE)
		comm->device = read->device;
	if (read->local_ranks) {
		comm->n_nodes = read->n_nodes;
		comm->local_ranks = read->local_ranks;
	}
	comm->is_begun |= read->is_begun;
	comm->is_complete |= read->is_complete;
}

static int name_comm(
	struct nl_log *log, const struct nl_line *line, const struct nl_comm *read)
{
	struct nl_thread *thread;
	uint32_t comm;
	int status = find_thread(log, line, read->process, &thread);
	if (status != TB_OK)
		return status;
	tb_nl_comm(log, read->process, read->pointer, &comm);
	bool known = comm != NL_NONE && comm_fits(&log->comms[comm], read);
	if (!known) {
		comm = thread->comm;
		known = comm != NL_NONE && log->comms[comm].pointer == 0 &&
			comm_fits(&log->comms[comm], read);
		if (!known)
			status = tb_nl_comm_add(log, read, &comm);
	}
	if (status != TB_OK)
		return status;
	take_over(&log->comms[comm], read);
	thread->comm = log->comms[comm].is_complete ? NL_NONE : comm;
	return tb_nl_comm_names(log, comm);
}

// split_id makes an id of what split a communicator off: ncclCommSplit names its parent
// and color instead of one.
static uint64_t split_id(
	const struct nl_log *log, const struct nl_line *line, uint32_t process)
{
	uint64_t parent, turn, color;
	uint32_t comm;
	if (!tb_nl_hex(line->text, "parent ", &parent) ||
		!tb_nl_number(line->text, "splitCount ", &turn) ||
		!tb_nl_number(line->text, "color ", &color))
		return 0;
	tb_nl_comm(log, process, parent, &comm);
	if (comm == NL_NONE)
		return 0;
	uint64_t from =
		log->comms[comm].id ? log->comms[comm].id : log->comms[comm].n_ranks;
	return (from * UINT64_C(0x9e3779b97f4a7c15) ^ turn << 32 ^ color) | 1;
}

// "[Rank 0] ncclCommInitRank comm 0x.. rank 0 nranks 8 cudaDev 0 ... - Init START", and
// "comm 0x.. rank 0 nRanks 8 nNodes 2 localRanks 4 localRank 0".
static int read_comm(struct nl_log *log, const struct nl_line *line)
{
	struct nl_comm read = {.device = line->device};
	uint64_t rank, n_ranks, number;
	if (!tb_nl_hex(line->text, "comm ", &read.pointer) || read.pointer == 0 ||
		!tb_nl_number(line->text, "rank ", &rank) ||
		(!tb_nl_number(line->text, "nranks ", &n_ranks) &&
			!tb_nl_number(line->text, "nRanks ", &n_ranks)))
		return TB_OK;
	if (n_ranks == 0 || n_ranks > NL_RANKS_MAX || rank >= n_ranks)
		return tb_fail_at(log->error, TB_EFORMAT, log->file, TB_PLACE_LINE,
			log->line, "rank %" PRIu64 " of a communicator of %" PRIu64, rank,
			n_ranks);
	int status = tb_nl_process(log, line, &read.process);
	if (status != TB_OK)
		return status;
	read.rank = (uint32_t)rank;
	read.n_ranks = (uint32_t)n_ranks;
	if (tb_nl_number(line->text, "cudaDev ", &number) && number < NL_NONE)
		read.device = (uint32_t)number;
	if (!tb_nl_hex(line->text, "commId ", &read.id))
		read.id = split_id(log, line, read.process);
	if (tb_nl_number(line->text, "nNodes ", &number) && number <= NL_RANKS_MAX)
		read.n_nodes = (uint32_t)number;
	if (tb_nl_number(line->text, "localRanks ", &number) && number <= NL_RANKS_MAX)
		read.local_ranks = (uint32_t)number;
	read.is_begun = strstr(line->text, "Init START") != NULL;
	read.is_complete = strstr(line->text, "Init COMPLETE") != NULL;
	return name_comm(log, line, &read);
}

// "comm 0x.. rank 0 nranks 8 cudaDev 0 busId 1a000 - Destroy COMPLETE"
static int topology_read_end(struct nl_log *log, const struct nl_line *line)
{
	uint64_t pointer;
	uint32_t process, comm;
	int status = tb_nl_process(log, line, &process);
	if (status != TB_OK || !tb_nl_hex(line->text, "comm ", &pointer))
		return status;
	tb_nl_comm(log, process, pointer, &comm);
	if (comm != NL_NONE)
		log->comms[comm].is_gone = true;
	return TB_OK;
}

int tb_nl_topology(struct nl_log *log, const struct nl_line *line)
{
	const char *text = line->text;
	if (text_begins(text, "Channel ") || text_begins(text, "Ring "))
		return strstr(text, " via ")	    ? read_connection(log, line)
		       : text_begins(text, "Ring ") ? read_ring(log, line)
						    : read_order(log, line);
	if (text_begins(text, "Trees "))
		return topology_read_trees(log, line);
	if (text_begins(text, "NET/") && strstr(text, "Using [")) {
		// "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB
		// eth0:10.0.0.1<0>"
		uint32_t process;
		const char *list = strstr(line->text, "Using [");
		int status = tb_nl_process(log, line, &process);
		if (status != TB_OK || !list || log->processes[process].adapters)
			return status;
		list += strlen("Using ");
		size_t n = strcspn(list, ";");
		log->processes[process].adapters = strndup(list, n < 4096 ? n : 4096);
		return log->processes[process].adapters ? TB_OK : tb_nl_no_memory(log);
	}
	if (text_begins(text, "Using network ")) {
		const char *name = text + strlen("Using network ");
		tb_nl_count(&log->networks, name, strcspn(name, " \t"));
		return TB_OK;
	}
	if (strstr(text, "Destroy COMPLETE") || strstr(text, "Abort COMPLETE"))
		return topology_read_end(log, line);
	if (strstr(text, "comm 0x") && !strstr(text, "opCount"))
		return read_comm(log, line);
	return TB_OK;
}
