// What was tried to make a run better (`tailback advise`), and kept in its store.
#ifndef TB_RUN_TRIED_H
#define TB_RUN_TRIED_H

#include "run.h"

// What stands in a command for the folder that `tailback advise --write FOLDER` makes,
// with the files that the command needs.
#define TB_TRIED_FOLDER "FOLDER"

// What a change costs. How its title ends says so, as does needs_hardware.
enum tb_price {
	TB_PRICE_NOTHING,
	TB_PRICE_DELAY, // a job ends later
	TB_PRICE_NODES, // ranks on more nodes
	TB_PRICE_HARM,	// a job takes longer
	TB_PRICE_HARDWARE,
	TB_PRICES
};
#define TB_TRIED_LATER                                                                   \
	", ends " // and when: "1 us later", or "sooner", which costs nothing
#define TB_TRIED_NODES ", on more nodes ("
#define TB_TRIED_HARMS ", which harms "

struct tb_run_tried {
	char *command; // that replays it
	char *title;   // what is changed
	char *verdict; // "helps", "no difference", "unclear", "harms"
	char *of;      // what decided, as in schemas/results.sql: "run time"
	uint32_t job;  // whose run time, where one job's did; TB_ID_NONE: not one's
	uint32_t n_seeds;
	bool needs_hardware;
	enum tb_price price;
	double gain_percent;
	double half_percent; // of its 95 % interval; below 0: one seed
};

struct tb_run_tries {
	struct tb_run_tried *list;
	size_t n, room;
};

// tb_tried_before orders what helps: by price, then by gain; what gains the same to 0.01
// % by the length of its command, then by its letters: 50us before 100us.
bool tb_tried_before(const struct tb_run_tried *one, const struct tb_run_tried *other);

// tb_run_tries_init reads them, in that order. TB_EFORMAT when the file is damaged,
// TB_ENOMEM.
int tb_run_tries_init(struct tb_run_tries *tries, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_run_tries_fini(struct tb_run_tries *tries);

// tb_run_tries_find returns the try of a command, NULL: it was not tried. Commands that
// differ in the store that they write ("-o") are the same.
const struct tb_run_tried *tb_run_tries_find(
	const struct tb_run_tries *tries, const char *command);

#endif
