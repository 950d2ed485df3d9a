// The command that replays a run's input once more, with something changed: made from
// the input's name and the options that a store keeps of the run.
//
// The command runs in the folder in which the run was replayed. It does not name what the
// store does not: the store itself, and options that do not bear on the result.
#ifndef TB_REPLAY_COMMAND_H
#define TB_REPLAY_COMMAND_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Words behind "tailback replay": the input's files, then the options.
struct tb_replay_command {
	char **words;
	size_t n;
	bool failed; // out of memory on the way: tb_replay_command_write reports it
};

// tb_replay_command_init reads a run's input (files joined by ", ", those of --job last)
// and options. TB_EUSAGE when the input cannot be replayed again, because it came from
// standard input or an experiment made it; TB_ENOMEM. tb_replay_command_fini frees the
// words; a zeroed struct is fine to free.
int tb_replay_command_init(struct tb_replay_command *command, const char *input_name,
	const char *options) TB_MUST_USE;
void tb_replay_command_fini(struct tb_replay_command *command);

// tb_replay_command_read reads what tb_replay_command_write has written, without the
// output. TB_ENOMEM.
int tb_replay_command_read(
	struct tb_replay_command *command, const char *text) TB_MUST_USE;

// tb_replay_command_set gives an option ("--time-scale") another value; it comes last
// when it was not there. tb_replay_command_drop takes an option away, however often it is
// given.
void tb_replay_command_set(
	struct tb_replay_command *command, const char *option, const char *value);
void tb_replay_command_drop(struct tb_replay_command *command, const char *option);

// tb_replay_command_drop_values takes those of an option away whose value `drops`
// chooses; it returns how many.
size_t tb_replay_command_drop_values(struct tb_replay_command *command,
	const char *option, bool (*drops)(const void *context, const char *value),
	const void *context);

// tb_replay_command_add adds an option without a value ("--alone"), unless it is there.
void tb_replay_command_add(struct tb_replay_command *command, const char *option);

// tb_replay_command_lighten leaves out what takes time and bears neither on links nor on
// how long the run takes: the ideal replay, bounds, a closed loop's check and range.
void tb_replay_command_lighten(struct tb_replay_command *command);

// tb_replay_command_network changes a parameter of the network: "ascent" to "adaptive".
void tb_replay_command_network(
	struct tb_replay_command *command, const char *key, const char *value);

// tb_replay_command_fabric has the fabric in `file` take the network's place: its changes
// stay but for those of its shape and rates, and what was a preset is the file's.
void tb_replay_command_fabric(struct tb_replay_command *command, const char *file);

// tb_replay_command_job changes a key of the job number `job`, counted over all inputs in
// the order of the input's name: "placement" to "cyclic". A job that was a plain trace is
// then given by --job. The keys named in `instead`, which the new one excludes, go (NULL
// at the end; may be NULL).
void tb_replay_command_job(struct tb_replay_command *command, size_t job, const char *key,
	const char *value, const char *const *instead);

// tb_replay_command_part returns how long the first part of "name,key=value,..." is: to
// the first comma behind which a key follows, or a word that takes no value (job_spec.h).
size_t tb_replay_command_part(const char *text);

// tb_replay_command_merge makes the changes of `other` in `command`, too; both were made
// from `own`. False, and `command` is of no use any more, when they change the same thing
// in different ways, or for want of memory (`failed`).
bool tb_replay_command_merge(struct tb_replay_command *command,
	const struct tb_replay_command *own, const struct tb_replay_command *other);

// tb_replay_command_n_jobs returns how many inputs the command has.
size_t tb_replay_command_n_jobs(const struct tb_replay_command *command);

// tb_replay_command_lacks returns whether a file of the input is not where the command,
// started in this folder, would look for it, and then writes a sentence on that.
bool tb_replay_command_lacks(
	const struct tb_replay_command *command, char *sentence, size_t size);

// tb_replay_command_write writes the command, its words quoted for a shell, with
// `output` as its store. TB_ENOMEM when a change before failed.
int tb_replay_command_write(const struct tb_replay_command *command, const char *output,
	FILE *stream) TB_MUST_USE;

#endif
