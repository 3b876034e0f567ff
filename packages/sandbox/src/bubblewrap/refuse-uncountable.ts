import { allow, argument, equal, type Instruction, load, mask, oneOf, refuse, test } from './bpf.ts';

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
/** 64 bytes each, in as many as 32,000 sets. */
const LARGEST_SET = 64;
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
/** FS_IOC_RESVSP, RESVSP64, ZERO_RANGE: fallocate by another name. */
const reservations = [0x40305828, 0x4030582a, 0x40305839];

/** A thread shares its process's table of descriptors: to look at each thread's own would cost as often as there are threads. */
export const ownTable: Instruction[] = [
  load(argument(0)),
  mask(CLONE_THREAD | CLONE_FILES),
  ...equal(CLONE_THREAD, [refuse(EPERM)], []),
];

/** Goes to what follows with the request loaded where it is none of these. */
export const reservation: Instruction[] = [load(argument(1)), ...oneOf(reservations, [refuse(EOPNOTSUPP)], [])];

/**
 * Ways to take disk space or memory that could not be counted, or would take it faster than anything can look.
 *
 * - A detached segment of System V lies in memory and is held by no process. Small ones are let through, which databases lock with.
 * - A queue of System V messages is held by no process either, nor is a set of semaphores. Large sets are refused.
 * - A socket that asks for larger buffers keeps those that it has. The kernel promises no size, so that is no failure.
 * - fallocate takes a gigabyte within a millisecond. Programs write zeros where a file system does not support it, as NFS 3 does.
 *
 * @param options.memoryHeld whether a control group bounds the memory of a command
 */
export function uncountableCalls(options: { memoryHeld: boolean }): Record<string, Instruction[]> {
  return {
    close_range: [load(argument(2)), ...test(CLOSE_RANGE_UNSHARE, [refuse(EPERM)], [allow])],
    fallocate: [
      load(argument(1)),
      ...test(FALLOC_FL_PUNCH_HOLE, [allow], []),
      load(argument(3) + 4),
      // 4 GiB or more: not even a part of it may be written
      ...equal(0, [refuse(EOPNOTSUPP)], [refuse(EFBIG)]),
    ],
    ...(options.memoryHeld ? {} : unheldMemory),
  };
}

const smallSegments = [
  load(argument(1) + 4),
  ...equal(0, [], [refuse(ENOSPC)]),
  load(argument(1)),
  ...test({ atLeast: LARGEST_SEGMENT + 1 }, [refuse(ENOSPC)], [allow]),
];

const unheldMemory: Record<string, Instruction[]> = {
  shmget: smallSegments,
  msgget: [refuse(ENOSPC)],
  semget: [
    load(argument(1) + 4),
    ...equal(0, [], [refuse(ENOSPC)]),
    load(argument(1)),
    ...test({ atLeast: LARGEST_SET + 1 }, [refuse(ENOSPC)], [allow]),
  ],
  setsockopt: [
    load(argument(1)),
    ...equal(SOL_SOCKET, [], [allow]),
    load(argument(2)),
    ...oneOf([SO_SNDBUF, SO_RCVBUF], [refuse(0)], [allow]),
  ],
};
