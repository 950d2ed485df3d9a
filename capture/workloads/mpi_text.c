// The three forms of text, line by line.
#include "mpi_text.h"

#include "infile.h"
#include "mpi_calls.h"
#include "text_lines.h"
#include "trace_files.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MPI_BLANKS	" \t\r"
#define MPI_RANKS_MAX	(UINT32_C(1) << 20)
#define TI_OPERATIONS_S 1e9
#define MPI_COUNT_MAX	UINT64_C(1000000000000000)

static uint64_t mpi_key(int64_t a, int64_t b, int64_t c)
{
	return (((uint64_t)a * UINT64_C(0x9e3779b97f4a7c15)) ^ (uint64_t)b) *
		       UINT64_C(0xc2b2ae3d27d4eb4f) +
	       (uint64_t)c;
}

// mpi_lines gives each line to `take`.
static int mpi_lines(struct mpi_text *text, FILE *stream, void *context,
	int (*take)(struct mpi_text *text, char *line, void *context))
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, text->file, text->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		text->line = lines.number;
		status = take(text, lines.text, context);
	}
	tb_text_lines_fini(&lines);
	return found < 0 ? found : status;
}

// SimGrid's time-independent traces.

// What stands behind an action's name: P partner, T tag, S bytes sent, R bytes received,
// C what is combined, N the root, V a number of bytes for each rank, W the same received,
// D the type of what is sent, E of what is received. From `|` on they may be missing.
static const struct {
	const char *name, *fields;
} ti_actions[] = {
	{"init", "|X"},
	{"finalize", "|X"},
	{"comm_size", "|X"},
	{"comm_split", "|X"},
	{"comm_dup", "|X"},
	{"location", "|XX"},
	{"compute", "F"},
	{"sleep", "L"},
	{"send", "PTS|D"},
	{"isend", "PTS|D"},
	{"recv", "PTS|D"},
	{"irecv", "PTS|D"},
	{"wait", "XXX|"},
	{"test", "XXX|"},
	{"waitall", "|X"},
	{"barrier", "|"},
	{"bcast", "S|ND"},
	{"reduce", "SC|ND"},
	{"allreduce", "SC|D"},
	{"scan", "SC|D"},
	{"exscan", "SC|D"},
	{"alltoall", "SR|DE"},
	{"gather", "SR|NDE"},
	{"scatter", "SR|NDE"},
	{"allgather", "SR|DE"},
	{"alltoallv", "SVRW|DE"},
	{"allgatherv", "SW|DE"},
	{"gatherv", "SW|NDE"},
	{"scatterv", "VR|NDE"},
	{"reducescatter", "WC|D"},
};
#define N_TI_ACTIONS (sizeof ti_actions / sizeof *ti_actions)

// Bytes of the types by number (smpi_datatype.cpp, in the order of their creation).
static const uint8_t ti_type_bytes[] = {
	8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8};

static size_t ti_action(const char *word, size_t n)
{
	size_t i = 0;
	while (i < N_TI_ACTIONS && (strlen(ti_actions[i].name) != n ||
					   strncasecmp(ti_actions[i].name, word, n) != 0))
		i++;
	return i;
}

bool tb_ti_begins(struct tb_bytes first)
{
	const char *at = (const char *)first.data, *end = at + first.n;
	for (;;) { // over comments and blank lines
		while (at < end && isspace((unsigned char)*at))
			at++;
		if (at == end || *at != '#')
			break;
		at = memchr(at, '\n', (size_t)(end - at));
		if (!at)
			return false;
	}
	at += at < end && *at == 'p';
	const char *digits = at;
	while (at < end && isdigit((unsigned char)*at))
		at++;
	if (at == digits || at == end || (*at != ' ' && *at != '\t'))
		return false;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	const char *word = at;
	while (at < end && (isalpha((unsigned char)*at) || *at == '_'))
		at++;
	return at < end && isspace((unsigned char)*at) &&
	       ti_action(word, (size_t)(at - word)) < N_TI_ACTIONS;
}

struct ti_reading {
	struct mpi_arguments given;
	uint32_t type_bytes; // where none is named
	bool counts;	     // only finds the highest rank
	uint32_t n_ranks;
};

