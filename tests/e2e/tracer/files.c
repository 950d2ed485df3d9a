// Two ranks write by MPI-IO, in all ways of finding the place, and read back.
#include <mpi.h>

int main(int argc, char **argv)
{
	static char bytes[4000];
	int rank;
	MPI_File file;
	MPI_Request request;
	MPI_Status status;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
		MPI_INFO_NULL, &file);
	// Offsets count integers behind 100 bytes.
	MPI_File_set_view(file, 100, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	MPI_File_write_at_all(file, rank * 250, bytes, 1000, MPI_CHAR, MPI_STATUS_IGNORE);
	MPI_File_seek(file, 500 + rank * 250, MPI_SEEK_SET);
	MPI_File_write(file, bytes, 1000, MPI_CHAR, &status);
	MPI_File_iwrite_at(file, 1000 + rank * 250, bytes, 1000, MPI_CHAR, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_File_sync(file);
	MPI_Barrier(MPI_COMM_WORLD);
	// The file ends at 6100: rank 0 gets 2000 bytes, rank 1 gets 1000.
	MPI_File_read_at(file, 1000 + rank * 250, bytes, 3000, MPI_CHAR, &status);
	MPI_File_read_at_all_begin(file, 0, bytes, 250, MPI_INT);
	MPI_File_read_at_all_end(file, bytes, &status);
	MPI_File_write_ordered(file, bytes, 252, MPI_CHAR, &status);
	MPI_File_close(&file);
	MPI_Finalize();
	return 0;
}
