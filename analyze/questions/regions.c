#include "regions.h"
#include "order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tb_stall_level tb_stall_level_of(double percent)
{
	if (percent > TB_STALL_HIGH)
		return TB_STALLED_HIGH;
	if (percent > TB_STALL_MEDIUM)
		return TB_STALLED_MEDIUM;
	return percent > TB_STALL_LOW ? TB_STALLED_LOW : TB_STALLED_HARDLY;
}

const char *tb_stall_level_name(enum tb_stall_level level)
{
	static const char *const names[] = {"negligible", "low", "medium", "high"};
	return names[level];
}

// What the growth works on.
struct growth {
	const struct tb_run_info *info;
	const struct tb_run_link *links;
	struct tb_regions *found;
	uint32_t *first, *at; // links at a switch: at[first[s]] to at[first[s + 1] - 1]
	uint32_t *order;      // links by percent, largest first
	uint32_t *stack;
	// By region, as it grows: sum of percents, links, and the region that it has
	// merged into (itself, if none).
	double *sum;
	uint32_t *n_links, *into;
	uint32_t n;
};

static bool begins_at_switch(const struct tb_run_link *link)
{
	return link->at.kind != TB_LINK_INJECTION;
}

static bool ends_at_switch(const struct tb_run_link *link)
{
	return link->at.kind != TB_LINK_EJECTION;
}

static int by_percent(const void *one, const void *other, void *percents)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	const double *percent = percents;
	if (percent[a] != percent[b])
		return percent[a] > percent[b] ? -1 : 1;
	return (a > b) - (a < b);
}

static void join_region(struct growth *growth, uint32_t link, uint32_t region)
{
	growth->found->region_of[link] = region;
	growth->sum[region] += growth->found->percent[link];
	growth->n_links[region]++;
}

// spread_region takes the neighbours of `link` at a switch into its region and onto the
// stack; it returns the new height of the stack.
static uint32_t spread_region(
	struct growth *growth, uint32_t link, uint32_t sw, uint32_t height)
{
	const struct tb_regions *found = growth->found;
	for (uint32_t i = growth->first[sw]; i < growth->first[sw + 1]; i++) {
		uint32_t other = growth->at[i];
		double step = fabs(found->percent[other] - found->percent[link]);
		if (found->region_of[other] != TB_ID_NONE ||
			found->percent[other] <= TB_STALL_LOW || step > TB_REGION_STEP)
			continue;
		join_region(growth, other, found->region_of[link]);
		growth->stack[height++] = other;
	}
	return height;
}

static void grow(struct growth *growth)
{
	struct tb_regions *found = growth->found;
	for (uint32_t i = 0; i < growth->info->n_links; i++) {
		uint32_t seed = growth->order[i], height = 0;
		if (found->percent[seed] <= TB_STALL_LOW)
			break;
		if (found->region_of[seed] != TB_ID_NONE)
			continue;
		growth->into[growth->n] = growth->n;
		join_region(growth, seed, growth->n++);
		growth->stack[height++] = seed;
		while (height > 0) {
			uint32_t link = growth->stack[--height];
			const struct tb_run_link *at = &growth->links[link];
			if (begins_at_switch(at))
				height = spread_region(growth, link, at->at.from, height);
			if (ends_at_switch(at))
				height = spread_region(growth, link, at->at.to, height);
		}
	}
}

static uint32_t region_root_of(struct growth *growth, uint32_t region)
{
	while (growth->into[region] != region)
		region = growth->into[region] = growth->into[growth->into[region]];
	return region;
}

static double mean_of(const struct growth *growth, uint32_t region)
{
	return growth->sum[region] / growth->n_links[region];
}

