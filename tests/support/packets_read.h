// Reads packet traces from captures written by a test, and keeps their first packets.
#ifndef PACKETS_READ_H
#define PACKETS_READ_H

#include "../capture_writer.h"
#include "packets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#define N_MAX 64

static char path[] = "packets_XXXXXX";
static char other[] = "packets_XXXXXX";
static char map_path[] = "packets_XXXXXX";
static struct tb_captured_packet got[N_MAX];
static size_t n_got;
static struct tb_packets *packets;
static const struct tb_packets_summary *summary;
static struct tb_error error;

// read_paths reads to the end into `got` and returns how it ended.
static int read_paths(
	const char *const *paths, size_t n, const struct tb_packets_options *options)
{
	struct tb_captured_packet packet;
	tb_packets_free(packets);
	packets = NULL;
	n_got = 0;
	error = (struct tb_error){0};
	int status = tb_packets_open(&packets, paths, n, options, &error);
	if (status != TB_OK)
		return status;
	while ((status = tb_packets_next(packets, &packet, &error)) == 1) {
		if (n_got < N_MAX)
			got[n_got] = packet;
		n_got++;
	}
	summary = tb_packets_summary(packets);
	return status;
}

static int read_path(const struct tb_packets_options *options)
{
	const char *list[] = {path};
	return read_paths(list, 1, options);
}

static void write_text(const char *to, const char *text)
{
	FILE *file = fopen(to, "wb");
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	(void)state;
	close(mkstemp(path));
	close(mkstemp(other));
	close(mkstemp(map_path));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tb_packets_free(packets);
	unlink(path);
	unlink(other);
	unlink(map_path);
	return 0;
}

#endif
