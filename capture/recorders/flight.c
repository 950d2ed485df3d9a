// Reads the dumps of PyTorch's flight recorder as calls, and finds which ranks are
// behind.
#include "element_types.h"
#include "infile.h"
#include "map.h"
#include "order.h"
#include "pickle.h"
#include "rec_trace.h"
#include "recorders.h"
#include "trace_files.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FLIGHT_BYTES_MAX ((size_t)1 << 31)
#define FLIGHT_SHOWN	 16 // groups of which the state is listed
#define FLIGHT_ELEMENTS	 (UINT64_C(1) << 56)

static bool flight_has_word(struct tb_bytes first, const char *word)
{
	return memmem(first.data, first.n, word, strlen(word)) != NULL;
}

bool tb_flight_begins(struct tb_bytes first)
{
	size_t at = 0;
	while (at < first.n && memchr(" \t\r\n", first.data[at], 4))
		at++;
	bool is_json = at < first.n && first.data[at] == '{';
	if (!is_json && !tb_pickle_begins(first))
		return false;
	return flight_has_word(first, "pg_config") ||
	       flight_has_word(first, "nccl_comm_state") ||
	       (flight_has_word(first, "collective_seq_id") &&
		       flight_has_word(first, "profiling_name"));
}

static bool is_dump(const char *path, const char *name)
{
	(void)name;
	return tb_infile_begins(path, tb_flight_begins);
}

bool tb_flight_is_folder(const char *path)
{
	return tb_trace_files_are_in(path, is_dump);
}

// The dump being read.
struct flight_dump {
	struct rec_trace *trace;
	uint32_t rank;
	size_t record; // entry, from 1; 0: none of these
};

static int flight_refuse(const struct flight_dump *dump, const char *sentence)
{
	return tb_fail_at(dump->trace->error, TB_EFORMAT, dump->trace->file,
		dump->record ? TB_PLACE_RECORD : TB_PLACE_NONE, dump->record, "%s",
		sentence);
}

// rank_in_name reads the digits after "rank", or else the last digits of the name without
// its ending.
static bool rank_in_name(const char *path, uint32_t *rank)
{
	const char *name = basename(path), *at = NULL;
	size_t n = strcspn(name, ".");
	for (const char *word = name; (word = strcasestr(word, "rank")); word += 4) {
		const char *digits = word + 4 + strspn(word + 4, "_-");
		if (isdigit((unsigned char)*digits))
			at = digits;
	}
	if (!at) {
		while (n > 0 && !isdigit((unsigned char)name[n - 1]))
			n--;
		while (n > 0 && isdigit((unsigned char)name[n - 1]))
			n--;
		at = name + n;
	}
	char *end;
	unsigned long number = strtoul(at, &end, 10);
	*rank = (uint32_t)number;
	return end > at && number < REC_RANKS_MAX;
}

// whole_of reads a number, or a text that is a number; false for anything else, and for
// numbers below 0.
static bool whole_of(const json_t *value, uint64_t *number)
{
	const char *text = json_string_value(value);
	char *end;
	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*number = (uint64_t)json_integer_value(value);
		return true;
	}
	if (!text || !isdigit((unsigned char)*text))
		return false;
	*number = strtoull(text, &end, 10);
	return *end == '\0';
}

// bytes_of adds up the bytes of tensors, given by a list of shapes and a list of types.
static bool bytes_of(const json_t *sizes, const json_t *types, uint64_t *bytes)
{
	uint64_t sum = 0;
	size_t i, k;
	json_t *shape, *length;
	json_array_foreach(sizes, i, shape)
	{
		// Types may be one text for all.
		const json_t *type =
			json_is_array(types) ? json_array_get(types, i) : types;
		const char *name = json_string_value(type);
		uint64_t product = name ? tb_element_type_bytes(name, strlen(name)) : 0,
			 part;
		if (product == 0 || !json_is_array(shape))
			return false;
		json_array_foreach(shape, k,
			length) if (!whole_of(length, &part) ||
				    __builtin_mul_overflow(product, part, &product) ||
				    product > FLIGHT_ELEMENTS) return false;
		sum += product;
		if (sum > FLIGHT_ELEMENTS)
			return false;
	}
	*bytes = sum;
	return true;
}

