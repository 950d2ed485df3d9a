// Parses the lines of a log: what stands before NCCL's own text, and the words in that.
#include "array.h"
#include "hash.h"
#include "nccl_trace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MARK "NCCL INFO "

// digits reads a number of at most 19 digits that ends at `end`.
static bool digits(const char *text, const char *end, uint64_t *number)
{
	uint64_t value = 0;
	if (text == end || end - text > 19)
		return false;
	for (; text < end; text++) {
		if (!isdigit((unsigned char)*text))
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	*number = value;
	return true;
}

static const char *back_over(const char *begin, const char *at, bool blanks)
{
	while (at > begin && (at[-1] == ' ' || at[-1] == '\t') == blanks)
		at--;
	return at;
}

// line_read_device reads "[0] " backwards from `at`, also with RCCL's microseconds behind
// it, and returns where it begins; NULL: there is none.
static const char *line_read_device(
	struct nl_line *line, const char *begin, const char *at)
{
	uint64_t number;
	const char *end = back_over(begin, at, true),
		   *word = back_over(begin, end, false);
	if (digits(word, end, &number) && number < UINT64_MAX / 1000) {
		line->has_time = true;
		line->at_ns = number * 1000;
		end = back_over(begin, word, true);
		word = back_over(begin, end, false);
	}
	if (end - word < 3 || *word != '[' || end[-1] != ']')
		return NULL;
	line->device = NL_NONE;
	if (digits(word + 1, end - 1, &number) && number < NL_NONE)
		line->device = (uint32_t)number;
	return word;
}

static const char *last_in_set(const char *begin, const char *end, const char *set)
{
	while (end > begin && !strchr(set, end[-1]))
		end--;
	return end;
}

// read_process reads "HOST:PID:TID" backwards from `at`, where a launcher may have put
// something before the host ("[1,0]<stdout>:").
static const char *read_process(struct nl_line *line, const char *begin, const char *at)
{
	const char *end = back_over(begin, at, true),
		   *word = back_over(begin, end, false);
	const char *thread = last_in_set(word, end, ":");
	const char *pid = thread > word ? last_in_set(word, thread - 1, ":") : word;
	if (pid == word || !digits(thread, end, &line->thread) ||
		!digits(pid, thread - 1, &line->pid))
		return NULL;
	line->host = last_in_set(word, pid - 1, ":>");
	if (line->host == pid - 1) // a name in brackets, as in published logs
		line->host = last_in_set(word, pid - 1, ":");
	line->host_n = (size_t)(pid - 1 - line->host);
	return line->host_n > 0 && line->host_n < 256 ? word : NULL;
}

// line_read_time reads "[2026-11-26 10:00:00.123]" that ends before `at`.
static void line_read_time(struct nl_line *line, const char *begin, const char *at)
{
	struct tm when = {0};
	const char *end = back_over(begin, at, true);
	if (end == begin || end[-1] != ']')
		return;
	const char *from = last_in_set(begin, end, "[");
	const char *rest = from < end ? strptime(from, "%Y-%m-%d %H:%M:%S", &when) : NULL;
	time_t seconds = rest ? timegm(&when) : -1;
	if (seconds < 0 || seconds > UINT32_MAX)
		return;
	line->has_time = true;
	line->at_ns = (uint64_t)seconds * 1000000000;
	if (*rest != '.' && *rest != ',')
		return;
	uint64_t part = 100000000;
	for (rest++; isdigit((unsigned char)*rest); rest++, part /= 10)
		line->at_ns += (uint64_t)(*rest - '0') * part;
}

bool tb_nl_line(struct nl_line *line, const char *text)
{
	const char *mark = strstr(text, MARK);
	struct nl_line made = {0};
	if (!mark)
		return false;
	const char *at = line_read_device(&made, text, mark);
	at = at ? read_process(&made, text, at) : NULL;
	if (!at)
		return false;
	if (!made.has_time)
		line_read_time(&made, text, at);
	made.text = mark + strlen(MARK);
	*line = made;
	return true;
}

// text_behind returns the text after `word`, which must begin a word of the line.
static const char *text_behind(const char *text, const char *word)
{
	for (const char *at = text; (at = strstr(at, word)); at++)
		if (at == text || at[-1] == ' ' || at[-1] == '[')
			return at + strlen(word);
	return NULL;
}

static bool line_read_number(const char *text, int base, uint64_t *number)
{
	char *end;
	if (!text || !(base == 16 ? isxdigit((unsigned char)*text)
				  : isdigit((unsigned char)*text)))
		return false;
	*number = strtoull(text, &end, base);
	return *end == '\0' || isspace((unsigned char)*end) || *end == ']';
}

// These read what follows a word ("rank 3", "nranks=8"), which must begin a word of the
// text; false if it does not occur.
static bool nl_number(const char *text, const char *word, uint64_t *number)
{
	return line_read_number(text_behind(text, word), 10, number);
}

static bool nl_hex(const char *text, const char *word, uint64_t *number)
{
	const char *at = text_behind(text, word);
	if (at && strncmp(at, "(nil)", 5) == 0) {
		*number = 0;
		return true;
	}
	return line_read_number(at, 16, number);
}

void tb_nl_count(struct nl_counts *counts, const char *text, size_t n)
{
	if (n >= sizeof counts->rows[0].text)
		n = sizeof counts->rows[0].text - 1;
	for (size_t i = 0; i < counts->n; i++) {
		struct nl_count *row = &counts->rows[i];
		if (strlen(row->text) != n || memcmp(row->text, text, n) != 0)
			continue;
		row->n++;
		return;
	}
	if (counts->n == NL_COUNTS_MAX) {
		counts->n_more++;
		return;
	}
	struct nl_count *row = &counts->rows[counts->n++];
	memcpy(row->text, text, n);
	row->text[n] = '\0';
	row->n = 1;
}

// read_setting: "NCCL_ALGO set by environment to Ring."
static void read_setting(struct nl_log *log, const char *text)
{
	static const char *const names[] = {"NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_ENABLE",
		"NCCL_PAT_ENABLE", "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS",
		"NCCL_MIN_CTAS", "NCCL_MAX_CTAS"};
	static const char by[] = " set by environment to ";
	const char *at = strstr(text, by);
	for (size_t i = 0; at && i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i]);
		if ((size_t)(at - text) < n || strncmp(at - n, names[i], n) != 0)
			continue;
		const char *value = at + strlen(by);
		size_t length = strcspn(value, " \t\r\n");
		while (length > 0 && value[length - 1] == '.')
			length--;
		char word[64];
		int size = snprintf(
			word, sizeof word, "%s=%.*s", names[i], (int)length, value);
		if (size > 0 && (size_t)size < sizeof word)
			tb_nl_count(&log->settings, word, (size_t)size);
		return;
	}
}

