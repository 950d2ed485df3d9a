// A job inferred from a capture, from the file's bytes on.
#include "infer.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void infer(struct tb_packets *packets)
{
	struct tb_infer_report report;
	struct tb_error error = {0};
	struct tb_job *job = NULL;
	int status = tb_infer_job(packets, true, &job, &report, &error);
	if (status != TB_OK && (status != (int)error.code || !error.text[0] || job))
		abort();
	if (status != TB_OK)
		return;
	struct tb_job_summary summary;
	tb_job_summarize(job, &summary);
	if (summary.n_sends != report.n_messages || summary.send_bytes != report.bytes)
		abort();
	tb_job_free(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	const char *paths[] = {path};
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct tb_packets_options options = tb_infer_options(NULL);
	struct tb_packets *packets;
	struct tb_error error = {0};
	if (tb_packets_open(&packets, paths, 1, &options, &error) == TB_OK) {
		infer(packets);
		tb_packets_free(packets);
	}
	close(fd);
	return 0;
}
