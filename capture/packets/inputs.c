#include "inputs.h"

#include <stdlib.h>
#include <string.h>

struct input {
	struct tb_capture_file *file;
	struct tb_record next;
};

struct tb_inputs {
	struct input *inputs;
	size_t n;
	size_t *heap; // inputs that have a next record; the earliest is first
	size_t n_heap;
	bool begun;
	bool taken; // the first one's record was returned, so read its next one
	struct tb_error failure; // the first one
};

int tb_inputs_open(struct tb_inputs **inputs, const char *const *paths, size_t n,
	struct tb_error *error)
{
	struct tb_inputs *new = calloc(1, sizeof *new);
	int status = TB_OK;
	if (new) {
		new->inputs = calloc(n, sizeof *new->inputs);
		new->heap = calloc(n, sizeof *new->heap);
	}
	if (!new || !new->inputs || !new->heap)
		status = tb_fail(error, TB_ENOMEM, "no memory");
	while (status == TB_OK && new->n < n) {
		status = tb_capture_file_open(
			&new->inputs[new->n].file, paths[new->n], error);
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

static bool earlier(const struct tb_inputs *inputs, size_t a, size_t b)
{
	int64_t a_ns = inputs->inputs[a].next.at_ns;
	int64_t b_ns = inputs->inputs[b].next.at_ns;
	return a_ns != b_ns ? a_ns < b_ns : a < b;
}

// sift_down puts the heap right below `place`.
static void sift_down(struct tb_inputs *inputs, size_t place)
{
	size_t *heap = inputs->heap;
	for (;;) {
		size_t least = 2 * place + 1;
		if (least >= inputs->n_heap)
			return;
		if (least + 1 < inputs->n_heap &&
			earlier(inputs, heap[least + 1], heap[least]))
			least++;
		if (!earlier(inputs, heap[least], heap[place]))
			return;
		size_t moved = heap[place];
		heap[place] = heap[least];
		heap[least] = moved;
		place = least;
	}
}

static void begin(struct tb_inputs *inputs)
{
	inputs->begun = true;
	for (size_t i = 0; i < inputs->n; i++)
		if (read_on(inputs, i))
			inputs->heap[inputs->n_heap++] = i;
	for (size_t place = inputs->n_heap; place-- > 0;)
		sift_down(inputs, place);
}

int tb_inputs_next(struct tb_inputs *inputs, const struct tb_record **record,
	size_t *input, struct tb_error *error)
{
	if (!inputs->begun) {
		begin(inputs);
	} else if (inputs->taken) {
		// Only now: the record that was returned lives in its input until here.
		if (!read_on(inputs, inputs->heap[0]))
			inputs->heap[0] = inputs->heap[--inputs->n_heap];
		sift_down(inputs, 0);
	}
	inputs->taken = inputs->n_heap > 0;
	if (inputs->taken) {
		*input = inputs->heap[0];
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
