// What the files of this room share.
#ifndef TB_ADVICE_IMPL_H
#define TB_ADVICE_IMPL_H

#include "advice.h"
#include "evidence.h"
#include "replay_command.h"
#include "rules.h"
#include "run_tried.h"
#include "statistics.h"

#include <stdlib.h>

enum tb_verdict {
	TB_VERDICT_HELPS,
	TB_VERDICT_SAME,
	TB_VERDICT_UNCLEAR, // more seeds would say
	TB_VERDICT_HARMS,
	TB_VERDICT_FAILED,   // refused, say
	TB_VERDICT_CANNOT,   // a bound rules it out
	TB_VERDICT_CAPPED,   // it cannot gain more than another one does
	TB_VERDICT_SCREENED, // the fluid model foresees no gain
	TB_VERDICT_CUT,	     // not tried, or not to its end
	TB_VERDICTS
};
extern const char *const tb_verdict_words[TB_VERDICTS];

// What a replay came to.
struct tb_tried_run {
	bool known;
	double run_ps, latency_ps, wait_ps;
	double *job_ps;		// by job, its run time; malloc'ed
	uint64_t n_undelivered; // messages given up
	uint64_t n_messages;	// delivered
	uint32_t n_nodes;	// with ranks
};

// A file that a change needs: written for its replays, and for the user when it helps.
struct tb_advice_file {
	char name[64];
	char *text; // `size` bytes; malloc'ed
	size_t size;
	uint32_t job; // whose map it is
	enum { TB_ADVICE_FILE_MAP, TB_ADVICE_FILE_ROUTES, TB_ADVICE_FILE_FABRIC } kind;
};

// What a change gains of; one of the first three decides.
enum tb_advice_by {
	TB_ADVICE_BY_RUN,
	TB_ADVICE_BY_JOBS, // of several: what they take from their starts, mean over
			   // them or those chosen
	TB_ADVICE_BY_LATENCY,
	TB_ADVICE_OF_WAIT,
	TB_ADVICE_GAINS
};

struct tb_change {
	enum tb_rule id;
	const char *rule; // its name
	char title[224];  // what is changed: "placement=random"
	char *command;	  // for the user; malloc'ed
	char *proposal;	  // as the finding has it; NULL: the search's; malloc'ed
	struct tb_replay_command words;
	struct tb_advice_file *files; // malloc'ed
	size_t n_files;
	char settings[200]; // of the libraries, for a shell; "": none
	bool needs_hardware;
	bool is_for_nodes;    // changes links of the nodes too
	uint32_t delayed_job; // starts later, by delay_ps
	double delay_ps;      // 0: none does
	uint32_t harmed_job;  // of several, most beyond chance; TB_ID_NONE: none
	size_t parts[2];      // of a pair: its changes, until they are sorted
	struct tb_tried_run outcomes[TB_ADVICE_SEEDS_MOST]; // by seed, from the run's on
	uint32_t n_seeds; // that it has in common with the run as it was
	// Whether its replays may differ by the seed: 1; -1: they do not; 0: not asked
	// yet.
	int varies;
	bool settled;  // fresh seeds confirmed the interval of those before
	bool unsteady; // they never did
	// What the seed alone usually moves (seed_moves.h), a share: run time, latency.
	double moves[2];
	double most;	 // percent that its bound lets the run time gain; INFINITY: none
	char bound[112]; // "on an ideal network it would take 2 us"
	bool waits;	 // for those replayed first, which may gain as much
	char why[256];	 // it failed, cannot help, or no more than another one
	enum tb_verdict verdict;
	// Percent that it takes less than the run as it was.
	struct tb_estimate gains[TB_ADVICE_GAINS];
	double foreseen; // that of the run by the fluid model; NaN: it was not asked
};

struct tb_advice {
	struct tb_run *run;
	const struct tb_run_info *info;
	struct tb_change *changes; // the first one changes nothing
	size_t n, room;
	enum tb_advice_by by;
	uint32_t job; // alone decides; TB_ID_NONE: none does
	bool *chosen; // by job: it decides; NULL: all do
	char chosen_names[160];
	uint32_t n_seeds;
	bool *is_server;  // by node: one of the few that many send to
	bool has_servers; // of which the findings tell
	bool has_slow_cables;
	char straggler[400]; // what the findings tell of one; "": there is none
	bool screens;	     // the fluid model chose
	char screening[240]; // a sentence on that; "": there was nothing to choose
	struct tb_evidence evidence; // of the run, without what was tried before
	const char *folder;	     // of the user, for files; NULL: none
	bool no_memory;
};