// "NCCL version 2.28.3+cuda13.0", "RCCL version 2.18.3+hip6.0", "RCCL version : 2.20.5".
void tb_nl_version(struct nl_log *log, const char *text)
{
	const char *at = strstr(text, "CCL version ");
	read_setting(log, text);
	if (!at || at == text || (at[-1] != 'N' && at[-1] != 'R'))
		return;
	const char *number = at + strlen("CCL version ");
	number += strspn(number, ": ");
	size_t n = strcspn(number, " \t,;");
	char name[64];
	if (!isdigit((unsigned char)*number) || n > 40)
		return;
	int length = snprintf(name, sizeof name, "%cCCL %.*s", at[-1], (int)n, number);
	tb_nl_count(&log->versions, name, (size_t)length);
}

// The processes, threads, GPUs and communicators of a log, found by the names that lines
// give them.

int tb_nl_no_memory(const struct nl_log *log)
{
	return tb_fail_memory_in(log->error, log->file, "a log of NCCL");
}

void tb_nl_fini(struct nl_log *log)
{
	for (size_t i = 0; i < log->n_processes; i++) {
		free(log->processes[i].host);
		free(log->processes[i].adapters);
	}
	for (size_t i = 0; i < log->n_comms; i++) {
		for (size_t k = 0; k < log->comms[i].n_channels; k++)
			free(log->comms[i].channels[k].order);
		free(log->comms[i].channels);
	}
	for (size_t i = 0; i < log->n_groups; i++)
		free(log->groups[i].members);
	free(log->processes);
	free(log->threads);
	free(log->comms);
	free(log->gpus);
	free(log->groups);
	free(log->ops);
	tb_map_fini(&log->process_of);
	tb_map_fini(&log->thread_of);
	tb_map_fini(&log->comm_of);
	tb_map_fini(&log->gpu_of);
	tb_map_fini(&log->newest_of);
}

static bool is_process(const struct nl_process *process, const struct nl_line *line)
{
	return process->pid == line->pid && strlen(process->host) == line->host_n &&
	       memcmp(process->host, line->host, line->host_n) == 0;
}

