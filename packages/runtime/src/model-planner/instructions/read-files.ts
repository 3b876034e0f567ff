import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { InstructionFile } from '@holdpoint/contract';
import { plain } from '@holdpoint/readable';
import type { Workspaces } from '@holdpoint/workspace';

interface Reading {
  runId: string;
  /** The snapshot of the source. */
  snapshot: string;
  /** Bytes of all texts together. */
  most: number;
  signal: AbortSignal;
}

const names: ReadonlySet<string> = new Set(['AGENTS.md', 'CLAUDE.md']);
/** Instruction files in packages of third parties are for people working on the packages. */
const foreign: ReadonlySet<string> = new Set(['node_modules', 'vendor', '.git', '.venv', 'site-packages']);
const mostFiles = 20;
const mostListed = 100;
/** A file is left out when the room is below this many bytes and would cut the file. */
const smallest = 500;
const largest = { atRoot: 32 * 1024, nested: 4 * 1024, read: 1024 * 1024 };

/**
 * Reads a repository's files with instructions for agents, and fences their texts as data. The texts come from objects of a snapshot: a
 * link leads no further than to another file of the same snapshot.
 */
export async function readInstructionFiles(
  workspaces: Pick<Workspaces, 'listing' | 'contents'>,
  { runId, snapshot, most, signal }: Reading,
): Promise<{ files: InstructionFile[]; text: string }> {
  const { entries } = await workspaces.listing({ runId, snapshot });
  const files = new Map(entries.map((entry) => [entry.path, entry]));
  const candidates = entries.filter(({ path, oid }) => oid !== null && isInstruction(path)).sort(byDepth);
  const read = async (oids: string[], maxBytes: number) => readContents(workspaces, { runId, oids, maxBytes, signal });
  const links = candidates.filter(({ isLink }) => isLink);
  const targets = await read(
    links.map(({ oid }) => oid ?? ''),
    4096,
  );
  const linked = new Map(links.map(({ path }, at) => [path, targetOf(path, targets[at]?.content)]));
  const seen = new Set<string>();
  const found = candidates.flatMap(({ path, oid, isLink }) => {
    const target = isLink ? files.get(linked.get(path) ?? '') : { oid, isLink: false };
    if (target?.oid === undefined || target.oid === null || target.isLink) return [];
    // AGENTS.md and CLAUDE.md of a folder are often the same.
    const same = `${posix.dirname(path)} ${target.oid}`;
    if (seen.has(same)) return [];
    seen.add(same);
    return [{ path, oid: target.oid }];
  });
  const shown = found.slice(0, mostFiles);
  const contents = await read(
    shown.map(({ oid }) => oid),
    largest.read,
  );
  let left = most;
  const listed: InstructionFile[] = [];
  const others = found.slice(mostFiles).map(({ path }) => path);
  const texts = shown.flatMap(({ path }, at) => {
    const { bytes = 0, content } = contents[at] ?? {};
    const room = Math.min(left, path.includes('/') ? largest.nested : largest.atRoot);
    const { text, cut } = readable(content, bytes, room);
    listed.push({ path, bytes, ...(cut > 0 && { cut }) });
    if (room < smallest && cut > 0) {
      others.push(path);
      return [];
    }
    left -= Buffer.byteLength(text);
    return [fenced(path, text, { bytes, cut })];
  });
  const more = others.slice(0, mostListed).map((path) => plain(path));
  const rest = more.length === 0 ? [] : [`Read these before you work in their folders: ${more.join(', ')}`];
  return { files: listed, text: [...texts, ...rest].join('\n\n') };
}

const isInstruction = (path: string): boolean => {
  const segments = path.split('/');
  return names.has(segments.at(-1) ?? '') && !segments.some((segment) => foreign.has(segment));
};

const depth = (path: string): number => path.split('/').length;
const byDepth = (one: { path: string }, other: { path: string }): number =>
  depth(one.path) - depth(other.path) || (one.path < other.path ? -1 : 1);

interface Content {
  bytes: number;
  content: Buffer | undefined;
}

async function readContents(
  workspaces: Pick<Workspaces, 'contents'>,
  input: { runId: string; oids: string[]; maxBytes: number; signal: AbortSignal },
): Promise<Content[]> {
  const contents: Content[] = [];
  if (input.oids.length === 0) return contents;
  await workspaces.contents({
    ...input,
    onContent: async ({ index, bytes, content }) => {
      contents[index] = { bytes, content };
    },
  });
  return contents;
}

/** The target of a link, relative to the workspace; undefined: the link leads out. */
function targetOf(path: string, content: Buffer | undefined): string | undefined {
  const target = content?.toString();
  if (target === undefined || target.startsWith('/')) return undefined;
  const resolved = posix.join(posix.dirname(path), target);
  return resolved.startsWith('..') ? undefined : resolved;
}

/** @param content undefined: the file is too large to be read */
function readable(content: Buffer | undefined, bytes: number, room: number): { text: string; cut: number } {
  if (content === undefined || content.includes(0)) return { text: '', cut: Math.max(1, bytes) };
  const text = plain(
    content
      .toString()
      .replace(/^\ufeff/, '')
      .replaceAll('\r\n', '\n'),
  );
  const whole = Buffer.from(text);
  if (whole.byteLength <= room) return { text, cut: 0 };
  // Half a character at the end is dropped.
  const head = new TextDecoder().decode(whole.subarray(0, Math.max(0, room)), { stream: true });
  return { text: head, cut: whole.byteLength - Buffer.byteLength(head) };
}

/** The name of the fence depends on the text, so no text can close its own fence. */
export function fenced(path: string, text: string, { bytes, cut }: { bytes: number; cut: number }): string {
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const note = cut === 0 ? '' : `\n[${cut} of ${bytes} bytes are left out: read the file before you work there]`;
  return `<repository-file path=${JSON.stringify(plain(path))} id="${mark}">\n${text}${note}\n</repository-file ${mark}>`;
}
