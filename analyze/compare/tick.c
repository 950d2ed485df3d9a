// How long a tick of PortXmitWait is, by the device that counts it: 8 bytes of the port's
// time on Quantum, Quantum-2 and Quantum-3, 32 bytes of each lane's on SwitchX, Switch-IB
// and Switch-IB 2 (NVIDIA, ibdiagnet manual, "Congestion assessment on InfiniBand
// links"). Where a fabric does not name the device, the fastest of its ports tells which
// of the two it is. Adapters count as the preset says.
#include "measured_impl.h"

#include "cabling_rates.h"
#include "credit_params.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 long_amount;

#define PORT_TICK 8
#define LANE_TICK 32

// Device ids are those of PCI (pci.ids, 15b3).
static const struct {
	uint32_t device_id;
	bool of_lane;
} devices[] = {
	{0xc738, true},	 // SwitchX, SwitchX-2
	{0xcb20, true},	 // Switch-IB
	{0xcf08, true},	 // Switch-IB 2
	{0xd2f0, false}, // Quantum
	{0xd2f2, false}, // Quantum-2
	{0xd2f4, false}, // Quantum-3
};

// tick_of is that of a port of this rate; 0 where there is no word for the rate. `word`
// is that of the device's fastest port: lanes beyond EDR are Quantum's and later ones'.
static uint64_t tick_of(uint32_t device_id, uint64_t bytes_per_s, const char *word)
{
	char own[16];
	const char *text = tb_cabling_rate_text(bytes_per_s, own, sizeof own);
	bool of_lane = word && !strstr(word, "HDR") && !strstr(word, "NDR") &&
		       !strstr(word, "XDR");
	bool is_known = word != NULL;
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
		if (devices[i].device_id == device_id) {
			of_lane = devices[i].of_lane;
			is_known = true;
		}
	if (!is_known)
		return 0;
	if (!of_lane)
		return PORT_TICK;
	return text ? strtoull(text, NULL, 10) * LANE_TICK : 0;
}

int measured_ticks_find(uint32_t *tick_bytes, const struct tb_network *network,
	bool is_given, struct tb_error *error)
{
	uint32_t n_links = tb_network_n_links(network);
	uint32_t preset =
		tb_credit_params(tb_network_params(network))->xmit_wait_tick_bytes;
	uint64_t *fastest = calloc(tb_network_n_switches(network) + 1u, sizeof *fastest);
	if (!fastest)
		return tb_fail_memory(error, "the links");
	for (uint32_t i = 0; i < n_links; i++) {
		struct tb_link_info at = tb_network_link(network, (struct tb_link){i});
		if (at.kind != TB_LINK_INJECTION && at.bytes_per_s > fastest[at.from])
			fastest[at.from] = at.bytes_per_s;
	}
	for (uint32_t i = 0; i < n_links; i++) {
		char word[16];
		struct tb_link_info at = tb_network_link(network, (struct tb_link){i});
		uint64_t tick = 0;
		if (preset && !is_given && at.kind != TB_LINK_INJECTION)
			tick = tick_of(tb_network_switch_identity(
					       network, (struct tb_switch){at.from})
					       .device_id,
				at.bytes_per_s,
				tb_cabling_rate_text(
					fastest[at.from], word, sizeof word));
		tick_bytes[i] = tick ? (uint32_t)tick : preset;
	}
	free(fastest);
	return TB_OK;
}

uint64_t measured_time_ps(uint64_t count, uint64_t bytes, uint64_t bytes_per_s)
{
	long_amount ps = (long_amount)count * bytes;
	if (bytes_per_s == 0 || ps > UINT64_MAX)
		return ps ? UINT64_MAX : 0;
	ps = (ps * UINT64_C(1000000000000) + bytes_per_s / 2) / bytes_per_s;
	return ps > UINT64_MAX ? UINT64_MAX : (uint64_t)ps;
}
