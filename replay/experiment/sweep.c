// The points of a sweep: all combinations of the values of its axes.
#include "sweep_impl.h"

#include "fabric_file.h"
#include "hash.h"
#include "input_files.h"
#include "network_open.h"
#include "order.h"
#include "preset.h"
#include "timed.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIGHTEST   0.1 // load below which the window does not grow any more
#define LEAST_US   20  // of a warm-up or window that was shortened
#define PRESET	   "qsnet"
#define EXPERIMENT "experiment"

void tb_sweep_fini(struct tb_sweep *sweep)
{
	for (size_t i = 0; i < sweep->n_points; i++) {
		struct tb_sweep_point *point = &sweep->points[i];
		for (size_t j = 0; j < point->n_values; j++)
			free(point->values[j].text);
		free(point->values);
		free(point->network);
		free(point->settings);
	}
	for (size_t i = 0; i < sweep->n_hints; i++) {
		free(sweep->hints[i].key);
		free(sweep->hints[i].text);
	}
	free(sweep->points);
	free(sweep->hints);
	if (sweep->axes)
		tb_sweep_axes_fini(sweep->axes);
	free(sweep->axes);
	*sweep = (struct tb_sweep){0};
}

// at_axis adds the file and line of an axis to the error of one of its values.
static int at_axis(const struct tb_sweep_axis *axis, const struct tb_error *cause,
	struct tb_error *error)
{
	return axis->line ? tb_fail_at(error, cause->code, axis->file, TB_PLACE_LINE,
				    axis->line, "%s", cause->text)
			  : tb_fail(error, cause->code, "%s", cause->text);
}

// Which value of each axis a point has.
struct choice {
	const struct tb_sweep_axes *axes;
	size_t *value; // by axis
};

static const char *chosen(const struct choice *choice, size_t axis)
{
	return choice->axes->axes[axis].list.texts[choice->value[axis]];
}

// next goes to the next combination, the last axis changing fastest; false at the end.
static bool next(struct choice *choice)
{
	for (size_t i = choice->axes->n; i-- > 0;) {
		if (++choice->value[i] < choice->axes->axes[i].list.n)
			return true;
		choice->value[i] = 0;
	}
	return false;
}

// set_keys sets the experiment first, because that sets all defaults.
static int set_keys(
	struct tb_sweep_point *point, const struct choice *choice, struct tb_error *error)
{
	struct tb_error cause = {0};
	for (int first = 1; first >= 0; first--)
		for (size_t i = 0; i < choice->axes->n; i++) {
			const struct tb_sweep_axis *axis = &choice->axes->axes[i];
			if (axis->key < 0 || (axis->key == TB_KEY_EXPERIMENT) != first)
				continue;
			if (tb_sweep_key_set(
				    point, axis->key, chosen(choice, i), &cause) != TB_OK)
				return at_axis(axis, &cause, error);
		}
	for (size_t i = 0; i < choice->axes->n; i++) {
		const struct tb_sweep_axis *axis = &choice->axes->axes[i];
		if (axis->key >= 0 &&
			tb_sweep_key_applies(point, axis->key, &cause) != TB_OK)
			return at_axis(axis, &cause, error);
	}
	return TB_OK;
}

static bool given(const struct choice *choice, int key)
{
	return tb_sweep_axes_find(choice->axes, tb_sweep_keys[key].name) != NULL;
}

static uint32_t scaled(uint32_t us, double by)
{
	double grown = fmax(us * by, fmin(us, LEAST_US));
	return grown < UINT32_MAX ? (uint32_t)grown : UINT32_MAX;
}

// choose_window chooses the warm-up and window that were not given: long enough for as
// many messages of a larger size, and as many packets at a lower load, as in the set-up,
// and shorter on a faster network than that of the papers.
static void choose_window(
	struct tb_experiment *experiment, bool has_warm_up, uint64_t bytes_per_s)
{
	const struct tb_experiment *base = tb_experiment_find(experiment->name);
	double larger = 1, lighter = 1;
	if (base->message_bytes > 0 && experiment->message_bytes > base->message_bytes)
		larger = (double)experiment->message_bytes / (double)base->message_bytes;
	if (experiment->load > 0 && experiment->load < 1)
		lighter = 1 / fmax(experiment->load, LIGHTEST);
	if (bytes_per_s > TB_SYNTH_RATE_BYTES_PER_S)
		larger *= (double)TB_SYNTH_RATE_BYTES_PER_S / (double)bytes_per_s;
	if (!has_warm_up)
		experiment->warm_us = scaled(base->warm_us, larger);
	if (!experiment->fixed_window)
		experiment->window_us = scaled(base->window_us, larger * lighter);
}

