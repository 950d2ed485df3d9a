// Reads one rank's log.
#include "array.h"
#include "mpilog_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 65536

static const struct {
	const char *name;
	uint8_t kind; // enum mpilog_kind
	uint8_t op;
	bool starts;
} ops[] = {
	{"send", MPILOG_SEND, 0, false},
	{"isend", MPILOG_SEND, 0, true},
	{"recv", MPILOG_RECV, 0, false},
	{"irecv", MPILOG_RECV, 0, true},
	{"sendrecv", MPILOG_SENDRECV, 0, false},
	{"wait", MPILOG_WAIT, 0, false},
	{"waitall", MPILOG_WAIT, 0, false},
	{"waitany", MPILOG_WAIT, 0, false},
	{"test", MPILOG_WAIT, 0, false},
	{"testany", MPILOG_WAIT, 0, false},
	{"barrier", MPILOG_COLLECTIVE, TB_COLL_BARRIER, false},
	{"finalize", MPILOG_COLLECTIVE, TB_COLL_BARRIER, false},
	{"comm_split", MPILOG_COLLECTIVE, TB_COLL_BARRIER, false},
	{"cart_create", MPILOG_COLLECTIVE, TB_COLL_BARRIER, false},
	{"bcast", MPILOG_COLLECTIVE, TB_COLL_BROADCAST, false},
	{"gather", MPILOG_COLLECTIVE, TB_COLL_GATHER, false},
	{"scatter", MPILOG_COLLECTIVE, TB_COLL_SCATTER, false},
	{"allgather", MPILOG_COLLECTIVE, TB_COLL_ALLGATHER, false},
	{"alltoall", MPILOG_COLLECTIVE, TB_COLL_ALLTOALL, false},
	{"reduce", MPILOG_COLLECTIVE, TB_COLL_REDUCE, false},
	{"allreduce", MPILOG_COLLECTIVE, TB_COLL_ALLREDUCE, false},
	{"scan", MPILOG_COLLECTIVE, TB_COLL_SCAN, false},
	{"comm_free", MPILOG_OTHER, 0, false},
	{"init", MPILOG_OTHER, 0, false},
};

// A line, and what it is read for.
struct line {
	char *text;
	const char *path;
	uint64_t number;
	struct mpilog *log;
	struct tb_error *error;
};

static int broken(const struct line *line, const char *what)
{
	return tb_fail_at(line->error, TB_EFORMAT, line->path, TB_PLACE_LINE,
		line->number, "%s", what);
}

static int64_t value_of(const char *line, const char *key, int64_t otherwise)
{
	const char *at = strstr(line, key);
	return at ? strtoll(at + strlen(key), NULL, 10) : otherwise;
}

// read_comm reads "#comm ID size N : ranks". A number that a rank gives to other members
// than before is a communicator of its own.
static int read_comm(
	const struct line *line, struct tb_calls *calls, struct mpilog_comms *comms)
{
	char *rest = NULL;
	uint32_t group = 0, n = 0;
	int64_t id = value_of(line->text, "#comm ", -1);
	int64_t size = value_of(line->text, " size ", 0);
	uint32_t *members = size > 0 && size < LINE_BYTES
				    ? calloc((size_t)size, sizeof *members)
				    : NULL;
	char *word = strtok_r(strchr(line->text, ':'), ": \n", &rest);
	for (; members && word && n < size; word = strtok_r(NULL, " \n", &rest))
		members[n++] = (uint32_t)strtoul(word, NULL, 10);
	int status =
		members && n == size ? TB_OK : broken(line, "expected as many members");
	for (size_t i = comms->n; status == TB_OK && i-- > 0;) {
		struct tb_group known = tb_calls_members(calls, comms->groups[i]);
		if (comms->ids[i] != id || known.n != n ||
			memcmp(known.members, members, n * sizeof *members) != 0)
			continue;
		// The last one of a number counts, so put it last.
		group = comms->groups[i];
		break;
	}
	if (status == TB_OK && group == 0 && id != 0)
		status = tb_calls_group(calls, members, n, n, &group, line->error);
	free(members);
	if (status == TB_OK)
		status = TB_ARRAY_RESERVE(&comms->ids, &comms->ids_room, comms->n + 1);
	if (status == TB_OK)
		status = TB_ARRAY_RESERVE(
			&comms->groups, &comms->groups_room, comms->n + 1);
	if (status == TB_OK) {
		comms->ids[comms->n] = id;
		comms->groups[comms->n++] = group;
	}
	return status;
}

