// What goes into a recording: its options in words, traces, network, faults and routes,
// and what is to be known of them.
#include "array.h"
#include "network_open.h"
#include "recording_also.h"
#include "recording_impl.h"
#include "route_file.h"
#include "shell.h"
#include "survey.h"
#include "switchings.h"
#include "text_lines.h"
#include "trace.h"
#include "workload_alone.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe_put_named(FILE *stream, const char *option, const char *name)
{
	if (!name)
		return;
	fprintf(stream, " %s ", option);
	tb_shell_put(stream, name);
}

// put_instant writes an instant so that it reads back to the same one.
static void put_instant(
	FILE *stream, const char *option, const struct tb_instant *instant)
{
	if (instant->kind == TB_INSTANT_RELATIVE)
		fprintf(stream, " %s %" PRId64 "ns", option, instant->ns);
	else if (instant->kind == TB_INSTANT_ABSOLUTE)
		fprintf(stream, " %s %" PRId64 ".%09" PRId64, option,
			instant->ns / 1000000000, instant->ns % 1000000000);
}

static void put_reading(FILE *stream, const struct tb_reading *reading)
{
	if (!reading)
		return;
	describe_put_named(stream, "--library", reading->library);
	for (size_t i = 0; i < reading->n_collectives; i++)
		describe_put_named(stream, "--collective", reading->collectives[i]);
	if (reading->lenient)
		fputs(" --lenient", stream);
	if (reading->clone_ranks)
		fprintf(stream, " --clone-ranks %" PRIu32, reading->clone_ranks);
}

char *tb_recording_describe(
	const struct tb_recording_options *options, enum tb_hypothesis hypothesis)
{
	static const char *const dedup[] = {"", " --dedup=yes", " --dedup=no"};
	const struct tb_packets_options *packets = &options->workload.packets;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	if (options->network) {
		fputs("--network ", stream);
		tb_shell_put(stream, options->network);
		fprintf(stream, " --seed %" PRIu64, options->seed);
	}
	if (options->n_nodes)
		fprintf(stream, " --nodes %" PRIu32, options->n_nodes);
	if (options->workload.per_node)
		fprintf(stream, " --per-node %" PRIu32, options->workload.per_node);
	if (options->bin_ps)
		fprintf(stream, " --bin %" PRId64 "ps", options->bin_ps);
	if (options->to_ps)
		fprintf(stream, " --window %" PRId64 ",%" PRId64, options->from_ps,
			options->to_ps);
	describe_put_named(stream, "--map", options->workload.map);
	for (size_t i = 0; i < options->workload.n_jobs; i++)
		describe_put_named(stream, "--job", options->workload.jobs[i]);
	if (options->workload.split)
		fputs(" --split-jobs", stream);
	if (options->workload.split_names) {
		fputc('=', stream);
		tb_shell_put(stream, options->workload.split_names);
	}
	describe_put_named(stream, "--routes", options->route_file);
	for (size_t i = 0; i < options->n_faults; i++)
		describe_put_named(stream, "--fault", options->faults[i]);
	describe_put_named(stream, "--fault-file", options->fault_file);
	for (size_t i = 0; i < options->n_slow; i++)
		describe_put_named(stream, "--slow", options->slow[i]);
	if (options->without_blame)
		fprintf(stream, " --no-blame");
	if (options->alone)
		fprintf(stream, " --alone");
	if (packets->time_scale > 0)
		fprintf(stream, " --time-scale %.15g", packets->time_scale);
	if (packets->squeeze_idle)
		fprintf(stream, " --squeeze-idle %" PRId64 "ps", packets->squeeze_idle);
	if (options->workload.closed_loop)
		fputs(" --closed-loop", stream);
	if (options->workload.unbounded)
		fputs(" --no-range", stream);
	if (hypothesis)
		fprintf(stream, " --hypothesis %s", tb_hypothesis_names[hypothesis]);
	describe_put_named(stream, "--also", options->also);
	describe_put_named(stream, "--recorded-on", options->recorded_on);
	if (options->no_bounds)
		fputs(" --no-bounds", stream);
	if (options->no_check)
		fputs(" --no-check", stream);
	put_instant(stream, "--from", &packets->from);
	put_instant(stream, "--to", &packets->to);
	if (packets->sampled)
		fprintf(stream, " --sampled %" PRIu32, packets->sampled);
	put_reading(stream, options->workload.reading);
	fputs(dedup[packets->dedup], stream);
	if (packets->keep_retransmissions)
		fputs(" --keep-retransmissions", stream);
	if (packets->keep_acks)
		fputs(" --keep-acks", stream);
	return tb_text_written(stream, &text);
}

