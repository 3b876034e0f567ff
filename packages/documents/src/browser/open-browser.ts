import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { type HostProgram, type Sandbox, SandboxError, type WorkspaceMount } from '@holdpoint/sandbox';
import { z } from 'zod';
import { readReply } from '../replies.ts';
import type { NoShot, ShotRequest } from './protocol.ts';

/** A Chromium for the sandboxes of runs. */
export interface FoundBrowser {
  /** Its path on this machine. */
  path: string;
  /** Its path in a sandbox. */
  inside: string;
  /** A folder that the sandbox needs in addition to the system's own. */
  mount?: { host: string; inside: string };
}

export interface BrowserSearch {
  /** The operator's choice: a path, or `none`. */
  named?: string | undefined;
  /** PATH of the process. */
  path: string;
  /** Where the set-up of a checkout unpacks one. */
  projectDir: string;
}

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const insideFolder = '/opt/holdpoint/browser';

/** The operator's Chromium, one on PATH, or the one of the set-up; undefined when there is none. A named one that is none counts as none. */
export function findBrowser({ named, path, projectDir }: BrowserSearch): FoundBrowser | undefined {
  const onPath = path.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  if (named === 'none') return undefined;
  const candidates = named === undefined ? [...onPath, join(projectDir, '.cache/browser/bin/chromium')] : [named];
  const found = candidates.find(isProgram);
  return found === undefined ? undefined : placeInside(found);
}

/** Sandboxes see /usr. Any other browser is a folder of its own, with its libraries beside it. */
function placeInside(path: string): FoundBrowser {
  const real = realpathSync(path);
  if (real.startsWith('/usr/')) return { path, inside: real };
  const folder = dirname(real);
  const isInBin = basename(folder) === 'bin';
  const host = isInBin ? dirname(folder) : folder;
  return { path, inside: join(insideFolder, real.slice(host.length)), mount: { host, inside: insideFolder } };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

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