// name_of_group stores the name and description of an entry's group.
static bool name_of_group(
	const json_t *entry, const char **name, const char **description)
{
	const json_t *group = json_object_get(entry, "process_group");
	*description = NULL;
	*name = json_string_value(group);
	if (json_is_array(group)) {
		*name = json_string_value(json_array_get(group, 0));
		*description = json_string_value(json_array_get(group, 1));
	}
	return *name != NULL;
}

// flight_what finds what an entry does by its name ("nccl:all_reduce", "nccl:send 0->1");
// false for names that only bracket others ("nccl:coalesced").
static bool flight_what(const char *name, uint8_t *what, uint64_t *peer)
{
	enum tb_collective_op op;
	const char *colon = strchr(name, ':');
	const char *arrow = strstr(name, "->");
	name = colon ? colon + 1 : name;
	if (strncmp(name, "send", 4) == 0 || strncmp(name, "recv", 4) == 0) {
		*what = *name == 's' ? REC_SEND : REC_RECV;
		arrow = arrow ? arrow : strstr(name, "<-");
		char *end = NULL;
		if (arrow)
			*peer = strtoull(arrow + 2, &end, 10);
		return arrow && end > arrow + 2;
	}
	if (tb_collective_op_in(&op, name, strlen(name)))
		*what = (uint8_t)op;
	else if (strstr(name, "gather"))
		*what = TB_COLL_GATHER;
	else if (strstr(name, "scatter"))
		*what = TB_COLL_SCATTER;
	else
		return false;
	return true;
}

// flight_bytes derives the bytes of a call from the sizes of its inputs and outputs.
static uint64_t flight_bytes(uint8_t what, uint64_t in, uint64_t out, uint32_t n)
{
	switch (what) {
	case TB_COLL_ALLTOALL:
		return in / (n ? n : 1);
	case TB_COLL_SCATTER:
		return out;
	case TB_COLL_BROADCAST:
	case REC_RECV:
		return in > out ? in : out;
	default:
		return in;
	}
}

static int flight_entry(struct flight_dump *dump, const json_t *entry)
{
	struct rec_trace *trace = dump->trace;
	struct rec_call call = {.rank = dump->rank, .place = REC_NONE};
	const char *group, *description;
	const char *name = json_string_value(json_object_get(entry, "profiling_name"));
	const char *state = json_string_value(json_object_get(entry, "state"));
	uint64_t in, out, peer = 0;
	if (!name || !name_of_group(entry, &group, &description))
		return flight_refuse(
			dump, "expected a call with process_group and profiling_name");
	if (!flight_what(name, &call.what, &peer))
		return TB_OK;
	int status = tb_rec_group(trace, group, &call.group);
	if (status != TB_OK)
		return status;
	struct rec_group *of = &trace->groups[call.group];
	if (description && !of->description && !(of->description = strdup(description)))
		return tb_rec_no_memory(trace);
	const json_t *seq = json_object_get(entry, "collective_seq_id");
	if (!whole_of(seq ? seq : json_object_get(entry, "seq_id"), &call.seq) &&
		call.what < REC_SEND)
		return flight_refuse(dump, "expected collective_seq_id, a whole number");
	if (!bytes_of(json_object_get(entry, "input_sizes"),
		    json_object_get(entry, "input_dtypes"), &in) ||
		!bytes_of(json_object_get(entry, "output_sizes"),
			json_object_get(entry, "output_dtypes"), &out))
		return flight_refuse(dump,
			"expected sizes as lists of whole numbers, and a type of known "
			"size for each");
	if (call.what >= REC_SEND && peer >= REC_RANKS_MAX)
		return flight_refuse(dump, "expected a rank to send to");
	call.peer = (uint32_t)peer;
	call.bytes = flight_bytes(call.what, in, out, of->n);
	// A barrier of NCCL is an all-reduce of one number.
	if (call.what == TB_COLL_BARRIER) {
		call.what = TB_COLL_ALLREDUCE;
		call.bytes = 4;
	}
	call.state = state && strcmp(state, "completed") == 0 ? REC_COMPLETED
		     : state && strcmp(state, "started") == 0 ? REC_STARTED
							      : REC_SCHEDULED;
	(void)whole_of(json_object_get(entry, "time_created_ns"), &call.made_ns);
	double lasted = json_number_value(json_object_get(entry, "duration_ms"));
	if (lasted > 0 && lasted < 1e9)
		call.lasted_ns = (uint64_t)(lasted * 1e6);
	return tb_rec_add(trace, &call);
}