int tb_sweep_set_up(struct tb_experiment *experiment, char *changes, size_t size,
	const char *text, struct tb_error *error)
{
	char copy[256], *rest = copy, *word;
	size_t n_changes = 0;
	bool has_warm_up = false;
	snprintf(copy, sizeof copy, "%s", text);
	const struct tb_experiment *found = tb_experiment_find(strsep(&rest, " "));
	if (!found || strlen(text) >= sizeof copy)
		return tb_fail(error, TB_EUSAGE, "'%s' is no experiment", text);
	struct tb_sweep_point point = {.experiment = *found};
	if (size > 0)
		*changes = '\0';
	while ((word = strsep(&rest, " ")) != NULL) {
		char *value = strchr(word, '=');
		if (!value)
			return tb_fail(
				error, TB_EUSAGE, "'%s': expected key=value", word);
		*value = '\0';
		int key = tb_sweep_key_find(word), status = TB_OK;
		*value = '=';
		if (key >= 0)
			status = tb_sweep_key_set(&point, key, value + 1, error);
		else
			n_changes += (size_t)snprintf(
				changes + n_changes, size - n_changes, ",%s", word);
		if (status == TB_OK && key >= 0)
			status = tb_sweep_key_applies(&point, key, error);
		if (status == TB_OK && n_changes >= size)
			status = tb_fail(error, TB_ECAPACITY, "'%s' is too long", text);
		if (status != TB_OK)
			return status;
		has_warm_up = has_warm_up || key == TB_KEY_WARM;
	}
	choose_window(&point.experiment, has_warm_up, 0);
	*experiment = point.experiment;
	return TB_OK;
}

TB_ORDER_BY(sweep_by_name, struct tb_sweep_value, TB_UP_TEXT(axis))

// is_of_job returns whether an axis is of a job, not of its network.
static bool is_of_job(const struct tb_sweep_axis *axis)
{
	return axis->key < 0 && (strcmp(axis->name, TB_AXIS_PER_NODE) == 0 ||
					strcmp(axis->name, TB_AXIS_FAULT) == 0);
}

static bool print_key(
	struct tb_sweep_value *value, const struct tb_sweep_point *point, int key)
{
	size_t size = 0;
	free(value->text);
	FILE *stream = open_memstream(&value->text, &size);
	value->axis = tb_sweep_keys[key].name;
	if (stream)
		tb_sweep_key_print(point, key, stream);
	return stream && fclose(stream) == 0;
}

static void put_value(struct tb_sweep_point *point, const char *axis, const char *text)
{
	point->values[point->n_values++] = (struct tb_sweep_value){axis, strdup(text)};
}

// set_values records the values of the point: the keys, or those of the job, the preset,
// its overrides.
static bool set_values(struct tb_sweep_point *point, const struct choice *choice)
{
	const struct tb_sweep_job *job = choice->axes->job;
	bool printed = true;
	point->values = calloc(TB_N_KEYS + 1 + choice->axes->n, sizeof *point->values);
	if (!point->values)
		return false;
	if (job) {
		put_value(point, EXPERIMENT, job->name);
		put_value(point, "input", job->digest);
		put_value(point, "options", job->options);
	}
	for (int key = job ? TB_KEY_SEED : 0; key < TB_N_KEYS; key++)
		printed &= print_key(&point->values[point->n_values++], point, key);
	for (size_t i = 0; i < choice->axes->n; i++) {
		const struct tb_sweep_axis *axis = &choice->axes->axes[i];
		if (is_of_job(axis))
			put_value(point, axis->name, chosen(choice, i));
	}
	size_t at = point->n_own = point->n_values;
	const struct tb_timed *timed = point->experiment.timed;
	put_value(point, TB_PRESET_AXIS,
		job	? job->network
		: timed ? timed->network
			: PRESET);
	for (size_t i = 0; i < choice->axes->n; i++) {
		const struct tb_sweep_axis *axis = &choice->axes->axes[i];
		if (axis->key >= 0 || is_of_job(axis))
			continue;
		if (strcmp(axis->name, TB_PRESET_AXIS) == 0) {
			free(point->values[at].text);
			point->values[at].text = strdup(chosen(choice, i));
		} else {
			put_value(point, axis->name, chosen(choice, i));
		}
	}
	qsort(point->values + at + 1, point->n_values - at - 1, sizeof *point->values,
		sweep_by_name);
	for (size_t i = 0; i < point->n_values; i++)
		printed &= point->values[i].text != NULL;
	return printed;
}

