// tailback replay under mpirun: one run, simulated by several processes.
#include "cmd_replay.h"

#include "cli.h"
#include "recording_together.h"

static void catch_stop(void)
{
	(void)tb_cli_catch_stop();
}

static int serve(const struct replay_options *options)
{
	struct tb_error error;
	// A signal to any process is told to rank 0, which decides what becomes of it.
	catch_stop();
	return tb_recording_serve(&options->record, &error) == TB_OK
		       ? TB_EXIT_OK
		       : tb_cli_fail(&error);
}

static int lead(const struct replay_options *options, int (*check)(const void *context),
	const void *context)
{
	int code = check(context);
	if (code == TB_EXIT_OK)
		code = replay_run(options);
	else
		tb_recording_dismiss(options->record.peers);
	tb_recording_leave(options->record.peers);
	return code;
}

int replay_together(struct replay_options *options, int (*check)(const void *context),
	const void *context)
{
	struct tb_peers peers;
	struct tb_error error;
	if (tb_peers_open(&peers, &error) != TB_OK)
		return tb_cli_fail(&error);
	if (tb_peer_streams_new(&options->record.peers, &peers) != TB_OK)
		return tb_cli_no_memory("the processes");
	options->record.settled = catch_stop;
	int code = peers.rank > 0 ? serve(options) : lead(options, check, context);
	tb_peer_streams_free(options->record.peers);
	// A process that failed by itself leaves others waiting: then mpirun ends them.
	peers.leave(peers.context, peers.rank == 0 || code == TB_EXIT_OK);
	return code;
}
