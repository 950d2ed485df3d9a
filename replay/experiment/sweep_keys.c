// The keys of [sweep]: the syntax of their values, and what they change in a point.
#include "sweep_impl.h"

#include "timed.h"
#include "units.h"

#include <inttypes.h>
#include <string.h>

#define LOAD_MOST 1000
#define IO_MOST	  (UINT32_C(1) << 20)

const struct tb_sweep_key tb_sweep_keys[] = {
	[TB_KEY_EXPERIMENT] = {"experiment", "what is run: see the list of experiments"},
	[TB_KEY_NODES] = {"nodes",
		"how many take part, of timed jobs processes or clients; the tree is as "
		"high as that needs"},
	[TB_KEY_MESSAGE] = {"message",
		"mean size of a message, as 256K; of pvfs experiments a client's block"},
	[TB_KEY_LOAD] = {"load",
		"offered by each sender, in shares of the payload that a node's link "
		"carries (qsnet: 338.6 MB/s); full (default): all that it can send"},
	[TB_KEY_SIZES] = {"sizes", "of messages: fixed, uniform or exponential"},
	[TB_KEY_TIMES] = {"times",
		"between messages, with a load: fixed, uniform or exponential (default)"},
	[TB_KEY_READS] = {"reads", "share of the I/O messages that read: 0 to 1"},
	[TB_KEY_IO_NODES] = {"io_nodes",
		"nodes that serve, in io, mix and pvfs experiments"},
	[TB_KEY_IO_LOAD] = {"io_load",
		"of the I/O job in mix experiments, in shares as of load; 0: no such "
		"job"},
	[TB_KEY_WARM] = {"warm", "simulated time before the measurement, as 10ms"},
	[TB_KEY_WINDOW] = {"window",
		"simulated time of the measurement, as 40ms (default: until it is "
		"steady)"},
	[TB_KEY_SEED] = {"seed",
		"of the random choices (default 1); curves show the mean"},
	[TB_N_KEYS] = {TB_PRESET_AXIS,
		"a preset, as ib-hdr (default: qsnet); --set takes the keys of that "
		"network, too, but levels"},
	{NULL, NULL},
};

enum tb_value_form tb_sweep_key_form(int key)
{
	switch (key) {
	case TB_KEY_NODES:
	case TB_KEY_IO_NODES:
	case TB_KEY_SEED:
		return TB_VALUE_COUNT;
	case TB_KEY_MESSAGE:
		return TB_VALUE_SIZE;
	case TB_KEY_LOAD:
	case TB_KEY_READS:
	case TB_KEY_IO_LOAD:
		return TB_VALUE_REAL;
	default:
		return TB_VALUE_WORD;
	}
}

int tb_sweep_key_find(const char *name)
{
	for (int key = 0; key < TB_N_KEYS; key++)
		if (strcmp(tb_sweep_keys[key].name, name) == 0)
			return key;
	return -1;
}

static int sweep_key_refuse(
	struct tb_error *error, int key, const char *text, const char *expected)
{
	return tb_fail(error, TB_EUSAGE, "%s = %s: expected %s", tb_sweep_keys[key].name,
		text, expected);
}

// set_count: steady traffic has two ends at least, a timed job may have one client.
static int set_count(uint32_t *count, int key, const char *text, uint32_t max,
	const struct tb_experiment *experiment, struct tb_error *error)
{
	uint32_t least = experiment->timed ? 1 : 2;
	uint64_t value = 0;
	char expected[64];
	snprintf(expected, sizeof expected, "a whole number from %" PRIu32 " to %" PRIu32,
		least, max);
	if (tb_parse_count(text, least, max, &value) != TB_OK)
		return sweep_key_refuse(error, key, text, expected);
	*count = (uint32_t)value;
	return TB_OK;
}

static int set_share(
	double *share, int key, const char *text, double max, struct tb_error *error)
{
	char expected[64];
	snprintf(expected, sizeof expected, "a number from 0 to %g", max);
	return tb_parse_real(text, 0, max, share) == TB_OK
		       ? TB_OK
		       : sweep_key_refuse(error, key, text, expected);
}

