// What stands beside a trace: the names of calls (.pcf) and of hosts (.row).
#include "array.h"
#include "infile.h"
#include "input_files.h"
#include "paraver_trace.h"
#include "text_lines.h"
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Calls by the names and numbers that Extrae has (MPI_EventEncoding.h). Those that are
// not here move nothing.
static const struct known_call {
	const char *name;
	uint16_t value;
	struct prv_call_kind kind;
} known[] = {
	{"MPI_Send", 1, {PRV_SEND, 0, false}},
	{"MPI_Recv", 2, {PRV_RECV, 0, false}},
	{"MPI_Isend", 3, {PRV_ISEND, 0, false}},
	{"MPI_Irecv", 4, {PRV_IRECV, 0, false}},
	{"MPI_Wait", 5, {PRV_WAIT, 0, false}},
	{"MPI_Waitall", 6, {PRV_WAITALL, 0, false}},
	{"MPI_Bcast", 7, {PRV_COLLECTIVE, TB_COLL_BROADCAST, false}},
	{"MPI_Barrier", 8, {PRV_COLLECTIVE, TB_COLL_BARRIER, false}},
	{"MPI_Reduce", 9, {PRV_COLLECTIVE, TB_COLL_REDUCE, false}},
	{"MPI_Allreduce", 10, {PRV_COLLECTIVE, TB_COLL_ALLREDUCE, false}},
	{"MPI_Alltoall", 11, {PRV_COLLECTIVE, TB_COLL_ALLTOALL, false}},
	{"MPI_Alltoallv", 12, {PRV_COLLECTIVE, TB_COLL_EXCHANGE, false}},
	{"MPI_Gather", 13, {PRV_COLLECTIVE, TB_COLL_GATHER, false}},
	{"MPI_Gatherv", 14, {PRV_COLLECTIVE, TB_COLL_GATHER, false}},
	{"MPI_Scatter", 15, {PRV_COLLECTIVE, TB_COLL_SCATTER, false}},
	{"MPI_Scatterv", 16, {PRV_COLLECTIVE, TB_COLL_SCATTER, false}},
	{"MPI_Allgather", 17, {PRV_COLLECTIVE, TB_COLL_ALLGATHER, false}},
	{"MPI_Allgatherv", 18, {PRV_COLLECTIVE, TB_COLL_ALLGATHER, false}},
	{"MPI_Scan", 30, {PRV_COLLECTIVE, TB_COLL_SCAN, false}},
	{"MPI_Bsend", 33, {PRV_SEND, 0, false}},
	{"MPI_Ssend", 34, {PRV_SEND, 0, false}},
	{"MPI_Rsend", 35, {PRV_SEND, 0, false}},
	{"MPI_Ibsend", 36, {PRV_ISEND, 0, false}},
	{"MPI_Issend", 37, {PRV_ISEND, 0, false}},
	{"MPI_Irsend", 38, {PRV_ISEND, 0, false}},
	{"MPI_Test", 39, {PRV_TEST, 0, false}},
	{"MPI_Sendrecv", 41, {PRV_SENDRECV, 0, false}},
	{"MPI_Sendrecv_replace", 42, {PRV_SENDRECV, 0, false}},
	{"MPI_Waitany", 59, {PRV_WAIT, 0, false}},
	{"MPI_Waitsome", 60, {PRV_WAIT, 0, false}},
	{"MPI_Reduce_scatter", 80, {PRV_COLLECTIVE, TB_COLL_REDUCE_SCATTER, false}},
	{"MPI_Testall", 125, {PRV_TEST, 0, false}},
	{"MPI_Testany", 126, {PRV_TEST, 0, false}},
	{"MPI_Testsome", 128, {PRV_TEST, 0, false}},
	{"MPI_Ireduce", 154, {PRV_COLLECTIVE, TB_COLL_REDUCE, true}},
	{"MPI_Iallreduce", 155, {PRV_COLLECTIVE, TB_COLL_ALLREDUCE, true}},
	{"MPI_Ibarrier", 156, {PRV_COLLECTIVE, TB_COLL_BARRIER, true}},
	{"MPI_Ibcast", 157, {PRV_COLLECTIVE, TB_COLL_BROADCAST, true}},
	{"MPI_Ialltoall", 158, {PRV_COLLECTIVE, TB_COLL_ALLTOALL, true}},
	{"MPI_Ialltoallv", 159, {PRV_COLLECTIVE, TB_COLL_EXCHANGE, true}},
	{"MPI_Iallgather", 160, {PRV_COLLECTIVE, TB_COLL_ALLGATHER, true}},
	{"MPI_Iallgatherv", 161, {PRV_COLLECTIVE, TB_COLL_ALLGATHER, true}},
	{"MPI_Igather", 162, {PRV_COLLECTIVE, TB_COLL_GATHER, true}},
	{"MPI_Igatherv", 163, {PRV_COLLECTIVE, TB_COLL_GATHER, true}},
	{"MPI_Iscatter", 164, {PRV_COLLECTIVE, TB_COLL_SCATTER, true}},
	{"MPI_Iscatterv", 165, {PRV_COLLECTIVE, TB_COLL_SCATTER, true}},
	{"MPI_Ireduce_scatter", 166, {PRV_COLLECTIVE, TB_COLL_REDUCE_SCATTER, true}},
	{"MPI_Iscan", 167, {PRV_COLLECTIVE, TB_COLL_SCAN, true}},
	{"MPI_Reduce_scatter_block", 0, {PRV_COLLECTIVE, TB_COLL_REDUCE_SCATTER, false}},
	{"MPI_Exscan", 0, {PRV_COLLECTIVE, TB_COLL_EXSCAN, false}},
};
#define N_KNOWN		(sizeof known / sizeof *known)
#define TYPE_COLLECTIVE UINT64_C(50000002)