void tb_recording_notes_fini(struct tb_recording_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->list[i].text);
	free(notes->list);
	*notes = (struct tb_recording_notes){0};
}

static int add_lines(struct tb_recording_notes *notes, uint32_t job, const char *text)
{
	while (text && *text) {
		size_t length = strcspn(text, "\n");
		char *copy = strndup(text, length);
		if (!copy || TB_ARRAY_RESERVE(&notes->list, &notes->room, notes->n + 1) !=
				     TB_OK) {
			free(copy);
			return TB_ENOMEM;
		}
		notes->list[notes->n++] = (struct tb_note){job, copy};
		text += length + (text[length] == '\n');
	}
	return TB_OK;
}

// shares_hosts returns whether ranks of a job ran on one host.
static bool shares_hosts(const struct tb_job *job)
{
	for (uint32_t i = 1; job->hosts && i < job->n_ranks; i++)
		if (job->hosts[i] && job->hosts[i - 1] &&
			strcmp(job->hosts[i], job->hosts[i - 1]) == 0)
			return true;
	return false;
}

// lone_ranks returns whether all ranks of a job whose trace names no hosts have a node
// each, next to each other.
static bool lone_ranks(
	const struct tb_workload *workload, const struct tb_workload_input *input)
{
	const struct tb_workload_job job = tb_workload_job_at(workload, input->first_job);
	for (uint32_t i = 1; !input->job->hosts && i < input->job->n_ranks; i++)
		if (job.node_of_rank[i] != job.node_of_rank[i - 1] + 1)
			return false;
	return !input->job->hosts && input->job->n_ranks > 1;
}

char *tb_recording_note_of_hosts(const struct tb_network *network,
	const struct tb_workload *workload, const struct tb_workload_input *input)
{
	const struct tb_job *job = input->job;
	const struct tb_host_params *host = &tb_network_params(network)->host;
	uint32_t n_rails = tb_network_n_rails(network);
	if (n_rails > 1 && strncmp(host->name, "nccl", 4) == 0 && input->is_calls &&
		lone_ranks(workload, input)) {
		char *rails = NULL;
		return asprintf(&rails,
			       "each rank has a node of its own, with %" PRIu32
			       " adapters: of hosts with as many GPUs it is --per-node "
			       "%" PRIu32,
			       n_rails, n_rails) < 0
			       ? NULL
			       : rails;
	}
	struct tb_network_params own;
	char name[64], of_own[24], of_network[24], *text;
	if (job->form && strcmp(job->form, "GOAL") == 0 && tb_host_does_nothing(host) &&
		shares_hosts(job))
		return strdup("ranks share hosts, and messages within these go over "
			      "the adapters: a job that 'tailback convert' made for a "
			      "host library is replayed with it (-H nccl, -H mpi)");
	if (!job->gpu || host->local_bytes_per_s == 0)
		return NULL;
	// Any network has these hosts.
	snprintf(name, sizeof name, "ib-ndr,host=nccl@%s", job->gpu);
	if (tb_network_open_params(&own, NULL, name, NULL) != TB_OK ||
		own.host.local_bytes_per_s == host->local_bytes_per_s)
		return NULL;
	if (asprintf(&text,
		    "the profile names GPUs whose links to each other carry %s, those of "
		    "the network's hosts carry %s: -H nccl@%s has the profile's",
		    tb_format_rate(
			    (double)own.host.local_bytes_per_s, of_own, sizeof of_own),
		    tb_format_rate((double)host->local_bytes_per_s, of_network,
			    sizeof of_network),
		    job->gpu) < 0)
		return NULL;
	return text;
}