static int ti_number(const struct mpi_text *text, const char *word, double *number)
{
	char *end;
	*number = strtod(word, &end);
	if (end == word || *end || !(*number >= -2 && *number < 1e18))
		return MPI_REFUSE(text, "'%.40s': expected a number", word);
	return TB_OK;
}

// ti_fields reads the numbers behind an action's name.
static int ti_fields(struct mpi_text *text, struct ti_reading *ti, const char *fields,
	char *rest, double *calc_ns)
{
	struct mpi_arguments *given = &ti->given;
	uint32_t type = ti->type_bytes, recv_type = 0, n_received = 0;
	bool may_lack = false;
	char *words[16 + 2 * MPI_ARGUMENTS_MAX];
	size_t n = 0, at = 0;
	double number = 0;
	int status = TB_OK;
	*calc_ns = 0;
	for (char *word; n < sizeof words / sizeof *words &&
			 (word = strtok_r(rest, MPI_BLANKS, &rest));)
		words[n++] = word;
	// Before 3.23 messages had no tag.
	if (strncmp(fields, "PTS", 3) == 0 && n == 2)
		fields = "PS|";
	for (; *fields && status == TB_OK; fields++) {
		if (*fields == '|') {
			may_lack = true;
			continue;
		}
		bool is_list = *fields == 'V' || *fields == 'W';
		size_t wants = is_list ? text->n_ranks : 1;
		if (n - at < wants) {
			if (may_lack && !is_list)
				break;
			return MPI_REFUSE(text,
				"expected more numbers behind the action: it has %zu", n);
		}
		if (is_list && wants > MPI_ARGUMENTS_MAX)
			return MPI_REFUSE(text, "has sizes for more than %d ranks",
				MPI_ARGUMENTS_MAX);
		for (size_t i = 0; i < wants && status == TB_OK; i++) {
			status = ti_number(text, words[at++], &number);
			if (is_list && (*fields == 'V' || n_received < wants))
				given->sizes[i] = number > 0 ? (uint64_t)number : 0;
		}
		if (*fields == 'V')
			given->n_sizes = (uint32_t)wants;
		else if (*fields == 'W' && given->n_sizes == 0)
			n_received = (uint32_t)wants;
		else if (*fields == 'P')
			given->peer = (int64_t)number;
		else if (*fields == 'T')
			given->tag = (int64_t)number;
		else if (*fields == 'S')
			given->bytes = number > 0 ? number : 0;
		else if (*fields == 'R')
			given->recv_bytes = number > 0 ? number : 0;
		else if (*fields == 'N')
			given->root = (int64_t)number;
		else if (*fields == 'F')
			*calc_ns = number / TI_OPERATIONS_S * 1e9;
		else if (*fields == 'L')
			*calc_ns = -number * 1e9; // seconds, not operations
		else if (*fields == 'D' && number >= 0 && number < sizeof ti_type_bytes)
			type = ti_type_bytes[(size_t)number];
		else if (*fields == 'E' && number >= 0 && number < sizeof ti_type_bytes)
			recv_type = ti_type_bytes[(size_t)number];
	}
	if (n_received) // the whole vector of a reduce-scatter
		given->n_sizes = n_received;
	given->bytes *= type;
	given->recv_bytes *= recv_type ? recv_type : type;
	for (uint32_t i = 0; i < given->n_sizes; i++)
		given->sizes[i] *= type;
	return status;
}