static struct prv_call_kind unknown_of(uint64_t type)
{
	return (struct prv_call_kind){
		.act = type == TYPE_COLLECTIVE ? PRV_UNKNOWN_COLLECTIVE : PRV_OTHER};
}

static struct prv_call_kind tb_prv_call_kind(
	const struct prv_names *names, uint64_t type, uint64_t value)
{
	uint32_t place;
	if (value > UINT32_MAX)
		return unknown_of(type);
	if (tb_map_find(&names->kind_of, type << 32 | value, &place))
		return names->kinds[place];
	for (size_t i = 0; i < N_KNOWN; i++)
		if (known[i].value == value)
			return known[i].kind;
	return unknown_of(type);
}

// prv_beside returns the path of the file with another ending beside a .prv,
// malloc'ed.
static char *prv_beside(const char *prv_path, const char *ending)
{
	const char *dot = strstr(prv_path, ".prv");
	for (const char *next = dot; next; next = strstr(next + 1, ".prv"))
		dot = next;
	char *path;
	if (!dot ||
		asprintf(&path, "%.*s%s", (int)(dot - prv_path), prv_path, ending) < 0)
		return NULL;
	return path;
}

static int name_value(struct prv_names *names, uint64_t type, char *line)
{
	char *rest;
	unsigned long value = strtoul(line, &rest, 10);
	if (rest == line || value == 0 || value > UINT32_MAX)
		return TB_OK;
	rest += strspn(rest, " \t");
	rest[strcspn(rest, " \t\r\n")] = '\0';
	struct prv_call_kind kind = unknown_of(type);
	for (size_t i = 0; i < N_KNOWN; i++)
		if (strcmp(known[i].name, rest) == 0)
			kind = known[i].kind;
	if (TB_ARRAY_RESERVE(&names->kinds, &names->room, names->n + 1) != TB_OK ||
		tb_map_put(&names->kind_of, type << 32 | value, (uint32_t)names->n) !=
			TB_OK)
		return TB_ENOMEM;
	names->kinds[names->n++] = kind;
	return TB_OK;
}

static bool line_begins(const char *line, const char *word)
{
	return strncmp(line, word, strlen(word)) == 0;
}

