#include "requests.h"

#include <string.h>
#include <strings.h>

static const struct tb_request_row rows[] = {
#define ROW(name, group, keys, help) {group, keys, help},
	TB_REQUEST_TABLE(ROW)
#undef ROW
};

const struct tb_request_row *tb_request_rows(void)
{
	return rows;
}

// request_matches compares one word of a key list with a pressed key.
static bool request_matches(const char *word, size_t length, const char *key)
{
	if (strlen(key) != length)
		return false;
	return length == 1 ? word[0] == key[0] : strncasecmp(word, key, length) == 0;
}

bool tb_request_of_key(const char *key, struct tb_request *request)
{
	for (size_t i = 0; i < TB_N_REQUESTS; i++) {
		const char *word = rows[i].keys;
		for (int choice = 0; *word; choice++) {
			size_t length = strcspn(word, " ");
			if (request_matches(word, length, key)) {
				request->name = (enum tb_request_name)i;
				request->choice = choice;
				return true;
			}
			word += length;
			word += *word == ' ';
		}
	}
	return false;
}