// ti_wait takes the requests of a wait, "SOURCE DESTINATION TAG"; of a waitall all. A
// test has that of a wait, and does not say what it found.
static int ti_wait(struct mpi_text *text, struct ti_reading *ti, uint32_t rank,
	const char *action, char *rest)
{
	struct mpi_rank *of = &text->ranks[rank];
	int64_t numbers[3] = {0};
	size_t n = 0;
	if (strcmp(action, "waitall") == 0) {
		// More than fit are waited for in turns.
		while (of->n_pending > 0) {
			tb_mpi_clear(&ti->given);
			for (size_t i = of->first_pending;
				i < of->n_pending &&
				ti->given.n_requests < MPI_ARGUMENTS_MAX;
				i++)
				ti->given.requests[ti->given.n_requests++] =
					of->pending[i].key;
			int status = tb_mpi_call(text, rank, "waitall", &ti->given);
			if (status != TB_OK)
				return status;
		}
		return TB_OK;
	}
	for (char *word; n < 3 && (word = strtok_r(rest, MPI_BLANKS, &rest)); n++) {
		double number;
		int status = ti_number(text, word, &number);
		if (status != TB_OK)
			return status;
		numbers[n] = (int64_t)number;
	}
	if (n == 3)
		ti->given.requests[ti->given.n_requests++] =
			mpi_key(numbers[0], numbers[1], numbers[2]);
	else if (of->n_pending > 0) // of old traces: the last one
		ti->given.requests[ti->given.n_requests++] =
			of->pending[of->n_pending - 1].key;
	if (strcmp(action, "test") != 0)
		return tb_mpi_call(text, rank, "wait", &ti->given);
	if (ti->given.n_requests > 0)
		tb_mpi_test(text, rank, ti->given.requests[0]);
	return TB_OK;
}

static int ti_line(struct mpi_text *text, char *line, void *context)
{
	struct ti_reading *ti = context;
	char *rest, *end;
	double calc_ns;
	line[strcspn(line, "#")] = '\0';
	char *word = strtok_r(line, MPI_BLANKS, &rest);
	if (!word)
		return TB_OK;
	word += *word == 'p';
	unsigned long rank = strtoul(word, &end, 10);
	if (*end || end == word || rank >= MPI_RANKS_MAX)
		return MPI_REFUSE(text,
			"expected a rank, as in '0 send 1 0 1e6', not '%.40s'", word);
	char *action = strtok_r(rest, MPI_BLANKS, &rest);
	size_t i = action ? ti_action(action, strlen(action)) : N_TI_ACTIONS;
	if (i == N_TI_ACTIONS)
		return MPI_REFUSE(
			text, "'%.40s' is no action that is read", action ? action : "");
	if (ti->counts) {
		if (rank >= ti->n_ranks)
			ti->n_ranks = (uint32_t)rank + 1;
		return TB_OK;
	}
	if (rank >= text->n_ranks)
		return MPI_REFUSE(text, "names rank %lu", rank);
	const char *name = ti_actions[i].name;
	tb_mpi_clear(&ti->given);
	if (strcmp(name, "init") == 0) {
		// With a number behind it elements are doubles, else bytes.
		ti->type_bytes = strtok_r(rest, MPI_BLANKS, &rest) ? 8 : 1;
		return TB_OK;
	}
	if (strncmp(name, "wait", 4) == 0 || strcmp(name, "test") == 0)
		return ti_wait(text, ti, (uint32_t)rank, name, rest);
	int status = ti_fields(text, ti, ti_actions[i].fields, rest, &calc_ns);
	if (status != TB_OK || strcmp(name, "location") == 0)
		return status;
	if (calc_ns != 0) {
		if (calc_ns > 0)
			text->flops += calc_ns / 1e9 * TI_OPERATIONS_S;
		calc_ns = fabs(calc_ns);
		if (calc_ns + (double)text->ranks[rank].calc_ns > (double)MPI_NS_MAX)
			return MPI_REFUSE(text, "computes for more than 104 days");
		text->ranks[rank].calc_ns += (uint64_t)(calc_ns + 0.5);
		return TB_OK;
	}
	bool is_recv = strstr(name, "recv") != NULL;
	if (ti->given.tag < 0)
		ti->given.tag = 0;
	ti->given.n_requests = 1;
	ti->given.requests[0] =
		is_recv ? mpi_key(ti->given.peer, (int64_t)rank, ti->given.tag)
			: mpi_key((int64_t)rank, ti->given.peer, ti->given.tag);
	// What is received has the size that was sent.
	return tb_mpi_call(text, (uint32_t)rank, name, &ti->given);
}

// ti_listed makes the path of a file that a list names: beside the list, or as it stands.
static char *ti_listed(const char *list, const char *name)
{
	char *path = NULL;
	const char *base = basename(list);
	if (asprintf(&path, "%.*s%s", (int)(base - list), list, name) < 0)
		return NULL;
	if (*name != '/' && tb_infile_begins(path, tb_ti_begins))
		return path;
	free(path);
	return strdup(name);
}