// read_pcf looks for blocks EVENT_TYPE, in which a line has a colour, a type and its
// name, with the VALUES of the calls of MPI.
static int read_pcf(struct prv_names *names, struct tb_text_lines *lines)
{
	unsigned long type = 0, colour;
	enum { OUTSIDE, TYPES, VALUES } in = OUTSIDE;
	int status = TB_OK, found = 1;
	while (status == TB_OK && (found = tb_text_lines_next(lines)) > 0) {
		char *line = lines->text;
		if (line_begins(line, "EVENT_TYPE")) {
			in = TYPES;
			type = 0;
		} else if (line_begins(line, "VALUES")) {
			in = in == TYPES ? VALUES : OUTSIDE;
		} else if (isupper((unsigned char)*line)) {
			in = OUTSIDE;
		} else if (in == TYPES) {
			if (sscanf(line, "%lu %lu", &colour, &type) != 2)
				type = 0;
		} else if (in == VALUES && type >= 50000001 && type <= 50000005) {
			status = name_value(names, type, line);
		}
	}
	if (status == TB_ENOMEM)
		return tb_fail_memory_in(lines->error, lines->file, "the names of calls");
	return found < 0 ? found : status;
}

// open_beside opens the file with another ending beside a .prv, and stores its path,
// malloc'ed; NULL where there is none.
static int open_beside(FILE **stream, char **path, const char *prv_path,
	const char *ending, struct tb_error *error)
{
	*stream = NULL;
	*path = prv_beside(prv_path, ending);
	if (!*path && strstr(prv_path, ".prv"))
		return tb_fail_memory_in(error, prv_path, "the name of its %s", ending);
	if (!*path || (access(*path, F_OK) != 0 && errno == ENOENT))
		return TB_OK;
	struct stat file;
	bool stands = stat(*path, &file) == 0;
	if (stands && !S_ISREG(file.st_mode))
		return tb_fail_in(error, TB_EFORMAT, *path,
			"is no regular file: expected a file of the trace");
	*stream = stands ? tb_input_fopen(*path) : NULL;
	if (*stream)
		return TB_OK;
	return tb_fail_in(error, TB_EIO, *path, "cannot be opened: %s", strerror(errno));
}

int tb_prv_names_read(
	struct prv_names *names, const char *prv_path, struct tb_error *error)
{
	FILE *stream;
	char *path;
	int status = open_beside(&stream, &path, prv_path, ".pcf", error);
	if (stream) {
		struct tb_text_lines lines;
		tb_text_lines_init(&lines, stream, path, error);
		status = read_pcf(names, &lines);
		tb_text_lines_fini(&lines);
		fclose(stream);
	}
	free(path);
	return status;
}

// name_node gives the name of node `node` to the ranks on it.
static void prv_name_node(const struct prv_trace *trace, uint32_t node, const char *name,
	struct tb_calls *calls)
{
	for (uint32_t i = 0; i < trace->n_tasks; i++)
		if (trace->tasks[i].rank != PRV_NONE && trace->tasks[i].node == node)
			tb_calls_host(calls, trace->tasks[i].rank, name);
}

int tb_prv_name_hosts(
	const struct prv_trace *trace, const char *prv_path, struct tb_calls *calls)
{
	FILE *stream;
	char *path;
	int status = open_beside(&stream, &path, prv_path, ".row", trace->error);
	if (stream) {
		struct tb_text_lines lines;
		tb_text_lines_init(&lines, stream, path, trace->error);
		uint32_t node = PRV_NONE;
		int found;
		while ((found = tb_text_lines_next(&lines)) > 0) {
			const char *line = lines.text;
			if (line_begins(line, "LEVEL NODE"))
				node = 0;
			else if (line_begins(line, "LEVEL") || *line == '\0')
				node = PRV_NONE;
			else if (node != PRV_NONE && node < trace->n_nodes)
				prv_name_node(trace, node++, line, calls);
		}
		status = found < 0 ? found : TB_OK;
		tb_text_lines_fini(&lines);
		fclose(stream);
	}
	free(path);
	return status;
}

// The records of a trace.

#define TASKS_MAX   (UINT32_C(1) << 24)
#define THREADS_MAX (UINT32_C(1) << 16)
#define TIME_MAX    (UINT64_C(1) << 62)

#define REFUSE(trace, ...)                                                               \
	tb_fail_at((trace)->error, TB_EFORMAT, (trace)->file, TB_PLACE_LINE,             \
		(trace)->line, __VA_ARGS__)

int tb_prv_no_memory(const struct prv_trace *trace)
{
	return tb_fail_memory_in(trace->error, trace->file, "a Paraver trace");
}