// line_is_behind returns whether a process's line stands behind output of a program that
// did not end its own line: "0n01:100:100" for "n01:100:100".
static bool line_is_behind(const struct nl_process *process, const struct nl_line *line)
{
	size_t n = strlen(process->host);
	return process->pid == line->pid && n < line->host_n &&
	       memcmp(process->host, line->host + line->host_n - n, n) == 0;
}

int tb_nl_process(struct nl_log *log, const struct nl_line *line, uint32_t *process)
{
	uint64_t key = tb_nl_mix(
		tb_hash_bytes(TB_HASH_BEGIN, line->host, line->host_n), line->pid);
	for (; tb_map_find(&log->process_of, key, process); key++)
		if (is_process(&log->processes[*process], line))
			return TB_OK;
	if (tb_map_find(&log->newest_of, line->pid, process) &&
		line_is_behind(&log->processes[*process], line))
		return TB_OK;
	*process = (uint32_t)log->n_processes;
	if (tb_map_put(&log->newest_of, line->pid, *process) != TB_OK ||
		TB_ARRAY_RESERVE(&log->processes, &log->processes_room,
			log->n_processes + 1) != TB_OK ||
		tb_map_put(&log->process_of, key, *process) != TB_OK)
		return tb_nl_no_memory(log);
	struct nl_process made = {
		.host = strndup(line->host, line->host_n), .pid = line->pid};
	if (!made.host)
		return tb_nl_no_memory(log);
	log->processes[log->n_processes++] = made;
	return TB_OK;
}

int tb_nl_gpu(struct nl_log *log, uint32_t process, uint32_t device, uint32_t *gpu)
{
	uint64_t key = tb_nl_mix(process, device);
	for (; tb_map_find(&log->gpu_of, key, gpu); key++)
		if (log->gpus[*gpu].process == process &&
			log->gpus[*gpu].device == device)
			return TB_OK;
	*gpu = (uint32_t)log->n_gpus;
	if (TB_ARRAY_RESERVE(&log->gpus, &log->gpus_room, log->n_gpus + 1) != TB_OK ||
		tb_map_put(&log->gpu_of, key, *gpu) != TB_OK)
		return tb_nl_no_memory(log);
	log->gpus[log->n_gpus++] =
		(struct nl_gpu){.process = process, .device = device, .rank = NL_NONE};
	return TB_OK;
}

// A slot of the map: the first one, from the key on, that is empty or holds the
// communicator.
static bool comm_look_up(const struct nl_log *log, uint32_t process, uint64_t pointer,
	uint64_t *key, uint32_t *comm)
{
	*key = tb_nl_mix(pointer, process);
	for (; tb_map_find(&log->comm_of, *key, comm); ++*key)
		if (log->comms[*comm].process == process &&
			log->comms[*comm].pointer == pointer)
			return true;
	return false;
}

// newest_comm returns a process's newest communicator at an address; NL_NONE if it has
// none.
static uint32_t newest_comm(const struct nl_log *log, uint32_t process, uint64_t pointer)
{
	uint64_t key;
	uint32_t comm;
	return comm_look_up(log, process, pointer, &key, &comm) ? comm : NL_NONE;
}

// nl_comm_names makes a communicator findable by its address.
static int nl_comm_names(struct nl_log *log, uint32_t comm)
{
	uint64_t key;
	uint32_t other;
	const struct nl_comm *made = &log->comms[comm];
	comm_look_up(log, made->process, made->pointer, &key, &other);
	return tb_map_put(&log->comm_of, key, comm) == TB_OK ? TB_OK
							     : tb_nl_no_memory(log);
}

int tb_nl_comm_add(struct nl_log *log, const struct nl_comm *made, uint32_t *comm)
{
	if (log->n_comms >= NL_NONE - 1 || TB_ARRAY_RESERVE(&log->comms, &log->comms_room,
						   log->n_comms + 1) != TB_OK)
		return tb_nl_no_memory(log);
	*comm = (uint32_t)log->n_comms;
	log->comms[log->n_comms++] = *made;
	return made->pointer ? nl_comm_names(log, *comm) : TB_OK;
}

