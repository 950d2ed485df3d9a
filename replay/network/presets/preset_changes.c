// The list of changes behind a preset's name: "ib-hdr,levels=2,shape=xgft(2; 4,4; 1,4)".
#include "preset_reading.h"

#include <stdio.h>
#include <string.h>

size_t tb_preset_item_length(const char *list)
{
	size_t n = 0, open = 0;
	for (; list[n] && (list[n] != ',' || open > 0); n++) {
		open += list[n] == '(';
		open -= list[n] == ')' && open > 0;
	}
	return n;
}

void tb_preset_last_change(const char *list, const char *key, char *value, size_t size)
{
	size_t n_key = strlen(key);
	size_t n = 0;
	for (const char *at = list; at && *at; at += n + (at[n] == ',')) {
		n = tb_preset_item_length(at);
		if (n <= n_key || strncmp(at, key, n_key) != 0 || at[n_key] != '=')
			continue;
		size_t length = n - n_key - 1;
		snprintf(value, size, "%.*s", (int)(length < size ? length : 0),
			at + n_key + 1);
	}
}

int tb_preset_change(struct tb_preset_reading *reading, char *list)
{
	reading->in_list = true;
	for (char *item = list, *rest; item; item = rest) {
		rest = item + tb_preset_item_length(item);
		rest = *rest ? rest : NULL;
		if (rest)
			*rest++ = '\0';
		char *equals = strchr(item, '=');
		if (!equals || equals == item)
			return tb_fail(reading->error, TB_EUSAGE,
				"'%s' behind the network's name: expected key=value",
				item);
		*equals = '\0';
		int status = tb_preset_set(reading, NULL, item, equals + 1);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}
