#include "simai.h"

#include "array.h"
#include "infile.h"
#include "text_lines.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SIMAI_BLANKS	 " \t\r"
#define SIMAI_LAYERS_MAX 1000000
#define SIMAI_RANKS_MAX	 (UINT64_C(1) << 20)
#define SIMAI_CALLS_MAX	 (UINT64_C(1) << 28)
#define SIMAI_NS_MAX	 UINT64_C(9000000000000000) // 104 days: what a job can last

// Groups that a rank is in.
enum simai_group { SIMAI_ALL, SIMAI_TP, SIMAI_DP, SIMAI_EP, SIMAI_DP_EP, SIMAI_N_GROUPS };

struct simai_part {
	uint64_t calc_ns, bytes;
	uint8_t op, group;
	bool sends;
};

// Forward, input gradient and weight gradient.
enum { SIMAI_FORWARD, SIMAI_INPUT, SIMAI_WEIGHT, SIMAI_N_PARTS };

struct simai_layer {
	struct simai_part parts[SIMAI_N_PARTS];
	uint64_t update_ns;
};

struct simai_workload {
	uint64_t tp, ep, pp, all; // all: 0: not said
	bool has_keys;		  // SimAI's
	bool weight_first;	  // backward, before the input gradient of its layer
	uint64_t n_declared;
	uint64_t calc_ns; // of all layers
	struct simai_layer *layers;
	size_t n, room;
	uint64_t line;
	const char *file;
	struct tb_error *error;
};

static const struct {
	const char *name;
	bool weight_first;
} simai_kinds[] = {{"HYBRID_TRANSFORMER_FWD_IN_BCKWD", false},
	{"HYBRID_TRANSFORMER", false}, {"HYBRID_DLRM", true},
	{"HYBRID_DLRM_ENHANCED", true}, {"HYBRID_DATA_MODEL", false},
	{"HYBRID_MODEL_DATA", false}, {"HYBRID_CUSTOMIZED", false}, {"DATA", true},
	{"MODEL", false}, {"MICRO", true}, {"DISTRIBUTED_INFERENCE", false}};
#define SIMAI_N_KINDS (sizeof simai_kinds / sizeof *simai_kinds)

// simai_kind finds the kind that `n` bytes name, or returns SIMAI_N_KINDS.
static size_t simai_kind(const char *text, size_t n)
{
	size_t i = 0;
	while (i < SIMAI_N_KINDS && (strlen(simai_kinds[i].name) != n ||
					    memcmp(simai_kinds[i].name, text, n) != 0))
		i++;
	return i;
}

static int simai_refuse(const struct simai_workload *workload, const char *sentence)
{
	return tb_fail_at(workload->error, TB_EFORMAT, workload->file, TB_PLACE_LINE,
		workload->line, "%s", sentence);
}

bool tb_simai_begins(struct tb_bytes first)
{
	const char *text = (const char *)first.data;
	const char *end = first.n ? memchr(text, '\n', first.n) : NULL;
	size_t n = 0;
	while (n < first.n && (text[n] == '_' || (text[n] >= 'A' && text[n] <= 'Z')))
		n++;
	if (!end || simai_kind(text, n) == SIMAI_N_KINDS)
		return false;
	for (end++; end < text + first.n && memchr(SIMAI_BLANKS, *end, 3);)
		end++;
	return end < text + first.n && *end >= '0' && *end <= '9';
}

// simai_operation takes "ALLTOALL_EP" apart.
static bool simai_operation(const char *word, struct simai_part *part)
{
	static const struct {
		const char *name;
		uint8_t op;
	} operations[] = {{"ALLREDUCE", TB_COLL_ALLREDUCE},
		{"ALLGATHER", TB_COLL_ALLGATHER},
		{"REDUCESCATTER", TB_COLL_REDUCE_SCATTER},
		{"ALLTOALL", TB_COLL_ALLTOALL}};
	static const struct {
		const char *name;
		uint8_t group;
	} groups[] = {{"_TP", SIMAI_TP}, {"_DP", SIMAI_DP}, {"_EP", SIMAI_EP},
		{"_DP_EP", SIMAI_DP_EP}};
	if (strcmp(word, "NONE") == 0)
		return true;
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		size_t n = strlen(operations[i].name);
		if (strncmp(word, operations[i].name, n) != 0)
			continue;
		part->sends = true;
		part->op = operations[i].op;
		if (word[n] == '\0')
			return true;
		for (size_t k = 0; k < sizeof groups / sizeof *groups; k++)
			if (strcmp(word + n, groups[k].name) == 0) {
				part->group = groups[k].group;
				return true;
			}
	}
	return false;
}

