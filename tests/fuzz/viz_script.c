// Any bytes as a viewer's script.
#include "session_impl.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tb_script script;
	struct tb_error error;
	if (tb_script_parse(&script, (const char *)data, size, "fuzz", &error) == TB_OK)
		tb_script_fini(&script);
	return 0;
}