// find_comm finds the group of a communicator. A number without members is that of
// MPI_COMM_SELF, in which nobody is waited for.
static bool find_comm(const struct mpilog_comms *comms, int64_t id, uint32_t *group)
{
	for (size_t i = comms->n; i-- > 0;) {
		if (comms->ids[i] != id)
			continue;
		*group = comms->groups[i];
		return true;
	}
	*group = 0;
	return id <= 0;
}

// complete has the last call complete request `i` of those that are open, which came
// from rank `from` (or MPILOG_ANY, if that is not known).
static int complete(struct mpilog *log, size_t i, int64_t from, uint64_t bytes)
{
	struct mpilog_call *call = &log->calls[log->open[i].call];
	if (call->kind == MPILOG_RECV && from != MPILOG_ANY) {
		call->from = from;
		call->bytes = bytes;
		call->gone = from < 0;
	}
	if (TB_ARRAY_RESERVE(&log->done, &log->done_room, log->n_done + 1) != TB_OK)
		return TB_ENOMEM;
	log->done[log->n_done++] = log->open[i].call;
	log->calls[log->n - 1].n_done++;
	memmove(log->open + i, log->open + i + 1,
		(--log->n_open - i) * sizeof *log->open);
	return TB_OK;
}

// read_done reads the requests that a call of jobs/ completed: "s3", "r4:source:bytes".
static int read_done(const struct line *line, char *text)
{
	char *rest = NULL;
	int status = TB_OK;
	char *word = strtok_r(text, " \n", &rest);
	for (; word && status == TB_OK; word = strtok_r(NULL, " \n", &rest)) {
		char side = word[0], *end = word;
		if ((side != 's' && side != 'r') || !isdigit((unsigned char)word[1]))
			continue;
		long id = strtol(word + 1, &end, 10), from = MPILOG_ANY, bytes = 0;
		if (side == 'r' && sscanf(end, ":%ld:%ld", &from, &bytes) != 2)
			return broken(line, "expected rREQUEST:SOURCE:BYTES");
		size_t i = line->log->n_open;
		while (i > 0 && (line->log->open[i - 1].id != id ||
					line->log->open[i - 1].side != side))
			i--;
		if (i > 0)
			status = complete(line->log, i - 1, from, (uint64_t)bytes);
	}
	return status;
}

static int open_request(struct mpilog *log, const char *text)
{
	const char *at = strstr(text, " req=");
	if (TB_ARRAY_RESERVE(&log->open, &log->open_room, log->n_open + 1) != TB_OK)
		return TB_ENOMEM;
	log->open[log->n_open++] = (struct mpilog_request){
		log->n - 1, at ? strtol(at + 6, NULL, 10) : 0, at ? at[5] : ' '};
	return TB_OK;
}

// read_keyed reads what stands behind the call's name in a log of jobs/.
static int read_keyed(
	const struct line *line, const struct mpilog_comms *comms, char *text)
{
	struct mpilog_call *call = &line->log->calls[line->log->n - 1];
	call->to = value_of(text, " to=", -2);
	call->from = value_of(text, " from=", -2);
	call->tag = value_of(text, " tag=", 0);
	call->rtag = value_of(text, " rtag=", call->tag);
	call->bytes = (uint64_t)value_of(text, " bytes=", 0);
	call->root = (uint32_t)value_of(text, " root=", 0);
	if (!find_comm(comms, value_of(text, " comm=", 0), &call->group) &&
		call->kind == MPILOG_COLLECTIVE)
		call->kind = MPILOG_OTHER;
	int status = TB_OK;
	if (call->starts)
		status = open_request(line->log, text);
	if (status == TB_OK && call->kind == MPILOG_WAIT)
		status = read_done(line, text);
	return status;
}