static int set_dist(
	enum tb_synth_dist *dist, int key, const char *text, struct tb_error *error)
{
	return tb_synth_dist_find(dist, text, NULL) == TB_OK
		       ? TB_OK
		       : sweep_key_refuse(
				 error, key, text, "fixed, uniform or exponential");
}

static int set_sizes(
	struct tb_sweep_point *point, const char *text, struct tb_error *error)
{
	static const enum tb_experiment_sizes sizes[] = {
		[TB_SYNTH_FIXED] = TB_SIZES_FIXED,
		[TB_SYNTH_UNIFORM] = TB_SIZES_UNIFORM,
		[TB_SYNTH_EXPONENTIAL] = TB_SIZES_EXPONENTIAL};
	enum tb_synth_dist dist = TB_SYNTH_FIXED;
	int status = set_dist(&dist, TB_KEY_SIZES, text, error);
	if (status == TB_OK)
		point->experiment.sizes = sizes[dist];
	return status;
}

static int set_span(uint32_t *us, int key, const char *text, struct tb_error *error)
{
	tb_time_ps time = 0;
	if (tb_parse_time(text, &time) != TB_OK || time < TB_PS_PER_US ||
		time > 1000 * TB_PS_PER_S || time % TB_PS_PER_US != 0)
		return sweep_key_refuse(error, key, text,
			"a time of whole microseconds up to 1000s, such as 10ms");
	*us = (uint32_t)(time / TB_PS_PER_US);
	return TB_OK;
}

int tb_sweep_key_set(
	struct tb_sweep_point *point, int key, const char *text, struct tb_error *error)
{
	struct tb_experiment *experiment = &point->experiment;
	switch (key) {
	case TB_KEY_EXPERIMENT: {
		const struct tb_experiment *found = tb_experiment_find(text);
		struct tb_hint hint;
		if (!found)
			return tb_fail(error, TB_EUSAGE, "no experiment is called '%s'%s",
				text, tb_experiment_hint(&hint, text));
		point->experiment = *found;
		// A point is one run: of the two that a set-up averages, take the second.
		if (found->sizes == TB_SIZES_BOTH)
			point->experiment.sizes = TB_SIZES_EXPONENTIAL;
		point->experiment.times = TB_SYNTH_EXPONENTIAL;
		return TB_OK;
	}
	case TB_KEY_NODES: {
		uint32_t n = 0;
		int status = set_count(
			&n, TB_KEY_NODES, text, TB_RANKS_MAX, experiment, error);
		if (status == TB_OK)
			point->experiment.n_nodes = point->experiment.n_active = n;
		return status;
	}
	case TB_KEY_MESSAGE:
		return tb_parse_size(text, &experiment->message_bytes) == TB_OK
			       ? TB_OK
			       : sweep_key_refuse(
					 error, key, text, "a size such as 320 or 256K");
	case TB_KEY_LOAD: {
		double *load = &point->experiment.load;
		if (strcmp(text, "full") == 0)
			*load = 0;
		else if (tb_parse_real(text, 1e-6, LOAD_MOST, load) != TB_OK)
			return sweep_key_refuse(error, TB_KEY_LOAD, text,
				"a number above 0 and up to 1000, such as 0.5, or full");
		return TB_OK;
	}
	case TB_KEY_SIZES:
		return set_sizes(point, text, error);
	case TB_KEY_TIMES:
		return set_dist(&experiment->times, key, text, error);
	case TB_KEY_READS:
		return set_share(&experiment->reads, key, text, 1, error);
	case TB_KEY_IO_NODES:
		return set_count(
			&experiment->n_io, key, text, IO_MOST, experiment, error);
	case TB_KEY_IO_LOAD:
		return set_share(&experiment->io_load, key, text, LOAD_MOST, error);
	case TB_KEY_WARM:
		return set_span(&experiment->warm_us, key, text, error);
	case TB_KEY_WINDOW:
		experiment->fixed_window = true;
		return set_span(&experiment->window_us, key, text, error);
	default:
		return tb_parse_count(text, 0, UINT64_MAX, &point->seed) == TB_OK
			       ? TB_OK
			       : sweep_key_refuse(
					 error, TB_KEY_SEED, text, "a whole number");
	}
}

