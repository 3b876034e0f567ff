import { readdirSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type AgentKind, type GivenKind, type ListedKind, toPointer } from '@holdpoint/contract';
import type { AgentKinds, FoundKinds } from '@holdpoint/engine/worker';
import type { Registry } from '@holdpoint/tools';
import { WorkspaceError, type Workspaces } from '@holdpoint/workspace';
import type { Logger } from 'pino';
import { type KindDocument, oneLine, type ParsedKind, parseKind } from './parse-kind.ts';

interface Deps {
  workspaces: Pick<Workspaces, 'listing' | 'contents'>;
  registry: Pick<Registry, 'toolsets' | 'versions'>;
  /** The operator's documents. */
  operator: readonly KindDocument[];
  logger: Logger;
}

/** Most documents read from a workspace. */
const mostFiles = 50;
const largestKind = 64 * 1024;

/** Documents of the operator come first, then kinds of the request, then documents of the workspace. The first kind with a name counts. */
export function openAgentKinds({ workspaces, registry, operator, logger }: Deps): AgentKinds {
  const anyTool = registry.toolsets().flatMap((toolset) => Object.keys(registry.versions(toolset)));
  for (const document of operator) {
    const parsed = parseKind(document, anyTool);
    if (!parsed.ok)
      logger.warn({ file: document.file, error: parsed.error }, 'a document of HOLDPOINT_AGENTS is no kind');
  }
  return {
    async find({ runId, base, spec, signal }) {
      const tools = Object.keys(registry.versions(spec.toolset));
      const theirs = base === undefined ? [] : await readKinds(workspaces, { runId, snapshot: base, signal });
      const parsed: (ParsedKind | Unread)[] = [];
      const given = (spec.agents ?? []).map((kind, index): ParsedKind => ({ ok: true, kind: ofRequest(kind, index) }));
      for (const found of [...operator, ...given, ...theirs]) {
        parsed.push('ok' in found ? found : parseKind(found, tools));
        // Fifty documents could hold the event loop for a second.
        await setImmediate();
      }
      return collect(parsed);
    },
  };
}

const ofRequest = (kind: GivenKind, index: number): AgentKind => ({
  ...kind,
  origin: 'request',
  file: toPointer(['agents', index]),
  description: oneLine(kind.description),
});

interface Unread {
  ok: false;
  of: ListedKind;
  error: string;
}

function collect(parsed: readonly (ParsedKind | Unread)[]): FoundKinds {
  const kinds = new Map<string, AgentKind>();
  const listed = parsed.map((one): ListedKind => {
    if (!one.ok) return { ...one.of, error: one.error };
    const { name, origin, file, description } = one.kind;
    const first = kinds.get(name);
    if (first !== undefined) return { name, origin, file, error: `${first.file} (${first.origin}) has this name` };
    kinds.set(name, one.kind);
    return { name, origin, file, description };
  });
  return { kinds: [...kinds.values()], listed };
}

const folders = [
  { path: '.holdpoint/agents/', isForeign: false },
  { path: '.claude/agents/', isForeign: true },
];

/** Reads the documents of a snapshot. Links are not followed, and an unreadable workspace has no documents. */
async function readKinds(
  workspaces: Deps['workspaces'],
  { runId, snapshot, signal }: { runId: string; snapshot: string; signal: AbortSignal },
): Promise<(KindDocument | Unread)[]> {
  try {
    const { entries } = await workspaces.listing({ runId, snapshot });
    const all = folders.flatMap(({ path: folder, isForeign }) =>
      entries
        .filter(({ path }) => path.startsWith(folder) && /^[^/]+\.md$/.test(path.slice(folder.length)))
        .sort((one, other) => (one.path < other.path ? -1 : 1))
        .map(({ path: file, oid, isLink }) => ({ file, oid: isLink ? null : oid, isForeign })),
    );
    const files = all.slice(0, mostFiles);
    const readable = files.flatMap(({ oid }) => oid ?? []);
    const texts = new Map<string, string | undefined>();
    await workspaces.contents({
      ...{ runId, oids: readable, maxBytes: largestKind, signal },
      onContent: async ({ index, content }) => void texts.set(readable[index] ?? '', content?.toString()),
    });
    const read = files.map(({ file, oid, isForeign }): KindDocument | Unread => {
      if (oid === null) return unread(file, 'it is a link, or no file');
      const text = texts.get(oid);
      if (text === undefined) return unread(file, `it is larger than ${largestKind} bytes`);
      return { origin: 'workspace', file, text, isForeign };
    });
    const left = all.length - files.length;
    const next = all[mostFiles];
    return next === undefined ? read : [...read, unread(next.file, tooMany(left))];
  } catch (error) {
    if (error instanceof WorkspaceError && !error.retryable) return [];
    throw error;
  }
}

const tooMany = (left: number): string =>
  `not read, with ${left - 1} more: a workspace has ${mostFiles} documents at most`;

const unread = (file: string, error: string): Unread => ({
  ok: false,
  of: { name: file.slice(file.lastIndexOf('/') + 1).replace(/\.md$/, ''), origin: 'workspace', file },
  error,
});

const mostDocuments = 200;

/**
 * The documents of HOLDPOINT_AGENTS. @throws for a relative path, an unreadable folder, too many documents or a document above the size
 * limit
 */
export function operatorKindsFrom(env: Readonly<Record<string, string | undefined>>): KindDocument[] {
  const folder = env.HOLDPOINT_AGENTS ?? '';
  if (folder === '') return [];
  if (!isAbsolute(folder)) throw new Error(`HOLDPOINT_AGENTS: expected an absolute path, got ${folder}`);
  const names = documentsIn(folder);
  if (names.length > mostDocuments)
    throw new Error(`HOLDPOINT_AGENTS: ${folder} has more than ${mostDocuments} documents`);
  return names.sort().map((file) => {
    const path = join(folder, file);
    if (statSync(path).size > largestKind)
      throw new Error(`HOLDPOINT_AGENTS: ${path} is larger than ${largestKind} bytes`);
    return { origin: 'operator' as const, file, text: readFileSync(path, 'utf8'), isForeign: false };
  });
}

function documentsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.md'));
  } catch (cause) {
    throw new Error(`HOLDPOINT_AGENTS: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
