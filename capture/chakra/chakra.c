// Which files make a trace: NAME.RANK.et of one folder.
#include "chakra.h"

#include "array.h"
#include "chakra_graph.h"
#include "infile.h"
#include "input_files.h"
#include "order.h"
#include "units.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const packings[] = {"", ".gz", ".zst", ".xz", ".lz4", ".bz2"};

// split_name finds the parts of "NAME.RANK.et.gz": how long NAME is, the rank, and what
// follows the rank; false for other names.
static bool split_name(
	const char *name, size_t *n_name, uint32_t *rank, const char **ending)
{
	for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
		size_t n_digits = strspn(dot + 1, "0123456789");
		const char *rest = dot + 1 + n_digits;
		bool is_et = strncmp(rest, ".et", 3) == 0;
		bool is_json = strncmp(rest, ".json", 5) == 0;
		if (n_digits == 0 || n_digits > 8 || (!is_et && !is_json))
			continue;
		for (size_t i = 0; i < sizeof packings / sizeof *packings; i++) {
			if (strcmp(rest + (is_et ? 3 : 5), packings[i]) != 0)
				continue;
			*n_name = (size_t)(dot - name);
			*rank = (uint32_t)strtoul(dot + 1, NULL, 10);
			*ending = rest;
			return true;
		}
	}
	return false;
}

bool tb_chakra_is_named(const char *path)
{
	size_t n;
	uint32_t rank;
	const char *ending;
	return split_name(basename(path), &n, &rank, &ending) &&
	       strncmp(ending, ".et", 3) == 0;
}

// is_rank_file returns whether an entry of a folder is a file of a trace. Much else is
// called NAME.3.json, so the content of such a file decides.
static bool is_rank_file(const char *folder, const char *entry, size_t *n_name)
{
	uint32_t rank;
	const char *ending;
	char *path;
	if (!split_name(entry, n_name, &rank, &ending))
		return false;
	if (strncmp(ending, ".et", 3) == 0)
		return true;
	if (asprintf(&path, "%s/%s", folder, entry) < 0)
		return false;
	bool is = tb_input_is_file(path) && tb_infile_begins(path, tb_chakra_json_begins);
	free(path);
	return is;
}

bool tb_chakra_is_folder(const char *path)
{
	DIR *folder = opendir(path);
	bool found = false;
	size_t n;
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
		found = is_rank_file(path, entry->d_name, &n);
	if (folder)
		closedir(folder);
	return found;
}

static int files_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the files of a trace");
}

static int chakra_file_add(
	struct chakra_files *files, char *path, uint32_t rank, struct tb_error *error)
{
	if (!path ||
		TB_ARRAY_RESERVE(&files->files, &files->room, files->n + 1) != TB_OK) {
		free(path);
		return files_no_memory(error);
	}
	files->files[files->n++] = (struct chakra_file){rank, path};
	return TB_OK;
}

// What is looked for in a folder: files of one trace.
struct chakra_series {
	const char *folder;
	char *name;   // of the trace, NULL: whatever comes first
	char *ending; // likewise
	struct tb_error *error;
};

static int series_name(
	struct chakra_series *wanted, const char *name, size_t n, const char *ending)
{
	wanted->name = strndup(name, n);
	wanted->ending = strdup(ending);
	return wanted->name && wanted->ending ? TB_OK : files_no_memory(wanted->error);
}

static int chakra_files_look_at(
	struct chakra_files *files, struct chakra_series *wanted, const char *entry)
{
	size_t n_name;
	uint32_t rank;
	const char *ending;
	char *path;
	if (strcmp(entry, "comm_group.json") == 0 && !files->groups)
		return asprintf(&files->groups, "%s/%s", wanted->folder, entry) < 0
			       ? files_no_memory(wanted->error)
			       : TB_OK;
	if (!split_name(entry, &n_name, &rank, &ending))
		return TB_OK;
	bool is_same = wanted->name && strlen(wanted->name) == n_name &&
		       strncmp(wanted->name, entry, n_name) == 0 &&
		       strncmp(wanted->ending, ending, 3) == 0;
	if (!is_same)
		return TB_OK;
	if (asprintf(&path, "%s/%s", wanted->folder, entry) < 0)
		path = NULL;
	if (path && !tb_input_is_file(path)) {
		int status = tb_fail_in(wanted->error, TB_EFORMAT, path,
			"is a pipe or a device: expected a file of the trace");
		free(path);
		return status;
	}
	return chakra_file_add(files, path, rank, wanted->error);
}

