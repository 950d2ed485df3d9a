#include "chakra.h"

#include "chakra_impl.h"
#include "infile.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct chakra_trace {
	struct chakra_files files;
	struct chakra_groups groups;
	struct chakra_graph *graphs; // by file
	uint64_t n_dropped, n_broken;
	const struct tb_reading *reading;
	struct tb_error *error;
};

static int read_graph(struct chakra_trace *trace, size_t i)
{
	struct chakra_graph *graph = &trace->graphs[i];
	const char *path = trace->files.paths[i];
	FILE *stream;
	struct tb_infile *file;
	struct tb_bytes first;
	*graph = (struct chakra_graph){
		.file = strcmp(path, "-") == 0 ? "standard input" : path,
		.groups = &trace->groups,
		.stop = trace->reading->stop,
		.error = trace->error};
	int status = tb_infile_open(&stream, &file, path, trace->error);
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(file, trace->reading->stop);
	status = tb_infile_peek(file, TB_INFILE_PEEK_MAX, &first, trace->error);
	if (status == TB_OK)
		status = first.n > 0 && memchr("{ \t\r\n", first.data[0], 5) &&
					 !tb_chakra_begins(first)
				 ? tb_chakra_read_json(graph, stream)
				 : tb_chakra_read_messages(graph, stream);
	// What cut the stream off is the cause of what the reader stumbled over.
	int cause = tb_infile_check(file, trace->error);
	fclose(stream);
	status = cause != TB_OK ? cause : status;
	if (status == TB_EFORMAT && (graph->is_cut || cause != TB_OK))
		status = tb_reading_breaks_off(
			trace->reading, status, &trace->n_broken, trace->error);
	if (status == TB_OK)
		status = tb_chakra_graph_link(
			graph, trace->reading->lenient, &trace->n_dropped);
	return status;
}

// chakra_check_ranks wants a file for each rank, from 0 on.
static int chakra_check_ranks(const struct chakra_trace *trace)
{
	const struct chakra_files *files = &trace->files;
	for (size_t i = 0; i < files->n && !trace->reading->clone_ranks; i++)
		if (files->ranks[i] != i)
			return tb_fail_in(trace->error, TB_EUSAGE, files->paths[i],
				"the file of rank %zu is missing: expected one for each "
				"rank "
				"from 0 on, or --clone-ranks",
				i);
	if (trace->reading->clone_ranks && trace->reading->clone_ranks < files->n)
		return tb_fail(trace->error, TB_EUSAGE,
			"--clone-ranks %" PRIu32 ": the trace has %zu ranks",
			trace->reading->clone_ranks, files->n);
	return TB_OK;
}

// check_clones refuses what cannot be done by several ranks alike.
static int check_clones(const struct chakra_trace *trace, uint32_t n_ranks)
{
	if (n_ranks == trace->files.n)
		return TB_OK;
	for (size_t i = 0; i < trace->files.n; i++) {
		const struct chakra_graph *graph = &trace->graphs[i];
		for (size_t k = 0; k < graph->n; k++) {
			if (graph->nodes[k].kind == TB_CALL_SEND ||
				graph->nodes[k].kind == TB_CALL_RECV)
				return tb_fail_at(trace->error, TB_EUSAGE, graph->file,
					TB_PLACE_RECORD, k + 1,
					"node %" PRIu64
					" sends or receives: only ranks that do the "
					"same can be cloned",
					graph->nodes[k].id);
		}
	}
	return TB_OK;
}

// note_times reports which communication has no recorded time.
static void note_times(const struct chakra_trace *trace, struct tb_calls *calls)
{
	char text[48];
	uint64_t n_moves = 0, n_timed = 0;
	for (size_t i = 0; i < trace->files.n; i++) {
		const struct chakra_graph *graph = &trace->graphs[i];
		n_moves += graph->n_moves;
		n_timed += graph->has_starts ? graph->n_lasting : 0;
	}
	if (n_timed < n_moves)
		tb_calls_note(calls,
			"%s of communication without start and duration: no replay is "
			"compared with them",
			tb_format_counted(n_moves - n_timed, "node", text, sizeof text));
}

