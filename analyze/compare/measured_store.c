#include "measured_impl.h"

#include "store.h"
#include "store_added.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// describe_measured_run writes the options of the command, as a replay's store keeps
// them.
static char *describe_measured_run(
	const struct tb_measured_options *options, const char *fabric)
{
	char *text = NULL, time[40];
	const char *given = options->interval_ps ? " --interval " : "";
	*time = '\0';
	if (options->interval_ps)
		tb_format_time(options->interval_ps, time, sizeof time);
	return asprintf(&text, "--fabric %s%s%s", fabric, given, time) < 0 ? NULL : text;
}

static char *name_input(const struct tb_measured_options *options)
{
	char *text = NULL;
	return asprintf(&text, "%s%s%s", options->before ? options->before : "",
		       options->before ? ", " : "", options->after) < 0
		       ? NULL
		       : text;
}

static int put_counts(struct tb_store *store, const struct tb_measured *measured,
	struct tb_error *error)
{
	uint32_t n_links = tb_network_n_links(measured->network);
	size_t n = measured->n_counts;
	struct tb_link_count *counts = calloc(n + 1u, sizeof *counts);
	if (!counts)
		return tb_fail_memory(error, "the counts");
	for (size_t i = 0; i < n; i++)
		counts[i] = (struct tb_link_count){{measured->counts[i].link},
			tb_counter_infos[measured->counts[i].counter].key,
			measured->counts[i].count, measured->counts[i].at_least};
	int status = tb_store_write_counts(store, counts, n, error);
	free(counts);
	if (status == TB_OK)
		status = tb_store_write_known(store, measured->known, measured->links,
			measured->tick_bytes, n_links, error);
	return status;
}

// store_measured writes the run's one bin and what hosts received in it.
static int store_measured(struct tb_store *store, const struct tb_measured *measured,
	struct tb_error *error)
{
	struct tb_observer observer = tb_store_observer(store);
	uint32_t n = tb_network_n_links(measured->network);
	tb_time_ps bin_ps = measured->interval_ps / (tb_time_ps)measured->divisor;
	struct tb_run_result result = {.complete = true, .simulated_ps = bin_ps};
	for (uint32_t i = 0; i < n; i++) {
		if (tb_network_link(measured->network, (struct tb_link){i}).kind !=
			TB_LINK_EJECTION)
			continue;
		result.n_packets += measured->links[i].n_packets;
		result.delivered_bytes += measured->links[i].bytes;
	}
	int status = observer.start(observer.context, bin_ps);
	if (status == TB_OK)
		status = observer.bin(observer.context, 0, measured->links, n);
	if (status == TB_OK)
		status = observer.flows(observer.context, NULL, 0);
	if (status != TB_OK) {
		if (error)
			*error = *tb_store_error(store);
		return status;
	}
	status = put_counts(store, measured, error);
	return status == TB_OK ? tb_store_end_run(store, &result, error) : status;
}

int tb_measured_store(const struct tb_measured *measured,
	const struct tb_measured_options *options, const char *fabric, const char *path,
	struct tb_error *error)
{
	struct tb_store *store = NULL;
	int status = tb_store_create(&store, path, error);
	if (status == TB_OK) {
		char *described = describe_measured_run(options, fabric),
		     *input = name_input(options);
		struct tb_note *notes = calloc(measured->n_notes + 1, sizeof *notes);
		status = described && input && notes ? TB_OK
						     : tb_fail_memory(error, "the run");
		for (size_t i = 0; status == TB_OK && i < measured->n_notes; i++)
			notes[i] = (struct tb_note){TB_ID_NONE, measured->notes[i]};
		if (status == TB_OK)
			status = tb_store_begin_run(store, measured->network,
				&(struct tb_run_config){.whole = true,
					.input_name = input,
					.input_kind = TB_MEASURED_KIND,
					.input_digest = "",
					.input_bytes = measured->n_bytes,
					.time_scale = 1,
					.options = described,
					.notes = notes,
					.n_notes = measured->n_notes,
					.routes_digest = ""},
				error);
		free(notes);
		free(input);
		free(described);
	}
	if (status == TB_OK)
		status = store_measured(store, measured, error);
	tb_store_free(store);
	return status;
}