static int chakra_files_scan(struct chakra_files *files, struct chakra_series *wanted)
{
	DIR *folder = opendir(wanted->folder);
	if (!folder)
		return tb_fail_in(wanted->error, TB_EIO, wanted->folder,
			"cannot be opened: %s", strerror(errno));
	int status = TB_OK;
	for (struct dirent *entry; status == TB_OK && (entry = readdir(folder));)
		status = chakra_files_look_at(files, wanted, entry->d_name);
	closedir(folder);
	return status;
}

// name_trace takes the name of the only trace of a folder. The jsonizer writes
// NAME.0.json beside NAME.0.et: JSON is read where there is nothing else.
static int name_trace(struct chakra_series *wanted)
{
	DIR *folder = opendir(wanted->folder);
	int status = TB_OK;
	bool takes_json = false;
	if (!folder)
		return tb_fail_in(wanted->error, TB_EIO, wanted->folder,
			"cannot be opened: %s", strerror(errno));
	while (status == TB_OK) {
		size_t n, n_any;
		uint32_t rank;
		const char *ending;
		struct dirent *entry = readdir(folder);
		if (!entry && (takes_json || wanted->name))
			break;
		if (!entry) {
			takes_json = true;
			rewinddir(folder);
			continue;
		}
		if (!is_rank_file(wanted->folder, entry->d_name, &n) ||
			!split_name(entry->d_name, &n_any, &rank, &ending) ||
			(strncmp(ending, ".et", 3) != 0) != takes_json)
			continue;
		if (!wanted->name) {
			status = series_name(wanted, entry->d_name, n, ending);
		} else if (strlen(wanted->name) != n ||
			   strncmp(wanted->name, entry->d_name, n) != 0) {
			status = tb_fail_in(wanted->error, TB_EUSAGE, wanted->folder,
				"has several traces, '%s' and '%.*s': name a file of one",
				wanted->name, (int)n, entry->d_name);
		}
	}
	closedir(folder);
	return status;
}

TB_ORDER_BY(chakra_file_by_rank, struct chakra_file, TB_UP(rank) TB_UP_TEXT(path))

static int chakra_files_sort(struct chakra_files *files, struct tb_error *error)
{
	if (files->n > 1)
		qsort(files->files, files->n, sizeof *files->files, chakra_file_by_rank);
	for (size_t i = 1; i < files->n; i++)
		if (files->files[i].rank == files->files[i - 1].rank)
			return tb_fail_in(error, TB_EUSAGE, files->files[i].path,
				"is the second file of rank %" PRIu32,
				files->files[i].rank);
	return TB_OK;
}

static int scan_beside(struct chakra_files *files, const char *path, bool is_folder,
	struct tb_error *error)
{
	const char *base = basename(path), *ending;
	size_t n;
	uint32_t rank;
	struct chakra_series wanted = {.error = error};
	char *folder = is_folder      ? strdup(path)
		       : base == path ? strdup(".")
				      : strndup(path, (size_t)(base - path));
	// A single slash at the end is enough, and the root is one.
	while (folder && strlen(folder) > 1 && folder[strlen(folder) - 1] == '/')
		folder[strlen(folder) - 1] = '\0';
	wanted.folder = folder;
	int status = folder ? TB_OK : files_no_memory(error);
	if (status == TB_OK && is_folder) {
		status = name_trace(&wanted);
	} else if (status == TB_OK && split_name(base, &n, &rank, &ending)) {
		status = series_name(&wanted, base, n, ending);
	}
	if (status == TB_OK && wanted.name)
		status = chakra_files_scan(files, &wanted);
	else if (status == TB_OK)
		status = chakra_file_add(files, strdup(path), 0, error);
	free(wanted.name);
	free(wanted.ending);
	free(folder);
	return status;
}

