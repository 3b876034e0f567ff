import { expect, test } from 'vitest';
import { buildFilter } from './seccomp.ts';
import { refused, syscallTables } from './syscall-numbers.ts';

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const errno = (value: number) => 0x50000 + value;

/** Runs the program as the kernel would, for the six instructions it may hold. */
function judge(program: Buffer, call: { arch: number; number: number; args?: readonly number[] }): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.arch, 4);
  for (const [index, value] of (call.args ?? []).entries()) data.writeBigUInt64LE(BigInt(value), 16 + index * 8);
  let accumulator = 0;
  for (let pc = 0; ; pc++) {
    const code = program.readUInt16LE(pc * 8);
    const k = program.readUInt32LE(pc * 8 + 4);
    const jump = (holds: boolean) => program.readUInt8(pc * 8 + (holds ? 2 : 3));
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x15) pc += jump(accumulator === k);
    else if (code === 0x35) pc += jump(accumulator >= k);
    else if (code === 0x45) pc += jump((accumulator & k) !== 0);
    else if (code === 0x54) accumulator &= k;
    else if (code === 0x06) return k;
    else throw new Error(`instruction ${code.toString(16)} at ${pc}`);
  }
}

for (const arch of ['x64', 'arm64'] as const) {
  const { auditArch, numbers } = syscallTables[arch];
  const program = buildFilter(arch, { unixSockets: false }) ?? Buffer.alloc(0);
  const decide = (number: number, ...args: number[]) => judge(program, { arch: auditArch, number, args });

  test(`${arch}: refuses the listed calls and lets others pass`, () => {
    for (const name of refused) expect([name, decide(numbers[name])]).toEqual([name, errno(1)]);
    const listed = new Set<number>(Object.values(numbers));
    const others = Array.from({ length: 470 }, (_, number) => number).filter((number) => !listed.has(number));
    for (const number of others) expect([number, decide(number)]).toEqual([number, ALLOW]);
  });

  test(`${arch}: no two calls share a number`, () => {
    expect(new Set(Object.values(numbers)).size).toBe(Object.keys(numbers).length);
  });

  test(`${arch}: threads and forks pass, namespaces do not`, () => {
    expect(decide(numbers.clone, 0x1200011)).toBe(ALLOW);
    expect(decide(numbers.clone, 0x3d0f00)).toBe(ALLOW);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(decide(numbers.clone, flag | 17)).toBe(errno(1));
    }
    expect(decide(numbers.clone3)).toBe(errno(38));
  });

  test(`${arch}: what takes disk space without being seen is refused`, () => {
    expect(decide(numbers.clone, 0x3d0b00)).toBe(errno(1));
    expect(decide(numbers.clone, 17)).toBe(ALLOW);
    expect(decide(numbers.close_range, 3, 0xffffffff, 0)).toBe(ALLOW);
    expect(decide(numbers.close_range, 3, 0xffffffff, 6)).toBe(errno(1));
    for (const mode of [0, 1, 0x10]) expect(decide(numbers.fallocate, 3, mode, 0, 4096)).toBe(errno(95));
    expect(decide(numbers.fallocate, 3, 0, 0, 2 ** 40)).toBe(errno(27));
    expect(decide(numbers.fallocate, 3, 3, 0, 2 ** 40)).toBe(ALLOW);
    for (const request of [0x40305828, 0x4030582a, 0x40305839])
      expect(decide(numbers.ioctl, 3, request)).toBe(errno(95));
    expect(decide(numbers.ioctl, 0, 0x5401)).toBe(ALLOW);
    expect(decide(numbers.shmget, 0, 56)).toBe(ALLOW);
    for (const size of [65_537, 2 ** 32]) expect(decide(numbers.shmget, 0, size)).toBe(errno(28));
    const held = buildFilter(arch, { unixSockets: false, memoryHeld: true }) ?? Buffer.alloc(0);
    expect(judge(held, { arch: auditArch, number: numbers.shmget, args: [0, 2 ** 32] })).toBe(ALLOW);
  });

  test(`${arch}: internet sockets pass, others do not`, () => {
    for (const family of [2, 10, 16]) expect(decide(numbers.socket, family, 1)).toBe(ALLOW);
    for (const family of [1, 0, 3, 17, 31, 38, 40, 44]) expect(decide(numbers.socket, family, 1)).toBe(errno(97));
    expect(decide(numbers.socketpair, 1)).toBe(ALLOW);
    expect(decide(numbers.socketpair, 2)).toBe(errno(97));
    const open = buildFilter(arch, { unixSockets: true }) ?? Buffer.alloc(0);
    expect(judge(open, { arch: auditArch, number: numbers.socket, args: [1] })).toBe(ALLOW);
    expect(judge(open, { arch: auditArch, number: numbers.socket, args: [40] })).toBe(errno(97));
  });

  test(`${arch}: nobody types into a terminal`, () => {
    expect(decide(numbers.ioctl, 0, 0x5412)).toBe(errno(1));
    expect(decide(numbers.ioctl, 0, 0x541c)).toBe(errno(1));
    expect(decide(numbers.ioctl, 0, 0x100005412)).toBe(errno(1)); // the kernel looks at the low half
    expect(decide(numbers.ioctl, 0, 0x5413)).toBe(ALLOW);
  });

  test(`${arch}: another architecture's numbers end the process`, () => {
    expect(judge(program, { arch: 0x40000003, number: 1 })).toBe(KILL);
  });
}

test('x64: the x32 numbers do not exist', () => {
  const program = buildFilter('x64', { unixSockets: false }) ?? Buffer.alloc(0);
  expect(judge(program, { arch: syscallTables.x64.auditArch, number: 0x40000000 + 165 })).toBe(errno(38));
});

test('there is no filter for an architecture without a table', () => {
  expect(buildFilter('riscv64', { unixSockets: false })).toBeNull();
});