static int simai_layer(struct simai_workload *workload, char *text)
{
	char *rest, *words[13];
	size_t n = 0;
	struct simai_layer layer = {.update_ns = 0};
	for (char *word = strtok_r(text, SIMAI_BLANKS, &rest); word && n < 13;
		word = strtok_r(NULL, SIMAI_BLANKS, &rest))
		words[n++] = word;
	if (n < 12)
		return simai_refuse(workload,
			"expected a layer: name, dependency, three times computation, "
			"operation and bytes, and the update");
	for (size_t i = 0; i < SIMAI_N_PARTS; i++) {
		struct simai_part *part = &layer.parts[i];
		part->group = !workload->has_keys && workload->tp == 1 ? SIMAI_ALL
			      : i == SIMAI_WEIGHT		       ? SIMAI_DP
								       : SIMAI_TP;
		if (tb_parse_count(words[2 + 3 * i], 0, SIMAI_NS_MAX, &part->calc_ns) !=
				TB_OK ||
			tb_parse_count(words[4 + 3 * i], 0, UINT64_C(1) << 56,
				&part->bytes) != TB_OK)
			return simai_refuse(workload,
				"expected whole numbers as computation (ns) and bytes");
		if (!simai_operation(words[3 + 3 * i], part))
			return simai_refuse(workload,
				"expected ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL "
				"or "
				"NONE, perhaps with _TP, _DP, _EP or _DP_EP");
		part->sends &= part->bytes > 0;
		workload->calc_ns += part->calc_ns;
	}
	if (tb_parse_count(words[11], 0, SIMAI_NS_MAX, &layer.update_ns) != TB_OK)
		return simai_refuse(
			workload, "expected a whole number as the update's ns");
	workload->calc_ns += layer.update_ns;
	if (workload->calc_ns > SIMAI_NS_MAX)
		return simai_refuse(
			workload, "the layers up to here compute for more than 104 days");
	if (TB_ARRAY_NEXT(workload, layers) != TB_OK)
		return tb_fail_memory_in(workload->error, workload->file, "its layers");
	workload->layers[workload->n++] = layer;
	return TB_OK;
}

static int simai_line(struct simai_workload *workload, char *text)
{
	text[strcspn(text, "#")] = '\0';
	text += strspn(text, SIMAI_BLANKS);
	if (!*text)
		return TB_OK;
	if (workload->tp == 0) {
		char *rest, *word = strtok_r(text, SIMAI_BLANKS, &rest);
		uint64_t other;
		const struct {
			const char *name;
			uint64_t *value;
		} keys[] = {{"model_parallel_NPU_group:", &workload->tp},
			{"ep:", &workload->ep}, {"pp:", &workload->pp},
			{"all_gpus:", &workload->all}, {"vpp:", &other}, {"ga:", &other}};
		size_t kind = simai_kind(word, strlen(word));
		workload->weight_first =
			kind < SIMAI_N_KINDS && simai_kinds[kind].weight_first;
		workload->tp = workload->ep = workload->pp = 1;
		while ((word = strtok_r(NULL, SIMAI_BLANKS, &rest))) {
			for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
				if (strcmp(word, keys[i].name) != 0)
					continue;
				word = strtok_r(NULL, SIMAI_BLANKS, &rest);
				if (!word || tb_parse_count(word, 1, UINT32_MAX,
						     keys[i].value) != TB_OK)
					return simai_refuse(workload,
						"expected a number behind each key of "
						"the "
						"first line");
				workload->has_keys |= keys[i].value == &workload->all;
				break;
			}
			if (!word)
				break;
		}
		return TB_OK;
	}
	if (workload->n_declared == 0) {
		text[strcspn(text, SIMAI_BLANKS)] = '\0';
		return tb_parse_count(text, 1, SIMAI_LAYERS_MAX, &workload->n_declared) ==
				       TB_OK
			       ? TB_OK
			       : simai_refuse(workload,
					 "expected the number of layers, from 1 to "
					 "1,000,000");
	}
	if (workload->n == workload->n_declared)
		return simai_refuse(workload, "expected no more layers");
	return simai_layer(workload, text);
}

static int simai_lines(struct simai_workload *workload, const struct tb_reading *reading)
{
	FILE *stream;
	struct tb_infile *file;
	struct tb_text_lines lines;
	int status = tb_infile_open(&stream, &file, workload->file, workload->error);
	int found = 1;
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(file, reading->stop);
	tb_text_lines_init(&lines, stream, workload->file, workload->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		workload->line = lines.number;
		status = simai_line(workload, lines.text);
	}
	tb_text_lines_fini(&lines);
	int cause = tb_infile_check(file, workload->error);
	fclose(stream);
	status = found < 0 ? found : status;
	status = cause != TB_OK ? cause : status;
	if (status == TB_OK && workload->n < workload->n_declared)
		return tb_fail_in(workload->error, TB_EFORMAT, workload->file,
			"declares %" PRIu64 " layers but has %zu", workload->n_declared,
			workload->n);
	return status;
}