bool tb_recording_lacks_range(const struct tb_workload *workload)
{
	bool bounded = false;
	for (uint32_t i = 0; i < tb_workload_n_inputs(workload); i++) {
		const struct tb_job *job = tb_workload_input_at(workload, i).job;
		bounded |= job && job->bounds;
	}
	return bounded && tb_workload_bounds_of(workload).n == 0;
}

static int note_hosts(struct tb_recording_notes *notes, const struct tb_network *network,
	const struct tb_workload *workload, const struct tb_workload_input *input)
{
	char *text = tb_recording_note_of_hosts(network, workload, input);
	int status = add_lines(notes, input->first_job, text);
	free(text);
	return status;
}

// note_default writes that nobody chose the network, where the first input is known to
// come from one, and it is not known to be this.
static void note_default(struct tb_recording *recording)
{
	const struct tb_workload_options *wanted = &recording->options->workload;
	const struct tb_network_params *params = tb_network_params(recording->network);
	const struct tb_workload_input input =
		tb_workload_input_at(recording->workload, 0);
	const char *host = wanted->n_traces && input.is_calls
				   ? tb_trace_host(wanted->traces[0], wanted->reading)
				   : NULL;
	bool lacks = host && strcmp(params->host.name, "none") == 0;
	if (recording->options->is_default && (input.is_capture || input.is_calls))
		snprintf(recording->on_default, sizeof recording->on_default,
			"replayed on %s, the default%s%s: choose a network with -n %s",
			params->name,
			lacks		   ? ", which has no hosts that send with "
			: input.is_capture ? ", not on what it was captured on"
					   : "; the trace does not tell its own network",
			lacks ? host : "",
			input.is_capture ? "(-n recorded takes the captured one, where "
					   "it tells that)"
					 : "('tailback network --list')");
}

const char *tb_recording_endpoint(const struct tb_packets *packets)
{
	return tb_packets_summary(packets)->is_untold
		       ? NULL
		       : tb_packets_node_name(packets, (struct tb_node){0});
}

char *tb_recording_untold(const struct tb_packets *packets, char buffer[TB_UNTOLD_SIZE])
{
	const struct tb_packets_summary *summary = tb_packets_summary(packets);
	const struct tb_frame_type type = {summary->link_type, TB_REGISTRY_LINK};
	char text[TB_FRAME_TYPE_TEXT_SIZE];
	buffer[0] = '\0';
	if (summary->is_untold)
		snprintf(buffer, TB_UNTOLD_SIZE, "captured as %s, of a network not known",
			tb_frame_type_format(type, text, sizeof text));
	return buffer;
}

int tb_recording_notes_init(struct tb_recording_notes *notes,
	struct tb_recording *recording, struct tb_error *error)
{
	note_default(recording);
	bool lacks_range = tb_recording_lacks_range(recording->workload);
	*notes = (struct tb_recording_notes){0};
	int status =
		add_lines(notes, tb_workload_input_at(recording->workload, 0).first_job,
			recording->on_default);
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		char untold[TB_UNTOLD_SIZE];
		if (status == TB_OK && input.job)
			status = add_lines(notes, input.first_job, input.job->notes);
		if (status == TB_OK && input.packets)
			status = add_lines(notes, input.first_job,
				tb_recording_untold(input.packets, untold));
		if (status == TB_OK && lacks_range && input.job && input.job->bounds)
			status = add_lines(notes, input.first_job, TB_RECORDING_NO_RANGE);
		if (status == TB_OK && input.job)
			status = note_hosts(
				notes, recording->network, recording->workload, &input);
	}
	if (status == TB_OK && recording->also)
		status = add_lines(notes,
			tb_workload_input_at(recording->workload, 0).first_job,
			recording->also->note);
	uint32_t n_remarks = tb_network_n_remarks(recording->network);
	for (uint32_t i = 0; status == TB_OK && i < n_remarks; i++)
		status = add_lines(
			notes, TB_ID_NONE, tb_network_remark(recording->network, i));
	if (status == TB_OK)
		return TB_OK;
	tb_recording_notes_fini(notes);
	return tb_fail_memory(error, "notes");
}