// The calls of a log (NCCL_DEBUG_SUBSYS=COLL), and what NCCL chose for them (TUNING).

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
	words->has_rank = nl_number(text, "globalrank ", &words->rank);
	return nl_hex(text, "opCount ", &words->number) &&
	       nl_number(text, "count ", &words->count) &&
	       nl_number(text, "datatype ", &words->type) &&
	       nl_number(text, "root ", &words->root) &&
	       nl_hex(text, "comm ", &words->pointer) &&
	       nl_number(text, "nranks=", &words->n_ranks) &&
	       nl_hex(text, "stream ", &words->stream);
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
	if (status == TB_OK) {
		// Store the communicator of a call, a new one where no line named it
		// before.
		op.comm = newest_comm(log, process, words.pointer);
		if (op.comm == NL_NONE || log->comms[op.comm].n_ranks != words.n_ranks)
			status = tb_nl_comm_add(log,
				&(struct nl_comm){.pointer = words.pointer,
					.process = process,
					.device = line->device,
					.n_ranks = (uint32_t)words.n_ranks,
					.rank = words.has_rank ? (uint32_t)words.rank
							       : NL_NONE},
				&op.comm);
	}
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

// log_record_setting stores what NCCL chose with the oldest of a process's last calls of
// this kind and size. Only the first rank of a communicator logs it.
static void log_record_setting(struct nl_log *log, const struct nl_process *process,
	bool named, uint8_t what, uint64_t bytes, struct tb_observed observed)
{
	uint32_t n = process->n_recent < NL_RECENT ? process->n_recent : NL_RECENT;
	for (uint32_t i = process->n_recent - n; i < process->n_recent; i++) {
		struct nl_op *op = &log->ops[process->recent[i % NL_RECENT]];
		if (!(op->observed.tree == TB_TREE_UNKNOWN &&
			    op->observed.n_channels == 0 &&
			    (!named || op->what == what) &&
			    op->count * op->element_bytes == bytes) ||
			(log->comms[op->comm].rank != 0 &&
				log->comms[op->comm].rank != NL_NONE))
			continue;
		op->observed = observed;
		return;
	}
}

// words_n_channels reads "channel{Lo..Hi}={0..3}"; 0: the line has none.
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
	struct tb_observed observed = {.n_channels = words_n_channels(line->text)};
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
	observed.tree =
		strcmp(algorithm, "TREE") == 0 ? TB_TREE_TAKEN : TB_TREE_NOT_TAKEN;
	int status = tb_nl_process(log, line, &process);
	if (status == TB_OK)
		log_record_setting(
			log, &log->processes[process], named, what, bytes, observed);
	return status;
}

// How communicators were set up: their ranks, rings, trees and connections.

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

// set_up stores the communicator that the line's thread is setting up. If the thread has
// begun none, it adds one without a name: older NCCL names it at the end.
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

// read_next_rank reads a rank, or "-1" for none, and what follows it.
static bool read_next_rank(const char **text, const char *behind, uint32_t *rank)
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
	if (number >= NL_CHANNELS_MAX || !read_next_rank(&at, " -> ", &previous) ||
		!read_next_rank(&at, " -> ", &rank) || !read_next_rank(&at, "", &next))
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
	if (read_next_rank(&at, "/", &tree->down[0]) &&
		read_next_rank(&at, "/", &tree->down[1]) &&
		read_next_rank(&at, "->", &tree->down[2]) &&
		read_next_rank(&at, "->", rank) && read_next_rank(&at, "", &tree->up))
		return true;
	return read_next_rank(&old, "->", &tree->up) &&
	       read_next_rank(&old, "->", rank) &&
	       read_next_rank(&old, "/", &tree->down[0]) &&
	       read_next_rank(&old, "/", &tree->down[1]) &&
	       read_next_rank(&old, "", &tree->down[2]);
}

// ring_count_ranks returns how many ranks a text lists; 0 if it is no list of ranks.
static uint32_t ring_count_ranks(const char *at)
{
	uint32_t n = 0, rank;
	for (at += strspn(at, " "); *at; at += strspn(at, " "), n++)
		if (!read_next_rank(&at, "", &rank) || rank == NL_NONE)
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
		if (!read_next_rank(&at, "", &channel->order[channel->n_order]))
			break;
	}
	return TB_OK;
}

// take_adapter stores which adapter a GPU sends or receives with: "NET/IB/3/GDRDMA".
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