bool tb_ti_list_is(const char *path, struct tb_bytes first)
{
	char name[512];
	size_t n = 0;
	while (n < first.n && n + 1 < sizeof name && first.data[n] > ' ' &&
		first.data[n] < 127)
		n++;
	if (n == 0 || n + 1 >= sizeof name || (n < first.n && first.data[n] != '\n'))
		return false;
	snprintf(name, sizeof name, "%.*s", (int)n, (const char *)first.data);
	char *listed = ti_listed(path, name);
	bool is = listed && strcmp(listed, path) != 0 &&
		  tb_infile_begins(listed, tb_ti_begins);
	free(listed);
	return is;
}

// ti_file reads one file, or the files that a list names.
static int ti_file(
	struct mpi_text *text, struct ti_reading *ti, const char *path, bool may_list)
{
	FILE *stream;
	struct tb_infile *file;
	struct tb_bytes first;
	int status = tb_infile_open(&stream, &file, path, text->error), found = 1;
	if (status != TB_OK)
		return status;
	text->file = path;
	status = tb_infile_peek(file, TB_INFILE_PEEK_MAX, &first, text->error);
	if (status == TB_OK && (!may_list || tb_ti_begins(first))) {
		status = mpi_lines(text, stream, ti, ti_line);
	} else if (status == TB_OK) {
		struct tb_text_lines lines;
		tb_text_lines_init(&lines, stream, path, text->error);
		while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
			char *name = lines.text + strspn(lines.text, MPI_BLANKS);
			name[strcspn(name, MPI_BLANKS)] = '\0';
			char *listed = *name ? ti_listed(path, name) : NULL;
			if (listed)
				status = ti_file(text, ti, listed, false);
			free(listed);
			text->file = path;
		}
		tb_text_lines_fini(&lines);
		status = found < 0 ? found : status;
	}
	int cause = tb_infile_check(file, text->error);
	fclose(stream);
	return cause != TB_OK ? cause : status;
}

int tb_ti_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct mpi_text text = {.file = paths[0], .error = error};
	struct ti_reading *ti = calloc(1, sizeof *ti);
	(void)reading;
	if (!ti)
		return tb_fail_memory_in(error, paths[0], "it");
	ti->counts = true;
	int status = TB_OK;
	for (size_t i = 0; i < n && status == TB_OK; i++)
		status = ti_file(&text, ti, paths[i], true);
	if (status == TB_OK && ti->n_ranks == 0)
		status = tb_fail_in(error, TB_EFORMAT, paths[0], "has no action");
	ti->counts = false;
	ti->type_bytes = 1;
	TB_THEN(status, tb_mpi_begin(&text, ti->n_ranks));
	for (size_t i = 0; i < n && status == TB_OK; i++)
		status = ti_file(&text, ti, paths[i], true);
	// What a rank computed after its last call.
	for (uint32_t rank = 0; rank < text.n_ranks && status == TB_OK; rank++) {
		struct tb_call end = {
			.kind = TB_CALL_JOINT, .calc_ns = text.ranks[rank].calc_ns};
		if (end.calc_ns > 0)
			tb_calls_add(text.calls, rank, &end);
	}
	if (status == TB_OK) {
		*calls = tb_mpi_end(&text);
		*made = NULL;
	}
	tb_mpi_fini(&text);
	free(ti);
	return status;
}

// DUMPI as text.

bool tb_dumpi_text_begins(struct tb_bytes first)
{
	return memmem(first.data, first.n, " entering at walltime ", 22) != NULL;
}

static bool is_dumpi_file(const char *path, const char *name)
{
	(void)name;
	return tb_infile_begins(path, tb_dumpi_text_begins);
}

bool tb_dumpi_text_is_folder(const char *path)
{
	return tb_trace_files_are_in(path, is_dumpi_file);
}

