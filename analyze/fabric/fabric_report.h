// A fabric and what its routes do, in words, as text, JSON and CSV.
//
// The verdict is a few sentences with names and figures, the answer first: what is not
// alike, taper, bisection, the hottest cable, shares in shifts and random bisections. All
// formats begin with it but CSV, which has a row per link: link, from_level, to_level,
// bytes_per_s, pairs (of all to all), times (pairs over rate, in terms of the mean of
// the links of its direction and levels).
#ifndef TB_FABRIC_REPORT_H
#define TB_FABRIC_REPORT_H

#include "fabric.h"
#include "names.h"
#include "route_study.h"

#include <stdio.h>

// Borrowed for each call.
struct tb_fabric_report {
	const struct tb_fabric *fabric;
	const struct tb_route_study *study;
	const char *name;    // of the network, as the user gave it
	const char *routes;  // of the file of routes, "" when they were computed
	bool is_for_traffic; // `routes` is the store for whose run they were
	const char *faults;  // "--fault switch=1.0": what is dead and left out; ""
	uint32_t n_dead;     // cables that are
	int64_t traffic_run; // that run, as the user gave it; 0: the newest
	uint64_t seed;
	uint32_t n_hottest; // links to list
	uint32_t n_odd;	    // things that are not alike to list, in text
};

enum { TB_VERDICT_SENTENCES = 18, TB_VERDICT_LENGTH = 640 };

struct tb_fabric_verdict {
	char sentences[TB_VERDICT_SENTENCES][TB_VERDICT_LENGTH]; // without full stops
	int n;
};

// tb_fabric_say appends a sentence, where there is room. tb_fabric_say_oddities appends
// what is not alike, the worst of each kind.
void tb_fabric_say(struct tb_fabric_verdict *verdict, const char *format, ...)
	TB_PRINTF(2, 3);
void tb_fabric_say_oddities(
	const struct tb_fabric *fabric, struct tb_fabric_verdict *verdict);
void tb_fabric_judge(
	const struct tb_fabric_report *report, struct tb_fabric_verdict *verdict);

// Write errors show in ferror(stream); TB_ENOMEM. Text fits `width` characters (0: any).
int tb_fabric_write_text(
	const struct tb_fabric_report *report, unsigned width, FILE *stream) TB_MUST_USE;
int tb_fabric_write_json(const struct tb_fabric_report *report, FILE *stream) TB_MUST_USE;
void tb_fabric_write_csv(const struct tb_fabric_report *report, FILE *stream);

// tb_oddity_text writes what is odd as a sentence without its full stop; 512 bytes
// suffice.
char *tb_oddity_text(const struct tb_network *network, const struct tb_oddity *oddity,
	char *buffer, size_t size);

// What is said of a kind.
enum {
	TB_ODDITY_HAS_LINK = 1,	 // that it names, in place of a switch
	TB_ODDITY_HAS_OTHER = 2, // a second switch, unless NONE
	TB_ODDITY_HAS_IS = 4,	 // n as a number
	TB_ODDITY_HAS_USUAL = 8, // and what is usual
};
extern const struct tb_oddity_type {
	const char *name; // in JSON
	unsigned has;
	const char *head; // of its sentence in the verdict; NULL: it has none of its own
} tb_oddity_types[TB_N_ODDITIES];

// tb_fabric_put_oddities writes up to n_odd of them, a line each.
void tb_fabric_put_oddities(const struct tb_fabric_report *report, FILE *stream);

// tb_fabric_link_text writes a link's name (names.h) in its visible form (visible.h),
// with the names that the fabric has for switches' ports: "n03 > leaf1:Ethernet0",
// "leaf1:swp3s1 (301) > spine:4". JSON and CSV have numbers alone.
#define TB_FABRIC_LINK_TEXT (TB_LINK_NAME_SIZE + 128)
char *tb_fabric_link_text(
	const struct tb_network *network, struct tb_link link, char *buffer, size_t size);

// Names in their visible form; TB_NAME_SIZE bytes suffice.
char *tb_fabric_switch_text(
	const struct tb_network *network, struct tb_switch sw, char *buffer, size_t size);
char *tb_fabric_node_text(
	const struct tb_network *network, uint32_t node, char *buffer, size_t size);

// tb_fabric_count_host_names counts hosts, of which several nodes may be, side by side.
uint32_t tb_fabric_count_host_names(const struct tb_network *network);

// tb_link_class_text writes "up from level 0"; 48 bytes suffice.
char *tb_link_class_text(const struct tb_link_class *class, char *buffer, size_t size);

#endif
