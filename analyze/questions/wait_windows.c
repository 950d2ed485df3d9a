#include "wait_windows.h"
#include "order.h"

#include <stdlib.h>

struct waiting_bin {
	uint64_t at, wait_ps;
};

TB_ORDER_BY(order_bins_by_wait, struct waiting_bin, TB_DOWN(wait_ps) TB_UP(at))

TB_ORDER_BY(by_time, struct waiting_bin, TB_UP(at))

// gap_before returns how many bins lie between taken bin i and the one before it.
static uint64_t gap_before(const struct waiting_bin *bins, uint64_t i)
{
	return bins[i].at - bins[i - 1].at - 1;
}

// cut_at lists where the windows after the first begin: behind the widest gaps of `least`
// bins or more, of equal ones the last.
static uint32_t cut_at(const struct waiting_bin *bins, uint64_t n, double least,
	uint64_t cuts[TB_WAIT_WINDOWS_MOST - 1])
{
	uint32_t n_cuts = 0;
	for (uint64_t i = 1; i < n; i++) {
		uint64_t gap = gap_before(bins, i);
		uint32_t place = n_cuts;
		while (place > 0 && gap_before(bins, cuts[place - 1]) <= gap)
			place--;
		if (gap == 0 || (double)gap < least || place == TB_WAIT_WINDOWS_MOST - 1)
			continue;
		n_cuts += n_cuts < TB_WAIT_WINDOWS_MOST - 1;
		for (uint32_t k = n_cuts - 1; k > place; k--)
			cuts[k] = cuts[k - 1];
		cuts[place] = i;
	}
	return n_cuts;
}

// join_wait_bins makes windows of the `n` taken bins, which it sorts by time.
static void join_wait_bins(struct tb_wait_windows *windows, struct waiting_bin *bins,
	uint64_t n, const uint64_t *wait_ps, uint64_t n_bins)
{
	uint64_t cuts[TB_WAIT_WINDOWS_MOST] = {0};
	double held = 0, whole = 0;
	*windows = (struct tb_wait_windows){0};
	if (n == 0)
		return;
	qsort(bins, n, sizeof *bins, by_time);
	uint32_t n_cuts =
		cut_at(bins, n, (double)n_bins * TB_WAIT_WINDOWS_GAP / 100, cuts);
	qsort(cuts, n_cuts, sizeof *cuts, tb_order_u64);
	cuts[n_cuts] = n;
	for (uint64_t k = 0, first = 0; k <= n_cuts; first = cuts[k++])
		windows->at[windows->n++] =
			(struct tb_window){bins[first].at, bins[cuts[k] - 1].at + 1};
	for (uint64_t i = 0; i < n_bins; i++)
		whole += (double)wait_ps[i];
	for (uint32_t k = 0; k < windows->n; k++)
		for (uint64_t i = windows->at[k].first_bin; i < windows->at[k].end_bin;
			i++) {
			held += (double)wait_ps[i];
			windows->n_bins++;
		}
	windows->percent = 100 * held / whole;
}

// sort_bins lists the bins by their wait, longest first, NULL for want of memory.
static struct waiting_bin *sort_bins(const uint64_t *wait_ps, uint64_t n_bins)
{
	struct waiting_bin *bins = calloc(n_bins + 1, sizeof *bins);
	for (uint64_t i = 0; bins && i < n_bins; i++)
		bins[i] = (struct waiting_bin){i, wait_ps[i]};
	if (bins)
		qsort(bins, n_bins, sizeof *bins, order_bins_by_wait);
	return bins;
}

int tb_wait_windows_find(
	struct tb_wait_windows *windows, const uint64_t *wait_ps, uint64_t n_bins)
{
	struct waiting_bin *bins = sort_bins(wait_ps, n_bins);
	double whole = 0, held = 0;
	uint64_t n = 0;
	if (!bins)
		return TB_ENOMEM;
	for (uint64_t i = 0; i < n_bins; i++)
		whole += (double)wait_ps[i];
	while (n < n_bins && bins[n].wait_ps > 0 &&
		held * 100 < whole * TB_WAIT_WINDOWS_SHARE)
		held += (double)bins[n++].wait_ps;
	join_wait_bins(windows, bins, n, wait_ps, n_bins);
	free(bins);
	return TB_OK;
}

int tb_wait_windows_above(struct tb_wait_windows *windows, const uint64_t *wait_ps,
	uint64_t n_bins, double percent)
{
	struct waiting_bin *bins = sort_bins(wait_ps, n_bins);
	uint64_t n = 0;
	if (!bins)
		return TB_ENOMEM;
	while (n < n_bins && bins[n].wait_ps > 0 &&
		(double)bins[n].wait_ps * 100 >= (double)bins[0].wait_ps * percent)
		n++;
	join_wait_bins(windows, bins, n, wait_ps, n_bins);
	free(bins);
	return TB_OK;
}
