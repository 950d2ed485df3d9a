// The recorders that write a line per call: NCCL's inspector, its example profiler, and
// DeepSpeed's log.
#include "element_types.h"
#include "infile.h"
#include "map.h"
#include "rec_trace.h"
#include "recorders.h"
#include "text_lines.h"
#include "trace_files.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define LINES_BYTES_MAX (UINT64_C(1) << 56)

static bool lines_have(struct tb_bytes first, const char *word)
{
	return memmem(first.data, first.n, word, strlen(word)) != NULL;
}

bool tb_nccl_records_begin(struct tb_bytes first)
{
	size_t at = 0;
	while (at < first.n && memchr(" \t\r\n", first.data[at], 4))
		at++;
	if (at == first.n || (first.data[at] != '{' && first.data[at] != '['))
		return false;
	return lines_have(first, "\"coll_perf\"") ||
	       lines_have(first, "\"inspector_output_format_version\"") ||
	       (lines_have(first, "\"ph\"") &&
		       (lines_have(first, "\"CommHash\"") ||
			       lines_have(first, "\"groupApiId\"") ||
			       lines_have(first, "\"cat\": \"GROUP\"")));
}

static bool is_record_file(const char *path, const char *name)
{
	(void)name;
	return tb_infile_begins(path, tb_nccl_records_begin);
}

bool tb_nccl_records_is_folder(const char *path)
{
	return tb_trace_files_are_in(path, is_record_file);
}

// The file being read.
struct record_file {
	struct rec_trace *trace;
	uint32_t owner;	       // of what names no process
	uint64_t at;	       // line or object, from 1
	enum tb_place place;   // which of the two
	struct tb_map call_of; // of the profiler: calls by process, category and id
};

static int record_refuse(const struct record_file *file, const char *sentence)
{
	return tb_fail_at(file->trace->error, TB_EFORMAT, file->trace->file, file->place,
		file->at, "%s", sentence);
}

// record_whole reads a whole number below `most`, also one written as a real number where
// the format does that.
static bool record_whole(
	const json_t *object, const char *key, uint64_t most, uint64_t *number)
{
	const json_t *value = json_object_get(object, key);
	double real = json_number_value(value);
	if (!json_is_number(value) || !(real >= 0) || real >= (double)most)
		return false;
	*number = json_is_integer(value) ? (uint64_t)json_integer_value(value)
					 : (uint64_t)real;
	return true;
}

// record_add adds a call of the rank at `place` of a group of n ranks (0: unknown).
static int record_add(struct record_file *file, struct rec_call *call, const char *name,
	const char *group, uint64_t n)
{
	enum tb_collective_op op;
	struct rec_trace *trace = file->trace;
	if (strcasestr(name, "send") && !strcasestr(name, "sendrecv"))
		call->what = REC_SEND;
	else if (strcasestr(name, "recv") && !strcasestr(name, "sendrecv"))
		call->what = REC_RECV;
	else if (tb_collective_op_in(&op, name, strlen(name)))
		call->what = (uint8_t)op;
	else if (strcasestr(name, "gather"))
		call->what = TB_COLL_GATHER;
	else if (strcasestr(name, "scatter"))
		call->what = TB_COLL_SCATTER;
	else
		return record_refuse(file, "names no operation that is known");
	int status = tb_rec_group(trace, group, &call->group);
	if (status != TB_OK)
		return status;
	if (n > trace->groups[call->group].n)
		trace->groups[call->group].n = (uint32_t)n;
	call->state = REC_COMPLETED;
	return tb_rec_add(trace, call);
}

// The inspector.