// Where the ranks of a name are.
struct named_seat {
	const char *name;
	uint32_t node;
};

static int seat_by_name(const void *one, const void *other)
{
	const struct named_seat *a = one, *b = other;
	int order = strcmp(a->name, b->name);
	return order ? order : (a->node > b->node) - (a->node < b->node);
}

// take_seats names the nodes that hold all ranks of a name; NULL stands for a node with
// several.
static void take_seats(
	struct tb_recording *recording, const struct named_seat *seats, uint32_t n)
{
	const char **names = recording->node_names;
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(seats[end].name, seats[i].name) == 0;)
			end++;
		uint32_t node = seats[i].node;
		if (seats[end - 1].node != node)
			continue;
		bool is_new = names[node] && !names[node][0];
		bool is_same = names[node] && strcmp(names[node], seats[i].name) == 0;
		names[node] = is_new || is_same ? seats[i].name : NULL;
	}
}

static int name_seats(
	struct tb_recording *recording, const struct tb_job *job, const uint32_t *node_of)
{
	char *const *names = job->endpoints ? job->endpoints : job->hosts;
	struct named_seat *seats = malloc((job->n_ranks + 1u) * sizeof *seats);
	uint32_t n = 0;
	if (!seats)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < job->n_ranks; i++) {
		struct tb_identity own = tb_network_node_identity(
			recording->network, (struct tb_node){node_of[i]});
		// The fabric's name of a host comes before the trace's, as the name of an
		// endpoint comes before both.
		if (names[i] && names[i][0] && (job->endpoints || !own.name[0]))
			seats[n++] = (struct named_seat){names[i], node_of[i]};
	}
	qsort(seats, n, sizeof *seats, seat_by_name);
	take_seats(recording, seats, n);
	free(seats);
	return TB_OK;
}

int tb_recording_name_nodes(struct tb_recording *recording, struct tb_error *error)
{
	uint32_t n_nodes = tb_network_n_hosts(recording->network);
	int status = TB_OK;
	recording->node_names = calloc(n_nodes + 1u, sizeof *recording->node_names);
	for (uint32_t i = 0; recording->node_names && i < n_nodes; i++)
		recording->node_names[i] = "";
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (recording->node_names && status == TB_OK && input.job &&
			(input.job->endpoints || input.job->hosts))
			status = name_seats(recording, input.job,
				tb_workload_job_at(recording->workload, input.first_job)
					.node_of_rank);
	}
	for (uint32_t i = 0; recording->node_names && i < n_nodes; i++)
		if (!recording->node_names[i])
			recording->node_names[i] = "";
	return recording->node_names && status == TB_OK ? TB_OK
							: tb_fail_memory(error, "names");
}

static int recording_open_network(
	struct tb_recording *recording, uint32_t n_nodes, struct tb_error *error)
{
	const struct tb_network_description description = {
		.name = recording->options->network,
		.n_nodes = n_nodes,
		.stop = recording->options->stop};
	return tb_network_open(&recording->network, &description, error);
}

// has_its_levels returns whether the user set the number of levels, or a whole shape.
static bool has_its_levels(const struct tb_recording *recording)
{
	return strstr(recording->options->network, ",levels=") != NULL ||
	       tb_network_params(recording->network)->shape[0];
}