// Sizes of MPI's types by the names that dumpi2ascii prints (libundumpi, bindings).
static const struct {
	const char *name;
	uint8_t bytes;
} mpi_types[] = {{"CHAR", 1}, {"SIGNED_CHAR", 1}, {"UNSIGNED_CHAR", 1}, {"BYTE", 1},
	{"WCHAR", 4}, {"SHORT", 2}, {"UNSIGNED_SHORT", 2}, {"INT", 4}, {"UNSIGNED", 4},
	{"LONG", 8}, {"UNSIGNED_LONG", 8}, {"FLOAT", 4}, {"DOUBLE", 8},
	{"LONG_DOUBLE", 16}, {"LONG_LONG_INT", 8}, {"LONG_LONG", 8},
	{"UNSIGNED_LONG_LONG", 8}, {"PACKED", 1}, {"FLOAT_INT", 8}, {"DOUBLE_INT", 12},
	{"LONG_INT", 12}, {"SHORT_INT", 6}, {"2INT", 8}, {"CHARACTER", 1}, {"LOGICAL", 4},
	{"INTEGER", 4}, {"REAL", 4}, {"DOUBLE_PRECISION", 8}, {"COMPLEX", 8},
	{"DOUBLE_COMPLEX", 16}};

struct dumpi_reading {
	struct mpi_arguments given;
	uint32_t rank;
	char name[40]; // of the call that has begun; "": none
	double count, send_type, recv_count, recv_type;
	bool has_unknown_type, has_recv;
	int64_t index; // of a request that a call completed
};

static bool dumpi_time(const char *line, const char *word, uint64_t *ns)
{
	const char *at = strstr(line, word);
	char *end;
	if (!at)
		return false;
	at += strlen(word);
	uint64_t seconds = strtoull(at, &end, 10), fraction = 0, unit = 100000000;
	if (end == at || seconds > UINT64_C(9000000000))
		return false;
	for (end += *end == '.'; isdigit((unsigned char)*end); end++, unit /= 10)
		fraction += (uint64_t)(*end - '0') * unit;
	*ns = seconds * 1000000000 + fraction;
	return true;
}

static double mpi_type_bytes(const char *value)
{
	const char *name = strstr(value, "(MPI_");
	if (!name)
		return 0;
	name += strlen("(MPI_");
	size_t n = strcspn(name, ")");
	for (size_t i = 0; i < sizeof mpi_types / sizeof *mpi_types; i++)
		if (strlen(mpi_types[i].name) == n &&
			memcmp(mpi_types[i].name, name, n) == 0)
			return mpi_types[i].bytes;
	return 0;
}

// dumpi_argument takes "int count=100" and the like.
static int dumpi_argument(struct mpi_text *text, struct dumpi_reading *dumpi, char *line)
{
	struct mpi_arguments *given = &dumpi->given;
	char *equals = strchr(line, '=');
	if (!equals)
		return TB_OK;
	char *name = equals;
	while (name > line && name[-1] != ' ' && name[-1] != '\t')
		name--;
	size_t n = strcspn(name, "[=");
	const char *value = equals + 1;
	int64_t number = strtoll(value, NULL, 10);
	bool is_status = strncmp(line, "MPI_Status", 10) == 0;
#define IS(word) (n == strlen(word) && memcmp(name, word, n) == 0)
	if (is_status) {
		// Of a receive: from whom it was, and its tag.
		const char *source = strstr(value, "source=");
		const char *tag = strstr(value, "tag=");
		int64_t *peer = dumpi->has_recv ? &given->from_peer : &given->peer;
		int64_t *its_tag = dumpi->has_recv ? &given->from_tag : &given->tag;
		if (source && *peer == -1)
			*peer = strtoll(source + 7, NULL, 10);
		if (tag && *its_tag == -1)
			*its_tag = strtoll(tag + 4, NULL, 10);
	} else if (IS("count") || IS("sendcount")) {
		dumpi->count = (double)number;
	} else if (IS("recvcount")) {
		dumpi->recv_count = (double)number;
	} else if (IS("datatype") || IS("sendtype")) {
		dumpi->send_type = mpi_type_bytes(value);
		dumpi->has_unknown_type |= dumpi->send_type <= 0;
	} else if (IS("recvtype")) {
		dumpi->recv_type = mpi_type_bytes(value);
	} else if (IS("dest")) {
		given->peer = number;
	} else if (IS("source")) {
		dumpi->has_recv = given->peer >= 0;
		*(dumpi->has_recv ? &given->from_peer : &given->peer) =
			strstr(value, "ANY_SOURCE") ? -1 : number;
	} else if (IS("tag") || IS("sendtag")) {
		given->tag = strstr(value, "ANY_TAG") ? -1 : number;
	} else if (IS("recvtag")) {
		given->from_tag = strstr(value, "ANY_TAG") ? -1 : number;
	} else if (IS("root")) {
		given->root = number;
	} else if (IS("comm")) {
		given->is_other = !strstr(value, "MPI_COMM_WORLD");
	} else if (IS("flag")) {
		given->is_done = number != 0;
	} else if (IS("index")) {
		dumpi->index = number;
	} else if (IS("request") || IS("requests") || IS("sendcounts") ||
		   IS("recvcounts")) {
		bool is_request = *name == 'r' && name[2] == 'q';
		uint32_t *count = is_request ? &given->n_requests : &given->n_sizes;
		uint64_t *list = is_request ? given->requests : given->sizes;
		// Of all-to-all what is sent decides; reduce-scatter has only the other.
		if (!is_request && *name == 'r' && given->n_sizes > 0)
			return TB_OK;
		*count = 0;
		for (char *at = equals + 1; *at;) {
			if (!isdigit((unsigned char)*at)) {
				at++;
				continue;
			}
			if (*count == MPI_ARGUMENTS_MAX)
				return MPI_REFUSE(text,
					"has a list of more than %d numbers",
					MPI_ARGUMENTS_MAX);
			list[(*count)++] = strtoull(at, &at, 10);
		}
	}
#undef IS
	return TB_OK;
}

