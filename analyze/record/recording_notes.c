// What is to be known of how a recording was made, for the notes of its run.
#include "recording_also.h"
#include "recording_impl.h"

#include "array.h"
#include "workload_alone.h"

#include <stdlib.h>
#include <string.h>

void tb_recording_notes_fini(struct tb_recording_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->list[i].text);
	free(notes->list);
	*notes = (struct tb_recording_notes){0};
}

static int note_add(
	struct tb_recording_notes *notes, uint32_t job, const char *text, size_t length)
{
	if (TB_ARRAY_RESERVE(&notes->list, &notes->room, notes->n + 1) != TB_OK)
		return TB_ENOMEM;
	char *copy = strndup(text, length);
	if (!copy)
		return TB_ENOMEM;
	notes->list[notes->n++] = (struct tb_note){job, copy};
	return TB_OK;
}

static int add_lines(struct tb_recording_notes *notes, uint32_t job, const char *text)
{
	int status = TB_OK;
	while (status == TB_OK && text && *text) {
		size_t length = strcspn(text, "\n");
		status = note_add(notes, job, text, length);
		text += length + (text[length] == '\n');
	}
	return status;
}

bool tb_recording_lacks_range(const struct tb_workload *workload)
{
	bool bounded = false;
	for (uint32_t i = 0; i < tb_workload_n_inputs(workload); i++) {
		const struct tb_job *job = tb_workload_input_at(workload, i).job;
		bounded |= job && job->bounds;
	}
	return bounded && tb_workload_bounds_of(workload).n == 0;
}

int tb_recording_notes_init(struct tb_recording_notes *notes,
	const struct tb_recording *recording, struct tb_error *error)
{
	bool lacks_range = tb_recording_lacks_range(recording->workload);
	*notes = (struct tb_recording_notes){0};
	int status = TB_OK;
	for (uint32_t i = 0; i < tb_workload_n_inputs(recording->workload); i++) {
		struct tb_workload_input input =
			tb_workload_input_at(recording->workload, i);
		if (status == TB_OK && input.job)
			status = add_lines(notes, input.first_job, input.job->notes);
		if (status == TB_OK && lacks_range && input.job && input.job->bounds)
			status = add_lines(notes, input.first_job, TB_RECORDING_NO_RANGE);
	}
	if (status == TB_OK && recording->also)
		status = add_lines(notes,
			tb_workload_input_at(recording->workload, 0).first_job,
			recording->also->note);
	uint32_t n_remarks = tb_network_n_remarks(recording->network);
	for (uint32_t i = 0; status == TB_OK && i < n_remarks; i++)
		status = add_lines(
			notes, TB_ID_NONE, tb_network_remark(recording->network, i));
	if (status == TB_OK)
		return TB_OK;
	tb_recording_notes_fini(notes);
	return tb_fail_memory(error, "notes");
}