// Ranks go by tensor parallel place, then data parallel place, then pipeline stage.
struct simai_grid {
	uint32_t n, tp, dp, ep, pp;
};

// simai_members lists the group that `rank` is in and returns its size.
static uint32_t simai_members(const struct simai_grid *grid, enum simai_group group,
	uint32_t rank, uint32_t *members)
{
	uint32_t tp = rank % grid->tp, dp = rank / grid->tp % grid->dp;
	uint32_t stage = rank / (grid->tp * grid->dp) * grid->tp * grid->dp;
	uint32_t first = 0, step = 1, n = grid->n;
	switch (group) {
	case SIMAI_TP:
		first = rank - tp;
		n = grid->tp;
		break;
	case SIMAI_DP:
		first = stage + tp;
		step = grid->tp;
		n = grid->dp;
		break;
	case SIMAI_EP:
		first = stage + dp / grid->ep * grid->ep * grid->tp + tp;
		step = grid->tp;
		n = grid->ep;
		break;
	case SIMAI_DP_EP:
		first = stage + dp % grid->ep * grid->tp + tp;
		step = grid->tp * grid->ep;
		n = grid->dp / grid->ep;
		break;
	case SIMAI_ALL:
	case SIMAI_N_GROUPS:
		break;
	}
	for (uint32_t i = 0; i < n; i++)
		members[i] = first + i * step;
	return n;
}

struct simai_making {
	const struct simai_workload *workload;
	struct simai_grid grid;
	struct tb_calls *calls;
	uint32_t *group_of; // by kind of group and rank
	uint32_t *size_of;  // by kind of group
};

// The rank whose calls are made. The gradients of weights that go to a group take a lane
// of their own: NCCL works on a stream per communicator, beside the computation.
struct simai_rank {
	uint32_t rank, n_lanes;
	uint32_t lane[SIMAI_N_GROUPS]; // 0: none yet
	uint32_t last[SIMAI_N_GROUPS]; // call of that lane
};

// simai_groups makes the groups of the kinds that are used.
static int simai_groups(struct simai_making *making)
{
	const struct simai_grid *grid = &making->grid;
	uint32_t *members = malloc(grid->n * sizeof *members);
	bool is_used[SIMAI_N_GROUPS] = {false};
	int status = members ? TB_OK
			     : tb_fail_memory_in(making->workload->error,
				       making->workload->file, "its groups");
	for (size_t i = 0; i < making->workload->n; i++)
		for (size_t k = 0; k < SIMAI_N_PARTS; k++)
			is_used[making->workload->layers[i].parts[k].group] |=
				making->workload->layers[i].parts[k].sends;
	for (uint32_t kind = 0; kind < SIMAI_N_GROUPS; kind++)
		for (uint32_t rank = 0;
			rank < grid->n && status == TB_OK && is_used[kind]; rank++) {
			uint32_t *group = &making->group_of[kind * grid->n + rank];
			uint32_t n = simai_members(
				grid, (enum simai_group)kind, rank, members);
			making->size_of[kind] = n;
			if (members[0] != rank)
				*group = making->group_of[kind * grid->n + members[0]];
			else
				status = tb_calls_group(making->calls, members, n, n,
					group, making->workload->error);
		}
	free(members);
	return status;
}

// simai_call returns the collective of a part of a layer, or a joint where there is none.
static struct tb_call simai_call(
	const struct simai_making *making, uint32_t rank, const struct simai_part *part)
{
	uint32_t n = making->size_of[part->group];
	struct tb_call call = {.kind = TB_CALL_JOINT};
	if (part->sends && n > 1) {
		call.kind = TB_CALL_COLLECTIVE;
		call.op = part->op;
		call.bytes = part->bytes;
		call.group = making->group_of[part->group * making->grid.n + rank];
		if (part->op == TB_COLL_ALLTOALL ||
			(part->op == TB_COLL_ALLGATHER && making->workload->has_keys))
			call.bytes /= n;
	}
	return call;
}

// simai_waited adds the computation and the collective of a part that is waited for.
static void simai_waited(
	const struct simai_making *making, uint32_t rank, const struct simai_part *part)
{
	struct tb_call call = simai_call(making, rank, part);
	call.calc_ns = part->calc_ns;
	if (call.kind != TB_CALL_JOINT || call.calc_ns)
		tb_calls_add(making->calls, rank, &call);
}