// split_id derives an id for a communicator made by ncclCommSplit, which names its parent
// and color instead.
static uint64_t split_id(
	const struct nl_log *log, const struct nl_line *line, uint32_t process)
{
	uint64_t parent, turn, color;
	if (!nl_hex(line->text, "parent ", &parent) ||
		!nl_number(line->text, "splitCount ", &turn) ||
		!nl_number(line->text, "color ", &color))
		return 0;
	uint32_t comm = newest_comm(log, process, parent);
	if (comm == NL_NONE)
		return 0;
	uint64_t from =
		log->comms[comm].id ? log->comms[comm].id : log->comms[comm].n_ranks;
	uint64_t id = from * UINT64_C(0x9e3779b97f4a7c15) ^ turn << 32 ^ color;
	return id ? id : 1; // 0 is no id
}

// "[Rank 0] ncclCommInitRank comm 0x.. rank 0 nranks 8 cudaDev 0 ... - Init START", and
// "comm 0x.. rank 0 nRanks 8 nNodes 2 localRanks 4 localRank 0".
static int read_comm(struct nl_log *log, const struct nl_line *line)
{
	struct nl_comm read = {.device = line->device};
	uint64_t rank, n_ranks, number;
	if (!nl_hex(line->text, "comm ", &read.pointer) || read.pointer == 0 ||
		!nl_number(line->text, "rank ", &rank) ||
		(!nl_number(line->text, "nranks ", &n_ranks) &&
			!nl_number(line->text, "nRanks ", &n_ranks)))
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
	if (nl_number(line->text, "cudaDev ", &number) && number < NL_NONE)
		read.device = (uint32_t)number;
	if (!nl_hex(line->text, "commId ", &read.id))
		read.id = split_id(log, line, read.process);
	if (nl_number(line->text, "nNodes ", &number) && number <= NL_RANKS_MAX)
		read.n_nodes = (uint32_t)number;
	if (nl_number(line->text, "localRanks ", &number) && number <= NL_RANKS_MAX)
		read.local_ranks = (uint32_t)number;
	read.is_begun = strstr(line->text, "Init START") != NULL;
	read.is_complete = strstr(line->text, "Init COMPLETE") != NULL;
	struct nl_thread *thread;
	status = find_thread(log, line, read.process, &thread);
	if (status != TB_OK)
		return status;
	uint32_t comm = newest_comm(log, read.process, read.pointer);
	bool known = comm != NL_NONE && comm_fits(&log->comms[comm], &read);
	if (!known) {
		comm = thread->comm;
		known = comm != NL_NONE && log->comms[comm].pointer == 0 &&
			comm_fits(&log->comms[comm], &read);
		if (!known)
			status = tb_nl_comm_add(log, &read, &comm);
	}
	if (status != TB_OK)
		return status;
	take_over(&log->comms[comm], &read);
	thread->comm = log->comms[comm].is_complete ? NL_NONE : comm;
	return nl_comm_names(log, comm);
}

int tb_nl_topology(struct nl_log *log, const struct nl_line *line)
{
	const char *text = line->text;
	if (text_begins(text, "Channel ") || text_begins(text, "Ring "))
		return strstr(text, " via ")	    ? read_connection(log, line)
		       : text_begins(text, "Ring ") ? read_ring(log, line)
						    : read_order(log, line);
	if (text_begins(text, "Trees ")) {
		// "Trees [0] 1/-1/-1->0->-1 [1] ..."
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
	const char *port = strstr(text, "NET[");
	if (port && strstr(port, "] - NET/")) {
		// "+ NET[50.0] - NET/0 (0/1/50.000000)", in GB/s
		double rate = strtod(port + strlen("NET["), NULL) * 8e9;
		if (rate > (double)log->port_bits_per_s && rate < 1e14)
			log->port_bits_per_s = (uint64_t)(rate + 0.5);
		return TB_OK;
	}
	if (text_begins(text, "Using network ")) {
		const char *name = text + strlen("Using network ");
		tb_nl_count(&log->networks, name, strcspn(name, " \t"));
		return TB_OK;
	}
	if (strstr(text, "Destroy COMPLETE") || strstr(text, "Abort COMPLETE")) {
		// "comm 0x.. rank 0 nranks 8 cudaDev 0 busId 1a000 - Destroy COMPLETE"
		uint64_t pointer;
		uint32_t process;
		int status = tb_nl_process(log, line, &process);
		if (status != TB_OK || !nl_hex(line->text, "comm ", &pointer))
			return status;
		uint32_t comm = newest_comm(log, process, pointer);
		if (comm != NL_NONE)
			log->comms[comm].is_gone = true;
		return TB_OK;
	}
	if (strstr(text, "comm 0x") && !strstr(text, "opCount"))
		return read_comm(log, line);
	return TB_OK;
}
