// tailback network --list: the presets, the keys of networks with the values that they
// take, and the formats of fabrics. All is read from the tables.
#include "cmd_network.h"
#include "fabric_formats.h"
#include "json.h"
#include "preset.h"
#include "switchings.h"
#include "wrap.h"

#include <stdlib.h>
#include <string.h>

// put_row writes a name and what is behind it.
static void put_row(const char *name, const char *what, unsigned width)
{
	printf("  %-17s ", name);
	tb_wrap(stdout, 20, 20, width, what);
}

static void list_keys(
	const char *title, const struct tb_preset_key *keys, size_t n, unsigned width)
{
	char expects[240], text[512];
	printf("\n%s:\n", title);
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%s (%s)", keys[i].meaning,
			tb_preset_key_expects(&keys[i], expects, sizeof expects));
		put_row(keys[i].name, text, width);
	}
}

static void list_text(char *names, unsigned width)
{
	size_t n;
	const struct tb_switching_kind *kinds = tb_switching_kinds(&n);
	char text[160];
	puts("Networks (-n NAME, or NAME,KEY=VALUE,...):");
	char *rest = names, *name;
	while ((name = strsep(&rest, "\n")) && *name)
		put_row(name, tb_network_preset_summary(name, text, sizeof text), width);
	puts("\nFabrics (-n FILE, or FILE,preset=NAME,KEY=VALUE,...):");
	for (size_t i = 0; tb_fabric_format(i); i++)
		printf("  %s\n", tb_fabric_format(i)->name);
	list_keys("Keys of all networks", tb_preset_keys, tb_preset_n_keys, width);
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof text, "Keys where switching = %s", kinds[i].name);
		list_keys(text, kinds[i].keys, kinds[i].n_keys, width);
	}
}

static json_t *add_keys(
	json_t *list, const char *switching, const struct tb_preset_key *keys, size_t n)
{
	char expects[240];
	for (size_t i = 0; i < n; i++)
		list = tb_json_append(list,
			json_pack("{s:s, s:s, s:s, s:s, s:s?}", "name", keys[i].name,
				"section", keys[i].section, "meaning", keys[i].meaning,
				"values",
				tb_preset_key_expects(&keys[i], expects, sizeof expects),
				"switching", switching));
	return list;
}

static int list_json(char *names)
{
	size_t n;
	const struct tb_switching_kind *kinds = tb_switching_kinds(&n);
	json_t *networks = json_array(), *fabrics = json_array(), *keys = json_array();
	char text[160];
	char *rest = names, *name;
	while ((name = strsep(&rest, "\n")) && *name)
		networks = tb_json_append(networks,
			json_pack("{s:o, s:o}", "name", tb_json_text(name), "summary",
				tb_json_text(tb_network_preset_summary(
					name, text, sizeof text))));
	for (size_t i = 0; tb_fabric_format(i); i++)
		fabrics = tb_json_append(fabrics, json_string(tb_fabric_format(i)->name));
	keys = add_keys(keys, NULL, tb_preset_keys, tb_preset_n_keys);
	for (size_t i = 0; i < n; i++)
		keys = add_keys(keys, kinds[i].name, kinds[i].keys, kinds[i].n_keys);
	return tb_json_write(json_pack("{s:o, s:o, s:o}", "networks", networks,
				     "fabric_formats", fabrics, "keys", keys),
		17, stdout);
}

int network_list(bool as_json, uint64_t width)
{
	char *names = tb_network_preset_names();
	int status = names ? TB_OK : TB_ENOMEM;
	if (names && as_json)
		status = list_json(names);
	else if (names)
		list_text(names, tb_cmd_text_width(width, stdout, 0));
	free(names);
	return status;
}