// applies returns which experiments a key is for, or NULL when this is one of them.
static const char *not_for(const struct tb_experiment *experiment, int key)
{
	enum tb_experiment_kind kind = experiment->kind;
	bool io = kind == TB_EXPERIMENT_IO || kind == TB_EXPERIMENT_MIX;
	bool steady = kind != TB_EXPERIMENT_LATENCY && kind != TB_EXPERIMENT_TIMED;
	bool serves = kind == TB_EXPERIMENT_TIMED && experiment->timed->benchmark;
	switch (key) {
	case TB_KEY_IO_NODES:
		return io || serves ? NULL : "io, mix and pvfs experiments";
	case TB_KEY_IO_LOAD:
		return kind == TB_EXPERIMENT_MIX ? NULL : "mix experiments";
	case TB_KEY_READS:
		return io || kind == TB_EXPERIMENT_HOT ? NULL
						       : "hot, io and mix experiments";
	case TB_KEY_TIMES:
		return experiment->load > 0 ? NULL : "points with a load";
	case TB_KEY_LOAD:
	case TB_KEY_SIZES:
	case TB_KEY_WARM:
	case TB_KEY_WINDOW:
		return steady ? NULL : "steady traffic";
	default:
		return NULL;
	}
}

int tb_sweep_key_applies(
	const struct tb_sweep_point *point, int key, struct tb_error *error)
{
	const char *whom = not_for(&point->experiment, key);
	if (!whom)
		return TB_OK;
	return tb_fail(error, TB_EUSAGE, "%s is for %s, not for %s%s",
		tb_sweep_keys[key].name, whom, point->experiment.name,
		key == TB_KEY_TIMES ? " at full load" : "");
}

static const char *dist_name(enum tb_synth_dist dist)
{
	static const char *const names[] = {[TB_SYNTH_FIXED] = "fixed",
		[TB_SYNTH_UNIFORM] = "uniform",
		[TB_SYNTH_EXPONENTIAL] = "exponential"};
	return names[dist];
}

static const char *sizes_name(enum tb_experiment_sizes sizes)
{
	static const char *const names[] = {[TB_SIZES_BOTH] = "both",
		[TB_SIZES_FIXED] = "fixed",
		[TB_SIZES_UNIFORM] = "uniform",
		[TB_SIZES_EXPONENTIAL] = "exponential"};
	return names[sizes];
}

void tb_sweep_key_print(const struct tb_sweep_point *point, int key, FILE *stream)
{
	const struct tb_experiment *experiment = &point->experiment;
	switch (key) {
	case TB_KEY_EXPERIMENT:
		fputs(experiment->name, stream);
		break;
	case TB_KEY_NODES:
		fprintf(stream, "%" PRIu32, experiment->n_active);
		break;
	case TB_KEY_MESSAGE:
		fprintf(stream, "%" PRIu64, experiment->message_bytes);
		break;
	case TB_KEY_LOAD:
		if (experiment->load > 0)
			fprintf(stream, "%.10g", experiment->load);
		else
			fputs("full", stream);
		break;
	case TB_KEY_SIZES:
		fputs(sizes_name(experiment->sizes), stream);
		break;
	case TB_KEY_TIMES:
		fputs(dist_name(experiment->times), stream);
		break;
	case TB_KEY_READS:
		fprintf(stream, "%.10g", experiment->reads);
		break;
	case TB_KEY_IO_NODES:
		fprintf(stream, "%" PRIu32, experiment->n_io);
		break;
	case TB_KEY_IO_LOAD:
		fprintf(stream, "%.10g", experiment->io_load);
		break;
	case TB_KEY_WARM:
		fprintf(stream, "%" PRIu32, experiment->warm_us);
		break;
	case TB_KEY_WINDOW:
		fprintf(stream, "%" PRIu32, experiment->window_us);
		break;
	default:
		fprintf(stream, "%" PRIu64, point->seed);
		break;
	}
}