static int dumpi_end(struct mpi_text *text, struct dumpi_reading *dumpi)
{
	struct mpi_arguments *given = &dumpi->given;
	double recv_type = dumpi->recv_type > 0 ? dumpi->recv_type : dumpi->send_type;
	if (dumpi->has_unknown_type && (dumpi->count > 0 || given->n_sizes > 0))
		return MPI_REFUSE(text,
			"MPI_%s has elements of a type of the program's own, whose size "
			"is not recorded",
			dumpi->name);
	given->bytes = dumpi->count > 0 ? dumpi->count * dumpi->send_type : 0;
	given->recv_bytes = dumpi->recv_count > 0 ? dumpi->recv_count * recv_type : 0;
	for (uint32_t i = 0; i < given->n_sizes; i++) {
		if (given->sizes[i] > MPI_COUNT_MAX)
			return MPI_REFUSE(text,
				"MPI_%s has a count of more than 1e15 elements",
				dumpi->name);
		given->sizes[i] *= (uint64_t)dumpi->send_type;
	}
	if (dumpi->index >= 0 && dumpi->index < given->n_requests) {
		given->requests[0] = given->requests[dumpi->index];
		given->n_requests = 1;
	}
	return tb_mpi_call(text, dumpi->rank, dumpi->name, given);
}

static int dumpi_line(struct mpi_text *text, char *line, void *context)
{
	struct dumpi_reading *dumpi = context;
	uint64_t ns;
	if (strncmp(line, "MPI_", 4) != 0 || strncmp(line, "MPI_Status", 10) == 0 ||
		!strstr(line, " at walltime "))
		return dumpi->name[0] ? dumpi_argument(text, dumpi, line) : TB_OK;
	size_t n = strcspn(line + 4, " ");
	if (dumpi_time(line, " entering at walltime ", &ns)) {
		if (dumpi->name[0])
			return MPI_REFUSE(text,
				"MPI_%s begins within MPI_%s: threads are not told apart",
				line + 4, dumpi->name);
		snprintf(dumpi->name, sizeof dumpi->name, "%.*s", (int)(n < 39 ? n : 39),
			line + 4);
		tb_mpi_clear(&dumpi->given);
		dumpi->given.enter_ns = ns;
		dumpi->count = dumpi->send_type = dumpi->recv_count = 0;
		dumpi->recv_type = 0;
		dumpi->has_unknown_type = dumpi->has_recv = false;
		dumpi->index = -1;
		return TB_OK;
	}
	if (!dumpi_time(line, " returning at walltime ", &ns) || !dumpi->name[0] ||
		strlen(dumpi->name) > n || strncmp(dumpi->name, line + 4, n) != 0)
		return MPI_REFUSE(text, "expected the end of MPI_%s", dumpi->name);
	dumpi->given.leave_ns = ns;
	int status = dumpi_end(text, dumpi);
	dumpi->name[0] = '\0';
	return status;
}

