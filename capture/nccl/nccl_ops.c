// The calls of a log (NCCL_DEBUG_SUBSYS=COLL), and what NCCL chose for them (TUNING).
#include "nccl_impl.h"

#include "array.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANNELS_MAX 64 // MAXCHANNELS of src/include/device.h

// Bytes of an element by ncclDataType_t: i8, u8, i32, u32, i64, u64, f16, f32, f64, bf16,
// f8e4m3, f8e5m2.
static const uint8_t type_bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

static const struct {
	const char *name;
	uint8_t what;
} names[] = {
	{"AllReduce", TB_COLL_ALLREDUCE},
	{"Broadcast", TB_COLL_BROADCAST},
	{"Reduce", TB_COLL_REDUCE},
	{"AllGather", TB_COLL_ALLGATHER},
	{"ReduceScatter", TB_COLL_REDUCE_SCATTER},
	{"AlltoAll", TB_COLL_ALLTOALL},
	{"AllToAll", TB_COLL_ALLTOALL},
	{"AllToAllPivot", TB_COLL_ALLTOALL},
	{"Gather", TB_COLL_GATHER},
	{"Scatter", TB_COLL_SCATTER},
	{"Send", NL_SEND},
	{"Recv", NL_RECV},
};
#define N_NAMES (sizeof names / sizeof *names)

// The name stands before a colon, also as RCCL's "mscclpp_ncclAllReduce".
bool tb_nl_names(const char *text, size_t n, uint8_t *what)
{
	static const char other[] = "mscclpp_nccl";
	if (n > strlen(other) && memcmp(text, other, strlen(other)) == 0) {
		text += strlen(other);
		n -= strlen(other);
	}
	for (size_t i = 0; i < N_NAMES; i++) {
		*what = names[i].what;
		if (strlen(names[i].name) == n && memcmp(names[i].name, text, n) == 0)
			return true;
	}
	return false;
}

static int op_refuse(const struct nl_log *log, const char *what)
{
	return tb_fail_at(log->error, TB_EFORMAT, log->file, TB_PLACE_LINE, log->line,
		"a call of NCCL's %s", what);
}

// The words of a line of a call.
struct nl_words {
	uint64_t number, count, type, root, pointer, n_ranks, stream, rank;
	bool has_rank;
};

static bool op_read_words(const char *text, struct nl_words *words)
{
	words->has_rank = tb_nl_number(text, "globalrank ", &words->rank);
	return tb_nl_hex(text, "opCount ", &words->number) &&
	       tb_nl_number(text, "count ", &words->count) &&
	       tb_nl_number(text, "datatype ", &words->type) &&
	       tb_nl_number(text, "root ", &words->root) &&
	       tb_nl_hex(text, "comm ", &words->pointer) &&
	       tb_nl_number(text, "nranks=", &words->n_ranks) &&
	       tb_nl_hex(text, "stream ", &words->stream);
}

// op_find_comm stores the communicator of a call, a new one where no line told of it.
static int op_find_comm(struct nl_log *log, const struct nl_line *line,
	const struct nl_words *words, uint32_t process, uint32_t *comm)
{
	tb_nl_comm(log, process, words->pointer, comm);
	if (*comm != NL_NONE && log->comms[*comm].n_ranks == words->n_ranks)
		return TB_OK;
	return tb_nl_comm_add(log,
		&(struct nl_comm){.pointer = words->pointer,
			.process = process,
			.device = line->device,
			.n_ranks = (uint32_t)words->n_ranks,
			.rank = words->has_rank ? (uint32_t)words->rank : NL_NONE},
		comm);
}

int tb_nl_op_add(struct nl_log *log, const struct nl_op *op, uint32_t process)
{
	if (log->n_ops >= NL_NONE - 1 ||
		TB_ARRAY_RESERVE(&log->ops, &log->ops_room, log->n_ops + 1) != TB_OK)
		return tb_nl_no_memory(log);
	struct nl_process *of = &log->processes[process];
	of->recent[of->n_recent++ % NL_RECENT] = (uint32_t)log->n_ops;
	log->ops[log->n_ops++] = *op;
	log->comms[op->comm].n_ops++;
	return TB_OK;
}