// advice_changes.c: lists the changes, the run as it was first. Errors as of
// tb_advice_new.
int tb_advice_list(
	struct tb_advice *advice, bool only_findings, struct tb_error *error) TB_MUST_USE;

// advice_changes.c: makes a change, which the two below add: tb_advice_again the run's
// own command, false when there is none; tb_advice_search takes the command, and adds the
// change unless it is there or changes nothing; it returns it, NULL when it did not.
bool tb_advice_again(struct tb_advice *advice, struct tb_replay_command *words);
struct tb_change *tb_advice_search(struct tb_advice *advice, enum tb_rule rule,
	struct tb_replay_command *words, const char *title);
// tb_advice_again_by_job is as tb_advice_again, where the command names each job.
bool tb_advice_again_by_job(struct tb_advice *advice, struct tb_replay_command *words);
// tb_advice_search_with does so with `n` files, which it takes, in the user's folder.
void tb_advice_search_with(struct tb_advice *advice, enum tb_rule rule,
	struct tb_replay_command *words, const char *title, struct tb_advice_file *files,
	size_t n);
// title NULL: "key=value".
void tb_advice_search_network(struct tb_advice *advice, enum tb_rule rule,
	const char *key, const char *value, const char *title);
bool tb_advice_has_option(const struct tb_advice *advice, const char *option);
// tb_advice_is_of_calls returns whether a job was made of what a program's ranks called.
bool tb_advice_is_of_calls(const struct tb_advice *advice, uint32_t job);
void tb_change_fini(struct tb_change *change);

// advice_search.c and advice_places.c: what is tried whatever the findings say.
int tb_advice_search_all(struct tb_advice *advice, struct tb_error *error) TB_MUST_USE;
int tb_advice_search_places(struct tb_advice *advice, struct tb_error *error) TB_MUST_USE;
// tb_advice_name_files makes a command take its files from a folder.
void tb_advice_name_files(struct tb_replay_command *words,
	const struct tb_advice_file *files, size_t n, const char *folder);

// tb_advice_files_write writes the files of a change into a folder.
int tb_advice_files_write(const struct tb_change *change, const char *folder,
	struct tb_error *error) TB_MUST_USE;
// tb_advice_files_folder makes the user's folder, unless it is there; TB_EIO.
int tb_advice_files_folder(const char *folder, struct tb_error *error) TB_MUST_USE;

// tb_advice_limit leaves out what a bound rules out, and has wait what it caps: of each
// kind of bounded changes that cost the same all but the one that may gain most. Errors
// as of tb_advice_new. tb_advice_cap ends the wait of what is bought, or costs nothing,
// and leaves out what can gain no more than a change that costs no more was proved to.
int tb_advice_limit(struct tb_advice *advice, struct tb_error *error) TB_MUST_USE;
void tb_advice_cap(struct tb_advice *advice, bool bought);

// tb_advice_add_pairs adds pairs of the changes that help most, until there are `most`
// changes in all (0: any number). It returns whether it added any.
bool tb_advice_add_pairs(struct tb_advice *advice, uint32_t most);

// tb_advice_try screens the changes, replays them, and replays those that seem best with
// more seeds.
int tb_advice_try(struct tb_advice *advice, const struct tb_advice_options *options,
	struct tb_error *error) TB_MUST_USE;

// tb_advice_judge compares the changes that were replayed with the run as it was.
// tb_advice_deciding returns the gain that decides, tb_advice_decides what it is a gain
// of, in the words of schemas/results.sql.
void tb_advice_judge(struct tb_advice *advice);
const struct tb_estimate *tb_advice_deciding(
	const struct tb_advice *advice, const struct tb_change *change);
const char *tb_advice_decides(const struct tb_advice *advice);
// tb_advice_more_nodes returns on how many nodes a change has ranks, where these are more
// than in the run as it was; 0: they are not.
uint32_t tb_advice_more_nodes(
	const struct tb_advice *advice, const struct tb_change *change);
// tb_advice_ends_later returns by how many ps the job that starts later ends later, mean
// over seeds; 0 where none does.
double tb_advice_ends_later(
	const struct tb_advice *advice, const struct tb_change *change);
// tb_advice_by_job writes how much less each job takes, from its start: of many the one
// that gains most and the one that gains least.
void tb_advice_by_job(const struct tb_advice *advice, const struct tb_change *change,
	char *text, size_t size);
enum tb_price tb_advice_price(
	const struct tb_advice *advice, const struct tb_change *change);
// tb_advice_gain estimates what a change gains, with the seeds from `first` on alone.
struct tb_estimate tb_advice_gain(const struct tb_advice *advice,
	const struct tb_change *change, enum tb_advice_by of, uint32_t first);

#endif
