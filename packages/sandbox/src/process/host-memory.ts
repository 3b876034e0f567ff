import { readFile } from 'node:fs/promises';

const kib = 1024;
const pageBytes = 4096;

/** Memory of the whole host, in bytes. */
export interface HostMemory {
  /** Shared mappings and files in memory. */
  shared: number;
  /** Memory that programs could still get. */
  available: number;
  /** Buffers of the TCP sockets in all network namespaces. */
  tcp: number;
}

export async function hostMemory(): Promise<HostMemory> {
  const [meminfo, sockets] = await Promise.all(
    ['/proc/meminfo', '/proc/net/sockstat'].map((path) => readFile(path, 'latin1').catch(() => '')),
  );
  return {
    shared: kibibytes(meminfo ?? '', 'Shmem'),
    available: kibibytes(meminfo ?? '', 'MemAvailable'),
    tcp: Number(/^TCP: .* mem (\d+)$/m.exec(sockets ?? '')?.[1] ?? 0) * pageBytes,
  };
}

/** A value of /proc/meminfo or /proc/PID/status, in bytes. */
export function kibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * kib;
}
