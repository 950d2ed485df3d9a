#include "settings.h"

#include "report_cells.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

struct settings {
	struct {
		const char *name;
		char text[80];
	} at[TB_DIFFERENCES_MOST];
	int n;
};

static void say(struct settings *settings, const char *name, const char *format, ...)
	TB_PRINTF(3, 4);

static void say(struct settings *settings, const char *name, const char *format, ...)
{
	va_list args;
	if (settings->n == TB_DIFFERENCES_MOST)
		return;
	settings->at[settings->n].name = name;
	char *text = settings->at[settings->n++].text;
	va_start(args, format);
	vsnprintf(text, sizeof settings->at->text, format, args);
	va_end(args);
	tb_report_end_whole(text, sizeof settings->at->text);
}

static void say_time(struct settings *settings, const char *name, tb_time_ps time)
{
	char text[32];
	say(settings, name, "%s", tb_format_time(time, text, sizeof text));
}

static void say_size(struct settings *settings, const char *name, uint64_t bytes)
{
	char text[32];
	say(settings, name, "%s", tb_format_size(bytes, text, sizeof text));
}

static void say_rate(struct settings *settings, const char *name, uint64_t rate)
{
	char text[32];
	say(settings, name, "%s",
		rate ? tb_format_rate((double)rate, text, sizeof text) : "no limit");
}

static void say_network(
	struct settings *settings, const struct tb_network_params *network)
{
	say(settings, "arity", "%" PRIu32, network->arity);
	say(settings, "levels", "%" PRIu32, network->levels);
	say(settings, "ascent", "%s", tb_ascent_name(network->ascent));
	say_rate(settings, "link rate", network->link_bytes_per_s);
	say_time(settings, "hop latency", network->hop_latency_ps);
	say(settings, "virtual channels", "%" PRIu32, network->n_vcs);
	say_size(settings, "FIFO", network->fifo_bytes);
	say_size(settings, "flit", network->flit_bytes);
	say_size(settings, "packet payload", network->packet_payload_bytes);
	say_size(settings, "packet overhead", network->packet_overhead_bytes);
	say_rate(settings, "bus rate", network->bus_bytes_per_s);
	say_time(settings, "acknowledgement delay", network->ack_delay_ps);
	say_time(settings, "send overhead", network->send_overhead_ps);
	say_time(settings, "receive overhead", network->receive_overhead_ps);
	say_size(settings, "slice of a message", network->slice_bytes);
	say(settings, "partners", "%" PRIu32, network->partners);
	say_time(settings, "delay with more partners", network->partner_delay_ps);
	say(settings, "age weight", "%g", network->age_weight);
	say(settings, "retries", "%" PRIu32, network->retries);
	say_time(settings, "delay before a retry", network->retry_delay_ps);
}

static void say_all(struct settings *settings, const struct tb_run_info *info)
{
	say(settings, "input", "%s", info->input_name);
	say(settings, "kind of input", "%s", info->input_kind);
	say(settings, "input's SHA-256", "%.16s",
		info->input_digest[0] ? info->input_digest : "not known");
	say(settings, "time scale", "%g", info->time_scale);
	say(settings, "seed", "%" PRIu64, info->seed);
	say(settings, "nodes", "%" PRIu32, info->n_nodes);
	say(settings, "switches", "%" PRIu32, info->n_switches);
	say(settings, "links", "%" PRIu32, info->n_links);
	say(settings, "network", "%s", info->network_name);
	say_network(settings, &info->network);
	say(settings, "rails", "%" PRIu32, info->network.n_rails);
	say(settings, "library", "%s", *info->library ? info->library : "none");
	say(settings, "jobs", "%" PRIu32, info->n_jobs);
	say_time(settings, "bin", info->bin_ps);
	say(settings, "options", "%s", info->options);
	say(settings, "program version", "%s", info->program_version);
	say(settings, "came to its end", "%s", info->complete ? "yes" : "no");
}

int tb_run_differences(const struct tb_run *a, const struct tb_run *b,
	struct tb_difference differences[TB_DIFFERENCES_MOST])
{
	struct settings of_a = {.n = 0}, of_b = {.n = 0};
	int n = 0;
	say_all(&of_a, tb_run_info(a));
	say_all(&of_b, tb_run_info(b));
	for (int i = 0; i < of_a.n; i++) {
		if (strcmp(of_a.at[i].text, of_b.at[i].text) == 0)
			continue;
		struct tb_difference *at = &differences[n++];
		at->name = of_a.at[i].name;
		memcpy(at->a, of_a.at[i].text, sizeof at->a);
		memcpy(at->b, of_b.at[i].text, sizeof at->b);
	}
	return n;
}
