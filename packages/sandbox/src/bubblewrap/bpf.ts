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
