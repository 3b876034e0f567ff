/** One `struct sock_filter` of <linux/filter.h>: code, jump if true, jump if false, constant. */
export type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, k: number];

const opcodes = { load: 0x20, and: 0x54, jump: 0x05, equal: 0x15, greaterEqual: 0x35, anyBit: 0x45, return: 0x06 };
/** A conditional jump has eight bits. */
const maxJump = 255;

/** Offset of an argument's low half in struct seccomp_data; the high half lies 4 bytes further. */
export const argument = (index: number) => 16 + index * 8;

export const returns = (k: number): Instruction => [opcodes.return, 0, 0, k];
export const allow = returns(0x7fff0000);
export const refuse = (errno: number): Instruction => returns(0x00050000 | errno);
export const load = (offset: number): Instruction => [opcodes.load, 0, 0, offset];
export const mask = (bits: number): Instruction => [opcodes.and, 0, 0, bits];

/** Both branches must return. An empty branch continues with the next instruction. */
export function equal(k: number, then: readonly Instruction[], otherwise: readonly Instruction[]): Instruction[] {
  return branch(opcodes.equal, k, then, otherwise);
}

/** @param condition bits (true when any is set) or a minimum value */
export function test(
  condition: number | { atLeast: number },
  then: readonly Instruction[],
  otherwise: readonly Instruction[],
): Instruction[] {
  if (typeof condition === 'number') return branch(opcodes.anyBit, condition, then, otherwise);
  return branch(opcodes.greaterEqual, condition.atLeast, then, otherwise);
}

function branch(
  code: number,
  k: number,
  then: readonly Instruction[],
  otherwise: readonly Instruction[],
): Instruction[] {
  if (then.length === 0) return [[code, distance(otherwise.length), 0, k], ...otherwise];
  if (then.length <= maxJump) return [[code, 0, then.length, k], ...then, ...otherwise];
  return [[code, 1, 0, k], [opcodes.jump, 0, 0, then.length], ...then, ...otherwise];
}

function distance(length: number): number {
  if (length > maxJump) throw new RangeError(`the jump of ${length} instructions is too long`);
  return length;
}

/** Runs `then` when the value is in the list, else `otherwise`. An empty branch continues with the next instruction. */
export function oneOf(
  values: readonly number[],
  then: readonly Instruction[],
  otherwise: readonly Instruction[],
): Instruction[] {
  const [last, ...others] = values.toReversed();
  if (last === undefined) return [...otherwise];
  return others.reduce((rest, value) => equal(value, then, rest), equal(last, then, otherwise));
}

export function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, jumpTrue, jumpFalse, k]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4);
  }
  return bytes;
}

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