int tb_nl_call(struct nl_log *log, const struct nl_line *line)
{
	uint8_t what;
	struct nl_words words;
	const char *colon = strstr(line->text, ": opCount ");
	if (!colon)
		return TB_OK;
	size_t n = (size_t)(colon - line->text);
	if (n == 0 || memchr(line->text, ' ', n))
		return TB_OK;
	if (!tb_nl_names(line->text, n, &what)) {
		tb_nl_count(&log->left_out, line->text, n);
		return TB_OK;
	}
	if (!op_read_words(colon, &words))
		return op_refuse(log, "is cut: expected opCount, count, datatype, root, "
				      "comm, nranks and stream");
	uint32_t process;
	struct nl_op op = {.count = words.count,
		.stream = words.stream,
		.number = words.number,
		.at_ns = line->at_ns,
		.root = (uint32_t)words.root,
		.what = what};
	if (words.type >= sizeof type_bytes)
		return op_refuse(log, "has a datatype that is not known");
	if (words.n_ranks == 0 || words.n_ranks > NL_RANKS_MAX ||
		words.root >= words.n_ranks ||
		(words.has_rank && words.rank >= words.n_ranks) ||
		words.count >= UINT64_C(1) << 56)
		return op_refuse(
			log, "has a count, root or number of ranks that cannot be");
	op.element_bytes = type_bytes[words.type];
	int status = tb_nl_process(log, line, &process);
	if (status == TB_OK)
		status = op_find_comm(log, line, &words, process, &op.comm);
	log->n_untimed += !line->has_time;
	return status == TB_OK ? tb_nl_op_add(log, &op, process) : status;
}

// By number, as older NCCL writes them (src/include/devcomm.h).
static const char *const algorithm_names[] = {
	"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
static const char *const protocol_names[] = {"LL", "LL128", "SIMPLE"};

static void word_behind(const char *text, const char *before, const char *const *list,
	size_t n_list, char word[24])
{
	const char *at = strstr(text, before);
	at = at ? at + strlen(before) : "";
	size_t n = strcspn(at, " \t");
	uint64_t number = isdigit((unsigned char)*at) ? strtoull(at, NULL, 10) : n_list;
	if (number < n_list)
		snprintf(word, 24, "%s", list[number]);
	else
		snprintf(word, 24, "%.*s", (int)(n < 23 ? n : 23), at);
	for (char *c = word; *c; c++)
		*c = (char)toupper((unsigned char)*c);
}

// log_record_setting has the oldest of a process's last calls of this kind and size know
// what NCCL chose for it. Only the first rank of a communicator says so.
static void log_record_setting(struct nl_log *log, const struct nl_process *process,
	bool named, uint8_t what, uint64_t bytes, struct tb_told told)
{
	uint32_t n = process->n_recent < NL_RECENT ? process->n_recent : NL_RECENT;
	for (uint32_t i = process->n_recent - n; i < process->n_recent; i++) {
		struct nl_op *op = &log->ops[process->recent[i % NL_RECENT]];
		if (!(op->told.tree == TB_TREE_UNTOLD && op->told.n_channels == 0 &&
			    (!named || op->what == what) &&
			    op->count * op->element_bytes == bytes) ||
			(log->comms[op->comm].rank != 0 &&
				log->comms[op->comm].rank != NL_NONE))
			continue;
		op->told = told;
		return;
	}
}

// words_n_channels reads "channel{Lo..Hi}={0..3}"; 0: it is not told.
static uint16_t words_n_channels(const char *text)
{
	unsigned low, high;
	const char *at = strstr(text, "channel{Lo..Hi}={");
	if (!at || sscanf(at, "channel{Lo..Hi}={%3u..%3u}", &low, &high) != 2 ||
		high < low || high - low >= CHANNELS_MAX)
		return 0;
	return (uint16_t)(high - low + 1);
}

// "AllReduce: 4096 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}", of older NCCL
// "4096 Bytes -> Algo 1 proto 0 time 10.5".
int tb_nl_choice(struct nl_log *log, const struct nl_line *line)
{
	uint8_t what = 0;
	uint32_t process;
	uint64_t bytes;
	char algorithm[24], protocol[24], text[64];
	struct tb_told told = {.n_channels = words_n_channels(line->text)};
	const char *colon = strstr(line->text, ": "), *size = line->text;
	bool named = colon && tb_nl_names(size, (size_t)(colon - size), &what);
	size = named ? colon + 2 : size;
	if (!isdigit((unsigned char)*size) || !strstr(size, " Bytes -> Algo "))
		return TB_OK;
	bytes = strtoull(size, NULL, 10);
	word_behind(size, "Algo ", algorithm_names,
		sizeof algorithm_names / sizeof *algorithm_names, algorithm);
	word_behind(size, "proto ", protocol_names,
		sizeof protocol_names / sizeof *protocol_names, protocol);
	int n = snprintf(text, sizeof text, "%.*s%s%s %s",
		named ? (int)(colon - line->text) : 0, line->text, named ? " " : "",
		algorithm, protocol);
	tb_nl_count(&log->algorithms, text, (size_t)n);
	told.tree = strcmp(algorithm, "TREE") == 0 ? TB_TREE_TAKEN : TB_TREE_NOT_TAKEN;
	int status = tb_nl_process(log, line, &process);
	if (status == TB_OK)
		log_record_setting(
			log, &log->processes[process], named, what, bytes, told);
	return status;
}