// join_network joins the network, as preset and overrides.
static bool join_network(struct tb_sweep_point *point)
{
	size_t size = 0;
	FILE *stream = open_memstream(&point->network, &size);
	for (size_t i = point->n_own; i < point->n_values && stream; i++) {
		const struct tb_sweep_value *value = &point->values[i];
		if (i > point->n_own)
			fprintf(stream, ",%s=", value->axis);
		fputs(value->text, stream);
	}
	return stream && fclose(stream) == 0;
}

static bool join_settings(struct tb_sweep_point *point)
{
	size_t size = 0;
	FILE *stream = open_memstream(&point->settings, &size);
	for (size_t i = 0; i < point->n_values && stream; i++)
		fprintf(stream, "%s%s=%s", i ? " " : "", point->values[i].axis,
			point->values[i].text);
	return stream && fclose(stream) == 0;
}

// blame_axis finds the axis whose value makes the network invalid.
static int blame_axis(const struct tb_sweep_point *point,
	const struct tb_sweep_axes *axes, struct tb_error *error)
{
	struct tb_network_params params;
	struct tb_error cause = {0};
	char text[512] = "";
	size_t used = 0;
	const struct tb_sweep_axis *axis = NULL;
	for (size_t i = point->n_own; i < point->n_values && used < sizeof text; i++) {
		const struct tb_sweep_value *value = &point->values[i];
		int n = i == point->n_own ? snprintf(text, sizeof text, "%s", value->text)
					  : snprintf(text + used, sizeof text - used,
						    ",%s=%s", value->axis, value->text);
		used += (size_t)n;
		axis = tb_sweep_axes_find(axes, value->axis);
		if (tb_network_open_params(&params, NULL, text, &cause) != TB_OK)
			break;
	}
	if (axis && cause.code != TB_OK)
		return at_axis(axis, &cause, error);
	return tb_network_open_params(&params, NULL, point->network, error);
}

static int set_network(struct tb_sweep_point *point, const struct tb_sweep_point *before,
	const struct tb_sweep_axes *axes, struct tb_error *error)
{
	if (before && strcmp(before->network, point->network) == 0) {
		point->params = before->params;
		point->n_hosts = before->n_hosts;
		return TB_OK;
	}
	return tb_network_open_params(
		       &point->params, &point->n_hosts, point->network, NULL) == TB_OK
		       ? TB_OK
		       : blame_axis(point, axes, error);
}

// hash_file adds a file to a hash by FNV-1a, which begins at 0 here.
static int hash_file(const char *path, uint64_t *hash, struct tb_error *error)
{
	FILE *stream = tb_input_fopen(path);
	unsigned char bytes[4096];
	size_t n = 0;
	*hash = *hash ? *hash : TB_HASH_BEGIN;
	while (stream && (n = fread(bytes, 1, sizeof bytes, stream)) > 0)
		*hash = tb_hash_bytes(*hash, bytes, n);
	bool failed = !stream || ferror(stream);
	if (stream)
		fclose(stream);
	return failed ? tb_fail_in(error, TB_EIO, path, "cannot be read: %s",
				strerror(errno))
		      : TB_OK;
}

// next_file returns where the next file that a network's description names begins, or
// NULL.
static const char *next_file(const char *text)
{
	const char *next = NULL;
	for (size_t i = 0; tb_fabric_words[i]; i++) {
		char key[32];
		snprintf(key, sizeof key, ",%s=", tb_fabric_words[i]);
		const char *at = strstr(text, key);
		if (at && (!next || at + strlen(key) < next))
			next = at + strlen(key);
	}
	return next;
}