// flight_group reads the members of a group from pg_config, such as "[0, 1, 2]".
static int flight_group(struct flight_dump *dump, const char *key, const json_t *config)
{
	struct rec_trace *trace = dump->trace;
	const char *name = json_string_value(json_object_get(config, "name"));
	const char *text = json_string_value(json_object_get(config, "ranks"));
	const char *description = json_string_value(json_object_get(config, "desc"));
	uint32_t index, n = 0;
	bool ascends = true;
	int status = tb_rec_group(trace, name ? name : key, &index);
	if (status != TB_OK)
		return status;
	struct rec_group *group = &trace->groups[index];
	if (description && !group->description &&
		!(group->description = strdup(description)))
		return tb_rec_no_memory(trace);
	if (group->members || !text)
		return TB_OK;
	group->members = malloc((strlen(text) / 2 + 1) * sizeof *group->members);
	if (!group->members)
		return tb_rec_no_memory(trace);
	for (const char *at = text; *at;) {
		char *end;
		if (!isdigit((unsigned char)*at)) {
			at++;
			continue;
		}
		unsigned long rank = strtoul(at, &end, 10);
		if (rank >= REC_RANKS_MAX)
			return flight_refuse(dump, "a group has a rank above 1,048,575");
		ascends = ascends && (n == 0 || rank > group->members[n - 1]);
		group->members[n++] = (uint32_t)rank;
		if (rank >= trace->n_ranks)
			trace->n_ranks = (uint32_t)rank + 1;
		at = end;
	}
	group->n = n;
	if (!ascends) {
		uint32_t *sorted = malloc(n * sizeof *sorted);
		if (!sorted)
			return tb_rec_no_memory(trace);
		memcpy(sorted, group->members, n * sizeof *sorted);
		qsort(sorted, n, sizeof *sorted, tb_order_u32);
		bool is_twice = false;
		for (uint32_t i = 1; i < n; i++)
			is_twice |= sorted[i] == sorted[i - 1];
		free(sorted);
		if (is_twice)
			return flight_refuse(dump, "a group has a rank twice");
	}
	if (n == 0) { // of the first group some versions list none
		free(group->members);
		group->members = NULL;
	}
	return TB_OK;
}

static int flight_values(struct flight_dump *dump, json_t *root)
{
	const char *key;
	size_t i;
	json_t *value, *entries = json_object_get(root, "entries");
	int status = TB_OK;
	uint64_t rank;
	if (whole_of(json_object_get(root, "rank"), &rank) && rank < REC_RANKS_MAX)
		dump->rank = (uint32_t)rank;
	else if (!rank_in_name(dump->trace->file, &dump->rank))
		return tb_fail_in(dump->trace->error, TB_EFORMAT, dump->trace->file,
			"has no rank in its name: expected one as in "
			"nccl_trace_rank_3");
	if (dump->rank >= dump->trace->n_ranks)
		dump->trace->n_ranks = dump->rank + 1;
	json_object_foreach(json_object_get(root, "pg_config"), key,
		value) if (status == TB_OK) status = flight_group(dump, key, value);
	json_array_foreach(entries, i, value)
	{
		dump->record = i + 1;
		TB_THEN(status, flight_entry(dump, value));
	}
	return status;
}