// chakra_files_add_named adds files that are given one by one, with the groups beside the
// first.
static int chakra_files_add_named(struct chakra_files *files, const char *const *paths,
	size_t n, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		size_t n_name;
		uint32_t rank;
		const char *ending;
		if (!split_name(basename(paths[i]), &n_name, &rank, &ending))
			return tb_fail_in(error, TB_EUSAGE, paths[i],
				"has no rank in its name: expected NAME.RANK.et");
		status = chakra_file_add(files, strdup(paths[i]), rank, error);
	}
	const char *base = basename(paths[0]);
	char *groups = NULL;
	if (status == TB_OK && asprintf(&groups, "%.*scomm_group.json",
				       (int)(base - paths[0]), paths[0]) < 0)
		return files_no_memory(error);
	if (status == TB_OK && access(groups, R_OK) == 0)
		files->groups = groups;
	else
		free(groups);
	return status;
}

static int chakra_files_find(struct chakra_files *files, const char *const *paths,
	size_t n, struct tb_error *error)
{
	DIR *folder = opendir(paths[0]);
	bool is_folder = folder != NULL;
	if (folder)
		closedir(folder);
	int status = n > 1 ? chakra_files_add_named(files, paths, n, error)
			   : scan_beside(files, paths[0], is_folder, error);
	return status == TB_OK ? chakra_files_sort(files, error) : status;
}

// From the graph of a rank to its calls. A node goes on in the lane of a node that it
// depends on, if nothing has gone on there before; else it begins a lane of its own. So a
// chain costs no dependencies at all, and memory is 48 bytes a node and 8 a dependency
// that crosses lanes.

struct chakra_making {
	const struct chakra_graph *graph;
	struct tb_calls *calls;
	uint32_t rank;
	uint32_t n_lanes;
	uint64_t first_ns;
	// By node: the call at whose end it is complete, CHAKRA_NONE: from the beginning;
	// and that call's lane.
	uint32_t *call_of, *lane_of;
	uint32_t *last;	 // by lane: its last call
	bool *is_member; // by group
};

static void lane_add(struct chakra_making *making, uint32_t lane, struct tb_call *call)
{
	call->lane = lane;
	making->last[lane] = tb_calls_add(making->calls, making->rank, call);
}

// add_waits makes the last call come after all dependencies but that on `chosen`.
static void add_waits(
	struct chakra_making *making, uint32_t chosen, const uint64_t *deps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t call = making->call_of[deps[i]];
		bool is_own = chosen != CHAKRA_NONE && call == making->call_of[chosen];
		if (call != CHAKRA_NONE && !is_own)
			tb_calls_after(making->calls, making->rank, call);
	}
}

static struct tb_call node_call(
	const struct chakra_making *making, const struct chakra_node *node)
{
	struct tb_call call = {.kind = node->kind,
		.op = node->op,
		.bytes = node->bytes,
		.peer = node->peer,
		.tag = node->tag,
		.calc_ns = node->calc_ns};
	if (node->start_ns > making->first_ns)
		call.enter_ns = node->start_ns - making->first_ns;
	if (node->lasted_ns && making->graph->has_starts)
		call.leave_ns = call.enter_ns + node->lasted_ns;
	if (node->kind != TB_CALL_COLLECTIVE || node->group == CHAKRA_NONE)
		return call;
	call.group = making->graph->groups->groups[node->group].number;
	return call;
}

