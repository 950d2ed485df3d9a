// Where a wait arose, as hot links count it (tb_run_info's wait): the link by which the
// waiting packets had come in, which is what a store keeps, or that for which they
// waited. The latter is found: of the links that lead on from there to the victim's
// destination it is the one for which packets waited, as long at least where a flow has
// one way, and which a culprit that held it took too. Where several are left, only their
// switch is known.
#ifndef TB_WAIT_PLACES_H
#define TB_WAIT_PLACES_H

#include "waits.h"

struct tb_wait_place {
	struct tb_link link; // TB_ID_NONE: not known which
	struct tb_switch sw; // of `link`, one of its several; TB_ID_NONE: link is known
};

struct tb_wait_places; // opaque

// tb_wait_places_new reads the run, which must outlive `places`; no other window of it is
// looked at before tb_wait_places_free. TB_EFORMAT, TB_ENOMEM.
int tb_wait_places_new(struct tb_wait_places **places, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_wait_places_free(struct tb_wait_places *places);

// tb_wait_places_find finds that of a wait at a link. Cost: a look for paths. TB_ENOMEM.
int tb_wait_places_find(struct tb_wait_places *places, const struct tb_blame_sample *wait,
	struct tb_wait_place *place) TB_MUST_USE;

// tb_wait_places_all finds those of `n` waits, which the caller frees.
int tb_wait_places_all(struct tb_run *run, const struct tb_blame_sample *waits, size_t n,
	struct tb_wait_place **places, struct tb_error *error) TB_MUST_USE;

// tb_wait_places_several returns which links of place.sw it may be, until the next call.
int tb_wait_places_several(struct tb_wait_places *places, struct tb_switch sw,
	const struct tb_blame_sample *wait, const struct tb_link **links,
	size_t *n) TB_MUST_USE;

// tb_wait_place_name returns the name of its link, or of its switch; NULL: of neither.
// tb_wait_place_label returns the short one.
const char *tb_wait_place_name(const struct tb_run *run, struct tb_wait_place place);
const char *tb_wait_place_label(const struct tb_run *run, struct tb_wait_place place);

#endif