// merge_two puts the later region into the earlier one; false when they differ too much.
static bool merge_two(struct growth *growth, uint32_t one, uint32_t other)
{
	uint32_t a = region_root_of(growth, one), b = region_root_of(growth, other);
	if (a == b || fabs(mean_of(growth, a) - mean_of(growth, b)) > TB_REGION_MERGE)
		return false;
	if (a > b) {
		uint32_t swapped = a;
		a = b;
		b = swapped;
	}
	growth->sum[a] += growth->sum[b];
	growth->n_links[a] += growth->n_links[b];
	growth->into[b] = a;
	return true;
}

// merge_at merges regions that meet at a switch; whether any did.
static bool merge_at(struct growth *growth, uint32_t sw)
{
	const uint32_t *region_of = growth->found->region_of;
	bool merged = false;
	for (uint32_t i = growth->first[sw]; i < growth->first[sw + 1]; i++) {
		uint32_t one = region_of[growth->at[i]];
		for (uint32_t j = i + 1; one != TB_ID_NONE && j < growth->first[sw + 1];
			j++) {
			uint32_t other = region_of[growth->at[j]];
			if (other != TB_ID_NONE && other != one)
				merged |= merge_two(growth, one, other);
		}
	}
	return merged;
}

TB_ORDER_BY(by_wait_and_stall, struct tb_region,
	TB_DOWN(wait_ps) TB_DOWN(stall_ps) TB_UP(worst.id))

// sum_up_regions makes the regions from what has grown, and numbers them by wait.
// add_links_to_regions sums the links up by region; `stack` holds where a region stands
// in the list.
static void add_links_to_regions(
	struct growth *growth, const struct tb_link_sample *samples)
{
	const struct tb_regions *found = growth->found;
	for (uint32_t i = 0; i < growth->info->n_links; i++) {
		uint32_t link = growth->order[i];
		if (found->region_of[link] == TB_ID_NONE)
			continue;
		struct tb_region *region = &found->regions[growth->stack[region_root_of(
			growth, found->region_of[link])]];
		if (region->worst.id == TB_ID_NONE)
			region->worst.id = link; // `order` has the most stalled first
		region->n_links++;
		region->n_of_kind[growth->links[link].at.kind]++;
		region->stall_ps += samples[link].stall_ps;
		region->wait_ps += samples[link].wait_ps;
	}
}

static int sum_up_regions(struct growth *growth, const struct tb_link_sample *samples)
{
	struct tb_regions *found = growth->found;
	found->regions = calloc(growth->n + 1u, sizeof *found->regions);
	uint32_t *number = calloc(growth->info->n_links + 1u, sizeof *number);
	if (!found->regions || !number) {
		free(number);
		return TB_ENOMEM;
	}
	for (uint32_t i = 0; i < growth->n; i++)
		if (region_root_of(growth, i) == i) {
			growth->stack[i] = found->n;
			found->regions[found->n].percent = mean_of(growth, i);
			found->regions[found->n++].worst.id = TB_ID_NONE;
		}
	add_links_to_regions(growth, samples);
	qsort(found->regions, found->n, sizeof *found->regions, by_wait_and_stall);
	// A region is known by its most stalled link.
	for (uint32_t i = 0; i < found->n; i++) {
		uint32_t worst = found->regions[i].worst.id;
		found->regions[i].level = tb_stall_level_of(found->regions[i].percent);
		number[region_root_of(growth, found->region_of[worst])] = i;
	}
	for (uint32_t i = 0; i < growth->info->n_links; i++)
		if (found->region_of[i] != TB_ID_NONE)
			found->region_of[i] =
				number[region_root_of(growth, found->region_of[i])];
	free(number);
	return TB_OK;
}

