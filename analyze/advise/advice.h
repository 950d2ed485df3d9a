// What to change about a run, proved: each change is replayed, and so is the run as it
// was, with the same seeds.
//
// Model: changes are those that the findings propose (findings.h) and those of a fixed
// search: placement, routes, the algorithm of the heaviest collective operation, starts
// of jobs, faster links, more and fewer cables. A change gains what the run, or a
// message, takes less with it than without: of the means over seeds, in percent, with
// Student's 95 % interval of that ratio over pairs of one seed (tb_savings). Pairs help
// where the seed decides the same in both, such as places or, of the same ways, choices
// (correlation 0.8 to 1), and cost little where it does not. It helps, or harms, when the
// interval lies on one side of 0 and the gain is TB_ADVICE_MATTERS or more; unclear is an
// interval of as much that holds 0. With one seed, what seeds usually move (seed_moves.h)
// is the interval, and a random placement, one draw of many, is unclear. Of one job the
// time of the run decides, of several what each takes from its own start, mean over jobs,
// or over those that the caller names: a later start is told as such, and one by which
// the job ends later stands behind what costs nothing, as does what harms a job, which
// its title says; of captures, which last as long as they were captured, the mean latency
// of a message.
//
// A few seeds can look steady by luck: below TB_ADVICE_SEEDS_FEW an interval is taken to
// be no narrower than half of those that vary are. The best are replayed with as many
// fresh seeds again, until these confirm the interval or there are TB_ADVICE_SEEDS_MOST;
// so are those that would be among the best and are unclear, where that will tell: of
// changes known by 60 seeds 51 % are then judged rightly so and 0.7 % wrongly, by the
// pairs' own ratios, and without more where it is unclear, 34 and 0.5 %.
//
// A placement never changes the job: libraries know the hosts that they knew in the run,
// and one that sends other messages failed. A change that has ranks on more nodes than
// the run had costs these, and stands behind those that cost nothing.
//
// What a bound rules out is not replayed, nor what it lets gain no more than another
// change, which costs no more, was proved to. Where messages are long, and packets many,
// the fluid model first chooses what is (advice_tries.c); proof is always with packets.
//
// Replays run beside this program, in processes of their own, several at once, from the
// folder in which they are started: where the run was replayed. They are forked from this
// one once it has read the input, so that the job is read, or inferred, once. Where
// nothing is drawn by the seed (tb_switching_draws), one replay stands for all seeds.
//
// All replays start at the beginning, none from a state kept of another: changes of
// routes, placements, links and algorithms act from there. Only a later start of a job
// that does not start at once, and a run without its late faults, share a beginning: of
// two jobs, one from 150 of 686 us on, 3 of 19 changes, 2 % of the work.
#ifndef TB_ADVICE_H
#define TB_ADVICE_H

#include "format.h"
#include "run.h"
#include "stop.h"

#include <stdio.h>

#define TB_ADVICE_SEEDS	     3 // where nobody asks for others
#define TB_ADVICE_SEEDS_MOST 20
#define TB_ADVICE_SEEDS_FEW  6
// Percent; what is less is lost in what a model leaves out.
#define TB_ADVICE_MATTERS 0.5

struct tb_advice; // opaque

struct tb_advice_options {
	uint32_t n_seeds;   // 1 to TB_ADVICE_SEEDS_MOST, from the run's own on
	uint32_t n_at_once; // replays, at least 1
	uint32_t most;	    // changes to try, those of the findings first; 0: all
	double seconds;	    // after which no replay goes on; 0: no limit
	bool only_findings; // only what they propose, nothing of the search
	bool exact;	    // the fluid model leaves nothing out
	// Where files go that changes which help need (tb_advice_write_files); it is made
	// at once, and the commands name it. NULL: nowhere.
	const char *folder;
	// The jobs whose run times decide, by name or number; without any: all together.
	const char *const *jobs;
	size_t n_jobs;
	const volatile sig_atomic_t *stop;
	// With a replay's arguments behind the program's name: `read_input` reads it
	// here, and reports no failure, `run_replay` is called in a process forked
	// afterwards, and returns the exit code (child.h).
	void (*read_input)(void *context, const char *const *arguments);
	int (*run_replay)(void *context, int argc, char **argv);
	void *replay_context;
	// Before the first replay: `n_replays` of them, each of which takes run_s as the
	// run did, take about `seconds`. NULL: nobody asks.
	void (*foretell)(void *context, uint64_t n_replays, double run_s, double seconds);
	// Now and then; about `fraction` of the replays is done. NULL: nobody watches.
	void (*watch)(void *context, double fraction);
	void *context;
};

// tb_advice_new tries the changes. What `stop` or the time cut off is listed as not
// tried. TB_EUSAGE when the run cannot be replayed again, its input is another one now,
// only_findings leaves nothing to try, or it has no such jobs; TB_ESTOPPED when the run
// as it was did not come to its end in time; TB_EIO, with the sentence of the replay,
// when that failed, or when its input is not there. The run must outlive the advice.
int tb_advice_new(struct tb_advice **advice, struct tb_run *run,
	const struct tb_advice_options *options, struct tb_error *error) TB_MUST_USE;
void tb_advice_free(struct tb_advice *advice);

// tb_advice_keep adds what was tried to the run's store, whose findings tell it from then
// on. TB_EIO when it cannot be written.
int tb_advice_keep(const struct tb_advice *advice, const char *store,
	struct tb_error *error) TB_MUST_USE;

// tb_advice_write_files writes the files of what helps into the folder; each appears when
// it is whole. TB_EIO; what was proved is known all the same.
int tb_advice_write_files(
	const struct tb_advice *advice, struct tb_error *error) TB_MUST_USE;

// tb_advice_write writes text within `width` characters (0: any), CSV, JSON or Markdown;
// best first. Write errors show in ferror(stream). TB_ENOMEM.
int tb_advice_write(const struct tb_advice *advice, enum tb_format format, unsigned width,
	FILE *stream, struct tb_error *error) TB_MUST_USE;

// tb_advice_write_schema writes the schema of the JSON: schemas/advise.schema.json.
int tb_advice_write_schema(FILE *stream, struct tb_error *error) TB_MUST_USE;

#endif