// flight_file reads a dump and stores which rank wrote it.
static int flight_file(
	struct rec_trace *trace, const struct tb_reading *reading, uint32_t *rank)
{
	FILE *stream;
	struct tb_infile *file;
	struct flight_dump dump = {.trace = trace, .rank = REC_NONE};
	struct tb_bytes bytes;
	uint8_t *data = NULL;
	json_t *root = NULL;
	json_error_t wrong;
	int status = tb_infile_open(&stream, &file, trace->file, trace->error);
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(file, reading->stop);
	status = tb_infile_read_all(
		stream, trace->file, FLIGHT_BYTES_MAX, &data, &bytes.n, trace->error);
	bytes.data = data;
	int cause = tb_infile_check(file, trace->error);
	fclose(stream);
	status = cause != TB_OK ? cause : status;
	if (status == TB_OK && tb_pickle_begins(bytes)) {
		status = tb_pickle_read(&root, bytes, trace->file, trace->error);
	} else if (status == TB_OK) {
		root = json_loadb((const char *)data, bytes.n, 0, &wrong);
		if (!root)
			status = tb_fail_at(trace->error, TB_EFORMAT, trace->file,
				TB_PLACE_LINE, wrong.line > 0 ? (uint64_t)wrong.line : 1,
				"expected JSON: %.100s", wrong.text);
	}
	if (status == TB_OK && !json_is_object(root))
		status = tb_fail_in(trace->error, TB_EFORMAT, trace->file,
			"expected an object with pg_config and entries");
	TB_THEN(status, flight_values(&dump, root));
	json_decref(root);
	free(data);
	*rank = dump.rank;
	if (status == TB_EFORMAT)
		status = tb_reading_breaks_off(
			reading, status, &trace->n_broken, trace->error);
	return status;
}

// list_callers makes the ranks that call in a group its members if the dumps list none.
static int list_callers(struct rec_trace *trace)
{
	uint64_t *pairs = malloc((trace->n + 1) * sizeof *pairs); // group and rank
	size_t n = 0;
	int status = TB_OK;
	if (!pairs)
		return tb_rec_no_memory(trace);
	for (size_t i = 0; i < trace->n; i++)
		if (!trace->groups[trace->calls[i].group].members)
			pairs[n++] = (uint64_t)trace->calls[i].group << 32 |
				     trace->calls[i].rank;
	qsort(pairs, n, sizeof *pairs, tb_order_u64);
	for (size_t i = 0, end; i < n && status == TB_OK; i = end) {
		struct rec_group *group = &trace->groups[pairs[i] >> 32];
		for (end = i + 1; end < n && pairs[end] >> 32 == pairs[i] >> 32;)
			end++;
		group->members = malloc((end - i) * sizeof *group->members);
		if (!group->members)
			status = tb_rec_no_memory(trace);
		for (size_t k = i; k < end && status == TB_OK; k++)
			if (k == i || pairs[k] != pairs[k - 1])
				group->members[group->n++] = (uint32_t)pairs[k];
	}
	free(pairs);
	return status;
}

// flight_members completes groups without a list of members: the first that is described
// as the default group has all ranks.
static int flight_members(struct rec_trace *trace)
{
	uint32_t world = 0;
	while (world < trace->n_groups &&
		(!trace->groups[world].description ||
			strcmp(trace->groups[world].description, "default_pg") != 0))
		world++;
	if (world < trace->n_groups && !trace->groups[world].members) {
		struct rec_group *group = &trace->groups[world];
		group->members = malloc((trace->n_ranks + 1) * sizeof(uint32_t));
		if (!group->members)
			return tb_rec_no_memory(trace);
		for (group->n = 0; group->n < trace->n_ranks; group->n++)
			group->members[group->n] = group->n;
	}
	int status = list_callers(trace);
	if (status != TB_OK)
		return status;
	for (size_t i = 0; i < trace->n; i++) {
		struct rec_call *call = &trace->calls[i];
		const struct rec_group *group = &trace->groups[call->group];
		uint32_t place = tb_group_place(
			&(struct tb_group){group->members, group->n, group->n},
			call->rank);
		if (place == group->n)
			return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
				"rank %" PRIu32
				" calls in group %.40s, of which it is no "
				"member",
				call->rank, group->name);
		if (call->what >= REC_SEND && call->peer >= group->n)
			return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
				"rank %" PRIu32
				" sends to or receives from number %" PRIu32
				" of group %.40s, which has %" PRIu32 " members",
				call->rank, call->peer, group->name, group->n);
	}
	return TB_OK;
}

