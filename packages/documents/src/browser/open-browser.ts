import { join } from 'node:path';
import { type HostProgram, type Sandbox, SandboxError, type WorkspaceMount } from '@holdpoint/sandbox';
import { z } from 'zod';
import { readReply } from '../replies.ts';
import type { FoundBrowser } from './find-browser.ts';
import type { NoShot, ShotRequest } from './protocol.ts';

const mebibyte = 1024 * 1024;

const shotReply = z.union([
  z.strictObject({
    image: z.base64().transform((text) => Buffer.from(text, 'base64')),
    url: z.string().max(2000),
    status: z.int().min(100).max(999).optional(),
    title: z.string().max(300),
    loaded: z.boolean(),
    cut: z.int().min(1).optional(),
    console: z.array(z.string().max(500)).max(100),
  }),
  z.strictObject({
    problem: z.enum(['server', 'browser', 'page']),
    message: z.string().max(20_000),
    output: z.string().max(4000).optional(),
  }),
]);
type TakenShot = Exclude<z.output<typeof shotReply>, { problem: unknown }>;

export interface ShotQuery extends Omit<ShotRequest, 'browser' | 'cwd'> {
  /** The run's tree. The server and the browser only read it. */
  mount: WorkspaceMount;
  /** Relative to the root of the tree. */
  cwd: string;
  signal: AbortSignal;
}

/** Pictures of pages that runs serve. */
export interface PageBrowser {
  shoot(query: ShotQuery): Promise<TakenShot | NoShot>;
}

/** Beside the times of the request: the start of Node and of a browser on a busy host, and the picture itself. */
const moreMs = 60_000;

/** Each picture has a sandbox of its own, with a server, a browser and nothing else: no network, and no program of the run. */
export function openPageBrowser(sandbox: Pick<Sandbox, 'serve'>, found: FoundBrowser): PageBrowser {
  return {
    async shoot({ mount, cwd, signal, ...asked }) {
      signal.throwIfAborted();
      const program = sandbox.serve(mount, browserProgram(found));
      const end = () => void program.close().catch(() => {});
      signal.addEventListener('abort', end);
      try {
        const request: ShotRequest = { ...asked, browser: found.inside, cwd: join('/workspace', cwd) };
        const timeoutMs = asked.listen_ms + 2 * asked.load_ms + asked.answer_ms + moreMs;
        const reply = readReply(shotReply, await program.request(request, new Uint8Array(), { timeoutMs }));
        return 'problem' in reply && reply.problem === 'broken' ? { ...reply, problem: 'browser' } : reply;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof SandboxError) || !error.code.startsWith('EPROGRAM')) throw error;
        return { problem: 'browser', message: error.message };
      } finally {
        signal.removeEventListener('abort', end);
        await program.close().catch(() => {});
      }
    },
  };
}

const inside = '/opt/holdpoint/documents';

const browserProgram = ({ mount }: FoundBrowser): HostProgram => ({
  name: 'browser',
  main: join(import.meta.dirname, 'inside/main.ts'),
  nodeOptions: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=512'],
  files: [
    { host: join(import.meta.dirname, '..'), inside: `${inside}/src` },
    { host: join(import.meta.dirname, '../../package.json'), inside: `${inside}/package.json` },
    ...(mount === undefined ? [] : [mount]),
  ],
  memory_bytes: 2048 * mebibyte,
  limits: { processes: 256, file_bytes: 64 * mebibyte },
  maxLineBytes: 8 * mebibyte,
  idleMs: 10_000,
});
