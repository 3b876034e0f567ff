import type { CapabilityReport, CommandEnd, ProcessLimits, SearchResult } from '@holdpoint/contract';
import { Capture, endTogether } from '../capture.ts';
import { checkCommand } from '../check-command.ts';
import { SandboxError } from '../errors.ts';
import type { OutputStream } from '../inside/tool-host/protocol.ts';
import { resolveLimits } from '../limits.ts';
import type { Search } from '../port.ts';
import { attempt, type Connect } from './tool-host-files.ts';

interface SearchDeps {
  /** Returns the workspace's tool host. Starts a tool host when none runs. */
  connect: Connect;
  capabilities: CapabilityReport;
  limits: Partial<ProcessLimits> | undefined;
  /** Time for a tool host to end a killed search. */
  fileRequestMs: number;
  /** Monotonic clock in milliseconds. */
  now(): number;
}

const mib = 1024 * 1024;
/** Two searches run at once in a tool host. The tool host and both searches have 2 GiB together. A line of 300 MiB fits. */
const mostMemoryBytes = 640 * mib;
/** Maximum of bytes still arriving from a killed search. Pipes and buffers of both sides hold less. */
const inFlightBytes = 16 * mib;
/** A search may send one part per 512 bytes of output, and 1000 more. ripgrep writes 8 KiB at once, except at the end of its output. */
const partsAtLeast = { bytes: 512, free: 1000 };

/** Why the worker ended the search. The first cause counts. */
type KillCause = Exclude<CommandEnd, { status: 'exited' }>;

let lastKey = 0;

/** Runs ripgrep in the workspace's tool host, with the limits of a command. A tool host is killed for exceeding these limits. */
export async function runSearch(deps: SearchDeps, search: Search): Promise<SearchResult> {
  checkCommand({ argv: ['rg', ...search.args], kept_bytes: search.kept_bytes });
  try {
    return await searchOnce(deps, search);
  } catch (error) {
    // Repeats the search, because a search changes no file. Other reading operations are repeated as well.
    if (!(error instanceof SandboxError) || error.code !== 'ETOOLHOSTLOST') throw error;
    return await searchOnce(deps, search);
  }
}

async function searchOnce(deps: SearchDeps, search: Search): Promise<SearchResult> {
  const limits = resolveLimits(deps.limits, search.limits);
  const memory_bytes = Math.min(limits.memory_bytes, mostMemoryBytes);
  const connection = await deps.connect();
  const key = ++lastKey;
  let cause = null as KillCause | null;
  let grace: NodeJS.Timeout | undefined;
  const kill = (reason: KillCause) => {
    if (cause !== null) return;
    cause = reason;
    grace = setTimeout(() => connection.violate('a search that was killed did not end'), deps.fileRequestMs);
    connection.request('cancel', { key }).catch(() => {}); // the request of the search fails for the same reason
  };
  const output = new SearchOutput(search, limits.output_bytes, () =>
    kill({ status: 'quota', quota: 'output', limit: limits.output_bytes }),
  );
  const started = deps.now();
  const settle = (end: CommandEnd, nuls = 0): SearchResult => ({
    ...{ end, ...output.end(), nuls, capabilities: deps.capabilities },
    duration_ms: Math.round(deps.now() - started),
  });
  const { signal } = search;
  const onAbort = () => kill({ status: 'killed', reason: reasonOf(signal) });
  if (signal.aborted) return settle({ status: 'killed', reason: reasonOf(signal) });
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => kill({ status: 'timed_out', after_ms: limits.wall_ms }), limits.wall_ms);
  try {
    const { path, args, keeps = 'text' } = search;
    const { output: ended } = await attempt(connection, {
      ...{ operation: 'search', path, timeoutMs: limits.wall_ms + 2 * deps.fileRequestMs },
      input: { key, path, args, keeps, cpu_seconds: limits.cpu_seconds, memory_bytes },
      onPart: (part, data) => output.take(part, data),
    });
    return settle(cause ?? judge(ended, { ...limits, memory_bytes }), ended.nuls);
  } catch (error) {
    if (cause !== null && error instanceof SandboxError) return settle(cause);
    throw error;
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    signal.removeEventListener('abort', onAbort);
  }
}

const reasonOf = ({ reason }: AbortSignal): string => (reason instanceof Error ? reason.message : String(reason));

function judge(
  { exit_code, signal }: { exit_code: number | null; signal: string | null },
  limits: ProcessLimits,
): CommandEnd {
  if (signal === 'SIGXCPU') return { status: 'quota', quota: 'cpu', limit: limits.cpu_seconds };
  // ripgrep aborts when memory is refused. SIGKILL comes from the kernel alone, when the host is out of memory.
  if (signal === 'SIGABRT' || signal === 'SIGKILL')
    return { status: 'quota', quota: 'memory', limit: limits.memory_bytes };
  return { status: 'exited', exit_code: exit_code ?? 128, signal };
}

/** The output of a search, filtered and bounded. */
class SearchOutput {
  readonly #limit: number;
  readonly #onFull: () => void;
  readonly #captures: Record<OutputStream, Capture>;
  readonly #filters: Record<OutputStream, ReturnType<NonNullable<Search['filter']>> | undefined>;
  #bytes = 0;
  #parts = 0;

  constructor({ kept_bytes, filter }: Search, limit: number, onFull: () => void) {
    this.#limit = limit;
    this.#onFull = onFull;
    this.#captures = { stdout: new Capture(kept_bytes), stderr: new Capture(kept_bytes) };
    this.#filters = { stdout: filter?.(), stderr: filter?.() };
  }

  /** False when the tool host sends more than any search: a part for every few bytes, or output long after the kill. */
  take(part: OutputStream, data: Buffer): boolean {
    const remaining = this.#limit - this.#bytes;
    this.#bytes += data.length;
    this.#parts += 1;
    if (remaining > 0) this.#keep(part, data.subarray(0, remaining));
    if (data.length > remaining) this.#onFull();
    const mostParts = partsAtLeast.free + this.#bytes / partsAtLeast.bytes;
    return this.#bytes <= this.#limit + inFlightBytes && this.#parts <= mostParts;
  }

  end(): Pick<SearchResult, 'stdout' | 'stderr'> {
    for (const part of ['stdout', 'stderr'] as const) {
      const rest = this.#filters[part]?.end();
      if (rest) this.#captures[part].push(rest);
    }
    const [stdout, stderr] = endTogether(this.#captures.stdout, this.#captures.stderr, this.#limit);
    return { stdout, stderr };
  }

  #keep(part: OutputStream, data: Buffer): void {
    this.#captures[part].push(this.#filters[part]?.push(data) ?? data);
  }
}
