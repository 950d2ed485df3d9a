! Sends around the ring from Fortran: 800 bytes, 240 bytes and an all-reduce of 8 bytes. By the module mpi,
! or with MPI_F08 by mpi_f08, whose functions are others.
program bindings
#ifdef MPI_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, n, error
#ifdef MPI_F08
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status, statuses(2)
#else
  integer :: requests(2), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
#endif
  double precision :: out(100), in(100), total
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, n, error)
  out = rank
  call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, modulo(rank - 1, n), 1, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(out, 100, MPI_DOUBLE_PRECISION, modulo(rank + 1, n), 1, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, statuses, error)
  call MPI_Sendrecv(out, 30, MPI_DOUBLE_PRECISION, modulo(rank + 1, n), 2, in, 30, MPI_DOUBLE_PRECISION, &
       modulo(rank - 1, n), 2, MPI_COMM_WORLD, status, error)
  total = 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program bindings
