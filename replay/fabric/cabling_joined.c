// Which devices of a fabric hang together.
#include "cabling_impl.h"

#include "units.h"

#include <stdlib.h>

static uint32_t boss_of(uint32_t *boss, uint32_t device)
{
	while (boss[device] != device)
		device = boss[device] = boss[boss[device]];
	return device;
}

static bool joined_has_cables(const struct tb_cabling_device *device)
{
	for (size_t port = 0; port < device->n_ports; port++)
		if (device->ports[port].is_used)
			return true;
	return false;
}

// A part of the fabric that hangs together.
struct joined_part {
	uint32_t n_hosts, n_switches, first_switch;
};

// choose finds the one part that has hosts.
static int choose(
	const struct tb_cabling *cabling, const struct joined_part *parts, uint32_t *kept)
{
	bool found = false;
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		if (parts[i].n_hosts == 0)
			continue;
		if (found) {
			const struct joined_part *one = &parts[*kept];
			const struct joined_part *other = &parts[i];
			char switches[32], hosts[32];
			return tb_cabling_refuse(cabling, 0,
				"holds two fabrics that no cable joins: one of %s and %s "
				"with '%s', one of %u and %u with '%s'",
				tb_format_counted(one->n_switches, "switch|switches",
					switches, sizeof switches),
				tb_format_counted(
					one->n_hosts, "adapter", hosts, sizeof hosts),
				cabling->devices[one->first_switch].name,
				other->n_switches, other->n_hosts,
				cabling->devices[other->first_switch].name);
		}
		*kept = i;
		found = true;
	}
	if (!found)
		return tb_cabling_refuse(cabling, 0,
			"holds no host that is cabled to a switch: is the whole file "
			"there?");
	return TB_OK;
}

int tb_cabling_keep_joined(struct tb_cabling *cabling)
{
	uint32_t *boss = malloc((cabling->n_devices + 1u) * sizeof *boss), kept = 0;
	struct joined_part *parts = calloc(cabling->n_devices + 1u, sizeof *parts);
	if (!boss || !parts) {
		free(boss);
		free(parts);
		return tb_cabling_no_memory(cabling);
	}
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		boss[i] = i;
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		for (size_t port = 0; port < cabling->devices[i].n_ports; port++)
			if (cabling->devices[i].ports[port].is_used) {
				uint32_t peer = cabling->devices[i].ports[port].peer;
				uint32_t one = boss_of(boss, i);
				uint32_t other = boss_of(boss, peer);
				if (one < other)
					boss[other] = one;
				else
					boss[one] = other;
			}
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		const struct tb_cabling_device *at = &cabling->devices[i];
		struct joined_part *part = &parts[boss_of(boss, i)];
		if (at->kind == TB_DEVICE_SWITCH) {
			if (part->n_switches++ == 0)
				part->first_switch = i;
		} else if (joined_has_cables(at)) {
			part->n_hosts++;
		}
	}
	int status = choose(cabling, parts, &kept);
	if (status == TB_OK) {
		for (uint32_t i = 0; i < cabling->n_devices; i++) {
			struct tb_cabling_device *at = &cabling->devices[i];
			if (boss_of(boss, i) == kept)
				continue;
			if (at->kind == TB_DEVICE_SWITCH && !at->is_left_out)
				tb_cabling_note(
					cabling, TB_REMARK_NO_HOSTS, "%s", at->name);
			at->is_left_out = true;
		}
	}
	free(boss);
	free(parts);
	return status;
}
