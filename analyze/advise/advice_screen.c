// Which changes are worth packets: the fluid model chooses, where it may.
//
// It may where a replay with packets takes long and the model is known to be near
// (docs/fluid.md): jobs, of messages that are long against packets, of which it takes the
// run time to be what packets make it. It leaves out what it foresees no gain of. Ascents
// it never judges, for what adaptive ones gain is in packets that block one another, nor
// what fewer cables cost, nor what findings propose, nor what it refuses (faults, service
// levels).
#include "advice_impl.h"
#include "flow_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Fewer packets take about a second.
#define PACKETS_LEAST 500000
// A message, mean over bytes, in full packets: of 16, bit-reversal is 5 % off.
#define MESSAGE_LEAST 64
// The run as it was, in percent: what adaptive ascents are off is above.
#define OFF_MOST 5.0
// Fewer changes are replayed before they are chosen.
#define CHANGES_LEAST 4

static bool may_screen(const struct tb_change *change)
{
	return change->verdict < TB_VERDICT_FAILED && !change->proposal &&
	       strcmp(change->rule, "ascent") != 0 &&
	       strcmp(change->rule, "fewer-cables") != 0;
}

// mean_message stores how long messages are, mean over bytes.
static int mean_message(
	const struct tb_advice *advice, double *bytes, struct tb_error *error)
{
	struct tb_flow_table flows = {0};
	double sum = 0, squares = 0;
	int status = tb_flow_table_init(&flows, advice->run, error);
	for (uint32_t i = 0; status == TB_OK && i < flows.n; i++) {
		const struct tb_flow_sample *flow = &flows.rows[i];
		sum += (double)flow->bytes;
		if (flow->n_messages)
			squares += (double)flow->bytes * (double)flow->bytes /
				   (double)flow->n_messages;
	}
	*bytes = sum > 0 ? squares / sum : 0;
	tb_flow_table_fini(&flows);
	return status;
}

// asks_fluid returns whether it may choose, and states why not where somebody could
// expect it.
static int asks_fluid(struct tb_advice *advice, const struct tb_advice_options *options,
	bool *asks, struct tb_error *error)
{
	const struct tb_network_params *network = &advice->info->network;
	double bytes = 0;
	size_t n = 0;
	*asks = false;
	for (size_t i = 1; i < advice->n; i++)
		n += may_screen(&advice->changes[i]);
	if (options->exact || advice->by != TB_ADVICE_BY_RUN || n < CHANGES_LEAST ||
		advice->info->n_packets < PACKETS_LEAST ||
		strcmp(network->switching, "fluid") == 0)
		return TB_OK;
	int status = mean_message(advice, &bytes, error);
	*asks = bytes >= (double)MESSAGE_LEAST * network->packet_payload_bytes;
	if (status == TB_OK && !*asks)
		snprintf(advice->screening, sizeof advice->screening,
			"Messages are too short for the fluid model to choose: all "
			"changes are replayed with packets.");
	return status;
}

// leave_out_foreseen gives what the fluid model foresees no gain of its verdict.
static void leave_out_foreseen(struct tb_advice *advice)
{
	double own_ps = advice->changes[0].foreseen;
	double off = 100 * (own_ps / (double)advice->info->simulated_ps - 1);
	size_t n = 0, n_out = 0;
	for (size_t i = 1; i < advice->n; i++) {
		struct tb_change *change = &advice->changes[i];
		change->foreseen = 100 * (own_ps - change->foreseen) / own_ps;
		if (isnan(change->foreseen) || fabs(off) > OFF_MOST)
			continue;
		n++;
		if (change->foreseen >= TB_ADVICE_MATTERS)
			continue;
		change->verdict = TB_VERDICT_SCREENED;
		n_out++;
	}
	advice->screens = fabs(off) <= OFF_MOST;
	if (isnan(off))
		snprintf(advice->screening, sizeof advice->screening,
			"The fluid model cannot replay the run: all changes are replayed "
			"with packets.");
	else if (!advice->screens)
		snprintf(advice->screening, sizeof advice->screening,
			"The fluid model takes the run to be %.1f %% %s than packets do, "
			"and so chooses nothing: all changes are replayed with packets.",
			fabs(off), off < 0 ? "shorter" : "longer");
	else
		snprintf(advice->screening, sizeof advice->screening,
			"The fluid model, %.1f %% off, looked at %zu changes and "
			"foresees "
			"no gain of %zu, which are not replayed with packets.",
			fabs(off), n, n_out);
}

// forget_foreseen takes back what it foresaw, where that is too far off or not whole.
static void forget_foreseen(struct tb_advice *advice)
{
	for (size_t i = 0; i < advice->n; i++)
		advice->changes[i].foreseen = (double)NAN;
}

int tb_advice_screen(struct tb_tries *tries, double to, struct tb_error *error)
{
	struct tb_advice *advice = tries->advice;
	bool asks;
	int status = asks_fluid(advice, tries->options, &asks, error);
	if (status != TB_OK || !asks)
		return status;
	struct tb_try *list = calloc(advice->n, sizeof *list);
	size_t n = 0;
	if (!list)
		return tb_fail_memory(error, "the replays");
	for (size_t i = 0; i < advice->n; i++)
		if (i == 0 || may_screen(&advice->changes[i]))
			list[n++] = (struct tb_try){.change = i, .n = 1, .fluid = true};
	status = tb_tries_run(tries, list, n, 0, to, error);
	free(list);
	if (status == TB_OK && !tb_tries_time_is_up(tries))
		leave_out_foreseen(advice);
	if (!advice->screens)
		forget_foreseen(advice);
	return status;
}
