#include "proof.h"

#include "beside.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 2000 // for a process that was asked to end
#define STEP_MS	    10

// can_write returns whether a store can be written: SQLite keeps its journal beside it.
static bool can_write(const char *store)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(store, '/');
	int length = slash ? (int)(slash - store) + 1 : 0;
	snprintf(folder, sizeof folder, "%.*s.", length, store);
	return access(store, W_OK) == 0 && access(folder, W_OK) == 0;
}

int tb_proof_start(
	struct tb_proof *proof, const char *store, int64_t run, struct tb_error *error)
{
	char id[32];
	snprintf(id, sizeof id, "--run=%" PRId64, run);
	const char *const arguments[] = {"advise", "--progress-numbers",
		"--only=findings", "--time=" TB_PROOF_TIME, id, "--", store, NULL};
	*proof = (struct tb_proof){.fraction = -1};
	if (!can_write(store))
		return tb_fail_in(error, TB_EIO, store,
			"cannot be written, so nothing that is tried could be kept");
	int status = tb_temporary_init(&proof->folder, "what is tried", error);
	if (status != TB_OK)
		return status;
	tb_temporary_file(&proof->folder, "said", proof->said);
	tb_temporary_file(&proof->folder, "answer", proof->answer);
	const struct tb_child_options child = {.arguments = arguments,
		.input = -1,
		.apart = true,
		.log = proof->said,
		.output = proof->answer};
	status = tb_child_start(&proof->child, &child, error);
	if (status != TB_OK)
		tb_temporary_fini(&proof->folder);
	return status;
}

int tb_proof_poll(struct tb_proof *proof, char *sentence, size_t size)
{
	int code;
	if (!proof->child.pid)
		return 0;
	if (!tb_child_ended(&proof->child, &code)) {
		(void)tb_beside_progress(proof->said, &proof->fraction, &proof->left_s);
		return 0;
	}
	if (proof->cancelled && code != 0)
		snprintf(sentence, size, "Cancelled: nothing was kept.");
	else // the answer is its first line
		tb_beside_sentence(
			code == 0 ? proof->answer : proof->said, sentence, size);
	tb_temporary_fini(&proof->folder);
	return 1;
}

void tb_proof_cancel(struct tb_proof *proof)
{
	if (proof->child.pid)
		kill(proof->child.pid, SIGTERM);
	proof->cancelled = true;
}

void tb_proof_end(struct tb_proof *proof)
{
	static const struct timespec step = {.tv_nsec = STEP_MS * 1000 * 1000};
	int code, waited_ms = 0;
	tb_proof_cancel(proof);
	while (proof->child.pid && !tb_child_ended(&proof->child, &code) &&
		waited_ms < PATIENCE_MS) {
		nanosleep(&step, NULL);
		waited_ms += STEP_MS;
	}
	tb_temporary_fini(&proof->folder);
}
