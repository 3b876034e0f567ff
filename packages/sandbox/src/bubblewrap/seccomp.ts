import { dockerAllows } from './docker-profile.ts';
import * as refuseUncountable from './refuse-uncountable.ts';
import { isFilterArchitecture, syscallTables } from './syscall-table.ts';

/** Offsets in struct seccomp_data. Arguments have 64 bits. For all arguments read by this filter, the kernel uses the low 32 bits. */
const numberOffset = 0;
const architectureOffset = 4;

const killProcess = 0x80000000;
const eperm = 1;
const enosys = 38;
const eprotonosupport = 93;
const eafnosupport = 97;

/** CLONE_NEW* without NEWTIME. clone cannot ask for NEWTIME: clone reads the byte with this bit as the exit signal. */
const cloneNewAny = 0x7e020000;
const afUnix = 1;
const afInet = 2;
const afInet6 = 10;
const afNetlink = 16;
const sockStream = 1;
const sockDgram = 2;
const sockTypeMask = 0xf;
const ipprotoTcp = 6;
const ipprotoUdp = 17;
/** Needed by getaddrinfo and os.networkInterfaces. */
const netlinkRoute = 0;
/** TIOCSTI and TIOCLINUX type into a terminal; TIOCSETD loads a driver for a line discipline. */
const terminalRequests = [0x5412, 0x541c, 0x5423];
/** PER_LINUX, PER_LINUX32, both with UNAME26, and the query of the present value: Docker's list. */
const personalities = [0, 8, 0x20000, 0x20008, 0xffffffff];

/** Docker allows these calls, this filter refuses them: memfd_secret makes memory unreadable, and file handles outlive a mount. */
export const stricterThanDocker: readonly string[] = ['memfd_secret', 'name_to_handle_at'];

/**
 * The filter as raw `struct sock_filter[]`, for `bwrap --seccomp`. The filter allows the calls of Docker's default profile, less a few
 * calls. Other calls of the table get EPERM. Unknown calls get ENOSYS, as on an older kernel, so programs fall back to older calls.
 *
 * @param options.unixSockets allow AF_UNIX sockets. A command can then connect to a host socket in its workspace
 * @param options.cgroupMemory whether a control group limits the memory of the command. @default false
 * @returns null on an architecture without a table
 */
export function buildFilter(arch: string, options: { unixSockets: boolean; cgroupMemory?: boolean }): Buffer | null {
  if (!isFilterArchitecture(arch)) return null;
  const { auditArch, numbers } = syscallTables[arch];
  const rules = argumentRules(options);
  const allowed = new Set(dockerAllows.filter((name) => !stricterThanDocker.includes(name)));
  if (arch === 'x64') allowed.add('arch_prctl');
  const decisions = new Map<number, refuseUncountable.Instruction[]>();
  for (const [name, number] of numbers) {
    decisions.set(
      number,
      rules[name] ?? (allowed.has(name) ? [refuseUncountable.allow] : [refuseUncountable.refuse(eperm)]),
    );
  }
  return refuseUncountable.assemble([
    refuseUncountable.load(architectureOffset),
    ...refuseUncountable.equal(auditArch, [], [refuseUncountable.returns(killProcess)]),
    refuseUncountable.load(numberOffset),
    ...search(ranges(decisions)),
  ]);
}

/** Rules for calls with arguments to check. */
function argumentRules({
  unixSockets,
  cgroupMemory = false,
}: {
  unixSockets: boolean;
  cgroupMemory?: boolean;
}): Record<string, refuseUncountable.Instruction[]> {
  const internet = [
    refuseUncountable.load(refuseUncountable.argument(1)),
    refuseUncountable.mask(sockTypeMask),
    ...refuseUncountable.oneOf([sockStream, sockDgram], [], [refuseUncountable.refuse(eperm)]),
    refuseUncountable.load(refuseUncountable.argument(2)),
    ...refuseUncountable.oneOf(
      [0, ipprotoTcp, ipprotoUdp],
      [refuseUncountable.allow],
      [refuseUncountable.refuse(eprotonosupport)],
    ),
  ];
  const netlink = [
    refuseUncountable.load(refuseUncountable.argument(2)),
    ...refuseUncountable.equal(netlinkRoute, [refuseUncountable.allow], [refuseUncountable.refuse(eprotonosupport)]),
  ];
  return {
    ...refuseUncountable.uncountableCalls({ cgroupMemory }),
    clone: [
      refuseUncountable.load(refuseUncountable.argument(0)),
      ...refuseUncountable.test(cloneNewAny, [refuseUncountable.refuse(eperm)], []),
      ...refuseUncountable.ownTable,
      refuseUncountable.allow,
    ],
    // clone3 takes its flags behind a pointer, and a filter cannot read memory. ENOSYS makes the C library fall back to clone.
    clone3: [refuseUncountable.refuse(enosys)],
    ioctl: [
      ...refuseUncountable.reservation,
      ...refuseUncountable.oneOf(terminalRequests, [refuseUncountable.refuse(eperm)], [refuseUncountable.allow]),
    ],
    personality: [
      refuseUncountable.load(refuseUncountable.argument(0)),
      ...refuseUncountable.oneOf(personalities, [refuseUncountable.allow], [refuseUncountable.refuse(eperm)]),
    ],
    socket: [
      refuseUncountable.load(refuseUncountable.argument(0)),
      ...(unixSockets ? refuseUncountable.equal(afUnix, [refuseUncountable.allow], []) : []),
      ...refuseUncountable.equal(afNetlink, netlink, []),
      ...refuseUncountable.oneOf([afInet, afInet6], internet, [refuseUncountable.refuse(eafnosupport)]),
    ],
    // Pipes between a program and its children. These sockets reach no other process.
    socketpair: [
      refuseUncountable.load(refuseUncountable.argument(0)),
      ...refuseUncountable.equal(afUnix, [refuseUncountable.allow], [refuseUncountable.refuse(eafnosupport)]),
    ],
  };
}

interface Range {
  /** First system call number. The range ends at the start of the next range. */
  first: number;
  decision: refuseUncountable.Instruction[];
}

function ranges(decisions: ReadonlyMap<number, refuseUncountable.Instruction[]>): Range[] {
  const unknown = [refuseUncountable.refuse(enosys)];
  const found: Range[] = [];
  for (let number = 0; number <= Math.max(...decisions.keys()) + 1; number++) {
    const decision = decisions.get(number) ?? unknown;
    if (JSON.stringify(found.at(-1)?.decision) !== JSON.stringify(decision)) found.push({ first: number, decision });
  }
  return found;
}

/** Binary search: the kernel runs the filter for each uncached call, and 460 times when loading the filter. The table has 360 numbers. */
function search(sorted: readonly Range[]): refuseUncountable.Instruction[] {
  const middle = Math.floor(sorted.length / 2);
  const pivot = sorted[middle];
  if (!pivot || middle === 0) return sorted[0]?.decision ?? [];
  return refuseUncountable.test(
    { atLeast: pivot.first },
    search(sorted.slice(middle)),
    search(sorted.slice(0, middle)),
  );
}