static int dumpi_file(struct mpi_text *text, FILE *stream, uint32_t rank)
{
	struct dumpi_reading *dumpi = calloc(1, sizeof *dumpi);
	if (!dumpi)
		return tb_fail_memory_in(text->error, text->file, "it");
	dumpi->rank = rank;
	int status = mpi_lines(text, stream, dumpi, dumpi_line);
	if (status == TB_OK && dumpi->name[0])
		status = MPI_REFUSE(text, "ends within MPI_%s", dumpi->name);
	free(dumpi);
	return status;
}

// liballprof's.

// The arguments of each function: _ something else, c count, d type, e and f those of
// what is received, p partner, t tag, P and T of what is received, o root, m
// communicator, r request, n number of requests, v and w lists of counts.
static const struct {
	const char *name, *arguments;
} allprof_calls[] = {
	{"Send", "_cdptm"},
	{"Bsend", "_cdptm"},
	{"Ssend", "_cdptm"},
	{"Rsend", "_cdptm"},
	{"Isend", "_cdptmr"},
	{"Ibsend", "_cdptmr"},
	{"Issend", "_cdptmr"},
	{"Irsend", "_cdptmr"},
	{"Recv", "_cdptm_"},
	{"Irecv", "_cdptmr"},
	{"Wait", "r_"},
	{"Waitall", "nr_"},
	{"Sendrecv", "_cdpt_efPTm_"},
	{"Barrier", "m"},
	{"Bcast", "_cdom"},
	{"Reduce", "__cd_om"},
	{"Allreduce", "__cd_m"},
	{"Scan", "__cd_m"},
	{"Exscan", "__cd_m"},
	{"Gather", "_cd_efom"},
	{"Scatter", "_cd_efom"},
	{"Allgather", "_cd_efm"},
	{"Alltoall", "_cd_efm"},
};
#define N_ALLPROF_CALLS (sizeof allprof_calls / sizeof *allprof_calls)

bool tb_allprof_begins(struct tb_bytes first)
{
	const char *at = memmem(first.data, first.n, "MPI_Init", 8);
	const char *end = (const char *)first.data + first.n;
	if (!at || (at != (const char *)first.data && at[-1] != '\n'))
		return false;
	while (at < end && *at != ':' && *at != '\n')
		at++;
	return end - at > 1 && *at == ':' && isdigit((unsigned char)at[1]);
}

static bool is_allprof_file(const char *path, const char *name)
{
	(void)name;
	return tb_infile_begins(path, tb_allprof_begins);
}

bool tb_allprof_is_folder(const char *path)
{
	return tb_trace_files_are_in(path, is_allprof_file);
}

struct allprof_reading {
	struct mpi_arguments given;
	uint32_t rank;
};

static bool allprof_ns(const char *word, uint64_t *ns)
{
	char *end;
	double us = strtod(word, &end);
	*ns = us > 0 && us < 9e15 ? (uint64_t)(us * 1000) : 0;
	return end > word && us >= 0 && us < 9e15;
}

// allprof_requests takes `n` requests from the address of the first: 4 or 8 bytes apart,
// as the MPI has them.
static int allprof_requests(struct mpi_text *text, struct allprof_reading *reading,
	uint64_t first, uint64_t n)
{
	const struct mpi_rank *of = &text->ranks[reading->rank];
	uint64_t step = 8;
	if (n > MPI_ARGUMENTS_MAX)
		return MPI_REFUSE(
			text, "waits for more than %d requests", MPI_ARGUMENTS_MAX);
	for (size_t i = of->first_pending; i < of->n_pending && n > 1; i++)
		if (of->pending[i].key == first + 4)
			step = 4;
	for (uint64_t i = 0; i < n; i++)
		reading->given.requests[i] = first + i * step;
	reading->given.n_requests = (uint32_t)n;
	return TB_OK;
}