static void chakra_write_notes(
	const struct chakra_trace *trace, struct tb_calls *calls, uint32_t n_ranks)
{
	char text[48];
	uint64_t n_untimed = 0, n_partial = 0, n_of_all = 0, n_unsized = 0;
	bool is_of_pytorch = false;
	for (size_t i = 0; i < trace->files.n; i++) {
		n_untimed += trace->graphs[i].n_untimed;
		n_partial += trace->graphs[i].n_partial;
		n_of_all += trace->graphs[i].n_of_all;
		n_unsized += trace->graphs[i].n_unsized;
		is_of_pytorch |=
			trace->graphs[i].is_of_pytorch && trace->graphs[i].n_ctrl > 0;
	}
	if (n_ranks > trace->files.n)
		tb_calls_note(calls,
			"the trace has %zu of %" PRIu32
			" ranks; the others do what these do",
			trace->files.n, n_ranks);
	if (n_of_all)
		tb_calls_note(calls, "%s without a process group: taken as of all ranks",
			tb_format_counted(n_of_all, "collective", text, sizeof text));
	if (n_unsized)
		tb_calls_note(calls,
			"%s without comm_type and comm_size, known by name: the ranks "
			"wait for each other in them and send nothing",
			tb_format_counted(n_unsized, "collective", text, sizeof text));
	if (n_untimed)
		tb_calls_note(calls,
			"%s of computation or memory without duration: taken as instant",
			tb_format_counted(n_untimed, "node", text, sizeof text));
	note_times(trace, calls);
	if (n_partial)
		tb_calls_note(calls,
			"%s over some dimensions of a topology (involved_dim): taken as "
			"over the whole group",
			tb_format_counted(n_partial, "collective", text, sizeof text));
	if (trace->n_dropped)
		tb_calls_note(calls, "%s on nodes that the files do not have: dropped",
			tb_format_counted(trace->n_dropped, "dependency|dependencies",
				text, sizeof text));
	tb_reading_note_breaks(calls, trace->n_broken);
	if (is_of_pytorch)
		tb_calls_note(calls,
			"control dependencies are of operators on those that "
			"called them, and nothing waits for them");
}

static int chakra_make_calls(struct chakra_trace *trace, struct tb_calls *calls)
{
	uint32_t n_ranks = tb_calls_n_ranks(calls);
	size_t n_files = trace->files.n;
	int status = TB_OK;
	for (uint32_t rank = 0; rank < n_ranks && status == TB_OK; rank++)
		if (tb_chakra_groups_join(&trace->groups, &trace->graphs[rank % n_files],
			    rank) != TB_OK)
			status = tb_fail_memory(trace->error, "groups");
	if (status == TB_OK)
		status = tb_chakra_groups_make(&trace->groups, calls, trace->error);
	for (uint32_t rank = 0; rank < n_ranks && status == TB_OK; rank++) {
		status = tb_chakra_graph_calls(
			&trace->graphs[rank % n_files], calls, rank);
		// The last rank that does what this file has.
		if (rank + n_files >= n_ranks)
			tb_chakra_graph_fini(&trace->graphs[rank % n_files]);
	}
	return status;
}

static int chakra_read_trace(struct chakra_trace *trace, struct tb_calls **calls)
{
	int status = chakra_check_ranks(trace);
	trace->graphs = calloc(trace->files.n + 1, sizeof *trace->graphs);
	if (status == TB_OK && !trace->graphs)
		status = tb_fail_memory(trace->error, "a trace");
	if (status == TB_OK && trace->files.groups)
		status = tb_chakra_groups_read(
			&trace->groups, trace->files.groups, trace->error);
	for (size_t i = 0; i < trace->files.n && status == TB_OK; i++)
		status = read_graph(trace, i);
	uint32_t n_ranks = trace->reading->clone_ranks ? trace->reading->clone_ranks
						       : (uint32_t)trace->files.n;
	if (status == TB_OK)
		status = check_clones(trace, n_ranks);
	if (status == TB_OK)
		status = tb_calls_new(calls, n_ranks, trace->error);
	if (status != TB_OK)
		return status;
	chakra_write_notes(trace, *calls, n_ranks);
	return chakra_make_calls(trace, *calls);
}

int tb_chakra_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	static const struct tb_reading defaults = {0};
	struct chakra_trace trace = {
		.reading = reading ? reading : &defaults, .error = error};
	struct tb_calls *read = NULL;
	int status = tb_chakra_files_find(&trace.files, paths, n, error);
	if (status == TB_OK)
		status = chakra_read_trace(&trace, &read);
	for (size_t i = 0; trace.graphs && i < trace.files.n; i++)
		tb_chakra_graph_fini(&trace.graphs[i]);
	free(trace.graphs);
	tb_chakra_groups_fini(&trace.groups);
	tb_chakra_files_fini(&trace.files);
	if (status != TB_OK) {
		tb_calls_free(read);
		return status;
	}
	*calls = read;
	*made = "nccl";
	return TB_OK;
}
