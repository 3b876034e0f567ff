import { allow, argument, equal, type Instruction, load, mask, oneOf, refuse, test } from './bpf.ts';

const eperm = 1;
const efbig = 27;
const enospc = 28;
const eopnotsupp = 95;

const cloneFiles = 0x400;
const cloneThread = 0x10000;
const closeRangeUnshare = 2;
const fallocFlPunchHole = 2;
/** The kernel allows 4096 segments. */
const maxSegmentBytes = 64 * 1024;
/** 64 bytes each, in up to 32,000 sets. */
const maxSemaphores = 64;
const solSocket = 1;
const soSndbuf = 7;
const soRcvbuf = 8;
/** FS_IOC_RESVSP, RESVSP64, ZERO_RANGE: fallocate by another name. */
const reservations = [0x40305828, 0x4030582a, 0x40305839];

/** Refuses threads with an fd table of their own, because the worker would have to read a table for every thread. */
export const ownTable: Instruction[] = [
  load(argument(0)),
  mask(cloneThread | cloneFiles),
  ...equal(cloneThread, [refuse(eperm)], []),
];

/** Refuses the reservation requests of ioctl. For any other request the filter continues with the request loaded. */
export const reservation: Instruction[] = [load(argument(1)), ...oneOf(reservations, [refuse(eopnotsupp)], [])];

/**
 * Rules for calls taking disk space or memory uncountable for the worker, or taking it faster than the worker polls.
 *
 * - A detached System V segment lies in memory, and no process owns the segment. Small segments pass, because databases lock with them.
 * - No process owns a System V message queue or semaphore set either. Large sets are refused.
 * - A request for larger socket buffers succeeds without an effect. The kernel promises no size, so programs do not notice.
 * - fallocate takes a gigabyte within a millisecond. On file systems without fallocate, e.g. NFS 3, programs write zeros.
 *
 * @param options.cgroupMemory whether a control group limits the memory of the command
 */
export function uncountableCalls(options: { cgroupMemory: boolean }): Record<string, Instruction[]> {
  return {
    close_range: [load(argument(2)), ...test(closeRangeUnshare, [refuse(eperm)], [allow])],
    fallocate: [
      load(argument(1)),
      ...test(fallocFlPunchHole, [allow], []),
      load(argument(3) + 4),
      // For 4 GiB or more the filter returns EFBIG, so a program does not try to write zeros.
      ...equal(0, [refuse(eopnotsupp)], [refuse(efbig)]),
    ],
    ...(options.cgroupMemory ? {} : uncountedMemory),
  };
}

const smallSegments = [
  load(argument(1) + 4),
  ...equal(0, [], [refuse(enospc)]),
  load(argument(1)),
  ...test({ atLeast: maxSegmentBytes + 1 }, [refuse(enospc)], [allow]),
];

const uncountedMemory: Record<string, Instruction[]> = {
  shmget: smallSegments,
  msgget: [refuse(enospc)],
  semget: [
    load(argument(1) + 4),
    ...equal(0, [], [refuse(enospc)]),
    load(argument(1)),
    ...test({ atLeast: maxSemaphores + 1 }, [refuse(enospc)], [allow]),
  ],
  setsockopt: [
    load(argument(1)),
    ...equal(solSocket, [], [allow]),
    load(argument(2)),
    ...oneOf([soSndbuf, soRcvbuf], [refuse(0)], [allow]),
  ],
};