static int inspector_object(struct record_file *file, const json_t *root)
{
	const json_t *header = json_object_get(root, "header");
	const json_t *about = json_object_get(root, "metadata");
	const json_t *performance = json_object_get(root, "coll_perf");
	const json_t *times = json_object_get(performance, "event_trace_ts");
	const char *id = json_string_value(json_object_get(header, "id"));
	const char *coll = json_string_value(json_object_get(performance, "coll"));
	const char *host = json_string_value(json_object_get(about, "hostname"));
	struct rec_call call = {0};
	uint64_t rank, n, pid = 0, lasted = 0, at = 0;
	int status;
	if (!json_is_object(root))
		return record_refuse(file, "expected an object");
	if (!performance) // messages of p2p, which some versions write
		return TB_OK;
	if (!record_whole(header, "rank", REC_RANKS_MAX, &rank) ||
		!record_whole(header, "n_ranks", REC_RANKS_MAX, &n) || rank >= n)
		return record_refuse(
			file, "expected a header with rank and n_ranks, below 1,048,576");
	if (!coll || !record_whole(performance, "coll_sn", UINT64_MAX / 2, &call.seq) ||
		!record_whole(
			performance, "coll_msg_size_bytes", LINES_BYTES_MAX, &call.bytes))
		return record_refuse(file,
			"expected coll_perf with coll, coll_sn and coll_msg_size_bytes");
	(void)record_whole(performance, "coll_exec_time_us", UINT64_C(1) << 40, &lasted);
	(void)record_whole(about, "pid", UINT64_MAX / 2, &pid);
	(void)record_whole(times, "coll_start_ts", UINT64_MAX / 2048, &at);
	call.lasted_ns = lasted * 1000;
	call.made_ns = at * 1000;
	call.place = (uint32_t)rank;
	status = tb_rec_owner(
		file->trace, host, pid ? pid : UINT64_MAX - file->owner, &call.rank);
	return status == TB_OK ? record_add(file, &call, coll, id ? id : "0", n) : status;
}

static int inspector_file(struct record_file *file, FILE *stream)
{
	int status = TB_OK;
	file->place = TB_PLACE_RECORD;
	while (status == TB_OK) {
		json_error_t wrong;
		int c = getc(stream);
		while (c != EOF && strchr(" \t\r\n,[]", c) && c)
			c = getc(stream);
		if (c == EOF)
			break;
		ungetc(c, stream);
		file->at++;
		json_t *root = json_loadf(stream, JSON_DISABLE_EOF_CHECK, &wrong);
		if (!root)
			return tb_fail_at(file->trace->error, TB_EFORMAT,
				file->trace->file, file->place, file->at,
				"expected an object of JSON: %.100s", wrong.text);
		status = inspector_object(file, root);
		json_decref(root);
	}
	return status;
}

// The example profiler.

static uint64_t ns_of(const json_t *event)
{
	double us = json_number_value(json_object_get(event, "ts"));
	return us > 0 && us < 1e15 ? (uint64_t)(us * 1000) : 0;
}

// profiler_event takes the beginning or end of a call. `hash` is the text of CommHash,
// which is too large for a number of JSON.
static int profiler_event(
	struct record_file *file, const json_t *event, bool is_message, const char *hash)
{
	const char *phase = json_string_value(json_object_get(event, "ph"));
	const char *name = json_string_value(json_object_get(event, "name"));
	const json_t *args = json_object_get(event, "args");
	const char *type = json_string_value(json_object_get(args, "Datatype"));
	struct rec_call call = {0};
	uint64_t id, pid = 0, rank, peer = 0, count, size;
	uint32_t before;
	if (!phase || !name || !record_whole(event, "id", UINT64_C(1) << 53, &id))
		return record_refuse(file, "expected an event with name, ph and id");
	(void)record_whole(event, "pid", UINT64_C(1) << 53, &pid);