static int find_regions(
	struct growth *growth, const struct tb_link_sample *samples, tb_time_ps window_ps)
{
	struct tb_regions *found = growth->found;
	uint32_t n_links = growth->info->n_links;
	growth->first = calloc(growth->info->n_switches + 3u, sizeof *growth->first);
	growth->at = calloc(2 * (size_t)n_links + 1, sizeof *growth->at);
	growth->order = calloc(n_links + 1u, sizeof *growth->order);
	growth->stack = calloc(n_links + 1u, sizeof *growth->stack);
	growth->sum = calloc(n_links + 1u, sizeof *growth->sum);
	growth->n_links = calloc(n_links + 1u, sizeof *growth->n_links);
	growth->into = calloc(n_links + 1u, sizeof *growth->into);
	found->percent = calloc(n_links + 1u, sizeof *found->percent);
	found->region_of = malloc((n_links + 1u) * sizeof *found->region_of);
	if (!growth->first || !growth->at || !growth->order || !growth->stack ||
		!growth->sum || !growth->n_links || !growth->into || !found->percent ||
		!found->region_of)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n_links; i++) {
		// What is bounded from above alone may be no stall at all.
		bool is_known = growth->links[i].known.wait <= TB_AT_LEAST;
		double stall_ps = is_known ? (double)samples[i].stall_ps : 0;
		found->percent[i] =
			window_ps > 0 ? 100 * fmin(stall_ps / (double)window_ps, 1) : 0;
		found->region_of[i] = TB_ID_NONE;
		growth->order[i] = i;
	}
	qsort_r(growth->order, n_links, sizeof *growth->order, by_percent,
		found->percent);
	// Fill `first` and `at` by counting.
	uint32_t n_switches = growth->info->n_switches;
	uint32_t *first = growth->first;
	for (uint32_t i = 0; i < growth->info->n_links; i++) {
		const struct tb_run_link *link = &growth->links[i];
		if (begins_at_switch(link))
			first[link->at.from + 2]++;
		if (ends_at_switch(link))
			first[link->at.to + 2]++;
	}
	for (uint32_t s = 1; s <= n_switches; s++)
		first[s + 1] += first[s];
	// first[s + 1] is where the links of s begin, and in the end where they end.
	for (uint32_t i = 0; i < growth->info->n_links; i++) {
		const struct tb_run_link *link = &growth->links[i];
		if (begins_at_switch(link))
			growth->at[first[link->at.from + 1]++] = i;
		if (ends_at_switch(link))
			growth->at[first[link->at.to + 1]++] = i;
	}
	grow(growth);
	bool merged = growth->n > 1;
	while (merged) {
		merged = false;
		for (uint32_t sw = 0; sw < growth->info->n_switches; sw++)
			merged |= merge_at(growth, sw);
	}
	return sum_up_regions(growth, samples);
}

int tb_regions_init(struct tb_regions *regions, struct tb_run *run,
	struct tb_window window, struct tb_error *error)
{
	const struct tb_link_sample *samples;
	struct tb_regions made = {0};
	struct growth growth = {
		.info = tb_run_info(run), .links = tb_run_links(run), .found = &made};
	int status = tb_run_look(run, window, &samples, error);
	if (status)
		return status;
	status = find_regions(&growth, samples, tb_run_window_ps(run, window));
	free(growth.first);
	free(growth.at);
	free(growth.order);
	free(growth.stack);
	free(growth.sum);
	free(growth.n_links);
	free(growth.into);
	if (status) {
		tb_regions_fini(&made);
		return tb_fail_memory(error, "congestion regions");
	}
	*regions = made;
	return TB_OK;
}

void tb_regions_fini(struct tb_regions *regions)
{
	free(regions->percent);
	free(regions->region_of);
	free(regions->regions);
	*regions = (struct tb_regions){0};
}

char *tb_region_text(const struct tb_region *region, char *buffer, size_t size)
{
	static const char *const kinds[] = {"link from a node|links from nodes",
		"link up|links up", "link down|links down",
		"link to a node|links to nodes"};
	char count[64];
	size_t used = 0;
	uint32_t n_left = region->n_links;
	*buffer = '\0';
	for (int kind = 0; kind < 4; kind++) {
		uint32_t n = region->n_of_kind[kind];
		n_left -= n;
		if (n && used < size)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s",
				used == 0     ? ""
				: n_left == 0 ? " and "
					      : ", ",
				tb_format_counted(n, kinds[kind], count, sizeof count));
	}
	return buffer;
}
