import type { HostProgram, ProgramProcess, Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import { SandboxError } from '@holdpoint/sandbox';
import { pdfProgram } from './pdf-program.ts';
import type { DocumentRequest } from './protocol.ts';
import { type FileReply, fileReply, type PagesReply, pagesReply, readReply } from './replies.ts';

export interface DocumentsOptions {
  sandbox: Pick<Sandbox, 'start'>;
  /** @default the program of this package */
  program?: HostProgram;
  /** Milliseconds for a request, the start of its process included. @default 30 s */
  timeoutMs?: number;
}

interface Query {
  /** The run, and the user of its sandboxes. */
  run: Pick<WorkspaceMount, 'id' | 'uid' | 'gid'>;
  data: Uint8Array;
}

interface PagesQuery extends Query {
  offset: number;
  limit: number;
}

interface FileQuery extends Query {
  first: number;
  last: number;
  most: number;
}

/** Reads documents of runs. */
export interface Documents {
  /** The text of some pages of a PDF. @throws SandboxError when the program ends or answers late: the file may be made for that */
  pages(query: PagesQuery): Promise<PagesReply>;
  /** Some pages of a PDF as a PDF of their own, as far as they fit. A file is broken when the program ends or is late. */
  file(query: FileQuery): Promise<FileReply>;
  close(): Promise<void>;
}

/** Most processes of this worker. The process with the longest wait ends first. */
const most = 4;

export function openDocuments({ sandbox, program = pdfProgram(), timeoutMs = 30_000 }: DocumentsOptions): Documents {
  const running = new Map<string, ProgramProcess>();

  const processOf = ({ id, uid, gid }: Query['run']): ProgramProcess => {
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

  const ask = (run: Query['run'], request: DocumentRequest): Promise<Buffer> =>
    processOf(run).request(request, new Uint8Array(), { timeoutMs });

  return {
    async pages({ run, data, offset, limit }) {
      return readReply(pagesReply, await ask(run, { asks: 'pages', pdf: base64(data), offset, limit }));
    },
    async file({ run, data, ...asked }) {
      try {
        const line = await ask(run, { asks: 'file', pdf: base64(data), ...asked });
        return readReply(fileReply(asked), line);
      } catch (error) {
        if (!(error instanceof SandboxError) || !error.code.startsWith('EPROGRAM')) throw error;
        return { problem: 'broken', message: error.message };
      }
    },
    async close() {
      await Promise.all([...running.values()].map((one) => one.close()));
    },
  };
}

const base64 = (data: Uint8Array): string => Buffer.from(data).toString('base64');
