import type { Client, DiffStat } from '@holdpoint/client';
import { nameText, plain } from '@holdpoint/readable';
import { z } from 'zod';
import { cutText, linePage, mostText } from '../bounds.ts';
import { defineTool } from '../define-tool.ts';
import { runId } from './runs.ts';

/** Bytes read of a file for a page of lines. */
const mostFile = 16 * 1024 * 1024;
const mostFiles = 200;
const mostList = 8 * 1024;
/** Bytes left in a page for what stands around the lines. */
const around = 4 * 1024;
const fromLine = z
  .int()
  .min(1)
  .max(100_000_000)
  .default(1)
  .describe('First line of the page; next_line of the page before');

const pageShape = {
  from_line: z.int(),
  total_lines: z.int(),
  next_line: z.int().nullable().describe('from_line of the next page; null: this is the last'),
};

const fileSchema = z.object({
  path: z.string(),
  status: z.string(),
  moved_from: z.string().optional(),
  additions: z.int(),
  deletions: z.int(),
});

export const getDiff = defineTool({
  name: 'get_diff',
  title: 'Read what a run changed',
  description:
    'The changes of a run so far, against its source. Without a path: the list of changed files, and their patch in pages of 32 KiB. With a path: the patch of this file or folder. The source itself is unchanged until a person publishes.',
  input: z.strictObject({
    run_id: runId,
    path: z.string().min(1).max(4096).optional().describe('Only this file, or the files in this folder'),
    from_line: fromLine,
  }),
  output: z.object({
    run_id: z.string(),
    files: z.array(fileSchema).describe('The first ones, on the first page; files_total has their number'),
    files_total: z.int(),
    additions: z.int(),
    deletions: z.int(),
    patch: z.string(),
    ...pageShape,
  }),
  kind: 'read',
  idempotent: true,
  async run({ client }, { run_id, path, from_line }, { signal }) {
    const stat = await client.diffStat(run_id, { path }, { signal });
    const patch = stat.files.length === 0 ? '' : await client.patch(run_id, { path }, { signal });
    const list = from_line === 1 ? fileLines(stat) : '';
    const most = mostText - around - Buffer.byteLength(list);
    const page = linePage(plain(patch), { from: from_line, most });
    const value = {
      run_id,
      files: from_line === 1 ? firstFiles(stat.files.map(viewOfFile)) : [],
      files_total: stat.files.length,
      additions: stat.additions,
      deletions: stat.deletions,
      patch: page.text,
      ...{ from_line: page.from, total_lines: page.total, next_line: page.next },
    };
    return { text: [list, page.text, moreLines(page)].filter(Boolean).join('\n'), value };
  },
});

/** As many files as have room beside the patch. */
function firstFiles(files: z.infer<typeof fileSchema>[]): z.infer<typeof fileSchema>[] {
  let bytes = 0;
  return files.slice(0, mostFiles).filter((file) => {
    bytes += Buffer.byteLength(JSON.stringify(file));
    return bytes <= mostList;
  });
}

const viewOfFile = ({ path, status, moved_from, additions, deletions }: DiffStat['files'][number]) => ({
  path,
  status,
  ...(moved_from !== undefined && { moved_from }),
  additions,
  deletions,
});

function fileLines({ files, additions, deletions }: DiffStat): string {
  if (files.length === 0) return 'No changes.';
  const lines = files
    .slice(0, mostFiles)
    .map(({ status, path, additions: more, deletions: fewer }) => `${status} ${nameText(path)} +${more} -${fewer}`);
  const left = files.length - lines.length;
  const rest = left > 0 ? [`${left} more files`] : [];
  return cutText(
    [`${files.length} files, +${additions} -${deletions}`, ...lines, ...rest].join('\n'),
    mostList,
    'name a folder as path',
  );
}

const moreLines = ({ from, lines, total, next }: ReturnType<typeof linePage>): string =>
  next === null ? '' : `[lines ${from} to ${from + lines - 1} of ${total}; from_line ${next} has the next page]`;

export const readFile = defineTool({
  name: 'read_file',
  title: 'Read a file of a run',
  description:
    'A text file of the workspace of a run as it is now, or as it was in the source (at: source), in pages of 32 KiB of whole lines.',
  input: z.strictObject({
    run_id: runId,
    path: z.string().min(1).max(4096).describe('Relative to the workspace'),
    at: z.string().min(1).max(100).optional().describe('A snapshot, a step, source or current. Default: current'),
    from_line: fromLine,
  }),
  output: z.object({ run_id: z.string(), path: z.string(), text: z.string(), binary: z.boolean(), ...pageShape }),
  kind: 'read',
  idempotent: true,
  async run({ client }, { run_id, path, at, from_line }, { signal }) {
    const text = await readText(client, run_id, { path, snapshot: at }, signal);
    const page = linePage(plain(text ?? ''), { from: from_line, most: mostText - around });
    const value = { run_id, path, text: page.text, binary: text === undefined };
    const shown = text === undefined ? 'The file is binary: download it with the CLI or the API.' : page.text;
    return {
      text: [shown, moreLines(page)].filter(Boolean).join('\n'),
      value: { ...value, from_line: page.from, total_lines: page.total, next_line: page.next },
    };
  },
});

/** @returns undefined for a file that is no UTF-8 text */
export async function readText(
  client: Client,
  runId: string,
  query: { path: string; snapshot?: string | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of await client.readFile(runId, query, { signal })) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > mostFile) break;
  }
  const content = Buffer.concat(chunks).subarray(0, mostFile);
  if (content.includes(0)) return undefined;
  // A character may be cut at the end of what was read.
  return bytes > mostFile ? content.toString() : decode(content);
}

function decode(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}