// making_pass_lanes makes a node that takes no time complete with what it depends on, if
// that is one node at most; false otherwise.
static bool making_pass_lanes(
	struct chakra_making *making, uint32_t place, const uint64_t *deps, size_t n)
{
	const struct chakra_node *node = &making->graph->nodes[place];
	uint32_t on = CHAKRA_NONE, n_on = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t call = making->call_of[deps[i]];
		if (call == CHAKRA_NONE ||
			(on != CHAKRA_NONE && call == making->call_of[on]))
			continue;
		on = (uint32_t)deps[i];
		n_on++;
	}
	if (node->kind != TB_CALL_JOINT || node->calc_ns > 0 || n_on > 1)
		return false;
	making->call_of[place] = on == CHAKRA_NONE ? CHAKRA_NONE : making->call_of[on];
	making->lane_of[place] = on == CHAKRA_NONE ? 0 : making->lane_of[on];
	return true;
}

// check_member refuses a collective in a group that the rank is no member of, of which
// the group's list knows nothing.
static int check_member(const struct chakra_making *making, uint32_t place)
{
	const struct chakra_graph *graph = making->graph;
	uint32_t group = graph->nodes[place].group;
	if (group == CHAKRA_NONE || making->is_member[group])
		return TB_OK;
	return tb_fail_at(graph->error, TB_EFORMAT, graph->file, TB_PLACE_RECORD,
		place + 1,
		"node %" PRIu64 " calls in process group '%.80s', in which rank %" PRIu32
		" is not",
		graph->nodes[place].id, graph->groups->groups[group].name, making->rank);
}

static int making_add_node(struct chakra_making *making, uint32_t place)
{
	size_t n;
	const uint64_t *deps = chakra_deps_of(making->graph, place, &n);
	if (making_pass_lanes(making, place, deps, n))
		return TB_OK;
	if (check_member(making, place) != TB_OK)
		return TB_EFORMAT;
	const struct chakra_node *node = &making->graph->nodes[place];
	// The dependency in whose lane the node goes on, or CHAKRA_NONE.
	uint32_t chosen = CHAKRA_NONE;
	for (size_t i = 0; i < n; i++) {
		uint32_t call = making->call_of[deps[i]];
		if (call == CHAKRA_NONE || making->last[making->lane_of[deps[i]]] != call)
			continue;
		// The latest call is the likeliest to be waited for.
		if (chosen == CHAKRA_NONE || call > making->call_of[chosen])
			chosen = (uint32_t)deps[i];
	}
	uint32_t lane =
		chosen == CHAKRA_NONE ? making->n_lanes++ : making->lane_of[chosen];
	struct tb_call call = node_call(making, node);
	// The bytes of a collective as calls.h has them: Chakra's are those of the
	// tensors that go in.
	bool is_cut = call.kind == TB_CALL_COLLECTIVE &&
		      (call.op == TB_COLL_ALLTOALL || call.op == TB_COLL_SCATTER);
	call.bytes = is_cut ? call.bytes / tb_calls_members(making->calls, call.group).n
			    : call.bytes;
	bool waits = false;
	for (size_t i = 0; i < n && !waits; i++)
		waits = making->call_of[deps[i]] != CHAKRA_NONE &&
			(chosen == CHAKRA_NONE ||
				making->call_of[deps[i]] != making->call_of[chosen]);
	// Computation counts from the lane's call before, so what else it comes after has
	// to be waited for first; a lane's first call counts from what it comes after.
	struct tb_call joint = {.kind = TB_CALL_JOINT, .enter_ns = call.enter_ns};
	bool joins = waits && node->calc_ns > 0 && chosen != CHAKRA_NONE;
	lane_add(making, lane, joins ? &joint : &call);
	if (waits)
		add_waits(making, chosen, deps, n);
	if (joins)
		lane_add(making, lane, &call);
	making->call_of[place] = making->last[lane];
	making->lane_of[place] = lane;
	return tb_calls_check(making->calls, making->graph->error);
}