// read_plain reads "peer bytes tag" of whatif/mpilog.
static int read_plain(const struct line *line, const char *text, bool all)
{
	struct mpilog *log = line->log;
	struct mpilog_call *call = &log->calls[log->n - 1];
	long long peer = 0, bytes = 0, tag = 0;
	if (sscanf(text, "%lld %lld %lld", &peer, &bytes, &tag) != 3)
		return broken(line, "expected peer, bytes and tag");
	call->to = call->from = peer;
	call->tag = call->rtag = tag;
	call->bytes = (uint64_t)bytes;
	call->root = peer > 0 ? (uint32_t)peer : 0;
	int status = call->starts ? open_request(log, "") : TB_OK;
	size_t n = call->kind != MPILOG_WAIT ? 0 : all ? (size_t)bytes : 1;
	for (; status == TB_OK && n > 0 && log->n_open > 0; n--)
		status = complete(log, 0, MPILOG_ANY, 0);
	return status;
}

static int name_call(struct mpilog_call *call, const char *name)
{
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		if (strcasecmp(ops[i].name, name) != 0)
			continue;
		call->kind = ops[i].kind;
		call->op = ops[i].op;
		call->starts = ops[i].starts;
		return TB_OK;
	}
	return TB_EFORMAT;
}

static bool is_within(const struct tb_mpilog_options *options, uint64_t start_ns)
{
	return start_ns >= options->from_ns &&
	       (options->to_ns == 0 || start_ns <= options->to_ns);
}

static int read_call(const struct line *line, const struct mpilog_comms *comms,
	const struct tb_mpilog_options *options)
{
	struct mpilog *log = line->log;
	bool keyed = log->epoch_ns > 0; // jobs/ begin with the epoch
	unsigned long long start = 0, within = 0, cpu = 0;
	char name[32] = "";
	int at = 0;
	int n = keyed ? sscanf(line->text, "%llu %llu %llu %31s%n", &start, &within, &cpu,
				name, &at)
		      : sscanf(line->text, "%llu %llu %31s%n", &start, &within, name,
				&at);
	if (n != 3 + keyed)
		return broken(line, "expected start, duration and call");
	struct mpilog_call call = {.start_ns = start + log->epoch_ns};
	if (name_call(&call, name) != TB_OK)
		return broken(line, "the call is unknown");
	uint64_t before = log->end_ns;
	log->end_ns = call.start_ns + within;
	if (!is_within(options, call.start_ns))
		return TB_OK;
	if (before < options->from_ns)
		before = options->from_ns;
	call.calc_ns = options->cpu && keyed		       ? cpu
		       : before == 0 || before > call.start_ns ? 0
							       : call.start_ns - before;
	if (TB_ARRAY_RESERVE(&log->calls, &log->room, log->n + 1) != TB_OK)
		return TB_ENOMEM;
	call.first_done = log->n_done;
	log->calls[log->n++] = call;
	return keyed ? read_keyed(line, comms, line->text + at)
		     : read_plain(
			       line, line->text + at, strcasecmp(name, "waitall") == 0);
}

static int read_line(const struct line *line, struct tb_calls *calls,
	struct mpilog_comms *comms, const struct tb_mpilog_options *options)
{
	if (strncmp(line->text, "#comm ", 6) == 0 && strchr(line->text, ':'))
		return read_comm(line, calls, comms);
	if (strncmp(line->text, "#epoch ", 7) == 0)
		line->log->epoch_ns = strtoull(line->text + 7, NULL, 10);
	return line->text[0] == '#' ? TB_OK : read_call(line, comms, options);
}

int mpilog_read_rank(struct mpilog *log, struct tb_calls *calls,
	struct mpilog_comms *comms, const char *path,
	const struct tb_mpilog_options *options, struct tb_error *error)
{
	struct line line = {
		.text = malloc(LINE_BYTES), .path = path, .log = log, .error = error};
	FILE *file = fopen(path, "r");
	int status = line.text ? TB_OK : tb_fail(error, TB_ENOMEM, "no memory");
	if (!file)
		status = tb_fail_in(error, TB_EIO, path, "cannot be opened");
	while (status == TB_OK && fgets(line.text, LINE_BYTES, file)) {
		line.number++;
		status = read_line(&line, calls, comms, options);
	}
	// What no wait completed had no effect, if it was a receive.
	for (size_t i = 0; i < log->n_open; i++) {
		struct mpilog_call *call = &log->calls[log->open[i].call];
		call->gone = call->kind == MPILOG_RECV;
	}
	if (file)
		fclose(file);
	free(line.text);
	return status;
}

void mpilog_fini(struct mpilog *log)
{
	free(log->calls);
	free(log->done);
	free(log->open);
}