// flight_read reads the dumps; `has` gets, by rank, whether there is one. The caller
// frees both.
static int flight_read(struct rec_trace *trace, bool **has,
	const struct tb_reading *reading, const char *const *paths, size_t n)
{
	struct tb_trace_files files = {0};
	int status = tb_trace_files_list(&files, paths, n, is_dump, trace->error);
	uint32_t *ranks = calloc(files.n + 1, sizeof *ranks);
	struct tb_map file_of = {0}; // by rank
	if (status == TB_OK && !ranks)
		status = tb_rec_no_memory(trace);
	for (size_t i = 0; i < files.n && status == TB_OK; i++) {
		trace->file = files.paths[i];
		status = flight_file(trace, reading, &ranks[i]);
		if (status != TB_OK || ranks[i] == REC_NONE)
			continue;
		uint32_t before;
		if (tb_map_find(&file_of, ranks[i], &before))
			status = tb_fail_in(trace->error, TB_EFORMAT, files.paths[i],
				"is of rank %" PRIu32 ", as '%.100s'", ranks[i],
				files.paths[before]);
		else if (tb_map_put(&file_of, ranks[i], (uint32_t)i) != TB_OK)
			status = tb_rec_no_memory(trace);
	}
	trace->file = paths[0];
	if (status == TB_OK && trace->n_ranks == 0)
		status = tb_fail_in(trace->error, TB_EFORMAT, paths[0],
			"holds no dump that is whole");
	TB_THEN(status, flight_members(trace));
	TB_THEN(status, tb_rec_finish(trace));
	if (status == TB_OK) {
		*has = calloc(trace->n_ranks, sizeof **has);
		if (!*has)
			status = tb_rec_no_memory(trace);
		for (size_t i = 0; i < files.n && status == TB_OK; i++)
			if (ranks[i] != REC_NONE)
				(*has)[ranks[i]] = true;
	}
	free(ranks);
	tb_map_fini(&file_of);
	tb_trace_files_fini(&files);
	return status;
}

int tb_flight_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct rec_trace trace = {.error = error};
	bool *has = NULL;
	int status = flight_read(&trace, &has, reading, paths, n);
	TB_THEN(status, tb_rec_calls(&trace, calls));
	if (status == TB_OK)
		*made = "nccl";
	free(has);
	tb_rec_fini(&trace);
	return status;
}

// Who is behind. In each group, a member's last call is the one with the highest number;
// whoever's is lower than another's is behind, and the others wait for it.

struct flight_member {
	const struct rec_call *last;	 // NULL: none
	const struct rec_call *waits_in; // the first that is not complete; NULL: none
};

struct flight_state {
	const struct rec_trace *trace;
	struct tb_facts *facts;
	const bool *has;
	struct flight_member *members; // of one group
	uint32_t *ranks;	       // room for a list of these
	uint64_t n_behind;	       // groups in which somebody is
	uint64_t n_held;	       // in which all came, and did not end
};

static const char *flight_called(const struct rec_group *group, char *buffer, size_t size)
{
	bool says = group->description && group->description[0] &&
		    strcmp(group->description, "undefined") != 0;
	snprintf(buffer, size, "group %.40s%s%.60s%s", group->name, says ? " (" : "",
		says ? group->description : "", says ? ")" : "");
	return buffer;
}
#define GROUP_TEXT(group) flight_called((group), (char[120]){0}, 120)

// add_behind adds the members whose last call has a number below `front`, a row for each
// number; if there are many numbers, only for the first ones.
static int add_behind(struct flight_state *state, const struct rec_group *group,
	const struct rec_call *front)
{
	uint32_t n_waiting = 0, n_numbers = 0, unused;
	struct tb_map is_seen = {0}; // by number
	int status = TB_OK;
	for (uint32_t i = 0; i < group->n; i++)
		n_waiting += state->members[i].last &&
			     state->members[i].last->seq == front->seq;
	for (uint32_t i = 0; i < group->n && status == TB_OK; i++) {
		const struct flight_member *member = &state->members[i];
		uint64_t seq = member->last ? member->last->seq : 0;
		uint32_t n = 0;
		if (!state->has[group->members[i]] || seq >= front->seq ||
			tb_map_find(&is_seen, seq, &unused))
			continue;
		status = tb_map_put(&is_seen, seq, 1);
		if (n_numbers++ >= FLIGHT_SHOWN)
			continue;
		for (uint32_t k = i; k < group->n; k++) {
			const struct flight_member *other = &state->members[k];
			if (state->has[group->members[k]] &&
				(other->last ? other->last->seq : 0) == seq)
				state->ranks[n++] = group->members[k];
		}
		// What the others called next.
		const struct rec_call *next = front;
		for (uint32_t k = 0; k < group->n; k++)
			if (state->members[k].waits_in &&
				state->members[k].waits_in->seq > seq &&
				state->members[k].waits_in->seq < next->seq)
				next = state->members[k].waits_in;
		tb_facts_add(state->facts, "behind",
			"%s: rank%s %s %s not called %s, number %" PRIu64
			", in which %" PRIu32 " of %" PRIu32 " wait%s; %s last there is "
			"%s%.80s%s",
			GROUP_TEXT(group), n == 1 ? "" : "s",
			tb_rec_ranks(state->ranks, n, (char[200]){0}, 200),
			n == 1 ? "has" : "have", REC_CALL_TEXT(next), next->seq,
			n_waiting, group->n, n_waiting == 1 ? "s" : "",
			n == 1 ? "its" : "their", member->last ? "" : "unknown",
			member->last ? REC_CALL_TEXT(member->last) : "",
			!member->last			       ? ""
			: member->last->state == REC_COMPLETED ? ", complete"
							       : ", not complete");
	}
	if (n_numbers > FLIGHT_SHOWN)
		tb_facts_add(state->facts, "behind",
			"%s: others at %" PRIu32 " more numbers", GROUP_TEXT(group),
			n_numbers - FLIGHT_SHOWN);
	tb_map_fini(&is_seen);
	return status;
}

