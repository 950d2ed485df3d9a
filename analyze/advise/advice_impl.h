// What the files of this room share.
#ifndef TB_ADVICE_IMPL_H
#define TB_ADVICE_IMPL_H

#include "advice.h"
#include "replay_command.h"
#include "statistics.h"

#include <stdlib.h>

enum tb_verdict {
	TB_VERDICT_HELPS,
	TB_VERDICT_SAME,
	TB_VERDICT_UNCLEAR, // more seeds would say
	TB_VERDICT_HARMS,
	TB_VERDICT_FAILED, // refused, say
	TB_VERDICT_CUT,	   // not tried, or not to its end
	TB_VERDICTS
};
extern const char *const tb_verdict_words[TB_VERDICTS];

// What a replay came to.
struct tb_tried_run {
	double run_ps, latency_ps, wait_ps;
	uint64_t n_undelivered; // messages given up
};

// A file that a change needs: written for its replays, and for the user when it helps.
struct tb_advice_file {
	char name[64];
	char *text; // `size` bytes; malloc'ed
	size_t size;
	uint32_t job;	// whose map it is
	bool is_routes; // and no map: --routes takes it
};

struct tb_change {
	const char *rule; // of the findings or the search; constant
	char title[160];  // what is changed: "placement=random"
	char *command;	  // for the user; malloc'ed
	char *proposal;	  // as the finding has it; NULL: the search's; malloc'ed
	struct tb_replay_command words;
	struct tb_advice_file *files; // malloc'ed
	size_t n_files;
	char settings[200]; // of the libraries, for a shell; "": none
	struct tb_tried_run outcomes[TB_ADVICE_SEEDS_MOST];
	uint32_t n_outcomes;
	char why[256]; // it failed
	enum tb_verdict verdict;
	// Percent that it takes less than the run as it was.
	struct tb_estimate run_gain, latency_gain, wait_gain;
};

struct tb_advice {
	struct tb_run *run;
	const struct tb_run_info *info;
	struct tb_change *changes; // the first one changes nothing
	size_t n, room;
	bool by_latency; // decides, not the run
	uint32_t n_seeds;
	const char *folder; // of the user, for files; NULL: none
	bool no_memory;
};

// What stands in a command for the user's folder where none is given.
#define TB_ADVICE_NO_FOLDER "FOLDER"

// advice_changes.c: lists the changes, the run as it was first. TB_EUSAGE when it cannot
// be replayed again.
int tb_advice_list(struct tb_advice *advice, struct tb_error *error) TB_MUST_USE;

// advice_changes.c: makes a change, which the two below add: tb_advice_again the run's
// own command, false when there is none; tb_advice_search takes the command, and adds the
// change unless it is there or changes nothing; it returns it, NULL when it did not.
bool tb_advice_again(struct tb_advice *advice, struct tb_replay_command *words);
struct tb_change *tb_advice_search(struct tb_advice *advice, const char *rule,
	struct tb_replay_command *words, const char *title);
void tb_advice_search_network(
	struct tb_advice *advice, const char *rule, const char *key, const char *value);
bool tb_advice_has_option(const struct tb_advice *advice, const char *option);
void tb_change_fini(struct tb_change *change);

// advice_search.c and advice_places.c: what is tried whatever the findings say.
int tb_advice_search_all(struct tb_advice *advice, struct tb_error *error) TB_MUST_USE;
int tb_advice_search_places(struct tb_advice *advice, struct tb_error *error) TB_MUST_USE;
// advice_routes.c: forwarding tables for the run's traffic.
int tb_advice_search_routes(struct tb_advice *advice, struct tb_error *error) TB_MUST_USE;
// tb_advice_name_files has a command take its files from a folder.
void tb_advice_name_files(struct tb_replay_command *words,
	const struct tb_advice_file *files, size_t n, const char *folder);

// advice_files.c: writes the files of a change into a folder, and removes them again.
// tb_advice_files_path is the path of one.
int tb_advice_files_write(const struct tb_change *change, const char *folder,
	struct tb_error *error) TB_MUST_USE;
void tb_advice_files_remove(const struct tb_change *change, const char *folder);
void tb_advice_files_path(
	const struct tb_advice_file *file, const char *folder, char *path, size_t size);
// tb_advice_files_folder makes the user's folder, unless it is there; TB_EIO.
int tb_advice_files_folder(const char *folder, struct tb_error *error) TB_MUST_USE;
// tb_advice_files_keep writes those of all changes that help into the user's folder.
int tb_advice_files_keep(
	const struct tb_advice *advice, struct tb_error *error) TB_MUST_USE;

// advice_tries.c: replays all of them.
int tb_advice_try(struct tb_advice *advice, const struct tb_advice_options *options,
	struct tb_error *error) TB_MUST_USE;

#endif
