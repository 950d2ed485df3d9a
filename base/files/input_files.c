#include "input_files.h"

#include "array.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct input_id {
	dev_t device;
	ino_t inode;
	char *name;
	pthread_t by; // the thread that noted it,
	uint64_t at;  // as the one of this number
};

// The one list: see the header for why it belongs to the process.
static struct {
	pthread_mutex_t lock;
	struct input_id *files;
	size_t n, room;
	uint64_t n_ever;
} inputs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_same_input(const struct input_id *input, const struct stat *file)
{
	return input->device == file->st_dev && input->inode == file->st_ino;
}

static int record_input_file(const struct stat *file, const char *name)
{
	int status = TB_OK;
	if (!S_ISREG(file->st_mode)) // nothing to destroy
		return TB_OK;
	pthread_mutex_lock(&inputs.lock);
	const struct input_id *last = inputs.n ? &inputs.files[inputs.n - 1] : NULL;
	bool again = last && is_same_input(last, file) &&
		     pthread_equal(last->by, pthread_self());
	if (!again) {
		char *copy = strdup(name);
		if (copy && TB_ARRAY_RESERVE(&inputs.files, &inputs.room, inputs.n + 1) ==
				    TB_OK) {
			inputs.files[inputs.n++] = (struct input_id){file->st_dev,
				file->st_ino, copy, pthread_self(), inputs.n_ever++};
		} else {
			free(copy);
			status = TB_ENOMEM;
		}
	}
	pthread_mutex_unlock(&inputs.lock);
	return status;
}

int tb_input_note(int fd, const char *name)
{
	struct stat file;
	return fstat(fd, &file) == 0 ? record_input_file(&file, name) : TB_OK;
}

int tb_input_note_path(const char *path)
{
	struct stat file;
	return stat(path, &file) == 0 ? record_input_file(&file, path) : TB_OK;
}

int tb_input_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || tb_input_note(fd, path) == TB_OK)
		return fd;
	close(fd);
	errno = ENOMEM;
	return -1;
}

FILE *tb_input_fopen(const char *path)
{
	int fd = tb_input_open(path);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "rb");
	if (!stream && fd >= 0)
		close(fd);
	return stream;
}

int tb_input_spare(const char *name, const struct stat *file, struct tb_error *error)
{
	int status = TB_OK;
	pthread_mutex_lock(&inputs.lock);
	for (size_t i = 0; i < inputs.n && S_ISREG(file->st_mode) && !status; i++)
		if (is_same_input(&inputs.files[i], file))
			status = tb_fail_in(error, TB_EUSAGE, name,
				"is the same file as the input '%s': write to another "
				"one",
				inputs.files[i].name);
	pthread_mutex_unlock(&inputs.lock);
	return status;
}

// forget_input_files removes those that `is_one` of: a file, or a mark.
static void forget_input_files(
	bool (*is_one)(const struct input_id *input, const void *of), const void *of)
{
	size_t n_kept = 0;
	pthread_mutex_lock(&inputs.lock);
	for (size_t i = 0; i < inputs.n; i++)
		if (is_one(&inputs.files[i], of))
			free(inputs.files[i].name);
		else
			inputs.files[n_kept++] = inputs.files[i];
	inputs.n = n_kept;
	pthread_mutex_unlock(&inputs.lock);
}

static bool is_of_file(const struct input_id *input, const void *file)
{
	return is_same_input(input, file);
}

void tb_input_forget(int fd)
{
	struct stat file;
	if (fstat(fd, &file) == 0)
		forget_input_files(is_of_file, &file);
}

uint64_t tb_inputs_mark(void)
{
	pthread_mutex_lock(&inputs.lock);
	uint64_t n = inputs.n_ever;
	pthread_mutex_unlock(&inputs.lock);
	return n;
}

static bool is_since(const struct input_id *input, const void *mark)
{
	return input->at >= *(const uint64_t *)mark &&
	       pthread_equal(input->by, pthread_self());
}

void tb_inputs_return(uint64_t mark)
{
	forget_input_files(is_since, &mark);
}

bool tb_input_is_stream(const char *path)
{
	struct stat file;
	// Opening what does not exist reports that.
	return strcmp(path, "-") == 0 ||
	       (stat(path, &file) == 0 && !S_ISREG(file.st_mode) &&
		       !S_ISDIR(file.st_mode));
}

bool tb_input_is_file(const char *path)
{
	struct stat file;
	return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}