static int open_workload(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_recording_options *options = recording->options;
	struct tb_workload_options *wanted = &recording->wanted;
	*wanted = options->workload;
	wanted->seed = options->seed;
	tb_workload_take_network(wanted, tb_network_params(recording->network));
	wanted->stop = options->stop;
	wanted->packets.beside = options->output;
	wanted->network = recording->network;
	wanted->pool = tb_shared_inputs_pool(recording->shared);
	if (has_its_levels(recording))
		wanted->packets.n_nodes_max = tb_network_n_hosts(recording->network);
	int status = tb_workload_new(&recording->workload, wanted, error);
	bool has_captures = false;
	for (uint32_t i = 0;
		status == TB_OK && i < tb_workload_n_inputs(recording->workload); i++)
		has_captures |= tb_workload_input_at(recording->workload, i).is_capture;
	if (status == TB_OK && options->wants_captures && !has_captures)
		status = tb_fail(error, TB_EUSAGE,
			"%s is a job: --time-scale, --squeeze-idle, --from, --to, "
			"--sampled, --dedup and --keep-... are for packet captures",
			tb_workload_input_at(recording->workload, 0).name);
	if (status == TB_OK) {
		// Add levels until all nodes of the captures fit, unless the user set the
		// number of levels. Jobs that do not fit are refused instead: their users
		// know how many ranks they have, and results for another network than the
		// chosen one would mislead them.
		uint32_t n_nodes = tb_workload_n_nodes(recording->workload);
		if (n_nodes > tb_network_n_hosts(recording->network) &&
			!has_its_levels(recording)) {
			tb_network_free(recording->network);
			recording->network = NULL;
			recording->raised_for = n_nodes;
			status = recording_open_network(recording, n_nodes, error);
		}
	}
	if (status == TB_OK)
		status =
			tb_workload_place(recording->workload, recording->network, error);
	if (status == TB_OK)
		recording->source = tb_workload_source(recording->workload);
	return status;
}

static int recording_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the recording");
}

// list_inputs joins the names of all inputs and lists their files, for the digest.
static int list_inputs(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_workload_options *wanted = &recording->wanted;
	size_t size = 0;
	FILE *stream = open_memstream(&recording->input_name, &size);
	if (!stream)
		return recording_no_memory(error);
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (!input.is_part)
			fprintf(stream, "%s%s", i ? ", " : "", input.name);
	}
	if (fclose(stream) != 0)
		return recording_no_memory(error);
	recording->files =
		calloc(wanted->n_traces + wanted->n_jobs + 1, sizeof *recording->files);
	if (!recording->files)
		return recording_no_memory(error);
	for (size_t i = 0; i < wanted->n_traces; i++)
		recording->files[recording->n_files++] = wanted->traces[i];
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (!input.is_plain && !input.is_part)
			recording->files[recording->n_files++] = input.name;
	}
	return TB_OK;
}

// take_service_levels lists those of the jobs.
static int take_service_levels(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_network_params *params = tb_network_params(recording->network);
	uint32_t n = tb_workload_n_jobs(recording->workload);
	recording->service_levels = calloc(n + UINT64_C(1), 1);
	if (!recording->service_levels)
		return recording_no_memory(error);
	for (uint32_t i = 0; i < n; i++) {
		struct tb_workload_job job = tb_workload_job_at(recording->workload, i);
		recording->service_levels[i] = job.service_level;
		if (job.service_level && !tb_switching_of(params)->has_service_levels)
			return tb_fail(error, TB_EUSAGE,
				"job '%s': sl=%u has no effect: there are service levels "
				"only where switching = credits, not %s",
				job.name, job.service_level, params->switching);
	}
	return TB_OK;
}

