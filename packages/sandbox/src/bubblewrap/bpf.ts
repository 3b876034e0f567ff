/** One `struct sock_filter` of <linux/filter.h>: code, jump if true, jump if false, constant. */
export type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, k: number];

const LOAD = 0x20;
const AND = 0x54;
const JUMP = 0x05;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER_EQUAL = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
/** Conditional jumps have eight bits. */
const FARTHEST = 255;

/** Offset of an argument's low half in struct seccomp_data; the high half lies 4 bytes further. */
export const argument = (index: number) => 16 + index * 8;

export const returns = (k: number): Instruction => [RETURN, 0, 0, k];
export const allow = returns(0x7fff0000);
export const refuse = (errno: number): Instruction => returns(0x00050000 | errno);
export const load = (offset: number): Instruction => [LOAD, 0, 0, offset];
export const mask = (bits: number): Instruction => [AND, 0, 0, bits];

/** `then` and `otherwise` must return, but for one that is empty, which goes to what follows. */
export function equal(k: number, then: readonly Instruction[], otherwise: readonly Instruction[]): Instruction[] {
  return branch(JUMP_EQUAL, k, then, otherwise);
}

/** @param condition bits of which any must be set, or the least value */
export function test(
  condition: number | { atLeast: number },
  then: readonly Instruction[],
  otherwise: readonly Instruction[],
): Instruction[] {
  if (typeof condition === 'number') return branch(JUMP_ANY_BIT, condition, then, otherwise);
  return branch(JUMP_GREATER_EQUAL, condition.atLeast, then, otherwise);
}

function branch(
  code: number,
  k: number,
  then: readonly Instruction[],
  otherwise: readonly Instruction[],
): Instruction[] {
  if (then.length === 0) return [[code, distance(otherwise.length), 0, k], ...otherwise];
  if (then.length <= FARTHEST) return [[code, 0, then.length, k], ...then, ...otherwise];
  return [[code, 1, 0, k], [JUMP, 0, 0, then.length], ...then, ...otherwise];
}

function distance(length: number): number {
  if (length > FARTHEST) throw new RangeError(`a jump over ${length} instructions`);
  return length;
}

/** `then` where the value is one of the list, else `otherwise`. An empty branch falls through to what follows. */
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
