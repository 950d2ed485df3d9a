// Logs of NCCL: as calls, and what they tell beside these.
#include "nccl_log.h"

#include "../support/fuzz_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_facts(const uint8_t *data, size_t size)
{
	char path[64];
	const char *paths[] = {path};
	struct tb_facts *facts = NULL;
	struct tb_error error = {0};
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (tb_facts_new(&facts, &error) != TB_OK)
		abort();
	int status = tb_nccl_facts(
		facts, &(struct tb_reading){.lenient = true}, paths, 1, &error);
	if (status != TB_OK && !error.text[0])
		abort();
	tb_facts_free(facts);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_facts(data, size);
	return fuzz_calls(tb_nccl_read, data, size, 0);
}