void tb_prv_trace_fini(struct prv_trace *trace)
{
	for (uint32_t i = 0; trace->tasks && i < trace->n_tasks; i++) {
		free(trace->tasks[i].spans);
		free(trace->tasks[i].open);
	}
	free(trace->tasks);
	free(trace->applications);
	free(trace->messages);
	free(trace->communicators);
	free(trace->members);
	struct prv_names *names = &trace->names;
	tb_map_fini(&names->kind_of);
	free(names->kinds);
	*names = (struct prv_names){0};
}

// next_number reads a whole number up to `most` and the character behind it, which must
// be one of `ends`; the line's end counts as '\0'.
static bool next_number(
	const char **text, uint64_t most, const char *ends, uint64_t *number)
{
	const char *at = *text;
	uint64_t value = 0;
	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++) {
		uint64_t digit = (uint64_t)(*at - '0');
		if (digit > most || value > (most - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (*at != '\0' && !strchr(ends, *at))
		return false;
	if (*at == '\0' && !strchr(ends, '|'))
		return false;
	*number = value;
	*text = *at ? at + 1 : at;
	return true;
}

// "|" among the ends allows the end of the line.
#define INNER ":"
#define LAST  "|"
#define ANY   ":|"

static int read_duration(struct prv_trace *trace, const char **text)
{
	uint64_t ticks;
	if (!next_number(text, TIME_MAX, ":_", &ticks))
		return REFUSE(trace, "expected the duration behind the date");
	trace->unit_ns = 1000;
	if ((*text)[-1] == '_') {
		if (strncmp(*text, "ns:", 3) == 0)
			trace->unit_ns = 1;
		else if (strncmp(*text, "us:", 3) == 0)
			trace->unit_ns = 1000;
		else if (strncmp(*text, "ms:", 3) == 0)
			trace->unit_ns = 1000000;
		else
			return REFUSE(trace,
				"a unit of time '%.8s': expected ns, us or ms", *text);
		*text += 3;
	}
	if (ticks > TIME_MAX / trace->unit_ns)
		return REFUSE(trace, "a duration of more than %" PRIu64 " ns", TIME_MAX);
	trace->end_ns = ticks * trace->unit_ns;
	return TB_OK;
}

static int prv_read_nodes(struct prv_trace *trace, const char **text)
{
	uint64_t n;
	if (!next_number(text, TASKS_MAX, ":(", &n))
		return REFUSE(trace, "expected the number of nodes behind the duration");
	trace->n_nodes = (uint32_t)n;
	if ((*text)[-1] != '(')
		return TB_OK;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t n_cpus;
		if (!next_number(text, UINT32_MAX, i + 1 < n ? "," : ")", &n_cpus))
			return REFUSE(trace,
				"expected the processors of %" PRIu64
				" nodes, as in 2(4,4):",
				n);
		trace->n_cpus += n_cpus;
	}
	if (*(*text)++ != ':')
		return REFUSE(trace, "expected ':' behind the processors of the nodes");
	return TB_OK;
}

static int prv_add_task(struct prv_trace *trace, uint64_t n_threads, uint64_t node)
{
	if (TB_ARRAY_RESERVE(&trace->tasks, &trace->tasks_room,
		    (size_t)trace->n_tasks + 1) != TB_OK)
		return tb_prv_no_memory(trace);
	trace->tasks[trace->n_tasks++] =
		(struct prv_task){.n_threads = (uint32_t)n_threads,
			.node = node ? (uint32_t)node - 1 : 0,
			.rank = PRV_NONE};
	return TB_OK;
}

// read_application reads "TASKS(THREADS:NODE,...)" and what separates it from the next.
static int read_application(
	struct prv_trace *trace, const char **text, struct prv_application *application)
{
	uint64_t n, n_threads, node;
	if (!next_number(text, TASKS_MAX, "(", &n) || n == 0 || (*text)[-1] != '(')
		return REFUSE(trace, "expected an application as in 2(1:1,1:2)");
	application->first_task = trace->n_tasks;
	application->n_tasks = (uint32_t)n;
	for (uint64_t i = 0; i < n; i++) {
		if (trace->n_tasks >= TASKS_MAX ||
			!next_number(text, THREADS_MAX, INNER, &n_threads) ||
			n_threads == 0 ||
			!next_number(text, trace->n_nodes, i + 1 < n ? "," : ")", &node))
			return REFUSE(trace,
				"task %" PRIu64
				" of an application: expected THREADS:NODE, of %" PRIu32
				" nodes",
				i + 1, trace->n_nodes);
		int status = prv_add_task(trace, n_threads, node);
		if (status != TB_OK)
			return status;
	}
	if (**text == ',' || **text == ':')
		(*text)++;
	return TB_OK;
}

static int read_applications(struct prv_trace *trace, const char **text)
{
	uint64_t n;
	if (!next_number(text, 65535, INNER, &n) || n == 0)
		return REFUSE(trace, "expected the number of applications");
	trace->applications = calloc(n, sizeof *trace->applications);
	if (!trace->applications)
		return tb_prv_no_memory(trace);
	int status = TB_OK;
	for (; trace->n_applications < n && status == TB_OK; trace->n_applications++) {
		status = read_application(
			trace, text, &trace->applications[trace->n_applications]);
		// How many communicators an application has may stand behind it.
		const char *digits = *text;
		uint64_t count;
		if (status == TB_OK && next_number(&digits, UINT32_MAX, ":,|", &count)) {
			*text = digits;
			trace->n_declared += count;
		}
	}
	return status;
}

int tb_prv_read_header(struct prv_trace *trace, const char *text)
{
	const char *date = strstr(text, "):");
	if (strncmp(text, "#Paraver", 8) != 0 || !date)
		return REFUSE(trace, "expected '#Paraver (DATE):DURATION:...'");
	text = date + 2;
	int status = read_duration(trace, &text);
	if (status == TB_OK)
		status = prv_read_nodes(trace, &text);
	if (status == TB_OK)
		status = read_applications(trace, &text);
	if (status == TB_OK && *text)
		return REFUSE(trace, "'%.40s' behind the applications", text);
	return status;
}

// read_place reads "CPU:APPLICATION:TASK:THREAD:" to a task and a thread of it.
static int read_place(
	struct prv_trace *trace, const char **text, uint32_t *task, uint32_t *thread)
{
	uint64_t cpu, application, number, of_task;
	if (!next_number(text, UINT32_MAX, INNER, &cpu) ||
		!next_number(text, trace->n_applications, INNER, &application) ||
		application == 0)
		return REFUSE(trace, "expected CPU:APPLICATION:TASK:THREAD");
	if (trace->n_cpus && cpu > trace->n_cpus)
		return REFUSE(
			trace, "processor %" PRIu64 " of %" PRIu64, cpu, trace->n_cpus);
	const struct prv_application *of = &trace->applications[application - 1];
	if (!next_number(text, of->n_tasks, INNER, &number) || number == 0)
		return REFUSE(trace,
			"expected a task of application %" PRIu64 ", 1 to %" PRIu32,
			application, of->n_tasks);
	*task = of->first_task + (uint32_t)number - 1;
	if (!next_number(text, trace->tasks[*task].n_threads, INNER, &of_task) ||
		of_task == 0)
		return REFUSE(trace, "expected a thread of the task, 1 to %" PRIu32,
			trace->tasks[*task].n_threads);
	*thread = (uint32_t)of_task - 1;
	return TB_OK;
}

static int prv_read_time(
	struct prv_trace *trace, const char **text, const char *ends, uint64_t *time_ns)
{
	uint64_t ticks;
	if (!next_number(text, TIME_MAX / trace->unit_ns, ends, &ticks))
		return REFUSE(trace, "expected a time");
	*time_ns = ticks * trace->unit_ns;
	return TB_OK;
}

// read_begin reads the time at which a record begins.
static int read_begin(struct prv_trace *trace, const char **text, uint64_t *time_ns)
{
	int status = prv_read_time(trace, text, INNER, time_ns);
	if (status == TB_OK && *time_ns > trace->last_ns)
		trace->last_ns = *time_ns;
	return status;
}

// thread_last_span returns the last span of a thread, PRV_NONE if it has none.
static uint32_t thread_last_span(const struct prv_task *task, uint32_t thread)
{
	return task->open ? task->open[thread] : PRV_NONE;
}

static int make_open(struct prv_trace *trace, struct prv_task *task)
{
	task->open = malloc(task->n_threads * sizeof *task->open);
	if (!task->open)
		return tb_prv_no_memory(trace);
	for (uint32_t i = 0; i < task->n_threads; i++)
		task->open[i] = PRV_NONE;
	return TB_OK;
}

static int prv_add_span(
	struct prv_trace *trace, uint32_t task_number, const struct prv_span *span)
{
	struct prv_task *task = &trace->tasks[task_number];
	if (task->n >= PRV_NONE - 1 ||
		TB_ARRAY_RESERVE(&task->spans, &task->room, task->n + 1) != TB_OK)
		return tb_prv_no_memory(trace);
	if (!task->open && make_open(trace, task) != TB_OK)
		return TB_ENOMEM;
	task->open[span->thread] = (uint32_t)task->n;
	task->spans[task->n++] = *span;
	return TB_OK;
}

// end_call ends the call that a thread is in. Where it is in none at the beginning, the
// call was entered before the trace begins.
static int end_call(
	struct prv_trace *trace, uint32_t task_number, uint32_t thread, uint64_t time_ns)
{
	struct prv_task *task = &trace->tasks[task_number];
	uint32_t open = thread_last_span(task, thread);
	if (open != PRV_NONE) {
		if (task->spans[open].is_open)
			task->spans[open].exit_ns = time_ns;
		else
			trace->n_odd++;
		task->spans[open].is_open = false;
		return TB_OK;
	}
	trace->n_cut++;
	return prv_add_span(trace, task_number,
		&(struct prv_span){.exit_ns = time_ns, .thread = thread});
}

static int prv_take_call(struct prv_trace *trace, uint32_t task, struct prv_span *span,
	uint64_t type, uint64_t value)
{
	if (!trace->has_calls) {
		// Throw away what states were taken for while no call had been seen.
		for (uint32_t i = 0; i < trace->n_tasks; i++) {
			trace->tasks[i].n = 0;
			free(trace->tasks[i].open);
			trace->tasks[i].open = NULL;
		}
		trace->has_calls = true;
	}
	// A call without end ends where the next one begins.
	uint32_t open = thread_last_span(&trace->tasks[task], span->thread);
	bool is_within = open != PRV_NONE && trace->tasks[task].spans[open].is_open;
	int status = value == 0 || is_within
			     ? end_call(trace, task, span->thread, span->enter_ns)
			     : TB_OK;
	if (status != TB_OK || value == 0)
		return status;
	trace->n_odd += is_within;
	span->kind = tb_prv_call_kind(&trace->names, type, value);
	span->is_open = true;
	return prv_add_span(trace, task, span);
}

static int read_event(struct prv_trace *trace, const char *text)
{
	uint32_t task = 0;
	struct prv_span span = {0}, says = {0}; // what the line says of a collective call
	uint64_t type, value;
	bool called = false;
	int status = read_place(trace, &text, &task, &span.thread);
	if (status == TB_OK)
		status = read_begin(trace, &text, &span.enter_ns);
	while (status == TB_OK && *text) {
		if (!next_number(&text, UINT64_MAX, INNER, &type) ||
			!next_number(&text, UINT64_MAX, ANY, &value))
			return REFUSE(trace, "expected events as TYPE:VALUE");
		if (type == 50100001)
			says.send_bytes = value;
		else if (type == 50100002)
			says.recv_bytes = value;
		else if (type == 50100003)
			says.is_root = value != 0;
		else if (type == 50100004)
			says.communicator = value;
		if (type < 50000001 || type > 50000005)
			continue;
		status = prv_take_call(trace, task, &span, type, value);
		called = value != 0;
	}
	if (status != TB_OK || !called)
		return status;
	struct prv_span *last = &trace->tasks[task].spans[trace->tasks[task].n - 1];
	last->send_bytes = says.send_bytes;
	last->recv_bytes = says.recv_bytes;
	last->communicator = says.communicator;
	last->is_root = says.is_root;
	return TB_OK;
}

// Extrae's states in which a thread is in a call, by number.
static const uint8_t acts_of_states[] = {[3] = PRV_RECV,
	[4] = PRV_SEND,
	[5] = PRV_OTHER,
	[8] = PRV_WAITALL,
	[10] = PRV_ISEND,
	[11] = PRV_IRECV,
	[13] = PRV_UNKNOWN_COLLECTIVE,
	[16] = PRV_SENDRECV};

static int read_state(struct prv_trace *trace, const char *text)
{
	uint32_t task = 0;
	struct prv_span span = {0};
	uint64_t state;
	int status = read_place(trace, &text, &task, &span.thread);
	if (status == TB_OK)
		status = read_begin(trace, &text, &span.enter_ns);
	if (status == TB_OK)
		status = prv_read_time(trace, &text, INNER, &span.exit_ns);
	if (status != TB_OK)
		return status;
	if (!next_number(&text, UINT32_MAX, LAST, &state))
		return REFUSE(trace, "expected a state behind its times");
	if (span.exit_ns < span.enter_ns)
		return REFUSE(trace, "a state that ends before it begins");
	if (trace->has_calls || state == 1 || span.exit_ns == span.enter_ns)
		return TB_OK;
	if (state < sizeof acts_of_states)
		span.kind.act = acts_of_states[state];
	return prv_add_span(trace, task, &span);
}

static int prv_read_message(struct prv_trace *trace, const char *text)
{
	struct prv_message message = {.wait_span = PRV_NONE};
	uint64_t sent_ns, tag;
	int status = read_place(trace, &text, &message.from, &message.from_thread);
	if (status == TB_OK)
		status = read_begin(trace, &text, &message.send_ns);
	if (status == TB_OK)
		status = prv_read_time(trace, &text, INNER, &sent_ns);
	if (status == TB_OK)
		status = read_place(trace, &text, &message.to, &message.to_thread);
	if (status == TB_OK)
		status = prv_read_time(trace, &text, INNER, &message.receive_ns);
	if (status == TB_OK)
		status = prv_read_time(trace, &text, INNER, &message.received_ns);
	if (status != TB_OK)
		return status;
	if (!next_number(&text, INT64_MAX, INNER, &message.bytes) ||
		!next_number(&text, UINT64_MAX, LAST, &tag))
		return REFUSE(trace, "expected the size and tag of a message");
	if (TB_ARRAY_RESERVE(&trace->messages, &trace->messages_room,
		    trace->n_messages + 1) != TB_OK)
		return tb_prv_no_memory(trace);
	// Messages are matched with their receives already; a tag beyond 31 bits need
	// only tell them apart.
	message.tag = (uint32_t)(tag & INT32_MAX);
	trace->messages[trace->n_messages++] = message;
	return TB_OK;
}

static int read_communicator(struct prv_trace *trace, const char *text)
{
	uint64_t application, id, n, member;
	if (!next_number(&text, trace->n_applications, INNER, &application) ||
		application == 0 || !next_number(&text, UINT64_MAX, INNER, &id) ||
		!next_number(&text, TASKS_MAX, ANY, &n))
		return REFUSE(
			trace, "expected a communicator as c:APPLICATION:ID:N:TASK:...");
	struct prv_communicator made = {.id = id,
		.application = (uint32_t)application - 1,
		.first_member = (uint32_t)trace->n_members,
		.n = (uint32_t)n,
		.group = PRV_NONE};
	for (uint64_t i = 0; i < n; i++) {
		if (!next_number(&text, TASKS_MAX, i + 1 < n ? INNER : ANY, &member) ||
			member == 0)
			return REFUSE(trace,
				"a communicator of %" PRIu64 ": expected task %" PRIu64,
				n, i + 1);
		if (TB_ARRAY_RESERVE(&trace->members, &trace->members_room,
			    trace->n_members + 1) != TB_OK)
			return tb_prv_no_memory(trace);
		trace->members[trace->n_members++] = (uint32_t)member - 1;
	}
	if (trace->n_members >= UINT32_MAX ||
		TB_ARRAY_RESERVE(&trace->communicators, &trace->communicators_room,
			trace->n_communicators + 1) != TB_OK)
		return tb_prv_no_memory(trace);
	trace->communicators[trace->n_communicators++] = made;
	return TB_OK;
}

int tb_prv_read_record(struct prv_trace *trace, const char *text)
{
	if (*text == '\0' || *text == '#')
		return TB_OK;
	if (text[1] == ':') {
		if (*text == '1')
			return read_state(trace, text + 2);
		if (*text == '2')
			return read_event(trace, text + 2);
		if (*text == '3')
			return prv_read_message(trace, text + 2);
		if (*text == 'c' || *text == 'i' || *text == 'I')
			return *text == 'c' ? read_communicator(trace, text + 2) : TB_OK;
	}
	return REFUSE(trace,
		"'%.40s': expected a state (1:), events (2:), a message (3:) or a "
		"communicator (c:)",
		text);
}
