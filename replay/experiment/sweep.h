// A sweep: an experiment whose settings take several values each. Every combination is a
// point, and becomes one run.
//
// Model: a sweep file is INI text. Its section [sweep] names the experiment and gives
// values to keys (tb_sweep_keys), [network] the preset and overrides of its keys, [plot]
// how the results are to be drawn. A value is a list (value_list.h): "0.1, 0.5", "1..5",
// "0.1..1 step 0.1", "1K..1M x2". Every key is an axis; the points are all combinations,
// the axis that is named first changing slowest. Other settings are those of the
// experiment, except for the window: it grows with the message size, to hold as many
// messages, and at low load, to hold as many packets. A network may bring changes of its
// own behind commas, and may be a fabric in a file: "fabric.topo,preset=ib-hdr, qsnet"
// are two.
//
// A point is identified by its settings, one line of text, whatever file it came from;
// where its network stands in files (a fabric, a preset), with a hash of these, so that
// a changed file makes other points.
// Everything is checked on reading: every point of a sweep that was read can be run.
#ifndef TB_SWEEP_H
#define TB_SWEEP_H

#include "experiment.h"

#include <stddef.h>

struct tb_sweep_key {
	const char *name;
	const char *summary; // one line: what it is, and what values look like
};

// Ends with a NULL name. The last, TB_PRESET_AXIS, stands as 'preset' in [network].
#define TB_PRESET_AXIS "network"
extern const struct tb_sweep_key tb_sweep_keys[];

struct tb_sweep_value {
	const char *axis; // a key of tb_sweep_keys, or one of the network that was named
	char *text;	  // sizes in bytes, times in us, "full" for a load without limit
};

struct tb_sweep_point {
	struct tb_experiment experiment;
	struct tb_network_params params;
	uint32_t n_hosts; // of a network that does not grow (tb_network_open_params)
	char *network;	  // as tb_network_open reads it
	uint64_t seed;
	struct tb_sweep_value *values; // all that make it this point
	size_t n_values;
	size_t n_own;	    // of them, before the network and its keys
	char *settings;	    // the same as one line
	uint64_t file_hash; // of the bytes of the network's files, with which the
			    // settings end; 0: it has none
};

// tb_sweep_set_up reads an experiment with changes, such as "hot nodes=16 reads=1
// bus=320MB/s": the name, keys of tb_sweep_keys, and keys of its network, which it writes
// to `changes` as text to be appended to a network's name, ",bus=320MB/s" here. Errors as
// tb_sweep_read.
int tb_sweep_set_up(struct tb_experiment *experiment, char *changes, size_t size,
	const char *text, struct tb_error *error) TB_MUST_USE;

#define TB_SWEEP_POINTS_MAX  100000
#define TB_SWEEP_HASH_DIGITS 16

// How the curves are drawn by default: the keys of [plot].
struct tb_sweep_hint {
	char *key, *text;
};

struct tb_sweep {
	struct tb_sweep_point *points;
	size_t n_points;
	struct tb_sweep_hint *hints;
	size_t n_hints, hints_room;
	struct tb_sweep_axes *axes; // private
};

// tb_sweep_read reads a sweep file; when `name` is that of an experiment, it makes a
// sweep of that. `changes` are n_changes texts "key=value" that replace values of [sweep]
// or [network]. TB_EUSAGE for values that make no sense, TB_EFORMAT for a broken line,
// TB_ECAPACITY for more than TB_SWEEP_POINTS_MAX points; the error has the place.
int tb_sweep_read(struct tb_sweep *sweep, const char *name, const char *const *changes,
	size_t n_changes, struct tb_error *error) TB_MUST_USE;
void tb_sweep_fini(struct tb_sweep *sweep);

// What is replayed at each point, in place of an experiment.
struct tb_sweep_job {
	const char *name;    // of its files
	const char *options; // with which it is replayed, in one word
	const char *digest;  // of all that it is read from
	const char *network; // where no axis is TB_PRESET_AXIS
};

// The axes of such a sweep beside the network, its keys and "seed".
#define TB_AXIS_PER_NODE "per-node"
#define TB_AXIS_FAULT	 "fault" // as tb_faults_add reads them, or "none"

// tb_sweep_of_job makes a sweep of a job; errors as tb_sweep_read.
int tb_sweep_of_job(struct tb_sweep *sweep, const struct tb_sweep_job *job,
	const char *const *changes, size_t n_changes, struct tb_error *error) TB_MUST_USE;

// tb_sweep_value_of returns the value that a point has on an axis; NULL: none.
const char *tb_sweep_value_of(const struct tb_sweep_point *point, const char *axis);

// tb_sweep_share returns the share of the most traffic that a point's network, or its
// serving nodes, carry, above 0 and at most 1: with more load the point takes no longer.
double tb_sweep_share(const struct tb_sweep_point *point);

// tb_sweep_cost estimates the work of a point, in packet hops, so that long ones go
// first.
double tb_sweep_cost(const struct tb_sweep_point *point);

// What is measured of a point, in the window.
enum tb_sweep_result {
	TB_RESULT_OFFERED,  // payload that a sender posted, with a load, mean
	TB_RESULT_ACCEPTED, // payload sent per sender of the measured job, mean
	TB_RESULT_TAKEN,    // payload into a node that serves, mean
	TB_RESULT_GIVEN,    // payload out of a node that serves, mean
	TB_RESULT_LATENCY,  // of a message from post to delivery, mean; of a timed job
			    // the time that it takes
	TB_RESULT_WAITING,  // headers that wait at the same time, mean
	TB_RESULT_RATE,	    // payload that a timed job moves
	TB_RESULT_STEADY,   // 1: its rate does not change over the window; 0: it does
	TB_RESULT_GROWING,  // 1: queues grow over the window; 0: none does
	TB_RESULT_TIME,	    // that a replayed job takes
};
#define TB_N_RESULTS 10

struct tb_sweep_result_info {
	const char *name;  // as typed: "accepted"
	const char *title; // of an axis: "Accepted bandwidth per node"
	const char *unit;  // that it is shown in, "" for a number
	double per_unit;   // how much of the stored value (B/s, s) one such unit is
};

const struct tb_sweep_result_info *tb_sweep_result_info(enum tb_sweep_result result);

// tb_sweep_result_of returns NaN where an experiment has no such result.
double tb_sweep_result_of(const struct tb_sweep_point *point,
	const struct tb_outcome *outcome, enum tb_sweep_result result);

#endif
