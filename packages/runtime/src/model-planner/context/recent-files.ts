import type { PastTurn, PlannerInput } from '@holdpoint/engine/worker';
import { readablePaths } from '@holdpoint/policy';
import type { Registry } from '@holdpoint/tools';
import { WorkspaceError, type Workspaces } from '@holdpoint/workspace';
import { z } from 'zod';
import { fenced, readable } from '../instructions/fenced.ts';
import type { Budget } from './budget.ts';

const mostFiles = 5;
/** Folders and missing files are among the paths of calls, and have no content. */
const mostTried = 40;
const mostBytes = 24 * 1024;
const mostOfFile = 8 * 1024;
/** A larger file is read again in parts, where the model needs it. */
const largestRead = 256 * 1024;
/** Part of a request for the files, in tokens, and the usual bytes of a token. */
const share = 0.05;
const bytesPerToken = 4;

/** Files used last before a summary, as they were then. */
export const recentFilesSchema = z.array(
  z.strictObject({ path: z.string(), text: z.string(), bytes: z.int(), cut: z.int() }),
);
type RecentFiles = z.infer<typeof recentFilesSchema>;

/**
 * The files that successful calls of summarised turns read or changed last, as in the present snapshot. Files of turns that stay are left out:
 * the conversation has them. Recorded beside a summary, so that each later request has the same text.
 */
export async function readRecentFiles(
  { workspaces, registry }: { workspaces: Pick<Workspaces, 'read'>; registry: Registry },
  { runId, snapshot, spec }: Pick<PlannerInput, 'runId' | 'snapshot' | 'spec'>,
  { turns, staying, budget }: { turns: readonly PastTurn[]; staying: readonly PastTurn[]; budget: Budget },
): Promise<RecentFiles> {
  if (snapshot === undefined) return [];
  const isReadable = readablePaths(spec.permissions) ?? (() => true);
  const shown = new Set(pathsOf(registry, spec.toolset, staying));
  const paths = [...new Set(pathsOf(registry, spec.toolset, turns).toReversed())];
  const wanted = paths.filter((path) => !shown.has(path) && isReadable(path)).slice(0, mostTried);
  let left = Math.min(mostBytes, Math.floor(budget.request * share * bytesPerToken));
  const files: RecentFiles = [];
  for (const path of wanted) {
    if (files.length === mostFiles) break;
    const content = await contentOf(workspaces, { runId, snapshot, path });
    if (content === undefined) continue;
    const { text, cut } = readable(content, content.byteLength, Math.min(left, mostOfFile));
    if (text === '') continue;
    left -= Buffer.byteLength(text);
    files.push({ path, text, bytes: content.byteLength, cut });
  }
  return files;
}

/** The paths of files that successful calls read or wrote, in the order of the calls. */
function pathsOf(registry: Registry, toolset: string, turns: readonly PastTurn[]): string[] {
  const steps = turns.flatMap((turn) => turn.steps).filter(({ status }) => status === 'succeeded');
  return steps.flatMap(({ tool, args }) => {
    const described = registry.describe({ toolset, tool, args });
    if (!described.ok) return [];
    return described.touches.paths.flatMap(({ path, access }) => (access === 'delete' ? [] : [path]));
  });
}

/** Undefined for a folder, a missing, a large or a damaged file, and for a workspace that is gone. */
async function contentOf(
  workspaces: Pick<Workspaces, 'read'>,
  asked: Parameters<Workspaces['read']>[0],
): Promise<Buffer | undefined> {
  try {
    const { bytes, mode, content } = await workspaces.read(asked);
    if (bytes > largestRead || mode === '120000') {
      content.destroy();
      return undefined;
    }
    return Buffer.concat(await content.toArray());
  } catch (error) {
    if (error instanceof WorkspaceError && !error.retryable) return undefined;
    throw error;
  }
}

/** The files as data of the repository, each in its own fence. */
export const recentFilesText = (files: RecentFiles): string =>
  files.map(({ path, text, bytes, cut }) => fenced(path, text, { bytes, cut })).join('\n');