static int allprof_line(struct mpi_text *text, char *line, void *context)
{
	struct allprof_reading *reading = context;
	struct mpi_arguments *given = &reading->given;
	char *words[24], *rest = line, *word;
	size_t n = 0, i = 0;
	double count = 0, type = 0, recv_count = 0, recv_type = 0;
	uint64_t n_requests = 1;
	int status = TB_OK;
	if (*line == '#' || line[strspn(line, MPI_BLANKS)] == '\0')
		return TB_OK;
	while (n < 24 && (word = strsep(&rest, ":")))
		words[n++] = word;
	tb_mpi_clear(given);
	if (n < 3 || strncmp(words[0], "MPI_", 4) != 0 ||
		!allprof_ns(words[1], &given->enter_ns))
		return MPI_REFUSE(
			text, "expected a call as in 'MPI_Barrier:START:0,0,4:END'");
	if (strcmp(words[n - 1], "-") == 0)
		given->leave_ns = given->enter_ns;
	else if (!allprof_ns(words[n - 1], &given->leave_ns))
		return MPI_REFUSE(text, "expected the time at which a call ended");
	const char *name = words[0] + 4;
	while (i < N_ALLPROF_CALLS && strcasecmp(allprof_calls[i].name, name) != 0)
		i++;
	const char *arguments = i < N_ALLPROF_CALLS ? allprof_calls[i].arguments : "";
	if (n - 3 < strlen(arguments))
		return MPI_REFUSE(text, "expected %zu arguments of %.40s, not %zu",
			strlen(arguments), words[0], n - 3);
	for (size_t k = 0; arguments[k]; k++) {
		const char *value = words[2 + k], *comma = strchr(value, ',');
		int64_t number = strtoll(value, NULL, 0);
		double size = strtod(comma ? comma + 1 : value, NULL);
		switch (arguments[k]) {
		case 'c':
			count = (double)number;
			break;
		case 'd':
			type = size;
			break;
		case 'e':
			recv_count = (double)number;
			break;
		case 'f':
			recv_type = size;
			break;
		case 'p':
			given->peer = number;
			break;
		case 'P':
			given->from_peer = number;
			break;
		case 't':
			given->tag = number;
			break;
		case 'T':
			given->from_tag = number;
			break;
		case 'o':
			given->root = number;
			break;
		case 'm': // id, rank, size
			comma = comma ? strchr(comma + 1, ',') : NULL;
			given->is_other =
				comma && strtoull(comma + 1, NULL, 10) != text->n_ranks;
			break;
		case 'n':
			n_requests = number > 0 ? (uint64_t)number : 0;
			break;
		case 'r':
			status = allprof_requests(
				text, reading, strtoull(value, NULL, 0), n_requests);
			break;
		default:
			break;
		}
	}
	given->bytes = count * type;
	given->recv_bytes = recv_count * recv_type;
	return status == TB_OK ? tb_mpi_call(text, reading->rank, name, given) : status;
}

static int allprof_file(struct mpi_text *text, FILE *stream, uint32_t rank)
{
	struct allprof_reading *reading = calloc(1, sizeof *reading);
	if (!reading)
		return tb_fail_memory_in(text->error, text->file, "it");
	reading->rank = rank;
	int status = mpi_lines(text, stream, reading, allprof_line);
	free(reading);
	return status;
}

// mpi_read reads files of ranks.
static int mpi_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error,
	tb_trace_file_is *is,
	int (*take)(struct mpi_text *text, FILE *stream, uint32_t rank))
{
	struct mpi_text text = {.file = paths[0], .has_handles = true, .error = error};
	int status = tb_mpi_files(&text, reading, paths, n, is, take);
	if (status == TB_OK) {
		*calls = tb_mpi_end(&text);
		*made = NULL;
	}
	tb_mpi_fini(&text);
	return status;
}

int tb_dumpi_text_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	return mpi_read(calls, reading, paths, n, made, error, is_dumpi_file, dumpi_file);
}

int tb_allprof_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	return mpi_read(
		calls, reading, paths, n, made, error, is_allprof_file, allprof_file);
}
