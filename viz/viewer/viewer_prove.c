// What the findings propose is tried beside the viewer (proof.h).
#include "beside.h"
#include "viewer_impl.h"

#include <stdio.h>

static void prove_say(struct tb_viewer *viewer, const char *sentence)
{
	snprintf(viewer->proved, sizeof viewer->proved, "%s", sentence);
	viewer->stale = true;
}

void tb_viewer_prove(struct tb_viewer *viewer)
{
	struct tb_error error;
	if (tb_viewer_proving(viewer)) {
		tb_proof_cancel(&viewer->proof);
		viewer->stale = true;
		return;
	}
	if (!tb_viewer_findings(viewer))
		return; // they are being read: there is no button either
			// Find out why nothing can be tried; NULL: something can.
	const struct tb_findings *findings = &viewer->data.of_findings.findings;
	size_t n = 0, n_tried = 0;
	for (size_t i = 0; i < findings->n; i++) {
		bool is_change = tb_finding_is_change(&findings->list[i]);
		n += is_change;
		n_tried += is_change && tb_finding_is_tried(&findings->list[i]);
	}
	const char *reason = !viewer->data.info->complete
				     ? "A run is tried when it has ended."
			     : n == 0	    ? "The findings propose nothing to try."
			     : n == n_tried ? "All that the findings propose was tried."
					    : NULL;
	prove_say(viewer, reason ? reason : "");
	if (!reason && tb_proof_start(&viewer->proof, viewer->file.path,
			       viewer->data.info->id, &error) != TB_OK)
		tb_error_format(&error, viewer->proved, sizeof viewer->proved);
}

bool tb_viewer_proving(const struct tb_viewer *viewer)
{
	return viewer->proof.child.pid != 0;
}

char *tb_viewer_proved(const struct tb_viewer *viewer, char *text, size_t size)
{
	const struct tb_proof *proof = &viewer->proof;
	char progress[48];
	if (!tb_viewer_proving(viewer)) {
		snprintf(text, size, "%s", viewer->proved);
		return text;
	}
	tb_beside_progress_text(
		proof->fraction, proof->left_s, progress, sizeof progress);
	snprintf(text, size, "%s, for " TB_PROOF_TIME " at most%s%s",
		proof->cancelled ? "Cancelling what is tried"
				 : "Trying what the findings propose",
		progress[0] ? ": " : " ...", progress);
	return text;
}

void tb_viewer_poll_proof(struct tb_viewer *viewer)
{
	char sentence[512];
	double fraction = viewer->proof.fraction;
	if (!tb_viewer_proving(viewer))
		return;
	if (tb_proof_poll(&viewer->proof, sentence, sizeof sentence)) {
		prove_say(viewer, sentence);
		if (viewer->data.run)
			tb_viewer_data_forget_findings(&viewer->data);
	}
	viewer->stale |= viewer->proof.fraction != fraction;
}
