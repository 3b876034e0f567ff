import { expect, test } from 'vitest';
import { dockerAllows } from './docker-profile.ts';
import { buildFilter, stricterThanDocker } from './seccomp.ts';
import { syscallTables } from './syscall-table.ts';

const allowed = 0x7fff0000;
const killed = 0x80000000;
const errno = (value: number) => 0x50000 + value;
const eperm = errno(1);
const enosys = errno(38);

/** Runs the program as the kernel would. */
function evaluate(program: Buffer, call: { arch: number; number: number; args?: readonly number[] }): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.arch, 4);
  for (const [index, value] of (call.args ?? []).entries()) data.writeBigUInt64LE(BigInt(value), 16 + index * 8);
  let accumulator = 0;
  for (let pc = 0; ; pc++) {
    const code = program.readUInt16LE(pc * 8);
    const k = program.readUInt32LE(pc * 8 + 4);
    const jump = (condition: boolean) => program.readUInt8(pc * 8 + (condition ? 2 : 3));
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0;
    else if (code === 0x05) pc += k;
    else if (code === 0x15) pc += jump(accumulator === k);
    else if (code === 0x35) pc += jump(accumulator >= k);
    else if (code === 0x45) pc += jump((accumulator & k) !== 0);
    else if (code === 0x06) return k;
    else throw new Error(`instruction ${code.toString(16)} at ${pc}`);
  }
}

const decidedByArguments = [
  ...['clone', 'clone3', 'close_range', 'fallocate', 'ioctl', 'msgget', 'personality', 'semget', 'setsockopt'],
  ...['shmget', 'socket', 'socketpair'],
];
/** Calls that the sandbox must refuse, whatever Docker's list becomes. */
const dangerous = `
  ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp add_key request_key keyctl bpf perf_event_open userfaultfd io_uring_setup
  io_uring_enter io_uring_register mount umount2 pivot_root chroot unshare setns move_mount fsopen fsconfig fsmount fspick open_tree
  mount_setattr open_tree_attr open_by_handle_at name_to_handle_at init_module finit_module delete_module kexec_load kexec_file_load reboot
  swapon swapoff syslog acct quotactl quotactl_fd vhangup memfd_secret process_madvise mbind move_pages set_mempolicy migrate_pages
  settimeofday clock_settime sethostname setdomainname fanotify_init lookup_dcookie
`
  .trim()
  .split(/\s+/);