static void simai_weight(const struct simai_making *making, struct simai_rank *of,
	const struct simai_part *part)
{
	const struct tb_call compute = {.kind = TB_CALL_JOINT, .calc_ns = part->calc_ns};
	struct tb_call call = simai_call(making, of->rank, part);
	uint32_t computed = 0;
	if (call.kind != TB_CALL_JOINT || compute.calc_ns)
		computed = tb_calls_add(making->calls, of->rank, &compute);
	if (call.kind == TB_CALL_JOINT)
		return;
	if (!of->lane[part->group])
		of->lane[part->group] = ++of->n_lanes;
	call.lane = of->lane[part->group];
	of->last[part->group] = tb_calls_add(making->calls, of->rank, &call);
	tb_calls_after(making->calls, of->rank, computed);
}

static void simai_rank(const struct simai_making *making, uint32_t rank)
{
	const struct simai_workload *workload = making->workload;
	struct simai_rank of = {.rank = rank};
	struct tb_call wait = {.kind = TB_CALL_JOINT}, end = wait;
	for (size_t i = 0; i < workload->n; i++)
		simai_waited(making, rank, &workload->layers[i].parts[SIMAI_FORWARD]);
	for (size_t i = workload->n; i-- > 0;) {
		const struct simai_layer *layer = &workload->layers[i];
		end.calc_ns += layer->update_ns;
		if (workload->weight_first)
			simai_weight(making, &of, &layer->parts[SIMAI_WEIGHT]);
		simai_waited(making, rank, &layer->parts[SIMAI_INPUT]);
		if (!workload->weight_first)
			simai_weight(making, &of, &layer->parts[SIMAI_WEIGHT]);
	}
	// Wait for the weights' gradients, then update.
	tb_calls_add(making->calls, rank, &wait);
	for (size_t i = 0; i < SIMAI_N_GROUPS; i++)
		if (of.lane[i])
			tb_calls_after(making->calls, rank, of.last[i]);
	tb_calls_add(making->calls, rank, &end);
}

static int simai_calls(
	struct simai_workload *workload, uint32_t clone_ranks, struct tb_calls **calls)
{
	struct simai_making making = {.workload = workload};
	uint64_t all = workload->all ? workload->all : clone_ranks;
	uint64_t inner = workload->tp * workload->pp;
	if (workload->all && clone_ranks && clone_ranks != workload->all)
		return tb_fail_in(workload->error, TB_EUSAGE, workload->file,
			"is of %" PRIu64
			" ranks (all_gpus), not of --clone-ranks %" PRIu32,
			workload->all, clone_ranks);
	if (all == 0)
		return tb_fail_in(workload->error, TB_EUSAGE, workload->file,
			"does not say how many ranks it has: give --clone-ranks N");
	if (all > SIMAI_CALLS_MAX / ((SIMAI_N_PARTS + 1) * workload->n + 2) ||
		all > SIMAI_RANKS_MAX)
		return tb_fail_in(workload->error, TB_ECAPACITY, workload->file,
			"%zu layers in %" PRIu64
			" ranks are more than 268,435,456 calls, "
			"or more than 1,048,576 ranks",
			workload->n, all);
	if (all % inner != 0 || all / inner % workload->ep != 0)
		return tb_fail_in(workload->error, TB_EFORMAT, workload->file,
			"%" PRIu64 " ranks cannot be groups of %" PRIu64
			" tensor parallel, %" PRIu64 " pipeline and %" PRIu64
			" expert parallel ranks",
			all, workload->tp, workload->pp, workload->ep);
	making.grid = (struct simai_grid){(uint32_t)all, (uint32_t)workload->tp,
		(uint32_t)(all / inner), (uint32_t)workload->ep, (uint32_t)workload->pp};
	uint32_t sizes[SIMAI_N_GROUPS] = {0};
	making.size_of = sizes;
	making.group_of = calloc(all * SIMAI_N_GROUPS, sizeof *making.group_of);
	int status = making.group_of
			     ? tb_calls_new(&making.calls, (uint32_t)all, workload->error)
			     : tb_fail_memory_in(
				       workload->error, workload->file, "its groups");
	TB_THEN(status, simai_groups(&making));
	for (uint32_t rank = 0; rank < all && status == TB_OK; rank++) {
		simai_rank(&making, rank);
		status = tb_calls_check(making.calls, workload->error);
	}
	if (status == TB_OK && workload->pp > 1)
		tb_calls_note(making.calls,
			"messages between the %" PRIu64
			" pipeline stages are not in a workload's layers: left out",
			workload->pp);
	free(making.group_of);
	if (status == TB_OK)
		*calls = making.calls;
	else
		tb_calls_free(making.calls);
	return status;
}

int tb_simai_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	struct simai_workload workload = {.file = paths[0], .error = error};
	(void)n;
	int status = simai_lines(&workload, reading);
	if (status == TB_OK && workload.n == 0)
		status = tb_fail_in(error, TB_EFORMAT, paths[0], "has no layer");
	TB_THEN(status, simai_calls(&workload, reading->clone_ranks, calls));
	free(workload.layers);
	if (status == TB_OK)
		*made = "nccl";
	return status;
}
