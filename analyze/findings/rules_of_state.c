// Whether there is anything to find: a run that was stopped, or in which nothing waited,
// or hardly anything.
#include "findings_impl.h"
#include "underload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// load_of is what a replay of captures asks of the network.
static struct tb_underload load_of(const struct tb_evidence *evidence)
{
	const struct tb_run_info *info = evidence->info;
	return (struct tb_underload){.network = &info->network,
		.busiest_share = evidence->capture.busiest_share,
		.half_scale = evidence->capture.half_scale,
		.wait_ps = evidence->wait_ps,
		.n_packets = info->n_packets,
		.input_name = info->input_name,
		.options = info->options,
		.recorded = tb_run_recorded_on(evidence->run),
		.n_inputs = info->n_jobs};
}

// say_of_load appends sentences on the load.
static void say_of_load(struct tb_judging *judging, struct tb_finding *finding,
	const struct tb_underload *load,
	void (*write)(FILE *stream, const struct tb_underload *load))
{
	char *sentence = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&sentence, &size);
	if (stream) {
		write(stream, load);
		fclose(stream);
	}
	judging->failed |= !sentence;
	tb_finding_say(finding, "%s", sentence ? sentence : "");
	free(sentence);
}

// find_nothing finds a capture that asks so little that it shows nothing.
static void find_nothing(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_underload load = load_of(evidence);
	size_t size = 0;
	if (!evidence->info->complete ||
		strcmp(evidence->info->input_kind, "packets") != 0 ||
		!tb_underload_shows_nothing(&load))
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_TIME_SCALE);
	tb_finding_real(finding, "busiest_percent", load.busiest_share * 100);
	tb_finding_real(finding, "time_scale", load.half_scale);
	say_of_load(judging, finding, &load, tb_underload_state);
	FILE *stream = open_memstream(&finding->command, &size);
	bool again = stream && tb_underload_command(stream, &load) == TB_OK;
	judging->failed |= !stream || fclose(stream) != 0;
	if (!again) {
		free(finding->command);
		finding->command = NULL;
	}
}

static void find_little(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_run_info *info = evidence->info;
	double packet = tb_full_packet_ps(&info->network);
	double mean = info->n_packets ? evidence->wait_ps / (double)info->n_packets : 0;
	char wait[32], full[32], share[32];
	if (!info->complete || evidence->n_waiting == 0 ||
		mean >= TB_FINDING_LITTLE * packet ||
		tb_judging_found(judging, TB_RULE_TIME_SCALE))
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_LITTLE_WAIT);
	tb_finding_real(finding, "wait_per_packet_ps", mean);
	tb_finding_real(finding, "percent_of_packet", 100 * mean / packet);
	tb_finding_say(finding,
		"Hardly anything waited: %s a packet on average, %s of the %s that a "
		"full packet takes on a link.",
		tb_format_time((tb_time_ps)mean, wait, sizeof wait),
		tb_format_percent(100 * mean / packet, share, sizeof share),
		tb_format_time((tb_time_ps)packet, full, sizeof full));
	const struct tb_underload load = load_of(evidence);
	if (load.recorded != TB_RECORDED_UNKNOWN)
		say_of_load(judging, finding, &load, tb_underload_hints);
}

void tb_rules_of_state(struct tb_judging *judging)
{
	const struct tb_run_info *info = judging->evidence->info;
	char time[32];
	if (!info->complete) {
		struct tb_finding *finding = tb_judging_find(judging, TB_RULE_INCOMPLETE);
		tb_finding_count(finding, "simulated_ps", (uint64_t)info->simulated_ps);
		tb_finding_say(finding,
			"The run is incomplete: this is what there was when it stopped, "
			"after %s.",
			tb_format_time(info->simulated_ps, time, sizeof time));
	}
	find_nothing(judging);
	if (strcmp(judging->evidence->info->input_kind, "routes") == 0)
		tb_finding_say(tb_judging_find(judging, TB_RULE_NO_WAIT),
			"Nothing was simulated: the run holds what routes put on links.");
	else if (info->complete && info->n_messages == 0 && info->n_undelivered == 0)
		tb_finding_say(tb_judging_find(judging, TB_RULE_NO_WAIT),
			info->simulated_ps ? "No message was sent."
					   : "Nothing was simulated: no message was "
					     "sent, and nothing computed.");
	else if (judging->evidence->n_waiting == 0 &&
		 !tb_judging_found(judging, TB_RULE_TIME_SCALE))
		tb_finding_say(tb_judging_find(judging, TB_RULE_NO_WAIT),
			"No packet waited for %s.",
			judging->evidence->info->words->awaited);
	find_little(judging);
}
