/** Classic BPF opcodes, <linux/filter.h>. */
const LOAD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_ANY_BIT = 0x45;
const JUMP_GREATER_EQUAL = 0x35;
const RETURN = 0x06;

/** Offsets of the low halves of arguments in struct seccomp_data; the high half lies 4 bytes further. */
const NUMBER = 0;
const [ARGUMENT_0, ARGUMENT_1, ARGUMENT_2, ARGUMENT_3] = [16, 24, 32, 40];

const refuse = (errno: number) => 0x00050000 | errno;
const EPERM = 1;
const EFBIG = 27;
const ENOSPC = 28;
const EOPNOTSUPP = 95;

const CLONE_FILES = 0x400;
const CLONE_THREAD = 0x10000;
const CLOSE_RANGE_UNSHARE = 2;
const FALLOC_FL_PUNCH_HOLE = 2;
/** The kernel has room for 4096 of them. */
const LARGEST_SEGMENT = 64 * 1024;
/** FS_IOC_RESVSP, RESVSP64, ZERO_RANGE: fallocate by another name. */
const reservations = [0x40305828, 0x4030582a, 0x40305839];

/**
 * Refuses ways to take disk space that could not be counted, or would take it faster than anything can look. The accumulator holds the
 * call's number before and after.
 *
 * - A thread shares its process's table of descriptors: to look at each thread's own would cost as often as there are threads.
 * - A detached segment of System V lies in memory and is held by no process. Small ones are let through, which databases lock with.
 * - fallocate takes a gigabyte within a millisecond. Programs write zeros where a file system does not support it, as NFS 3 does.
 */
export function refuseUncountable(
  emit: (code: number, k: number, jumpTrue?: number, jumpFalse?: number) => void,
  numbers: Record<'clone' | 'close_range' | 'fallocate' | 'ioctl' | 'shmget', number>,
  options: { memoryHeld: boolean },
): void {
  emit(JUMP_EQUAL, numbers.clone, 0, 5);
  emit(LOAD, ARGUMENT_0);
  emit(AND, CLONE_THREAD | CLONE_FILES);
  emit(JUMP_EQUAL, CLONE_THREAD, 0, 1);
  emit(RETURN, refuse(EPERM));
  emit(LOAD, NUMBER);

  emit(JUMP_EQUAL, numbers.close_range, 0, 4);
  emit(LOAD, ARGUMENT_2);
  emit(JUMP_ANY_BIT, CLOSE_RANGE_UNSHARE, 0, 1);
  emit(RETURN, refuse(EPERM));
  emit(LOAD, NUMBER);

  emit(JUMP_EQUAL, numbers.fallocate, 0, 7);
  emit(LOAD, ARGUMENT_1);
  emit(JUMP_ANY_BIT, FALLOC_FL_PUNCH_HOLE, 4, 0);
  emit(LOAD, ARGUMENT_3 + 4);
  emit(JUMP_EQUAL, 0, 1, 0);
  emit(RETURN, refuse(EFBIG)); // 4 GiB or more, of which not even a part is to be written
  emit(RETURN, refuse(EOPNOTSUPP));
  emit(LOAD, NUMBER);

  emit(JUMP_EQUAL, numbers.ioctl, 0, reservations.length + 3);
  emit(LOAD, ARGUMENT_1);
  for (const [index, request] of reservations.entries())
    emit(JUMP_EQUAL, request, reservations.length - 1 - index, index === reservations.length - 1 ? 1 : 0);
  emit(RETURN, refuse(EOPNOTSUPP));
  emit(LOAD, NUMBER);

  if (options.memoryHeld) return;
  emit(JUMP_EQUAL, numbers.shmget, 0, 6);
  emit(LOAD, ARGUMENT_1 + 4);
  emit(JUMP_EQUAL, 0, 0, 2);
  emit(LOAD, ARGUMENT_1);
  emit(JUMP_GREATER_EQUAL, LARGEST_SEGMENT + 1, 0, 1);
  emit(RETURN, refuse(ENOSPC));
  emit(LOAD, NUMBER);
}
