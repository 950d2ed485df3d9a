#include "range_text.h"

#include "format.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define WIDE_PART  5 // of the least: an answer that is as wide decides little
#define CHECK_MOST 10.0
#define NODES_MOST 5.0
#define FACTOR	   2

struct tb_range tb_range_of_run(const struct tb_run_info *info)
{
	double percent = NAN;
	if (info->check_recorded_ps)
		percent = 100 * ((double)info->check_simulated_ps /
						(double)info->check_recorded_ps -
					1);
	return (struct tb_range){info->least_ps, info->most_ps, info->simulated_ps,
		info->n_calls, info->n_hidden, info->n_untold, percent,
		info->check_node_percent, info->check_messages, !info->is_captured};
}

// add_doubt says what speaks against a replay that lies inside and takes as long as what
// was captured did at its rate.
static size_t add_doubt(const struct tb_range *range, char *buffer, size_t size)
{
	const char *how = range->of_calls ? "recorded" : "captured";
	char nodes[80] = "", messages[80] = "", percent[40];
	if (range->node_percent > NODES_MOST)
		snprintf(nodes, sizeof nodes, "its %s end %s off on average",
			range->of_calls ? "ranks" : "nodes",
			tb_format_percent(range->node_percent, percent, sizeof percent));
	if (range->messages > FACTOR ||
		(range->messages > 0 && range->messages < 1.0 / FACTOR))
		snprintf(messages, sizeof messages,
			"%sits messages take %.2g times as long", nodes[0] ? " and " : "",
			range->messages);
	bool is_wide = range->most_ps > FACTOR * range->least_ps;
	if (!is_wide && !nodes[0] && !messages[0])
		return 0;
	size_t used = (size_t)snprintf(buffer, size, ", but %s%s",
		is_wide ? "the range is wide" : "",
		is_wide && (nodes[0] || messages[0]) ? ", and " : "");
	if (nodes[0] || messages[0])
		used += (size_t)snprintf(buffer + used, size - used,
			"at the %s rate %s%s", how, nodes, messages);
	return used;
}

static size_t add_replayed(const struct tb_range *range, char *buffer, size_t size)
{
	const char *how = range->of_calls ? "recorded" : "captured";
	char likely[24], percent[40];
	bool is_checked = !isnan(range->check_percent);
	bool is_inside = range->replayed_ps >= range->least_ps &&
			 range->replayed_ps <= range->most_ps;
	tb_format_time(range->replayed_ps, likely, sizeof likely);
	if (range->of_calls && !is_checked)
		return (size_t)snprintf(buffer, size,
			"; the replay takes %s, in which ranks that exchange long "
			"messages come at the same instant and send both at once: where "
			"one comes later they are sent one after the other, and the run "
			"takes longer",
			likely);
	tb_format_percent(fabs(range->check_percent), percent, sizeof percent);
	char doubt[320] = "";
	bool is_close =
		is_checked && is_inside && fabs(range->check_percent) <= CHECK_MOST;
	if (is_close && add_doubt(range, doubt, sizeof doubt) == 0)
		return (size_t)snprintf(buffer, size, ", probably %s", likely);
	size_t used =
		(size_t)snprintf(buffer, size, "; the replay takes %s%s", likely, doubt);
	if (is_close)
		return used;
	if (!is_inside)
		used += (size_t)snprintf(buffer + used, size - used,
			", %s than what was captured allows",
			range->replayed_ps > range->most_ps ? "longer" : "shorter");
	if (!is_checked)
		used += (size_t)snprintf(buffer + used, size - used,
			"%s not checked at the captured rate",
			is_inside ? "," : ", and was");
	else if (fabs(range->check_percent) > CHECK_MOST)
		used += (size_t)snprintf(buffer + used, size - used,
			"%s at the %s rate it is %s %s than what was %s",
			is_inside ? ", but" : ", and", how, percent,
			range->check_percent > 0 ? "slower" : "quicker", how);
	return used;
}

char *tb_range_text(const struct tb_range *range, char *buffer, size_t size)
{
	char least[24], most[24], share[40];
	bool is_wide = (range->most_ps - range->least_ps) > range->least_ps / WIDE_PART;
	int n = snprintf(buffer, size, "between %s and %s",
		tb_format_time(range->least_ps, least, sizeof least),
		tb_format_time(range->most_ps, most, sizeof most));
	size_t used = n < 0 || (size_t)n >= size ? size - 1 : (size_t)n;
	used += add_replayed(range, buffer + used, size - used);
	double calls = range->n_calls ? (double)range->n_calls : 1;
	if (range->n_untold)
		used += (size_t)snprintf(buffer + used, size - used,
			"; before %s of the calls it cannot be told what was the "
			"program's time and what the captured path's, as no handshake "
			"and no acknowledgement shows that",
			tb_format_percent(100 * (double)range->n_untold / calls, share,
				sizeof share));
	if (is_wide && range->n_hidden)
		snprintf(buffer + used, size - used,
			": %s of the calls were hidden by queues when this was captured; "
			"a capture at a higher rate or 'tailback trace' says more",
			tb_format_percent(100 * (double)range->n_hidden / calls, share,
				sizeof share));
	return buffer;
}
