import { allow, argument, assemble, equal, type Instruction, load, mask, oneOf, refuse, returns, test } from './bpf.ts';
import { dockerAllows } from './docker-profile.ts';
import { ownTable, reservation, uncountableCalls } from './refuse-uncountable.ts';
import { isFilterArchitecture, syscallTables } from './syscall-table.ts';

/** Offsets in struct seccomp_data; arguments are 64 bits, of which the kernel uses the low 32 for all that is judged here. */
const NUMBER = 0;
const ARCHITECTURE = 4;

const KILL_PROCESS = 0x80000000;
const EPERM = 1;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EAFNOSUPPORT = 97;

/** CLONE_NEW*, without NEWTIME: its bit lies in the byte that clone reads as the exit signal, so clone cannot ask for it. */
const CLONE_NEW_ANY = 0x7e020000;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_TYPE_MASK = 0xf;
const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;
/** getaddrinfo and os.networkInterfaces ask the kernel through it. */
const NETLINK_ROUTE = 0;
/** TIOCSTI and TIOCLINUX type into a terminal; TIOCSETD loads a driver for a line discipline. */
const terminalRequests = [0x5412, 0x541c, 0x5423];
/** PER_LINUX, PER_LINUX32, both with UNAME26, and the question what is set: Docker's list. */
const personalities = [0, 8, 0x20000, 0x20008, 0xffffffff];

/** Docker allows these, and we do not: memory that nothing may look into, and handles that outlive the view of files. */
export const stricterThanDocker: readonly string[] = ['memfd_secret', 'name_to_handle_at'];

/**
 * The filter as raw `struct sock_filter[]`, for `bwrap --seccomp`. What Docker's default profile allows is allowed, less a few; other calls
 * that the table knows are EPERM; and those that it does not know are ENOSYS, as on a kernel without them, so programs fall back.
 *
 * @param options.unixSockets allow AF_UNIX sockets; without it, host sockets that lie in a workspace cannot be connected to
 * @param options.memoryHeld whether a control group bounds the memory of a command. @default false
 * @returns null on an architecture without a table
 */
export function buildFilter(arch: string, options: { unixSockets: boolean; memoryHeld?: boolean }): Buffer | null {
  if (!isFilterArchitecture(arch)) return null;
  const { auditArch, numbers } = syscallTables[arch];
  const judged = judgedCalls(options);
  const allowed = new Set(dockerAllows.filter((name) => !stricterThanDocker.includes(name)));
  if (arch === 'x64') allowed.add('arch_prctl');
  const decisions = new Map<number, Instruction[]>();
  for (const [name, number] of numbers) {
    decisions.set(number, judged[name] ?? (allowed.has(name) ? [allow] : [refuse(EPERM)]));
  }
  return assemble([
    load(ARCHITECTURE),
    ...equal(auditArch, [], [returns(KILL_PROCESS)]),
    load(NUMBER),
    ...search(ranges(decisions)),
  ]);
}

/** Calls whose arguments decide. */
function judgedCalls({
  unixSockets,
  memoryHeld = false,
}: {
  unixSockets: boolean;
  memoryHeld?: boolean;
}): Record<string, Instruction[]> {
  const internet = [
    load(argument(1)),
    mask(SOCK_TYPE_MASK),
    ...oneOf([SOCK_STREAM, SOCK_DGRAM], [], [refuse(EPERM)]),
    load(argument(2)),
    ...oneOf([0, IPPROTO_TCP, IPPROTO_UDP], [allow], [refuse(EPROTONOSUPPORT)]),
  ];
  const netlink = [load(argument(2)), ...equal(NETLINK_ROUTE, [allow], [refuse(EPROTONOSUPPORT)])];
  return {
    ...uncountableCalls({ memoryHeld }),
    clone: [load(argument(0)), ...test(CLONE_NEW_ANY, [refuse(EPERM)], []), ...ownTable, allow],
    // It hides its flags behind a pointer; ENOSYS makes the C library fall back to clone, whose flags can be judged.
    clone3: [refuse(ENOSYS)],
    ioctl: [...reservation, ...oneOf(terminalRequests, [refuse(EPERM)], [allow])],
    personality: [load(argument(0)), ...oneOf(personalities, [allow], [refuse(EPERM)])],
    socket: [
      load(argument(0)),
      ...(unixSockets ? equal(AF_UNIX, [allow], []) : []),
      ...equal(AF_NETLINK, netlink, []),
      ...oneOf([AF_INET, AF_INET6], internet, [refuse(EAFNOSUPPORT)]),
    ],
    // Pipes between a program and its children; it reaches nothing else.
    socketpair: [load(argument(0)), ...equal(AF_UNIX, [allow], [refuse(EAFNOSUPPORT)])],
  };
}

interface Range {
  /** Of system call numbers; it ends where the next one starts. */
  first: number;
  decision: Instruction[];
}

function ranges(decisions: ReadonlyMap<number, Instruction[]>): Range[] {
  const unknown = [refuse(ENOSYS)];
  const found: Range[] = [];
  for (let number = 0; number <= Math.max(...decisions.keys()) + 1; number++) {
    const decision = decisions.get(number) ?? unknown;
    if (JSON.stringify(found.at(-1)?.decision) !== JSON.stringify(decision)) found.push({ first: number, decision });
  }
  return found;
}

/** Binary: a list of 360 numbers would be walked for each call that is not cached by the kernel, and 460 times when the filter is loaded. */
function search(sorted: readonly Range[]): Instruction[] {
  const middle = Math.floor(sorted.length / 2);
  const pivot = sorted[middle];
  if (!pivot || middle === 0) return sorted[0]?.decision ?? [];
  return test({ atLeast: pivot.first }, search(sorted.slice(middle)), search(sorted.slice(0, middle)));
}