	uint64_t key = (pid * UINT64_C(0x9e3779b97f4a7c15) + id) * 2 + is_message;
	if (*phase == 'e') {
		if (tb_map_find(&file->call_of, key, &before)) {
			struct rec_call *begun = &file->trace->calls[before];
			uint64_t end = ns_of(event);
			if (begun->made_ns && end > begun->made_ns && !begun->lasted_ns &&
				end - begun->made_ns < REC_NS_MAX)
				begun->lasted_ns = end - begun->made_ns;
		}
		return TB_OK;
	}
	size = type ? tb_element_type_bytes(type, strlen(type)) : 0;
	if (!*hash || !record_whole(args, "Rank", REC_RANKS_MAX, &rank) ||
		!record_whole(args, "Count", UINT64_C(1) << 53, &count) || size == 0)
		return record_refuse(file, "expected a call with CommHash, Rank, Count "
					   "and a Datatype of NCCL's");
	if (is_message && !record_whole(args, "Peer", REC_RANKS_MAX, &peer))
		return record_refuse(file, "expected a message with a Peer");
	(void)record_whole(args, "SeqNum", UINT64_C(1) << 53, &call.seq);
	call.place = (uint32_t)rank;
	call.peer = (uint32_t)peer;
	call.bytes = count * size;
	call.made_ns = ns_of(event);
	int status = tb_rec_owner(
		file->trace, NULL, pid ? pid : UINT64_MAX - file->owner, &call.rank);
	if (status == TB_OK &&
		tb_map_put(&file->call_of, key, (uint32_t)file->trace->n) != TB_OK)
		status = tb_rec_no_memory(file->trace);
	return status == TB_OK ? record_add(file, &call, name, hash, 0) : status;
}

static int profiler_line(struct record_file *file, char *text, size_t n)
{
	bool is_message = strstr(text, "\"cat\": \"P2P\"") != NULL;
	if (!is_message && !strstr(text, "\"cat\": \"COLL\""))
		return TB_OK;
	while (n > 0 && strchr(" \t,]", text[n - 1]))
		n--;
	char hash[32] = "";
	const char *at = strstr(text, "\"CommHash\":");
	if (at) {
		at += strlen("\"CommHash\":");
		at += strspn(at, " ");
		snprintf(hash, sizeof hash, "%.*s", (int)strspn(at, "0123456789"), at);
	}
	json_error_t wrong;
	text += strspn(text, " \t[");
	json_t *event = json_loadb(text, strlen(text) < n ? strlen(text) : n,
		JSON_DECODE_INT_AS_REAL | JSON_DISABLE_EOF_CHECK, &wrong);
	if (!event)
		return record_refuse(file, "expected an event of JSON in a line");
	int status = profiler_event(file, event, is_message, hash);
	json_decref(event);
	return status;
}

// record_lines reads a file line by line.
static int record_lines(struct record_file *file, FILE *stream,
	int (*take)(struct record_file *file, char *text, size_t n))
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, file->trace->file, file->trace->error);
	file->place = TB_PLACE_LINE;
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		file->at = lines.number;
		status = take(file, lines.text, lines.length);
	}
	tb_text_lines_fini(&lines);
	return found < 0 ? found : status;
}

static int record_read(
	struct rec_trace *trace, const struct tb_reading *reading, uint32_t owner)
{
	FILE *stream;
	struct tb_infile *infile;
	struct tb_bytes first;
	struct record_file file = {.trace = trace, .owner = owner};
	int status = tb_infile_open(&stream, &infile, trace->file, trace->error);
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(infile, reading->stop);
	status = tb_infile_peek(infile, TB_INFILE_PEEK_MAX, &first, trace->error);
	TB_THEN(status, lines_have(first, "\"coll_perf\"") ||
					lines_have(first, "inspector_output")
				? inspector_file(&file, stream)
				: record_lines(&file, stream, profiler_line));
	int cause = tb_infile_check(infile, trace->error);
	fclose(stream);
	tb_map_fini(&file.call_of);
	status = cause != TB_OK ? cause : status;
	if (status == TB_EFORMAT)
		status = tb_reading_breaks_off(
			reading, status, &trace->n_broken, trace->error);
	return status;
}

