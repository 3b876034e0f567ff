import { refuseUncountable } from './refuse-uncountable.ts';
import { type FilterArchitecture, refused, syscallTables } from './syscall-numbers.ts';

/** Classic BPF opcodes, <linux/filter.h>. */
const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER_EQUAL = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Offsets in struct seccomp_data; arguments are 64 bits, of which the kernel uses the low 32 for all that is judged here. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENT_0 = 16;
const ARGUMENT_1 = 24;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const refuse = (errno: number) => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const X32_BIT = 0x40000000;
/** CLONE_NEW*, without NEWTIME: its bit lies in the byte that clone reads as the exit signal, so clone cannot ask for it. */
const CLONE_NEW_ANY = 0x7e020000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/** getaddrinfo and os.networkInterfaces ask the kernel through it. */
const AF_NETLINK = 16;

/**
 * The filter as raw `struct sock_filter[]`, for `bwrap --seccomp`.
 *
 * @param options.unixSockets allow AF_UNIX sockets; without it, host sockets that lie in a workspace cannot be connected to
 * @param options.memoryHeld whether a control group bounds the memory of a command. @default false
 * @returns null on an architecture without a table
 */
export function buildFilter(arch: string, options: { unixSockets: boolean; memoryHeld?: boolean }): Buffer | null {
  if (!isKnown(arch)) return null;
  const { auditArch, numbers } = syscallTables[arch];
  const program: [code: number, jumpTrue: number, jumpFalse: number, k: number][] = [];
  const emit = (code: number, k: number, jumpTrue = 0, jumpFalse = 0) => program.push([code, jumpTrue, jumpFalse, k]);

  emit(LOAD, ARCHITECTURE);
  emit(JUMP_EQUAL, auditArch, 1, 0);
  emit(RETURN, KILL_PROCESS);
  emit(LOAD, NUMBER);
  if (arch === 'x64') {
    emit(JUMP_GREATER_EQUAL, X32_BIT, 0, 1);
    emit(RETURN, refuse(ENOSYS));
  }
  for (const name of refused) {
    emit(JUMP_EQUAL, numbers[name], 0, 1);
    emit(RETURN, refuse(EPERM));
  }
  refuseUncountable(emit, numbers, { memoryHeld: options.memoryHeld ?? false });
  // clone3 hides its flags behind a pointer; ENOSYS makes the C library fall back to clone, whose flags can be judged
  emit(JUMP_EQUAL, numbers.clone3, 0, 1);
  emit(RETURN, refuse(ENOSYS));
  emit(JUMP_EQUAL, numbers.clone, 0, 4);
  emit(LOAD, ARGUMENT_0);
  emit(JUMP_ANY_BIT, CLONE_NEW_ANY, 0, 1);
  emit(RETURN, refuse(EPERM));
  emit(RETURN, ALLOW);
  emit(JUMP_EQUAL, numbers.ioctl, 0, 5);
  emit(LOAD, ARGUMENT_1);
  emit(JUMP_EQUAL, TIOCSTI, 1, 0);
  emit(JUMP_EQUAL, TIOCLINUX, 0, 1);
  emit(RETURN, refuse(EPERM));
  emit(RETURN, ALLOW);
  const allowFamilies = (number: number, families: readonly number[]) => {
    emit(JUMP_EQUAL, number, 0, families.length + 3);
    emit(LOAD, ARGUMENT_0);
    for (const [index, family] of families.entries()) emit(JUMP_EQUAL, family, families.length - index, 0);
    emit(RETURN, refuse(EAFNOSUPPORT));
    emit(RETURN, ALLOW);
  };
  allowFamilies(numbers.socket, [AF_INET, AF_INET6, AF_NETLINK, ...(options.unixSockets ? [AF_UNIX] : [])]);
  allowFamilies(numbers.socketpair, [AF_UNIX]); // pipes between a program and its children; reaches nothing else
  emit(RETURN, ALLOW);

  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, jumpTrue, jumpFalse, k]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4);
  }
  return bytes;
}

function isKnown(arch: string): arch is FilterArchitecture {
  return Object.hasOwn(syscallTables, arch);
}
