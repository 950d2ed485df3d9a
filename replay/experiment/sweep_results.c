// The results of a point, and the estimated cost of running it.
#include "sweep.h"

#include <math.h>

// With more load than this, patterns crowd the network and are accepted no faster:
// uniform traffic among 64 nodes of qsnet, with two virtual channels (measured).
#define MOST_ACCEPTED 0.42

static const struct tb_sweep_result_info infos[] = {
	[TB_RESULT_OFFERED] = {"offered", "Offered bandwidth per node", "MB/s", 1e6},
	[TB_RESULT_ACCEPTED] = {"accepted", "Accepted bandwidth per node", "MB/s", 1e6},
	[TB_RESULT_TAKEN] = {"taken", "Bandwidth into a serving node", "MB/s", 1e6},
	[TB_RESULT_GIVEN] = {"given", "Bandwidth out of a serving node", "MB/s", 1e6},
	[TB_RESULT_LATENCY] = {"latency", "Latency of a message", "us", 1e-6},
	[TB_RESULT_WAITING] = {"waiting", "Headers that wait at a time", "", 1},
	[TB_RESULT_RATE] = {"rate", "Payload moved by all", "MB/s", 1e6},
	[TB_RESULT_STEADY] = {"steady", "Steady state", "", 1},
	[TB_RESULT_GROWING] = {"growing", "Queues that grow", "", 1},
	[TB_RESULT_TIME] = {"time", "Run time", "ms", 1e-3},
};

const struct tb_sweep_result_info *tb_sweep_result_info(enum tb_sweep_result result)
{
	return &infos[result];
}

// per_sender returns a sum of the job's senders by each of them; a negative one stands
// for what they sent over their links.
static double per_sender(const struct tb_outcome *outcome, double of_job)
{
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < outcome->n_nodes; i++)
		if (outcome->nodes[i].role == TB_ROLE_SENDER) {
			sum += outcome->nodes[i].sent_bps;
			n++;
		}
	return n ? (of_job < 0 ? sum : of_job) / n : NAN;
}

static double mean_served(const struct tb_outcome *outcome, bool taken)
{
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < outcome->n_nodes; i++)
		if (outcome->nodes[i].serves) {
			sum += taken ? outcome->nodes[i].taken_bps
				     : outcome->nodes[i].sent_bps;
			n++;
		}
	return n ? sum / n : NAN;
}

// waiting: a link's wait divided by the window is the mean number of headers that waited
// there (Little's law).
static double waiting(const struct tb_outcome *outcome)
{
	double sum = 0;
	for (uint32_t i = 0; i < outcome->n_links; i++)
		sum += outcome->links[i].wait_share;
	return sum;
}

double tb_sweep_result_of(const struct tb_sweep_point *point,
	const struct tb_outcome *outcome, enum tb_sweep_result result)
{
	// A single message, or a job, is not steady traffic.
	enum tb_experiment_kind kind = point->experiment.kind;
	bool timed = kind == TB_EXPERIMENT_TIMED;
	bool steady = kind != TB_EXPERIMENT_LATENCY && !timed;
	switch (result) {
	case TB_RESULT_OFFERED:
		return point->experiment.load > 0
			       ? per_sender(outcome, outcome->posted_bps)
			       : NAN;
	case TB_RESULT_ACCEPTED:
		// With reads nodes also send what others read.
		return steady ? per_sender(outcome, point->experiment.reads > 0
							    ? outcome->job_bps
							    : -1)
			      : NAN;
	case TB_RESULT_TAKEN:
		return mean_served(outcome, true);
	case TB_RESULT_GIVEN:
		return mean_served(outcome, false);
	case TB_RESULT_LATENCY:
		return outcome->latency_s > 0 ? outcome->latency_s : NAN;
	case TB_RESULT_WAITING:
		return steady ? waiting(outcome) : NAN;
	case TB_RESULT_RATE:
		return timed && outcome->job_bps > 0 ? outcome->job_bps : NAN;
	case TB_RESULT_STEADY:
		return steady ? outcome->steady : NAN;
	case TB_RESULT_GROWING:
		return steady ? outcome->grows : NAN;
	case TB_RESULT_TIME:
		break;
	}
	return NAN;
}

// n_busy returns how many nodes' links are saturated: for a hot spot and I/O, those of
// the serving nodes.
static double n_busy(const struct tb_experiment *experiment)
{
	switch (experiment->kind) {
	case TB_EXPERIMENT_LATENCY:
	case TB_EXPERIMENT_TIMED:
		return 0;
	case TB_EXPERIMENT_PING:
	case TB_EXPERIMENT_HOT:
		return 1;
	case TB_EXPERIMENT_BOTH_WAYS:
		return 2;
	case TB_EXPERIMENT_IO:
		return experiment->n_io;
	case TB_EXPERIMENT_PATTERN:
		return experiment->n_active;
	case TB_EXPERIMENT_MIX:
		return experiment->n_active / 2.0 + experiment->n_io;
	}
	return 1;
}

double tb_sweep_share(const struct tb_sweep_point *point)
{
	const struct tb_experiment *experiment = &point->experiment;
	double load = experiment->load > 0 ? fmin(experiment->load, 1) : 1;
	switch (experiment->kind) {
	case TB_EXPERIMENT_PATTERN:
	case TB_EXPERIMENT_MIX:
		return fmin(load / MOST_ACCEPTED, 1);
	case TB_EXPERIMENT_HOT:
	case TB_EXPERIMENT_IO:
		return fmin(load * experiment->n_active / n_busy(experiment), 1);
	case TB_EXPERIMENT_LATENCY:
	case TB_EXPERIMENT_PING:
	case TB_EXPERIMENT_BOTH_WAYS:
	case TB_EXPERIMENT_TIMED:
		break;
	}
	return load;
}

double tb_sweep_cost(const struct tb_sweep_point *point)
{
	const struct tb_experiment *experiment = &point->experiment;
	double share = tb_sweep_share(point);
	double us = (double)experiment->warm_us + experiment->window_us;
	double hops = 2 + log2(experiment->n_active);
	return us * share * n_busy(experiment) * hops;
}