static int making_add_nodes(struct chakra_making *making, uint32_t *order)
{
	const struct chakra_graph *graph = making->graph;
	int status = tb_chakra_graph_order(graph, order);
	for (size_t i = 0; i < graph->n; i++)
		if (i == 0 || graph->nodes[i].start_ns < making->first_ns)
			making->first_ns = graph->nodes[i].start_ns;
	for (size_t i = 0; i < graph->n && status == TB_OK; i++) {
		status = making_add_node(making, order[i]);
		if (status != TB_OK && status != TB_ENOMEM && graph->error &&
			!graph->error->file[0])
			snprintf(graph->error->file, sizeof graph->error->file, "%s",
				graph->file);
	}
	return status;
}

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
	const char *path = trace->files.files[i].path;
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
		if (files->files[i].rank != i)
			return tb_fail_in(trace->error, TB_EUSAGE, files->files[i].path,
				"the file of rank %zu is missing: expected one for each "
				"rank from 0 on, or --clone-ranks",
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
	tb_calls_note_count(calls, n_of_all, "collective",
		" without a process group: taken as of all ranks");
	tb_calls_note_count(calls, n_unsized, "collective",
		" without comm_type and comm_size, known by name: the ranks wait for "
		"each other in them and send nothing");
	tb_calls_note_count(calls, n_untimed, "node",
		" of computation or memory without duration: taken as instant");
	note_times(trace, calls);
	tb_calls_note_count(calls, n_partial, "collective",
		" over some dimensions of a topology (involved_dim): taken as over the "
		"whole group");
	tb_calls_note_count(calls, trace->n_dropped, "dependency|dependencies",
		" on nodes that the files do not have: dropped");
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
		// Add the calls of a rank.
		const struct chakra_graph *graph = &trace->graphs[rank % n_files];
		struct chakra_making making = {
			.graph = graph, .calls = calls, .rank = rank};
		size_t n = graph->n + 1;
		uint32_t *order = malloc(n * sizeof *order);
		making.call_of = malloc(n * sizeof *making.call_of);
		making.lane_of = malloc(n * sizeof *making.lane_of);
		making.last = malloc(n * sizeof *making.last);
		const struct chakra_groups *groups = making.graph->groups;
		bool *is_member = calloc(groups->n + 1, sizeof *is_member);
		for (size_t i = 0; is_member && i < groups->n; i++) {
			struct tb_group group =
				tb_calls_members(making.calls, groups->groups[i].number);
			is_member[i] = tb_group_place(&group, making.rank) < group.n;
		}
		making.is_member = is_member;
		bool has_memory = order && making.is_member && making.call_of &&
				  making.lane_of && making.last;
		status = has_memory ? making_add_nodes(&making, order)
				    : tb_fail_memory_in(graph->error, graph->file,
					      "%zu calls", graph->n);
		free(order);
		free(making.call_of);
		free(making.lane_of);
		free(making.last);
		free(making.is_member);
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
	bool has_nodes = trace->n_broken > 0;
	for (size_t i = 0; i < trace->files.n && status == TB_OK; i++)
		has_nodes |= trace->graphs[i].n > 0 ||
			     tb_chakra_is_named(trace->files.files[i].path);
	if (status == TB_OK && !has_nodes)
		status = tb_fail_in(trace->error, TB_EFORMAT, trace->files.files[0].path,
			"has no node of computation or communication: expected objects "
			"with id and type, one after the other or in an array called "
			"workload_graph or nodes");
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
	int status = chakra_files_find(&trace.files, paths, n, error);
	if (status == TB_OK)
		status = chakra_read_trace(&trace, &read);
	for (size_t i = 0; trace.graphs && i < trace.files.n; i++)
		tb_chakra_graph_fini(&trace.graphs[i]);
	free(trace.graphs);
	tb_chakra_groups_fini(&trace.groups);
	struct chakra_files *files = &trace.files;
	for (size_t i = 0; i < files->n; i++)
		free(files->files[i].path);
	free(files->files);
	free(files->groups);
	if (status != TB_OK) {
		tb_calls_free(read);
		return status;
	}
	*calls = read;
	*made = "nccl";
	return TB_OK;
}