static int records_read(struct rec_trace *trace, const struct tb_reading *reading,
	const char *const *paths, size_t n)
{
	struct tb_trace_files files = {0};
	int status = tb_trace_files_list(&files, paths, n, is_record_file, trace->error);
	for (size_t i = 0; i < files.n && status == TB_OK; i++) {
		trace->file = files.paths[i];
		status = record_read(trace, reading, (uint32_t)i);
	}
	trace->file = paths[0];
	tb_trace_files_fini(&files);
	if (status == TB_OK && trace->n == 0)
		status = tb_fail_in(trace->error, TB_EFORMAT, paths[0],
			"has no collective call and no message: the example profiler "
			"records them with NCCL_PROFILE_EVENT_MASK=30");
	TB_THEN(status, tb_rec_place_ranks(trace));
	// What stands there is one rank's block.
	for (size_t i = 0; i < trace->n && status == TB_OK; i++) {
		struct rec_call *call = &trace->calls[i];
		if (call->what == TB_COLL_REDUCE_SCATTER &&
			__builtin_mul_overflow(
				call->bytes, trace->groups[call->group].n, &call->bytes))
			status = tb_fail_in(trace->error, TB_EFORMAT, paths[0],
				"a reduce-scatter has more than 2^64 bytes in all");
	}
	return status == TB_OK ? tb_rec_finish(trace) : status;
}

int tb_nccl_records_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct rec_trace trace = {.error = error};
	int status = records_read(&trace, reading, paths, n);
	TB_THEN(status, tb_rec_calls(&trace, calls));
	if (status == TB_OK)
		*made = "nccl";
	tb_rec_fini(&trace);
	return status;
}

int tb_nccl_records_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error)
{
	struct rec_trace trace = {.error = error};
	int status = records_read(&trace, reading, paths, n);
	TB_THEN(status, tb_rec_measured(&trace, facts));
	tb_rec_fini(&trace);
	return status == TB_OK ? tb_facts_check(facts, error) : status;
}

// DeepSpeed's log.

#define DEEPSPEED_MENTION_MOST ((size_t)1 << 20)

bool tb_deepspeed_begins(struct tb_bytes first)
{
	return lines_have(first, "comm op: ") && lines_have(first, "| msg size: ");
}

bool tb_deepspeed_mentions(const char *path)
{
	FILE *stream;
	struct tb_infile *file;
	if (tb_infile_open(&stream, &file, path, NULL) != TB_OK)
		return false;
	bool is = tb_infile_mentions(stream, "| msg size: ", DEEPSPEED_MENTION_MOST);
	fclose(stream);
	return is;
}

// deepspeed_field reads the number after a word, and stores what follows the number.
static bool deepspeed_field(
	const char *line, const char *word, double *value, const char **rest)
{
	const char *at = strstr(line, word);
	char *end;
	if (!at)
		return false;
	at += strlen(word);
	*value = strtod(at, &end);
	*rest = end;
	return end > at && *value >= 0 && *value < 1e15;
}

// deepspeed_ranks finds the number of ranks from the two bandwidths of a line: bus over
// algorithm bandwidth is 2 (n - 1) / n for an all-reduce, and (n - 1) / n for operations
// that scatter or gather; 0 if they do not determine it.
static uint64_t deepspeed_ranks(const char *line, uint8_t what)
{
	double algorithm, bus, top = what == TB_COLL_ALLREDUCE ? 2 : 1;
	const char *rest;
	if (what == TB_COLL_BROADCAST || what == TB_COLL_REDUCE ||
		!deepspeed_field(line, "algbw (Gbps): ", &algorithm, &rest) ||
		!deepspeed_field(line, "busbw (Gbps): ", &bus, &rest) || algorithm < 100)
		return 0;
	double n = top / (top - bus / algorithm);
	return n > 1.5 && n < 1e4 ? (uint64_t)(n + 0.5) : 0;
}

struct deepspeed_log {
	struct record_file file;
	uint64_t n_said; // ranks, as the bandwidths say
};

