#include "inputs.h"

#include "heap.h"

#include <stdlib.h>
#include <string.h>

struct input {
	struct tb_capture_file *file;
	struct tb_record next;
};

// An input that has a next record.
struct input_due {
	int64_t at_ns;
	size_t input;
};

struct tb_inputs {
	struct input *inputs;
	size_t n;
	struct input_due *heap; // the earliest first
	size_t n_heap;
	bool begun;
	bool taken; // the first one's record was returned, so read its next one
	struct tb_error failure; // the first one
};

int tb_inputs_open(struct tb_inputs **inputs, const char *const *paths, size_t n,
	struct tb_opened_input *opened, struct tb_error *error)
{
	struct tb_inputs *new = calloc(1, sizeof *new);
	int status = TB_OK;
	if (new) {
		new->inputs = calloc(n, sizeof *new->inputs);
		new->heap = calloc(n, sizeof *new->heap);
	}
	if (!new || !new->inputs || !new->heap)
		status = tb_fail_memory(error, "the capture");
	while (status == TB_OK && new->n < n) {
		status = tb_capture_file_open(&new->inputs[new->n].file, paths[new->n],
			new->n ? NULL : opened, error);
		if (status == TB_OK)
			new->n++;
	}
	if (status != TB_OK) {
		tb_inputs_free(new);
		return status;
	}
	*inputs = new;
	return TB_OK;
}

void tb_inputs_stop_on(struct tb_inputs *inputs, const volatile sig_atomic_t *stop)
{
	for (size_t i = 0; i < inputs->n; i++)
		tb_capture_file_stop_on(inputs->inputs[i].file, stop);
}

void tb_inputs_free(struct tb_inputs *inputs)
{
	if (!inputs)
		return;
	for (size_t i = 0; i < inputs->n; i++)
		tb_capture_file_free(inputs->inputs[i].file);
	free(inputs->inputs);
	free(inputs->heap);
	free(inputs);
}

// read_on reads the input's next record and returns whether there is one. It keeps a
// failure for the end.
static bool read_on(struct tb_inputs *inputs, size_t i)
{
	struct tb_error failure;
	int status = tb_capture_file_next(
		inputs->inputs[i].file, &inputs->inputs[i].next, &failure);
	if (status < 0 && inputs->failure.code == TB_OK)
		inputs->failure = failure;
	return status == 1;
}

static bool input_is_earlier(const struct input_due *a, const struct input_due *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->input < b->input;
}

TB_HEAP(due, struct input_due, input_is_earlier)

static struct input_due due_of(const struct tb_inputs *inputs, size_t i)
{
	return (struct input_due){inputs->inputs[i].next.at_ns, i};
}

int tb_inputs_next(struct tb_inputs *inputs, const struct tb_record **record,
	size_t *input, struct tb_error *error)
{
	if (!inputs->begun) {
		inputs->begun = true;
		for (size_t i = 0; i < inputs->n; i++)
			if (read_on(inputs, i))
				due_put(inputs->heap, inputs->n_heap++,
					due_of(inputs, i));
	} else if (inputs->taken) {
		// Only now read on: the record that was returned lives in its input until
		// this call.
		size_t i = inputs->heap[0].input;
		if (read_on(inputs, i)) {
			// The last input that is left needs no order.
			if (inputs->n_heap > 1)
				due_replace(
					inputs->heap, inputs->n_heap, due_of(inputs, i));
		} else {
			due_take(inputs->heap, inputs->n_heap--);
		}
	}
	inputs->taken = inputs->n_heap > 0;
	if (inputs->taken) {
		*input = inputs->heap[0].input;
		*record = &inputs->inputs[*input].next;
		return 1;
	}
	if (inputs->failure.code == TB_OK)
		return 0;
	if (error)
		*error = inputs->failure;
	return inputs->failure.code;
}

bool tb_inputs_many_points(const struct tb_inputs *inputs)
{
	return inputs->n > 1 || tb_capture_file_many_points(inputs->inputs[0].file);
}

double tb_inputs_fraction(const struct tb_inputs *inputs)
{
	double sum = 0;
	for (size_t i = 0; i < inputs->n; i++) {
		double fraction = tb_capture_file_fraction(inputs->inputs[i].file);
		if (fraction < 0)
			return -1;
		sum += fraction;
	}
	return sum / (double)inputs->n;
}
