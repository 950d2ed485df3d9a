#include "cmd_capture_watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

// At most half of the pipe is filled, so that a packet never blocks the capture: packets
// leave parts of the pipe's pages unused.
#define PIPE_BYTES (1 << 20)

static int begin(struct capture_watch *watch, const char *network, const int ends[2],
	struct tb_error *error)
{
	const struct tb_beside_options options = {
		.network = network, .trace = "-", .input = ends[0], .shows = true};
	// The replay waits for this end to be closed, so it must not inherit it.
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	// The kernel refuses a large pipe to a user with many; then it stays small.
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	watch->most_bytes = fcntl(ends[1], F_GETPIPE_SZ) / 2;
	int status = tb_beside_start(&watch->beside, &options, error);
	if (status != TB_OK)
		return status;
	watch->stream = fdopen(ends[1], "wb");
	return watch->stream ? TB_OK : tb_fail_memory(error, "the stream to the replay");
}

static int try_begin(
	struct capture_watch *watch, const char *network, struct tb_error *error)
{
	int ends[2];
	if (pipe(ends) != 0)
		return tb_fail(error, TB_EIO, "cannot make a pipe to the replay");
	int status = begin(watch, network, ends, error);
	close(ends[0]);
	if (status != TB_OK)
		close(ends[1]);
	return status;
}

void capture_watch_begin(struct capture_watch *watch, const char *network,
	const struct tb_capture_source *source)
{
	struct tb_error error;
	char text[640];
	if (try_begin(watch, network, &error) != TB_OK) {
		fprintf(stderr, "tailback capture: warning: not watched: %s\n",
			tb_error_format(&error, text, sizeof text));
		return;
	}
	tb_capture_write_header(watch->stream, TB_CAPTURE_PCAPNG, source);
	fflush(watch->stream);
}

static void leave(struct capture_watch *watch)
{
	fclose(watch->stream);
	watch->stream = NULL;
}

void capture_watch_packet(
	struct capture_watch *watch, const struct tb_capture_packet *packet)
{
	int waiting = 0;
	if (!watch->stream)
		return;
	if (ioctl(fileno(watch->stream), FIONREAD, &waiting) == 0 &&
		waiting > watch->most_bytes) {
		watch->n_missed++;
		return;
	}
	tb_capture_write_packet(watch->stream, TB_CAPTURE_PCAPNG, packet);
	if (ferror(watch->stream))
		leave(watch); // the user closed the replay
}

void capture_watch_flush(struct capture_watch *watch)
{
	if (watch->stream && fflush(watch->stream) != 0)
		leave(watch);
}

void capture_watch_end(struct capture_watch *watch, uint64_t from_ns, uint64_t to_ns,
	const struct tb_capture_counts *counts)
{
	if (watch->stream) {
		tb_capture_write_end(
			watch->stream, TB_CAPTURE_PCAPNG, from_ns, to_ns, counts);
		leave(watch);
	}
	tb_beside_end(&watch->beside, false);
	if (watch->n_missed)
		fprintf(stderr,
			"tailback capture: the replay could not keep up and missed "
			"%" PRIu64 " packets; the file has them\n",
			watch->n_missed);
}
