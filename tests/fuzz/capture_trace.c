// Any file as a trace: tb_trace_find and tb_trace_read must agree on the format.
#include "trace.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[64];
	const char *path = name;
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	const struct tb_trace_reader *reader = NULL;
	const struct tb_packets_options packets = {0};
	const struct tb_trace_request request = {
		.paths = &path, .n = 1, .packets = &packets};
	struct tb_trace trace = {0};
	struct tb_error error = {0};
	int found = tb_trace_find(&reader, path, &error);
	if (found != (int)error.code)
		abort();
	int status = tb_trace_read(&trace, &request, &error);
	if (status != TB_OK && (status != (int)error.code || !error.text[0]))
		abort();
	if (found != TB_OK && status != found)
		abort();
	if (status == TB_OK && (trace.reader != reader || !trace.job == !trace.packets))
		abort();
	tb_job_free(trace.job);
	tb_packets_free(trace.packets);
	close(fd);
	return 0;
}