for (const arch of ['x64', 'arm64'] as const) {
  const { auditArch, numbers } = syscallTables[arch];
  const program = buildFilter(arch, { unixSockets: false }) ?? Buffer.alloc(0);
  const decide = (number: number, ...args: number[]) => evaluate(program, { arch: auditArch, number, args });
  const numberOf = (name: string) => numbers.get(name) ?? expect.fail(name);

  test(`${arch}: calls of Docker's list pass, less a few; other known calls are refused`, () => {
    const passes = [...numbers].filter(
      ([name, number]) => !decidedByArguments.includes(name) && decide(number) === allowed,
    );
    const expected = [...dockerAllows.filter((name) => numbers.has(name)), ...(arch === 'x64' ? ['arch_prctl'] : [])];
    expect(passes.map(([name]) => name).sort()).toEqual(
      expected.filter((name) => !stricterThanDocker.includes(name) && !decidedByArguments.includes(name)).sort(),
    );
    const others = [...numbers].filter(
      ([name]) => !decidedByArguments.includes(name) && !passes.some(([pass]) => pass === name),
    );
    for (const [name, number] of others) expect([name, decide(number)]).toEqual([name, eperm]);
    for (const name of dangerous) expect([name, decide(numberOf(name))]).toEqual([name, eperm]);
  });

  test(`${arch}: an unknown call gets ENOSYS`, () => {
    const known = new Set(numbers.values());
    expect(known.size).toBe(numbers.size);
    const unknown = [...Array(1000).keys(), 0x40000000, 0x7fffffff, 0xffffffff].filter((number) => !known.has(number));
    expect(unknown.length).toBeGreaterThan(500);
    for (const number of unknown) expect([number, decide(number)]).toEqual([number, enosys]);
  });

  test(`${arch}: threads and forks pass, new namespaces are refused`, () => {
    expect(decide(numberOf('clone'), 0x1200011)).toBe(allowed);
    expect(decide(numberOf('clone'), 0x3d0f00)).toBe(allowed);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(decide(numberOf('clone'), flag | 17)).toBe(eperm);
    }
    expect(decide(numberOf('clone3'))).toBe(enosys);
  });

  test(`${arch}: calls that take uncounted disk space or memory are refused`, () => {
    expect(decide(numberOf('clone'), 0x3d0b00)).toBe(errno(1));
    expect(decide(numberOf('clone'), 17)).toBe(allowed);
    expect(decide(numberOf('close_range'), 3, 0xffffffff, 0)).toBe(allowed);
    expect(decide(numberOf('close_range'), 3, 0xffffffff, 6)).toBe(errno(1));
    for (const mode of [0, 1, 0x10]) expect(decide(numberOf('fallocate'), 3, mode, 0, 4096)).toBe(errno(95));
    expect(decide(numberOf('fallocate'), 3, 0, 0, 2 ** 40)).toBe(errno(27));
    expect(decide(numberOf('fallocate'), 3, 3, 0, 2 ** 40)).toBe(allowed);
    for (const request of [0x40305828, 0x4030582a, 0x40305839])
      expect(decide(numberOf('ioctl'), 3, request)).toBe(errno(95));
    expect(decide(numberOf('ioctl'), 0, 0x5401)).toBe(allowed);
    expect(decide(numberOf('shmget'), 0, 56)).toBe(allowed);
    for (const size of [65_537, 2 ** 32]) expect(decide(numberOf('shmget'), 0, size)).toBe(errno(28));
    expect(decide(numberOf('msgget'), 0)).toBe(errno(28));
    expect(decide(numberOf('semget'), 0, 64)).toBe(allowed);
    for (const count of [65, 2 ** 32]) expect(decide(numberOf('semget'), 0, count)).toBe(errno(28));
    for (const name of [7, 8]) expect(decide(numberOf('setsockopt'), 3, 1, name)).toBe(errno(0));
    for (const args of [
      [1, 2],
      [6, 7],
    ])
      expect(decide(numberOf('setsockopt'), 3, ...args)).toBe(allowed);
    const inCgroup = buildFilter(arch, { unixSockets: false, cgroupMemory: true }) ?? Buffer.alloc(0);
    for (const name of ['msgget', 'semget', 'setsockopt']) {
      expect(evaluate(inCgroup, { arch: auditArch, number: numberOf(name), args: [0, 1, 7] })).toBe(allowed);
    }
    expect(evaluate(inCgroup, { arch: auditArch, number: numberOf('shmget'), args: [0, 2 ** 32] })).toBe(allowed);
  });

  test(`${arch}: only TCP, UDP and NETLINK_ROUTE sockets pass`, () => {
    const socket = (...args: number[]) => decide(numberOf('socket'), ...args);
    const flags = 0o2000000 | 0o4000; // SOCK_CLOEXEC, SOCK_NONBLOCK
    for (const family of [2, 10]) {
      for (const args of [[1], [2], [1, 6], [2, 17], [1 | flags, 0], [2 | flags, 17]]) {
        expect(socket(family, ...args)).toBe(allowed);
      }
      // ICMP, IGMP, DCCP, GRE, L2TP, SCTP, UDP-Lite, raw, MPTCP
      for (const protocol of [1, 2, 33, 47, 58, 115, 132, 136, 255, 262]) {
        expect([protocol, socket(family, 1, protocol)]).toEqual([protocol, errno(93)]);
      }
      // raw, reliable datagrams, sequenced packets, DCCP, packets: the kernel also loads modules by the type
      for (const type of [0, 3, 4, 5, 6, 10]) expect([type, socket(family, type | flags)]).toEqual([type, eperm]);
    }
    expect(socket(16, 3, 0)).toBe(allowed);
    for (let protocol = 1; protocol < 32; protocol++) expect(socket(16, 3, protocol)).toBe(errno(93));
    for (const family of [1, 0, 3, 17, 31, 38, 40, 44]) expect(socket(family, 1)).toBe(errno(97));
    expect(decide(numberOf('socketpair'), 1)).toBe(allowed);
    expect(decide(numberOf('socketpair'), 2)).toBe(errno(97));
    const open = buildFilter(arch, { unixSockets: true }) ?? Buffer.alloc(0);
    const inOpen = (...args: number[]) => evaluate(open, { arch: auditArch, number: numberOf('socket'), args });
    expect(inOpen(1)).toBe(allowed);
    expect(inOpen(2, 1)).toBe(allowed);
    expect(inOpen(40)).toBe(errno(97));
  });

  test(`${arch}: typing into a terminal and loading a line discipline are refused`, () => {
    for (const request of [0x5412, 0x541c, 0x5423]) expect(decide(numberOf('ioctl'), 0, request)).toBe(eperm);
    expect(decide(numberOf('ioctl'), 0, 0x100005412)).toBe(eperm); // the kernel reads the low half only
    expect(decide(numberOf('ioctl'), 0, 0x5413)).toBe(allowed);
  });

  test(`${arch}: only the personalities of Docker's list pass`, () => {
    for (const one of [0, 8, 0x20000, 0x20008, 0xffffffff]) expect(decide(numberOf('personality'), one)).toBe(allowed);
    for (const one of [0x40000, 0x400000, 0x4000000, 3]) expect(decide(numberOf('personality'), one)).toBe(eperm);
  });

  test(`${arch}: a call of another architecture kills the process`, () => {
    expect(evaluate(program, { arch: 0x40000003, number: 1 })).toBe(killed);
  });

  test(`${arch}: the filter has fewer than 400 instructions`, () => {
    expect(program.length / 8).toBeLessThan(400);
  });
}

test('an architecture without a table has no filter', () => {
  expect(buildFilter('riscv64', { unixSockets: false })).toBeNull();
});
