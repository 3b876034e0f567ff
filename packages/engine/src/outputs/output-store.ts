import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface OutputPage {
  text: string;
  from: number;
  next: number;
  total: number;
  omitted: number;
}
export interface OutputWriter {
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  close(): Promise<void>;
}
export interface OutputStore {
  open(taskId: string): OutputWriter;
  read(taskId: string, at: { stream: 'stdout' | 'stderr'; from: number; maxBytes: number }): Promise<OutputPage>;
  remove(taskId: string): Promise<void>;
  list(): Promise<string[]>;
}

/** To be replaced: keeps everything in one file per stream. */
export function openOutputStore(folder: string): OutputStore {
  const place = (taskId: string): string => join(folder, taskId);
  return {
    open(taskId) {
      rmSync(place(taskId), { recursive: true, force: true });
      mkdirSync(place(taskId), { recursive: true });
      const files = new Map<string, number>();
      return {
        write(stream, chunk) {
          const file = files.get(stream) ?? openSync(join(place(taskId), stream), 'a');
          files.set(stream, file);
          writeSync(file, chunk);
        },
        async close() {
          for (const file of files.values()) closeSync(file);
        },
      };
    },
    async read(taskId, { stream, from, maxBytes }) {
      const data = await readFile(join(place(taskId), stream)).catch(() => Buffer.alloc(0));
      const text = data.subarray(from, from + maxBytes).toString();
      return { text, from, next: from + Buffer.byteLength(text), total: data.length, omitted: 0 };
    },
    remove: (taskId) => rm(place(taskId), { recursive: true, force: true }),
    list: () => readdir(folder).catch(() => []),
  };
}