// Whether all members give a collective the same number of bytes.
static bool gives_alike(uint8_t what)
{
	return what == TB_COLL_BROADCAST || what == TB_COLL_REDUCE ||
	       what == TB_COLL_ALLREDUCE;
}

// add_mismatch adds the first number for which ranks called different operations, and
// returns whether there is one. The calls of the group are from..to, ordered by number.
static bool add_mismatch(
	struct flight_state *state, const struct rec_group *group, size_t from, size_t to)
{
	const struct rec_trace *trace = state->trace;
	const struct rec_call *first = NULL;
	for (size_t i = from; i < to; i++) {
		const struct rec_call *call = &trace->calls[trace->by_number[i]];
		if (!first || first->seq != call->seq || first->turn != call->turn)
			first = call;
		if (call->what == first->what &&
			(call->bytes == first->bytes || !gives_alike(call->what)))
			continue;
		tb_facts_add(state->facts, "mismatch",
			"%s: as number %" PRIu64 " rank %" PRIu32
			" called %s, but rank %" PRIu32 " %s",
			GROUP_TEXT(group), call->seq, call->rank, REC_CALL_TEXT(call),
			first->rank, REC_CALL_TEXT(first));
		return true;
	}
	return false;
}

// add_group finds the state of one group, whose calls are from..to ordered by number, and
// adds what is wrong with it.
static int add_group(struct flight_state *state, size_t from, size_t to)
{
	const struct rec_trace *trace = state->trace;
	const struct rec_group *group =
		&trace->groups[trace->calls[trace->by_number[from]].group];
	const struct tb_group as = {group->members, group->n, group->n};
	const struct rec_call *front = NULL, *held = NULL;
	uint32_t n_absent = 0, n_held = 0, n_started = 0;
	bool is_behind = false;
	int status = TB_OK;
	memset(state->members, 0, group->n * sizeof *state->members);
	for (size_t i = from; i < to; i++) {
		const struct rec_call *call = &trace->calls[trace->by_number[i]];
		struct flight_member *member =
			&state->members[tb_group_place(&as, call->rank)];
		if (!member->last || call->seq >= member->last->seq)
			member->last = call;
		if (!member->waits_in && call->state != REC_COMPLETED)
			member->waits_in = call;
		if (!front || call->seq > front->seq)
			front = call;
	}
	for (uint32_t i = 0; i < group->n; i++) {
		const struct flight_member *member = &state->members[i];
		if (!state->has[group->members[i]])
			state->ranks[n_absent++] = group->members[i];
		else
			is_behind |= !member->last || member->last->seq < front->seq;
		if (!member->waits_in)
			continue;
		n_held++;
		n_started += member->waits_in->state == REC_STARTED;
		held = held && held->seq <= member->waits_in->seq ? held
								  : member->waits_in;
	}
	if (n_absent && held)
		tb_facts_add(state->facts, "no dump", "%s: of rank%s %s of its %" PRIu32,
			GROUP_TEXT(group), n_absent == 1 ? "" : "s",
			tb_rec_ranks(state->ranks, n_absent, (char[200]){0}, 200),
			group->n);
	// A rank that is some calls behind others that do not wait is only slower.
	if (is_behind && held) {
		state->n_behind++;
		status = add_behind(state, group, front);
		(void)add_mismatch(state, group, from, to);
	} else if (add_mismatch(state, group, from, to)) {
		state->n_held += held != NULL;
	} else if (held && n_absent) {
		state->n_held++;
		tb_facts_add(state->facts, "waiting",
			"%s: all %" PRIu32 " that have a dump called %s, number %" PRIu64
			", and %" PRIu32
			" did not end it: whoever has no dump may not have "
			"come to it",
			GROUP_TEXT(group), group->n - n_absent, REC_CALL_TEXT(held),
			held->seq, n_held);
	} else if (held) {
		state->n_held++;
		tb_facts_add(state->facts, "held up",
			"%s: all of its ranks called %s, number %" PRIu64 ", and %" PRIu32
			" did not end it (%" PRIu32
			" began it): the network or a GPU holds it up, no missing call",
			GROUP_TEXT(group), REC_CALL_TEXT(held), held->seq, n_held,
			n_started);
	}
	return status;
}

