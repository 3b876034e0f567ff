import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import type { HostProgram, ProgramProcess, Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import { z } from 'zod';
import type { PagesReply, PagesRequest } from './protocol.ts';

export interface DocumentsOptions {
  sandbox: Pick<Sandbox, 'start'>;
  /** @default the program of this package */
  program?: HostProgram;
  /** Milliseconds for a request, the start of its process included. @default 30 s */
  timeoutMs?: number;
}

interface PagesQuery {
  /** The run, and the user of its sandboxes. */
  run: Pick<WorkspaceMount, 'id' | 'uid' | 'gid'>;
  data: Uint8Array;
  offset: number;
  limit: number;
}

/** Reads documents of runs. */
export interface Documents {
  /** The text of some pages of a PDF. @throws SandboxError when the program ends or answers late: the file may be made for that */
  pages(query: PagesQuery): Promise<PagesReply>;
  close(): Promise<void>;
}

const replySchema = z.union([
  z.strictObject({
    total_pages: z.int().min(0).max(1_000_000),
    pages: z
      .array(z.strictObject({ page: z.int().min(1), text: z.string().max(20_000), cut: z.int().min(1).optional() }))
      .max(10_000),
  }),
  z.strictObject({ problem: z.enum(['password', 'broken']), message: z.string().max(1000) }),
]);

/** Most processes of this worker. The process with the longest wait ends first. */
const most = 4;

export function openDocuments({ sandbox, program = pdfProgram(), timeoutMs = 30_000 }: DocumentsOptions): Documents {
  const running = new Map<string, ProgramProcess>();

  const processOf = ({ id, uid, gid }: PagesQuery['run']): ProgramProcess => {
    const known = running.get(id);
    const process = known?.usable === true ? known : sandbox.start({ id, uid, gid }, program);
    running.delete(id);
    running.set(id, process);
    for (const [oldest, one] of running) {
      if (running.size <= most) break;
      running.delete(oldest);
      one.close().catch(() => {});
    }
    return process;
  };

  return {
    async pages({ run, data, offset, limit }) {
      const request: PagesRequest = { pdf: Buffer.from(data).toString('base64'), offset, limit };
      const line = await processOf(run).request(request, new Uint8Array(), { timeoutMs });
      const reply = replySchema.safeParse(parse(line));
      // A hostile file may take the program over.
      return reply.success ? reply.data : { problem: 'broken', message: 'the reader gave no usable answer' };
    },
    async close() {
      await Promise.all([...running.values()].map((one) => one.close()));
    },
  };
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}

const require = createRequire(import.meta.url);
const inside = '/opt/holdpoint/documents';
const mebibyte = 1024 * 1024;

/** The program reads hostile files, so it has no network, no file of the run and nothing to write. */
function pdfProgram(): HostProgram {
  const entry = require.resolve('unpdf');
  const folder = entry.slice(0, entry.lastIndexOf(`${sep}unpdf${sep}`) + '/unpdf'.length);
  return {
    name: 'reader of PDF files',
    main: join(import.meta.dirname, 'inside/main.ts'),
    nodeOptions: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=768'],
    files: [
      { host: import.meta.dirname, inside: `${inside}/src` },
      { host: join(import.meta.dirname, '../package.json'), inside: `${inside}/package.json` },
      { host: folder, inside: '/opt/holdpoint/node_modules/unpdf' },
    ],
    memory_bytes: 2048 * mebibyte,
    maxLineBytes: mebibyte,
    idleMs: 60_000,
  };
}