static int deepspeed_line(struct record_file *file, char *text, size_t n)
{
	static const char units[] = "BKMGTP";
	struct deepspeed_log *log = (struct deepspeed_log *)(void *)file;
	const char *name = strstr(text, "comm op: "), *rest, *unit;
	char copy[64];
	double ms, size;
	struct rec_call call = {.seq = file->trace->n};
	enum tb_collective_op op;
	(void)n;
	if (!name || !strstr(text, "| msg size: "))
		return TB_OK;
	name += strlen("comm op: ");
	snprintf(copy, sizeof copy, "%.*s", (int)strcspn(name, " |"), name);
	if (!deepspeed_field(text, "| time (ms): ", &ms, &rest) ||
		!deepspeed_field(text, "| msg size: ", &size, &rest) || *rest != ' ' ||
		!rest[1] || !(unit = strchr(units, rest[1])))
		return record_refuse(
			file, "expected '| time (ms): 9.46 | msg size: 678.86 MB |'");
	for (; unit > units; unit--)
		size *= 1024;
	call.bytes = size < (double)LINES_BYTES_MAX ? (uint64_t)(size + 0.5) : 0;
	call.lasted_ns = ms < 1e9 ? (uint64_t)(ms * 1e6) : 0;
	if (strcasestr(copy, "send") || strcasestr(copy, "recv"))
		return TB_OK; // to and from whom is not printed
	if (!tb_collective_op_in(&op, copy, strlen(copy)))
		op = TB_COLL_BARRIER;
	if (log->n_said == 0)
		log->n_said = deepspeed_ranks(text, (uint8_t)op);
	return record_add(file, &call, copy, "world", 0);
}

int tb_deepspeed_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct rec_trace trace = {.file = paths[0], .error = error};
	struct deepspeed_log log = {.file = {.trace = &trace}};
	FILE *stream;
	struct tb_infile *file;
	char said[80] = "";
	uint32_t n_ranks = reading->clone_ranks;
	(void)n;
	int status = tb_infile_open(&stream, &file, paths[0], error);
	if (status != TB_OK)
		return status;
	status = record_lines(&log.file, stream, deepspeed_line);
	int cause = tb_infile_check(file, error);
	fclose(stream);
	status = cause != TB_OK ? cause : status;
	if (log.n_said)
		snprintf(said, sizeof said, ": by its bandwidths N is %" PRIu64,
			log.n_said);
	if (status == TB_OK && trace.n == 0)
		status = tb_fail_in(
			error, TB_EFORMAT, paths[0], "has no line of a collective call");
	if (status == TB_OK && n_ranks == 0)
		status = tb_fail_in(error, TB_EUSAGE, paths[0],
			"is DeepSpeed's log of rank 0: give --clone-ranks N, of which "
			"all "
			"do what it did%s",
			said);
	size_t n_calls = trace.n;
	trace.n_ranks = n_ranks;
	// What it prints is the size of a call's input.
	for (size_t i = 0; i < n_calls && status == TB_OK; i++)
		if (trace.calls[i].what == TB_COLL_ALLTOALL)
			trace.calls[i].bytes /= n_ranks;
	if (status == TB_OK) {
		struct rec_group *group = &trace.groups[0];
		group->n = n_ranks;
		group->members = malloc(n_ranks * sizeof *group->members);
		if (!group->members)
			status = tb_rec_no_memory(&trace);
		for (uint32_t r = 0; r < n_ranks && status == TB_OK; r++)
			group->members[r] = r;
	}
	for (uint32_t r = 1; r < n_ranks && status == TB_OK; r++)
		for (size_t i = 0; i < n_calls && status == TB_OK; i++) {
			struct rec_call call = trace.calls[i];
			call.rank = r;
			status = tb_rec_add(&trace, &call);
		}
	TB_THEN(status, tb_rec_finish(&trace));
	TB_THEN(status, tb_rec_calls(&trace, calls));
	if (status == TB_OK) {
		*made = "nccl";
		tb_calls_note(*calls,
			"DeepSpeed's log has rank 0 and no groups: %" PRIu32
			" ranks do what it did, each call being of all",
			n_ranks);
	}
	tb_rec_fini(&trace);
	return status;
}
