// What a replay's network and the recorded one are; whether a replay of captures asks so
// little of the network that it shows nothing to speak of, and what would show more.
//
// The rule: over the length of the trace, the busiest node sends or receives less than 1
// % of what its link carries, and the mean wait of a packet is less than a tenth of the
// time that a full packet takes on a link. The second condition keeps short bursts in a
// long trace: their mean load is small, but they do wait. The time scale to try would
// load the busiest node to a half, where queues form but do not grow without end.
#ifndef TB_UNDERLOAD_H
#define TB_UNDERLOAD_H

#include "network_params.h"

#include <stdbool.h>
#include <stdio.h>

struct tb_run;

#define TB_UNDERLOAD_SHARE   0.01 // of what a node can send or receive
#define TB_UNDERLOAD_PACKETS 0.1  // mean wait, in full packets

// On what an input was recorded, as far as it tells.
enum tb_recorded_on { TB_RECORDED_UNKNOWN, TB_RECORDED_ETHERNET, TB_RECORDED_INFINIBAND };

// tb_recorded_on_of returns it by the name of an endpoint of a capture ("10.77.0.1",
// "lid:18"); unknown by none. tb_run_recorded_on returns it of a run's captures.
// TB_UNTOLD begins the note of a run whose captures do not tell it.
#define TB_UNTOLD "captured as "
enum tb_recorded_on tb_recorded_on_of(const char *endpoint);
enum tb_recorded_on tb_run_recorded_on(const struct tb_run *run);

// tb_recorded_elsewhere returns whether `-n recorded` would take a network of another
// kind.
bool tb_recorded_elsewhere(
	enum tb_recorded_on on, const struct tb_network_params *network);

// tb_recorded_on_text writes what stands behind the name of the network that was taken:
// ", recorded on Ethernet", ", recorded on Ethernet at 25.00 MB/s a port"; "" where the
// input does not tell. `bytes_per_s` is that of a port, 0: unknown. Returns buffer; 80
// bytes suffice.
char *tb_recorded_on_text(
	enum tb_recorded_on on, uint64_t bytes_per_s, char *buffer, size_t size);

// A replay of captures alone, to its end.
struct tb_underload {
	const struct tb_network_params *network;
	double busiest_share, half_scale; // tb_packets_load; of several, the busiest's
	double wait_ps;			  // of all headers
	uint64_t n_packets;
	const char *input_name; // of the run: files joined by ", "
	const char *options;	// of the replay, as the store keeps them
	enum tb_recorded_on recorded;
	uint32_t n_inputs;
	bool is_untold; // `-n recorded` is known to be refused
};

// tb_underload_shows_nothing applies the rule; false when the load is unknown (0).
bool tb_underload_shows_nothing(const struct tb_underload *load);

// tb_underload_state writes what was found, and what to try, as sentences;
// tb_underload_hints the latter alone: the recorded network, a time scale, closed loop,
// several jobs, those that fit.
void tb_underload_state(FILE *stream, const struct tb_underload *load);
void tb_underload_hints(FILE *stream, const struct tb_underload *load);

// tb_underload_command writes the replay that tries it; TB_EUSAGE, and nothing is
// written, when the input cannot be replayed again (replay_command.h), TB_ENOMEM.
int tb_underload_command(FILE *stream, const struct tb_underload *load) TB_MUST_USE;

// tb_underload_write writes what was found and this command in one line without its end.
void tb_underload_write(FILE *stream, const struct tb_underload *load);

#endif
