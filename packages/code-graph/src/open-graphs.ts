import type { Json } from '@holdpoint/contract';
import type { HostProgram, Sandbox } from '@holdpoint/sandbox';
import { readBlobs } from './build/read-blobs.ts';
import type { Snapshots } from './build/snapshots.ts';
import { CodeGraphError } from './errors.ts';
import type { SyntaxProblem } from './facts.ts';
import { type ChangedText, checkSyntax, isCheckable, Parser } from './parser/parser.ts';
import { parserProgram } from './parser/parser-program.ts';
import type { Answer } from './query/answer-question.ts';
import type { GivenListing, Outcome, Read, Request } from './thread/messages.ts';
import { TenantThreads } from './thread/tenant-threads.ts';
import type { Unread } from './view/view.ts';

export interface GraphsOptions {
  sandbox: Pick<Sandbox, 'start'>;
  snapshots: Snapshots;
  /** @default the parser of this package */
  program?: HostProgram;
  /** The most bytes of a run's graph on disk. @default 512 MiB */
  maxBytes?: number;
  /** Milliseconds permitted to a process for a file; then the process is killed. @default 30 s */
  fileMs?: number;
}

export interface GraphQuery {
  runId: string;
  /** @default '' */
  tenant?: string | undefined;
  /** The user of the run's sandboxes. */
  owner: { uid: number; gid: number };
  /** The snapshot whose graph is asked. */
  snapshot: string;
  /** The name of the query, see `questionNames`. */
  query: string;
  params?: Readonly<Record<string, Json>> | undefined;
  /** The permissions of the run: no answer has a path unreadable for the run. @default every path is readable */
  permissions?: readonly string[] | undefined;
  timeout_ms: number;
  /** Bytes of the results. */
  max_bytes: number;
  signal: AbortSignal;
  /** Called after each batch of files. */
  onProgress?(progress: { files: number; total: number }): void;
}

/** A change of a file, to be parsed. */
export interface SyntaxCheck extends ChangedText, Pick<GraphQuery, 'runId' | 'owner'> {
  timeout_ms: number;
}

/** The code graphs of the runs of this host. */
export interface Graphs {
  /**
   * Answers from the graph of a snapshot, after a read of the snapshot's files unknown to the run's graph. When time is up, the graph keeps the
   * read files, and the next query continues with the rest.
   * @throws CodeGraphError for a question without an answer; every other error comes from the infrastructure
   */
  query(query: GraphQuery): Promise<Answer>;
  /** The syntax errors that a change of a file brought, by the parser of the run; none after `timeout_ms`, or without a parser. Never rejects. */
  checkSyntax(check: SyntaxCheck): Promise<SyntaxProblem[]>;
  close(): Promise<void>;
}

/** Entries of a listing sent to a thread at once: 10 ms. */
const maxEntries = 10_000;
/** Other processes may change the graph during a query this many times. */
const maxRounds = 20;

