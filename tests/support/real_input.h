// Real inputs are in TB_SHARED/data: all of them where the shared folder is there, else
// the small ones of tests/real. A test leaves out what is absent, and says so.
#ifndef TB_REAL_INPUT_TEST_H
#define TB_REAL_INPUT_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// real_input makes the path of an input from its place below data/. Returns whether it is
// there, and else prints that it is skipped.
static inline bool real_input(char path[4096], const char *name)
{
	const char *shared = getenv("TB_SHARED");
	snprintf(path, 4096, "%s/data/%s", shared ? shared : ".", name);
	if (access(path, R_OK) == 0)
		return true;
	printf("skipped: the real input %s is not here\n", name);
	return false;
}

// real_input_is_there is for those who know the path.
static inline bool real_input_is_there(const char *name)
{
	char path[4096];
	return real_input(path, name);
}

#endif