// check_faults refuses faults that part nodes of jobs. Captures may come to any node.
static int check_faults(const struct tb_recording *recording, struct tb_error *error)
{
	uint32_t n_hosts = tb_network_n_hosts(recording->network);
	bool *takes_part = calloc(tb_network_n_nodes(recording->network), 1), all = false;
	if (!takes_part)
		return recording_no_memory(error);
	for (uint32_t i = 0; i < tb_workload_n_jobs(recording->workload); i++) {
		struct tb_workload_job job = tb_workload_job_at(recording->workload, i);
		all |= !job.node_of_rank;
		for (uint32_t rank = 0; !all && rank < job.n_ranks; rank++)
			for (uint32_t r = 0; r < tb_network_n_rails(recording->network);
				r++)
				takes_part[job.node_of_rank[rank] % n_hosts +
					   r * n_hosts] = true;
	}
	struct tb_error why = {0};
	int status = tb_faults_check(recording->faults, all ? NULL : takes_part, &why);
	free(takes_part);
	if (status != TB_EUSAGE ||
		tb_network_params(recording->network)->ascent == TB_ASCENT_TABLE) {
		if (status != TB_OK && error)
			*error = why;
		return status;
	}
	return tb_fail(error, TB_EUSAGE,
		"%s: place what runs there elsewhere (nodes= of --job), or let it die "
		"later (@TIME)",
		why.text);
}

int tb_recording_open(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_recording_options *options = recording->options;
	if (!recording->shared)
		recording->shared = options->shared;
	struct tb_network_params asked;
	int status = recording_open_network(recording, options->n_nodes, error);
	if (status == TB_OK && options->n_nodes && tb_network_grows(recording->network) &&
		tb_network_open_params(&asked, NULL, options->network, NULL) == TB_OK &&
		asked.levels < tb_network_params(recording->network)->levels)
		recording->raised_for = options->n_nodes;
	if (status == TB_OK)
		status = open_workload(recording, error);
	if (status == TB_OK)
		status = list_inputs(recording, error);
	bool rereads = status == TB_OK && options->alone &&
		       tb_recording_has_packets(recording->workload);
	for (size_t i = 0; i < recording->n_files && rereads && status == TB_OK; i++)
		if (!tb_survey_can_reread(recording->files[i]))
			status = tb_fail_in(error, TB_EUSAGE, recording->files[i],
				"can be read only once, but --alone reads captures again "
				"for each job: give a file");
	if (status == TB_OK)
		status = tb_shared_inputs_digest(recording->shared, recording->files,
			recording->n_files, recording->digest, &recording->input_bytes,
			error);
	uint64_t routes_bytes = 0;
	if (status == TB_OK && options->route_file)
		status = tb_route_file_open(
			recording->network, options->route_file, error);
	if (status == TB_OK && options->route_file)
		status = tb_digest_files(&options->route_file, 1,
			recording->routes_digest, &routes_bytes, error);
	bool has_faults = options->n_faults || options->fault_file;
	if (status == TB_OK && has_faults)
		status = tb_faults_new(&recording->faults, recording->network, error);
	for (size_t i = 0; i < options->n_faults && status == TB_OK; i++)
		status = tb_faults_add(recording->faults, options->faults[i], error);
	if (status == TB_OK && options->fault_file)
		status = tb_faults_read(recording->faults, options->fault_file, error);
	if (status == TB_OK && has_faults)
		status = check_faults(recording, error);
	for (size_t i = 0; i < options->n_slow && status == TB_OK; i++)
		status = tb_slow_nodes_add(recording->network, options->slow[i], error);
	if (status == TB_OK)
		status = take_service_levels(recording, error);
	// Refuse early what the engine would refuse at the first broadcast.
	if (status == TB_OK && tb_network_params(recording->network)->broadcast &&
		(recording->faults || options->route_file))
		status = tb_fail(error, TB_EUSAGE,
			"broadcast = yes: expected no faults and no route file, with "
			"which broadcasts cannot be replayed");
	return status == TB_OK ? tb_recording_also_open(recording, error) : status;
}