export function openGraphs({
  sandbox,
  snapshots,
  program = parserProgram(),
  maxBytes = 512 * 1024 * 1024,
  fileMs = 30_000,
}: GraphsOptions): Graphs {
  const threads = new TenantThreads();
  const parsers = new Map<string, Parser>();
  /** The build of each run: two queries do not read the same files. */
  const builds = new Map<string, Promise<unknown>>();

  const parserOf = ({ runId, owner }: Pick<GraphQuery, 'runId' | 'owner'>): Parser => {
    const known = parsers.get(runId);
    parsers.delete(runId);
    const parser = known ?? new Parser({ fileMs, start: () => sandbox.start({ id: runId, ...owner }, program) });
    parsers.set(runId, parser);
    // A parser whose process has ended is empty; the others end when they are idle.
    for (const oldest of parsers.keys()) {
      if (parsers.size <= maxParsers || oldest === runId) break;
      parsers.delete(oldest);
    }
    return parser;
  };

  const perform = ({ runId, tenant = '' }: Whose, request: Request): Promise<Outcome> =>
    threads.of({ runId, tenant }).perform({ ...snapshots.cache(runId), maxBytes }, request);

  /** Runs the builds of a run in sequence. A failed build has no effect on the next build. */
  const alone = async <Result>(runId: string, act: () => Promise<Result>): Promise<Result> => {
    const before = builds.get(runId);
    const result = (before ?? Promise.resolve()).then(act, act);
    const tail = result.catch(() => {});
    builds.set(runId, tail);
    void tail.then(() => builds.get(runId) === tail && builds.delete(runId));
    return result;
  };

  /**
   * In parts, because the event loop copies every message to a thread. A run has one build at a time, so its parts belong to the same
   * listing.
   */
  const list = async (whose: Whose, snapshot: string, { since, entries }: GivenListing): Promise<Outcome> => {
    const last = Math.max(0, entries.length - maxEntries);
    for (let from = 0; from < last; from += maxEntries) {
      const part = entries.slice(from, Math.min(from + maxEntries, last));
      await perform(whose, { operation: 'part', isFirst: from === 0, entries: part });
    }
    return perform(whose, {
      operation: 'list',
      snapshot,
      listing: { since, entries: entries.slice(last) },
      total: entries.length,
    });
  };

  const read = (query: GraphQuery, progress: Progress, signal: AbortSignal, blobs: readonly Unread[]) =>
    readBlobs(
      {
        snapshots,
        parser: parserOf(query),
        onRead: (files) => {
          progress.read += files;
          query.onProgress?.({ files: progress.read, total: progress.total });
        },
        async keep(batch: Read[]) {
          const kept = await perform(query, { operation: 'keep', read: batch });
          return kept.kind === 'kept' ? kept.refused : [];
        },
      },
      { runId: query.runId, blobs, signal },
    );

  const answer = async (query: GraphQuery, progress: Progress, signal: AbortSignal): Promise<Answer> => {
    const { runId, snapshot, params, permissions, max_bytes } = query;
    const started = performance.now();
    const ask = () => {
      signal.throwIfAborted();
      const timeout_ms = Math.max(1, query.timeout_ms - (performance.now() - started));
      const question = { query: query.query, params, snapshot, max_bytes };
      return perform(query, { operation: 'ask', question, permissions, timeout_ms });
    };
    const first = await ask();
    if (first.kind === 'answer') return answerOf(first);
    return alone(runId, async () => {
      for (let round = 0; round < maxRounds; round++) {
        const outcome = await ask();
        if (outcome.kind === 'answer') return answerOf(outcome);
        if (outcome.kind === 'unlisted') {
          const listing = await snapshots.listing({ runId, snapshot, since: outcome.known });
          const listed = await list(query, snapshot, listing);
          if (listed.kind !== 'unlisted') continue;
          const whole = await snapshots.listing({ runId, snapshot, since: [] });
          await list(query, snapshot, whole);
        } else if (outcome.kind === 'unread') {
          progress.total = outcome.total;
          progress.read = outcome.total - outcome.blobs.length;
          await read(query, progress, signal, outcome.blobs);
        }
      }
      throw new Error(`The code graph of ${runId} was changed ${maxRounds} times during one query.`);
    });
  };

  return {
    async query(query) {
      const progress: Progress = { read: 0, total: 0 };
      const deadline = AbortSignal.timeout(query.timeout_ms);
      const signal = AbortSignal.any([query.signal, deadline]);
      try {
        return await Promise.race([answer(query, progress, signal), whenAborted(signal)]);
      } catch (error) {
        query.signal.throwIfAborted();
        if (deadline.aborted) throw late(progress, query.timeout_ms);
        throw readable(error, query.snapshot);
      }
    },
    async checkSyntax({ timeout_ms, ...check }) {
      if (!isCheckable(check)) return [];
      const found = checkSyntax(parserOf(check), check).catch(() => []);
      const deadline = AbortSignal.timeout(timeout_ms);
      return Promise.race([found, whenAborted(deadline).catch(() => [])]);
    },
    async close() {
      await threads.close();
      await Promise.all([...parsers.values()].map((parser) => parser.end()));
    },
  };
}

type Whose = Pick<GraphQuery, 'runId' | 'tenant'>;

interface Progress {
  read: number;
  total: number;
}

const maxParsers = 64;

const answerOf = ({ results, cursor }: Answer): Answer => (cursor === undefined ? { results } : { results, cursor });

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function late({ read, total }: Progress, timeoutMs: number): CodeGraphError {
  if (total === 0 || read >= total) {
    return new CodeGraphError(
      'ETIMEOUT',
      `The graph did not answer within ${timeoutMs} ms.`,
      'Ask for less, or raise the time limit of the run.',
    );
  }
  return new CodeGraphError(
    'ETIMEOUT',
    `The graph is being built: ${read} of ${total} files are read after ${timeoutMs} ms.`,
    'Ask again: the next query continues with the files not read yet.',
  );
}

/** A snapshot unknown to the run is a mistake of the caller. */
function readable(error: unknown, snapshot: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ESNAPSHOTUNKNOWN') {
    return new CodeGraphError(
      'EQUERY',
      `/commit: the run has no snapshot ${JSON.stringify(snapshot.slice(0, 100))}.`,
      'Give the id of a snapshot from a step of this run, or leave `commit` out for the present snapshot.',
    );
  }
  return error;
}
