// Feeds every file of the folders and files given to the fuzz target it is linked with.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int feed(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file) {
		perror(path);
		return 0;
	}
	fseek(file, 0, SEEK_END);
	long size = ftell(file);
	rewind(file);
	// Exactly sized, so that a read past the end meets the sanitizer.
	uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
	size_t n = data ? fread(data, 1, (size_t)size, file) : 0;
	fclose(file);
	if (data)
		LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 1;
}

static int feed_folder(const char *path)
{
	DIR *folder = opendir(path);
	int fed = 0;
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		char name[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		fed += feed(name);
	}
	if (folder)
		closedir(folder);
	return fed;
}

int main(int argc, char **argv)
{
	int fed = 0;
	for (int i = 1; i < argc; i++) {
		struct stat status;
		if (stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode))
			fed += feed_folder(argv[i]);
		else
			fed += feed(argv[i]);
	}
	printf("%d inputs\n", fed);
	return fed > 0 ? 0 : 1;
}
