// What stands beside a trace: the names of calls (.pcf) and of hosts (.row).
#include "paraver_impl.h"

#include "array.h"
#include "infile.h"
#include "input_files.h"
#include "text_lines.h"

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

void tb_prv_names_fini(struct prv_names *names)
{
	tb_map_fini(&names->kind_of);
	free(names->kinds);
	*names = (struct prv_names){0};
}

static struct prv_call_kind unknown_of(uint64_t type)
{
	return (struct prv_call_kind){
		.act = type == TYPE_COLLECTIVE ? PRV_UNKNOWN_COLLECTIVE : PRV_OTHER};
}

struct prv_call_kind tb_prv_call_kind(
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

char *tb_prv_beside(const char *prv_path, const char *ending)
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
	*path = tb_prv_beside(prv_path, ending);
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
static int prv_name_node(const struct prv_trace *trace, uint32_t node, const char *name,
	struct tb_calls *calls)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < trace->n_tasks && status == TB_OK; i++)
		if (trace->tasks[i].rank != PRV_NONE && trace->tasks[i].node == node)
			status = tb_calls_host(
				calls, trace->tasks[i].rank, name, trace->error);
	return status;
}

static int read_row(const struct prv_trace *trace, struct tb_text_lines *lines,
	struct tb_calls *calls)
{
	uint32_t node = PRV_NONE;
	int status = TB_OK, found = 1;
	while (status == TB_OK && (found = tb_text_lines_next(lines)) > 0) {
		const char *line = lines->text;
		if (line_begins(line, "LEVEL NODE"))
			node = 0;
		else if (line_begins(line, "LEVEL") || *line == '\0')
			node = PRV_NONE;
		else if (node != PRV_NONE && node < trace->n_nodes)
			status = prv_name_node(trace, node++, line, calls);
	}
	return found < 0 ? found : status;
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
		status = read_row(trace, &lines, calls);
		tb_text_lines_fini(&lines);
		fclose(stream);
	}
	free(path);
	return status;
}
