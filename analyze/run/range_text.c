#include "range_text.h"

#include "format.h"

#include <stdbool.h>
#include <stdio.h>

#define WIDE_PART 5 // of the best estimate: an answer that is as wide decides little

char *tb_range_text(const struct tb_range *range, char *buffer, size_t size)
{
	// A second capture may rule out what the first makes likely.
	tb_time_ps likely_ps = range->likely_ps;
	if (likely_ps < range->least_ps)
		likely_ps = range->least_ps;
	if (likely_ps > range->most_ps)
		likely_ps = range->most_ps;
	char least[24], likely[24], most[24], share[40];
	bool is_wide = (range->most_ps - range->least_ps) > likely_ps / WIDE_PART;
	int n = snprintf(buffer, size, "between %s and %s, probably %s",
		tb_format_time(range->least_ps, least, sizeof least),
		tb_format_time(range->most_ps, most, sizeof most),
		tb_format_time(likely_ps, likely, sizeof likely));
	size_t used = n < 0 || (size_t)n >= size ? size - 1 : (size_t)n;
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