// hash_preset hashes the file that a text begins with, if it does, and those that a
// preset there is like.
static int hash_preset(const char *text, uint64_t *hash, struct tb_error *error)
{
	char like[TB_PRESET_LIKE_SIZE];
	for (int i = 0; *text && i < TB_PRESET_LIKE_MOST; i++, text = like) {
		char *path = NULL;
		int status = tb_fabric_file_path(&path, text, NULL);
		if (status == TB_ENOMEM)
			return tb_fail_memory(error, "the points");
		if (status != TB_OK)
			return TB_OK;
		status = hash_file(path, hash, error);
		tb_network_preset_like(path, like);
		free(path);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

// mark_file puts the hash of the network's files into the settings.
static int mark_file(struct tb_sweep_point *point, const struct tb_sweep_point *before,
	struct tb_error *error)
{
	char *marked = NULL;
	int status = TB_OK;
	if (before && strcmp(before->network, point->network) == 0)
		point->file_hash = before->file_hash;
	else {
		// Hash the files in which a network stands: a fabric or a preset, and the
		// preset, roots and names of a fabric.
		const char *network = point->network;
		status = TB_OK;
		for (const char *at = network; at && status == TB_OK; at = next_file(at))
			status = hash_preset(at, &point->file_hash, error);
	}
	if (status != TB_OK || point->file_hash == 0)
		return status;
	if (asprintf(&marked, "%s file=%0*" PRIx64, point->settings, TB_SWEEP_HASH_DIGITS,
		    point->file_hash) < 0)
		return tb_fail_memory(error, "the points");
	free(point->settings);
	point->settings = marked;
	return TB_OK;
}

static int check_point(const struct tb_sweep_point *point, struct tb_error *error)
{
	struct tb_error cause = {0};
	if (tb_experiment_check(&point->experiment, &cause) == TB_OK &&
		tb_experiment_fits(&point->experiment, point->params.name, point->n_hosts,
			&cause) == TB_OK)
		return TB_OK;
	return tb_fail(error, cause.code, "%s (seed %llu): %s", point->experiment.name,
		(unsigned long long)point->seed, cause.text);
}

static int add_point(
	struct tb_sweep *sweep, const struct choice *choice, struct tb_error *error)
{
	struct tb_sweep_point *point = &sweep->points[sweep->n_points];
	const struct tb_sweep_point *before = sweep->n_points ? point - 1 : NULL;
	*point = (struct tb_sweep_point){.seed = 1};
	sweep->n_points++;
	int status = set_keys(point, choice, error);
	if (status != TB_OK)
		return status;
	if (!set_values(point, choice) || !join_network(point))
		return tb_fail_memory(error, "the points");
	status = set_network(point, before, choice->axes, error);
	if (status != TB_OK)
		return status;
	bool joined = true;
	if (!choice->axes->job) {
		choose_window(&point->experiment, given(choice, TB_KEY_WARM),
			tb_network_payload_rate(&point->params));
		for (int key = TB_KEY_WARM; key <= TB_KEY_WINDOW; key++)
			joined &= print_key(&point->values[key], point, key);
	}
	if (!joined || !join_settings(point))
		return tb_fail_memory(error, "the points");
	status = mark_file(point, before, error);
	return status == TB_OK && !choice->axes->job ? check_point(point, error) : status;
}

static int count_points(
	size_t *n, const struct tb_sweep_axes *axes, struct tb_error *error)
{
	*n = 1;
	for (size_t i = 0; i < axes->n; i++) {
		*n *= axes->axes[i].list.n;
		if (*n > TB_SWEEP_POINTS_MAX)
			return tb_fail(error, TB_ECAPACITY,
				"more than %d points: fewer values, please",
				TB_SWEEP_POINTS_MAX);
	}
	return TB_OK;
}

static int by_settings(const void *a, const void *b)
{
	const struct tb_sweep_point *const *one = a, *const *other = b;
	return strcmp((*one)->settings, (*other)->settings);
}

static int check_different(const struct tb_sweep *sweep, struct tb_error *error)
{
	const struct tb_sweep_point **sorted =
		calloc(sweep->n_points, sizeof(const struct tb_sweep_point *));
	if (!sorted)
		return tb_fail_memory(error, "the points");
	for (size_t i = 0; i < sweep->n_points; i++)
		sorted[i] = &sweep->points[i];
	qsort(sorted, sweep->n_points, sizeof(const struct tb_sweep_point *),
		by_settings);
	int status = TB_OK;
	for (size_t i = 1; i < sweep->n_points && status == TB_OK; i++)
		if (by_settings(&sorted[i - 1], &sorted[i]) == 0)
			status = tb_fail(error, TB_EUSAGE,
				"an axis has a value twice: two points are %s",
				sorted[i]->settings);
	free(sorted);
	return status;
}

static int make_points(struct tb_sweep *sweep, struct tb_error *error)
{
	size_t n = 0;
	int status = count_points(&n, sweep->axes, error);
	if (status != TB_OK)
		return status;
	struct choice choice = {
		sweep->axes, calloc(sweep->axes->n + 1, sizeof *choice.value)};
	sweep->points = calloc(n, sizeof *sweep->points);
	if (!choice.value || !sweep->points)
		status = tb_fail_memory(error, "%zu points", n);
	if (status == TB_OK)
		do
			status = add_point(sweep, &choice, error);
		while (status == TB_OK && next(&choice));
	free(choice.value);
	return status == TB_OK ? check_different(sweep, error) : status;
}

static int change(struct tb_sweep_axes *axes, const char *text, struct tb_error *error)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text)
		return tb_fail(error, TB_EUSAGE, "'%s': expected key=value", text);
	char *name = strndup(text, (size_t)(equals - text));
	if (!name)
		return tb_fail_memory(error, "the axes");
	struct tb_sweep_axis *axis = tb_sweep_axes_find(axes, name);
	if (axis) {
		tb_value_list_fini(&axis->list);
		axis->line = 0;
	}
	bool of_network = strcmp(name, TB_PRESET_AXIS) == 0 || tb_network_has_key(name);
	int status = tb_sweep_axes_add(axes, of_network, name, equals + 1, &axis, error);
	free(name);
	return status;
}

