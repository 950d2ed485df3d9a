#include "recording_together.h"

#include "digest.h"
#include "recording_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GO = 1, STOP = 2 };

// What a process reports when it could begin, or could not.
struct begin_report {
	int status;
	char digest[TB_DIGEST_SIZE]; // of what it is to simulate
	char host[64];
	struct tb_error error;
};

// together_identify stores a digest of all that a replay depends on.
static int together_identify(
	const struct tb_recording *recording, char digest[TB_DIGEST_SIZE])
{
	char *options = tb_recording_describe(
		     recording->options, recording->wanted.hypothesis),
	     *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (stream)
		fprintf(stream, "%s\n%s\n%s %s\n%u %" PRIu32 " %zu", TB_VERSION,
			options ? options : "", recording->digest,
			recording->routes_digest, tb_network_n_nodes(recording->network),
			tb_network_n_links(recording->network),
			sizeof(struct tb_engine_stats));
	bool made = stream && fclose(stream) == 0 && options;
	if (made)
		tb_digest_text(text, size, digest);
	free(options);
	free(text);
	return made ? TB_OK : TB_ENOMEM;
}

// hear_report takes another process's report, and adopts its error.
static int hear_report(struct tb_peer_streams *peers, uint32_t rank, const char *digest,
	struct tb_error *error)
{
	const unsigned char *bytes = NULL;
	struct begin_report report;
	size_t n = 0;
	int status = tb_peer_streams_take(peers, rank, &bytes, &n);
	if (status != TB_OK || n != sizeof report)
		return tb_fail(error, TB_EIO, "rank %u was not understood", rank);
	memcpy(&report, bytes, sizeof report);
	report.host[sizeof report.host - 1] = '\0';
	report.digest[sizeof report.digest - 1] = '\0';
	report.error.file[sizeof report.error.file - 1] = '\0';
	if (report.status != TB_OK) {
		size_t used = strnlen(report.error.text, sizeof report.error.text - 1);
		snprintf(report.error.text + used, sizeof report.error.text - used,
			" (rank %u on %s)", rank, report.host);
		if (error)
			*error = report.error;
		return report.status;
	}
	if (strcmp(report.digest, digest) == 0)
		return TB_OK;
	return tb_fail(error, TB_EUSAGE,
		"rank %u on %s has another trace, network or option than rank 0", rank,
		report.host);
}

static void dismiss(struct tb_peer_streams *peers, uint32_t verdict)
{
	for (uint32_t rank = 1; rank < tb_peer_streams_n(peers); rank++)
		(void)!tb_peer_streams_put(peers, rank, &verdict, sizeof verdict);
}

void tb_recording_dismiss(struct tb_peer_streams *peers)
{
	dismiss(peers, STOP);
}

void tb_recording_leave(struct tb_peer_streams *peers)
{
	dismiss(peers, STOP);
}

int tb_recording_agree(
	const struct tb_recording *recording, int status, struct tb_error *error)
{
	struct tb_peer_streams *peers = recording->options->peers;
	char digest[TB_DIGEST_SIZE] = "";
	if (!peers)
		return status;
	if (status == TB_OK && together_identify(recording, digest) != TB_OK)
		status = tb_fail_memory(error, "the recording");
	for (uint32_t rank = 1; rank < tb_peer_streams_n(peers) && status == TB_OK;
		rank++)
		status = hear_report(peers, rank, digest, error);
	dismiss(peers, status == TB_OK ? GO : STOP);
	return status;
}

static int deaf_start(void *context, tb_time_ps bin_ps)
{
	(void)context, (void)bin_ps;
	return TB_OK;
}

static int deaf_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	(void)context, (void)bin, (void)samples, (void)n;
	return TB_OK;
}

static int deaf_flows(void *context, const struct tb_flow_sample *samples, size_t n)
{
	(void)context, (void)samples, (void)n;
	return TB_OK;
}

static int deaf_blame(void *context, const struct tb_blame_record *record)
{
	(void)context, (void)record;
	return TB_OK;
}

// together_begin makes the engine; what it records is for rank 0.
static int together_begin(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_observer deaf = {.start = deaf_start,
		.bin = deaf_bin,
		.flows = deaf_flows,
		.blame = deaf_blame};
	int status = tb_recording_open(recording, error);
	if (status == TB_OK)
		status = tb_recording_choose(recording, error);
	return status == TB_OK ? tb_recording_make_engine(recording, deaf, error)
			       : status;
}

// begin_report tells rank 0 how this process began, and returns whether it is to go on.
static bool begin_report(
	const struct tb_recording *recording, int status, const struct tb_error *cause)
{
	struct tb_peer_streams *peers = recording->options->peers;
	struct begin_report report = {.status = status};
	const unsigned char *bytes = NULL;
	uint32_t verdict = STOP;
	size_t n = 0;
	if (status != TB_OK)
		report.error = *cause;
	else if (together_identify(recording, report.digest) != TB_OK)
		report.status = tb_fail_memory(&report.error, "the recording");
	(void)gethostname(report.host, sizeof report.host - 1);
	if (tb_peer_streams_put(peers, 0, &report, sizeof report) != TB_OK ||
		tb_peer_streams_take(peers, 0, &bytes, &n) != TB_OK ||
		n != sizeof verdict)
		return false;
	memcpy(&verdict, bytes, sizeof verdict);
	return verdict == GO;
}

int tb_recording_serve(const struct tb_recording_options *options, struct tb_error *error)
{
	struct tb_recording recording = {.options = options};
	struct tb_error cause = {0};
	int status = together_begin(&recording, &cause);
	if (begin_report(&recording, status, &cause))
		status = tb_engine_follow(recording.hosted.engine, error);
	else
		status = TB_OK;
	tb_recording_fini(&recording);
	const unsigned char *bytes = NULL;
	size_t n = 0;
	if (status == TB_OK &&
		tb_peer_streams_take(options->peers, 0, &bytes, &n) != TB_OK)
		status = tb_fail(error, TB_EIO, "rank 0 was not understood");
	return status;
}
