// The words of a list of changes that give a fluid a window of packets.
#include "preset_reading.h"

#include <stdio.h>
#include <string.h>

static const char *const window_keys[] = {"exact_from", "exact_to"};
enum { N_WINDOW_KEYS = sizeof window_keys / sizeof *window_keys };

bool tb_preset_has_window(const struct tb_preset_reading *reading, const char *list)
{
	char switching[32] = "", value[32] = "";
	tb_preset_last_change(list, "switching", switching, sizeof switching);
	for (size_t i = 0; i < N_WINDOW_KEYS; i++)
		tb_preset_last_change(list, window_keys[i], value, sizeof value);
	for (size_t i = 0; i < reading->n_kinds; i++)
		if (strcmp(reading->kinds[i].name, switching) == 0)
			return reading->kinds[i].stands_for_other && value[0];
	return false;
}

// window_take_key takes all words of a key out of a list, which stays as it is without
// any.
static void window_take_key(char *list, const char *key)
{
	size_t n_key = strlen(key);
	char *to = list;
	for (char *at = list, *next; *at; at = next) {
		size_t n = tb_preset_item_length(at);
		next = at + n + (at[n] == ',');
		if (n > n_key && strncmp(at, key, n_key) == 0 && at[n_key] == '=')
			continue;
		memmove(to, at, (size_t)(next - at));
		to += next - at;
	}
	if (to > list && to[-1] == ',')
		to--;
	*to = '\0';
}

void tb_preset_take_window(struct tb_preset_window *window, char *list)
{
	size_t n = 0;
	tb_preset_last_change(
		list, "switching", window->switching, sizeof window->switching);
	window_take_key(list, "switching");
	for (size_t i = 0; i < N_WINDOW_KEYS; i++) {
		char value[32] = "";
		tb_preset_last_change(list, window_keys[i], value, sizeof value);
		if (value[0])
			n += (size_t)snprintf(window->list + n, sizeof window->list - n,
				"%s%s=%s", n ? "," : "", window_keys[i], value);
		window_take_key(list, window_keys[i]);
	}
}