// read_axes reads a file if one of this name exists.
static int read_axes(struct tb_sweep *sweep, const char *name, struct tb_error *error)
{
	struct tb_sweep_axis *axis = NULL;
	struct tb_hint hint;
	if (access(name, F_OK) == 0 || errno != ENOENT || strchr(name, '/'))
		return tb_sweep_file_read(name, sweep->axes, sweep, error);
	if (tb_experiment_find(name))
		return tb_sweep_axes_add(
			sweep->axes, false, EXPERIMENT, name, &axis, error);
	const char *near = tb_experiment_hint(&hint, name);
	return tb_fail(error, TB_EUSAGE,
		"'%s' is neither a sweep file nor an experiment%s", name,
		*near ? near : "; 'tailback sweep --list' has these");
}

// finish_sweep makes the points of the axes, with these changes; `name` is of a file or
// an experiment.
static int finish_sweep(struct tb_sweep *sweep, struct tb_sweep *made, const char *name,
	const char *const *changes, size_t n_changes, struct tb_error *error)
{
	int status = name ? read_axes(made, name, error) : TB_OK;
	for (size_t i = 0; i < n_changes && status == TB_OK; i++)
		status = change(made->axes, changes[i], error);
	if (status == TB_OK && name && !tb_sweep_axes_find(made->axes, EXPERIMENT))
		status = tb_fail_in(error, TB_EUSAGE, name,
			"names no experiment: expected experiment = NAME in [sweep]");
	if (status == TB_OK)
		status = make_points(made, error);
	if (status == TB_OK)
		*sweep = *made;
	else
		tb_sweep_fini(made);
	return status;
}

int tb_sweep_of_job(struct tb_sweep *sweep, const struct tb_sweep_job *job,
	const char *const *changes, size_t n_changes, struct tb_error *error)
{
	struct tb_sweep made = {.axes = calloc(1, sizeof *made.axes)};
	if (!made.axes)
		return tb_fail_memory(error, "a sweep");
	made.axes->job = job;
	return finish_sweep(sweep, &made, NULL, changes, n_changes, error);
}

const char *tb_sweep_value_of(const struct tb_sweep_point *point, const char *axis)
{
	for (size_t i = 0; i < point->n_values; i++)
		if (strcmp(point->values[i].axis, axis) == 0)
			return point->values[i].text;
	return NULL;
}

int tb_sweep_read(struct tb_sweep *sweep, const char *name, const char *const *changes,
	size_t n_changes, struct tb_error *error)
{
	struct tb_sweep made = {.axes = calloc(1, sizeof *made.axes)};
	if (!made.axes)
		return tb_fail_memory(error, "a sweep");
	return finish_sweep(sweep, &made, name, changes, n_changes, error);
}