// add_messages adds, for each rank, the first send or receive that did not end.
static void add_messages(struct flight_state *state)
{
	const struct rec_trace *trace = state->trace;
	size_t n = 0;
	for (size_t from = 0, to; from < trace->n; from = to) {
		const struct rec_call *held = NULL;
		to = tb_rec_rank_end(trace, from);
		for (size_t i = from; i < to && !held; i++)
			if (trace->calls[i].what >= REC_SEND &&
				trace->calls[i].state != REC_COMPLETED)
				held = &trace->calls[i];
		if (held && n++ < FLIGHT_SHOWN)
			tb_facts_add(state->facts, "message",
				"rank %" PRIu32 " waits in a %s %s rank %" PRIu32,
				held->rank, REC_CALL_TEXT(held),
				held->what == REC_SEND ? "to" : "from",
				trace->groups[held->group].members[held->peer]);
	}
	if (n > FLIGHT_SHOWN)
		tb_facts_add(state->facts, "message", "and of %zu more ranks",
			n - FLIGHT_SHOWN);
}

static int flight_state_facts(
	const struct rec_trace *trace, const bool *has, struct tb_facts *facts)
{
	uint32_t n_dumps = 0, most = 0;
	for (uint32_t r = 0; r < trace->n_ranks; r++)
		n_dumps += has[r];
	for (size_t i = 0; i < trace->n_groups; i++)
		most = trace->groups[i].n > most ? trace->groups[i].n : most;
	struct flight_state state = {.trace = trace,
		.facts = facts,
		.has = has,
		.members = malloc((most + 1) * sizeof *state.members),
		.ranks = malloc((most + 1) * sizeof *state.ranks)};
	if (!state.members || !state.ranks) {
		free(state.members);
		free(state.ranks);
		return tb_rec_no_memory(trace);
	}
	tb_facts_add(facts, "dumps", "of %" PRIu32 " of %s, %s in %s", n_dumps,
		TB_COUNTED_TEXT(trace->n_ranks, "rank"),
		TB_COUNTED_TEXT(trace->n, "call"),
		TB_COUNTED_TEXT(trace->n_groups, "group"));
	int status = TB_OK;
	for (size_t from = 0, to; from < trace->n_numbered && status == TB_OK;
		from = to) {
		uint32_t group = trace->calls[trace->by_number[from]].group;
		for (to = from; to < trace->n_numbered &&
				trace->calls[trace->by_number[to]].group == group;)
			to++;
		status = add_group(&state, from, to);
	}
	add_messages(&state);
	if (state.n_behind + state.n_held == 0)
		tb_facts_add(facts, "behind", "nobody: every collective is complete");
	free(state.members);
	free(state.ranks);
	return status == TB_OK ? TB_OK : tb_rec_no_memory(trace);
}

int tb_flight_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error)
{
	struct rec_trace trace = {.error = error};
	bool *has = NULL;
	int status = flight_read(&trace, &has, reading, paths, n);
	TB_THEN(status, flight_state_facts(&trace, has, facts));
	TB_THEN(status, tb_rec_measured(&trace, facts));
	free(has);
	tb_rec_fini(&trace);
	return status == TB_OK ? tb_facts_check(facts, error) : status;
}
