// OTF2 archives. An input is all files of one but its anchor, as support/otf2_packed.h
// packs them.
#include "otf2_trace.h"

#include "../support/fuzz_calls.h"
#include "../support/fuzz_file.h"
#include "../support/otf2_packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What libotf2 does with damaged archives is not ours: it allocates as much as a count
// says and does not free all of a reader that it cannot open.
const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__lsan_default_suppressions(void)
{
	return "leak:libopen-trace-format2";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char folder[32];
	snprintf(folder, sizeof folder, "%s/otf2_XXXXXX", fuzz_folder());
	if (!mkdtemp(folder))
		abort();
	otf2_unpack(folder, data, size);
	for (unsigned lenient = 0; lenient < 2; lenient++)
		if (fuzz_turn(size, 2, lenient))
			fuzz_read(tb_otf2_read, folder,
				&(struct tb_reading){.lenient = lenient});
	otf2_remove(folder);
	return 0;
}
