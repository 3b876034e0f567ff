import { type BigIntStats, readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate as breathe } from 'node:timers/promises';

/** What processes keep alive that has no name any more. */
export interface Holdings {
  /** Bytes on the disk of the workspace. */
  disk: number;
  /** Bytes of memory in files of memfd_create that are held open. */
  memory: number;
  /** How many sockets and pipes are open, whose buffers no process is charged with. */
  sockets: number;
  pipes: number;
  /** Whether more is held than can be counted. The kernel shows neither files in flight nor, to a user without rights, all of a mapped file. */
  uncounted: { disk: boolean; memory: boolean };
}

/** About 1 ms of work, after which the worker's other tasks get their turn. */
const SLICE = 200;
/** A tree that holds more descriptors and mappings is not counted to its end. Looking at so many takes a second. */
const MOST_LOOKS = 300_000;
/** How the kernel names mappings that are memory, not files of a disk. */
const MEMORY_NAMES = ['/memfd:', '/dev/zero (', '/SYSV', '/dev/shm/', '/tmp/'];

/**
 * @param input.device of the workspace
 * @param input.processes host pids
 * @param input.root whether this process may look at the files behind other users' mappings
 */
export async function holdingsOf(input: {
  device: bigint;
  processes: readonly number[];
  root: boolean;
}): Promise<Holdings> {
  const found: Found = {
    ...input,
    files: new Map(),
    extents: new Map(),
    ...noBuffers(),
    disk: false,
    memory: false,
    looks: 0,
  };
  for (const pid of input.processes) {
    const thread = await livingThread(found, pid);
    if (thread === null) continue;
    await lookAtDescriptors(found, thread.path);
    await lookAtMappings(found, thread);
    if (found.looks > MOST_LOOKS) break;
  }
  if (found.looks > MOST_LOOKS) found.disk = found.memory = true;
  return summed(found);
}

const noBuffers = () => ({ sockets: new Set<bigint>(), pipes: new Set<bigint>() });

interface Found {
  device: bigint;
  root: boolean;
  /** Inodes. */
  sockets: Set<bigint>;
  pipes: Set<bigint>;
  /** Bytes by device and inode. */
  files: Map<string, { bytes: number; onDisk: boolean }>;
  /** For files that are only seen as mappings: up to where they are mapped, by device and inode. */
  extents: Map<string, number>;
  disk: boolean;
  memory: boolean;
  looks: number;
}

/** All threads of a process share memory and, as the system call filter has it, descriptors. The first one may have ended before the others. */
async function livingThread(found: Found, pid: number): Promise<{ path: string; maps: string } | null> {
  for (const thread of names(`/proc/${pid}/task`) ?? []) {
    const path = `/proc/${thread}`;
    try {
      const maps = await readFile(`${path}/maps`, 'latin1');
      if (maps !== '') return { path, maps };
    } catch (error) {
      if (isDenied(error)) found.disk = found.memory = true;
    }
    await pause(found);
  }
  return null;
}

async function lookAtDescriptors(found: Found, thread: string): Promise<void> {
  const open = names(`${thread}/fd`);
  if (open === null) found.disk = found.memory = true; // a process that made itself invisible (PR_SET_DUMPABLE)
  for (const descriptor of open ?? []) {
    if (found.looks > MOST_LOOKS) return;
    await pause(found);
    const entry = stat(`${thread}/fd/${descriptor}`);
    if (entry?.isFIFO()) found.pipes.add(entry.ino);
    if (entry?.isSocket()) {
      found.sockets.add(entry.ino);
      if (hasInFlight(`${thread}/fdinfo/${descriptor}`)) found.disk = found.memory = true;
    } else if (entry?.nlink === 0n) add(found, entry);
  }
}

async function lookAtMappings(found: Found, { path, maps }: { path: string; maps: string }): Promise<void> {
  const mark = ' (deleted)\n';
  for (let at = maps.indexOf(mark); at !== -1; at = maps.indexOf(mark, at + 1)) {
    if (found.looks > MOST_LOOKS) return;
    await pause(found);
    const line = maps.slice(maps.lastIndexOf('\n', at) + 1, at + mark.length - 1);
    const [, start = '', end = '', offset = '', device = '', inode = '', name = ''] =
      /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) (\S+) (\d+) +(.*)$/.exec(line) ?? [];
    const isMemory = MEMORY_NAMES.some((prefix) => name.startsWith(prefix));
    if (found.root) {
      const entry = stat(`${path}/map_files/${unpadded(start)}-${unpadded(end)}`);
      if (entry?.nlink === 0n) add(found, entry);
    } else if (isMemory) {
      found.memory = true;
    } else {
      const key = `${Number.parseInt(device, 16)}:${device.split(':')[1]}:${inode}`;
      const reach = Number.parseInt(offset, 16) + Number.parseInt(end, 16) - Number.parseInt(start, 16);
      found.extents.set(key, Math.max(found.extents.get(key) ?? 0, reach));
      const program = stat(`${path}/exe`);
      if (program?.nlink === 0n) add(found, program);
    }
  }
}

function summed({ files, extents, sockets, pipes, ...found }: Found): Holdings {
  let disk = 0;
  let memory = 0;
  for (const { bytes, onDisk } of files.values()) {
    if (onDisk) disk += bytes;
    else memory += bytes;
  }
  for (const [key, reach] of extents) {
    if (files.has(key)) continue;
    disk += reach;
    found.disk = true; // the file may be larger than what is mapped of it
  }
  return {
    disk,
    memory,
    sockets: sockets.size,
    pipes: pipes.size,
    uncounted: { disk: found.disk, memory: found.memory },
  };
}

function add(found: Found, entry: BigIntStats): void {
  if (!entry.isFile() && !entry.isDirectory()) return;
  found.files.set(keyOf(entry), { bytes: Number(entry.blocks) * 512, onDisk: entry.dev === found.device });
}

/** As /proc/PID/maps names a file: major and minor number of its device, and its inode. */
function keyOf({ dev, ino }: BigIntStats): string {
  const major = (dev >> 8n) & 0xfffn;
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xfff00n);
  return `${major}:${minor.toString(16).padStart(2, '0')}:${ino}`;
}

/** Files that were sent through a socket and not received yet. Only sockets of AF_UNIX have the line. */
function hasInFlight(fdinfo: string): boolean {
  try {
    return /^scm_fds:\s+[1-9]/m.test(readFileSync(fdinfo, 'latin1'));
  } catch {
    return false; // it was closed
  }
}

async function pause(found: Found): Promise<void> {
  if (++found.looks % SLICE === 0) await breathe();
}

/** Null where this user may not look. */
function names(directory: string): string[] | null {
  try {
    return readdirSync(directory);
  } catch (error) {
    return isDenied(error) ? null : [];
  }
}

function stat(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return null; // it was closed, or unmapped
  }
}

function isDenied(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM';
}

/** The names in map_files have no leading zeros. */
function unpadded(address: string): string {
  return address.replace(/^0+(?=.)/, '');
}
