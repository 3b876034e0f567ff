import { type BigIntStats, readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate as yieldToLoop } from 'node:timers/promises';

/** Space and memory of files without a name, kept open by processes. */
export interface UnlinkedUsage {
  /** Bytes on the disk of the workspace. */
  disk: number;
  /** Bytes of memory in open memfd files. */
  memory: number;
  /** Numbers of open sockets and pipes. The kernel charges no process for their buffers. */
  sockets: number;
  pipes: number;
  /** Whether some use is uncountable. The kernel hides files in flight, and shows an unprivileged user only part of a mapped file. */
  uncounted: { disk: boolean; memory: boolean };
}

/** About 1 ms of work. Then the worker's event loop continues. */
const sliceSize = 200;
/** The count of fds and mappings stops here, after about a second. */
const maxLooks = 300_000;
/** The kernel's names for mappings of memory, as opposed to files on disk. */
const memoryNames = ['/memfd:', '/dev/zero (', '/SYSV', '/dev/shm/', '/tmp/'];

/**
 * @param input.device device of the workspace
 * @param input.processes host pids
 * @param input.root whether this process may read the files behind other users' mappings
 */
export async function measureUnlinkedUsage(input: {
  device: bigint;
  processes: readonly number[];
  root: boolean;
}): Promise<UnlinkedUsage> {
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
    await countDescriptors(found, thread.path);
    await countMappings(found, thread);
    if (found.looks > maxLooks) break;
  }
  if (found.looks > maxLooks) found.disk = found.memory = true;
  return summarise(found);
}

const noBuffers = () => ({ sockets: new Set<bigint>(), pipes: new Set<bigint>() });

interface Found {
  device: bigint;
  root: boolean;
  /** Inode numbers. */
  sockets: Set<bigint>;
  pipes: Set<bigint>;
  /** Bytes by device and inode. */
  files: Map<string, { bytes: number; onDisk: boolean }>;
  /** Ends of the mapped ranges of files visible as mappings only, by device and inode. */
  extents: Map<string, number>;
  disk: boolean;
  memory: boolean;
  looks: number;
}

/**
 * All threads of a process share memory and (enforced by the system call filter) fds. The first thread may have ended before the others.
 */
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

async function countDescriptors(found: Found, thread: string): Promise<void> {
  const open = names(`${thread}/fd`);
  if (open === null) found.disk = found.memory = true; // the process hides its files (PR_SET_DUMPABLE)
  for (const descriptor of open ?? []) {
    if (found.looks > maxLooks) return;
    await pause(found);
    const entry = stat(`${thread}/fd/${descriptor}`);
    if (entry?.isFIFO()) found.pipes.add(entry.ino);
    if (entry?.isSocket()) {
      found.sockets.add(entry.ino);
      if (hasInFlight(`${thread}/fdinfo/${descriptor}`)) found.disk = found.memory = true;
    } else if (entry?.nlink === 0n) add(found, entry);
  }
}

async function countMappings(found: Found, { path, maps }: { path: string; maps: string }): Promise<void> {
  const mark = ' (deleted)\n';
  for (let at = maps.indexOf(mark); at !== -1; at = maps.indexOf(mark, at + 1)) {
    if (found.looks > maxLooks) return;
    await pause(found);
    const line = maps.slice(maps.lastIndexOf('\n', at) + 1, at + mark.length - 1);
    const [, start = '', end = '', offset = '', device = '', inode = '', name = ''] =
      /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) (\S+) (\d+) +(.*)$/.exec(line) ?? [];
    const isMemory = memoryNames.some((prefix) => name.startsWith(prefix));
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

function summarise({ files, extents, sockets, pipes, ...found }: Found): UnlinkedUsage {
  let disk = 0;
  let memory = 0;
  for (const { bytes, onDisk } of files.values()) {
    if (onDisk) disk += bytes;
    else memory += bytes;
  }
  for (const [key, reach] of extents) {
    if (files.has(key)) continue;
    disk += reach;
    found.disk = true; // the file may be larger than its mapped part
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

/** Names a file as /proc/PID/maps does: major and minor number of its device, and its inode. */
function keyOf({ dev, ino }: BigIntStats): string {
  const major = (dev >> 8n) & 0xfffn;
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xfff00n);
  return `${major}:${minor.toString(16).padStart(2, '0')}:${ino}`;
}

/** Whether files were sent through the socket and not received yet. Only AF_UNIX sockets have this line. */
function hasInFlight(fdinfo: string): boolean {
  try {
    return /^scm_fds:\s+[1-9]/m.test(readFileSync(fdinfo, 'latin1'));
  } catch {
    return false; // the socket was closed
  }
}

async function pause(found: Found): Promise<void> {
  if (++found.looks % sliceSize === 0) await yieldToLoop();
}

/** Null when this user has no access. */
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
    return null; // the file was closed or unmapped
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
