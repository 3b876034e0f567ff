import { FileError, outputsFolder, type Problem, type ToolOutcome } from '@holdpoint/contract';
import type { z } from 'zod';
import { pathLine } from '../result-text/shown-text.ts';
import type { Tool, ToolContext } from '../tool.ts';
import { beginning } from './search-text.ts';
import { relativePath } from './touched.ts';

/** A tool whose ENOENT names the existing paths nearest to the missing path. @param options.folders the path may be a folder */
export const namingNearest = <Input extends z.ZodType>(tool: Tool<Input>, { folders = false } = {}): Tool<Input> => ({
  ...tool,
  async execute(context, args): Promise<ToolOutcome> {
    try {
      return await tool.execute(context, args);
    } catch (error) {
      if (!(error instanceof FileError) || error.code !== 'ENOENT') throw error;
      if (error.path.startsWith(`${outputsFolder}/`)) throw error;
      const found = await missingPath(context, error, folders);
      if (found === undefined) throw error;
      return { status: 'failed', ...found, touched: [] };
    }
  },
});

/** The error of a missing path with the nearest paths; undefined when nothing is near, or the search for them fails. */
async function missingPath(
  context: ToolContext,
  { code, message, next, path }: FileError,
  folders: boolean,
): Promise<{ error: Problem; value: { nearest: string[] } } | undefined> {
  const nearest = await nearestExisting(context, path, folders).catch(() => []);
  if (nearest.length === 0) return undefined;
  return { error: { code, message, next: `Nearest: ${nearest.map(shown).join(', ')}. ${next}` }, value: { nearest } };
}

const shown = (path: string): string => pathLine(path.length > longest ? `${path.slice(0, longest)}…` : path);
const longest = 300;

/** The existing paths that are nearest to a missing path, among those that the run may read. */
export async function nearestExisting(context: ToolContext, wanted: string, folders = false): Promise<string[]> {
  const { stdout, end } = await context.search({
    ...{ path: '.', args: listFiles, kept_bytes: keptBytes },
    limits: { wall_ms: wallMs, output_bytes: keptBytes },
  });
  if (end.status !== 'exited' && !(end.status === 'quota' && end.quota === 'output')) return [];
  const { isReadable = () => true } = context;
  const text = beginning(stdout, keptBytes);
  const paths = text.slice(0, text.lastIndexOf('\0') + 1).split('\0');
  const listing = paths.map(relativePath).filter(isReadable).join('\0');
  return context.text.run('nearest_paths', { wanted: relativePath(wanted), listing, folders });
}

/** About 20,000 paths; half of them where there are more, because a cut output keeps both ends. */
const keptBytes = 1024 * 1024;
/** 100,000 files take 0.3 s. */
const wallMs = 3000;

/** Every file but those that `.gitignore` names and those of installed packages. Links are not followed. The order is the same each time. */
const listFiles = [
  ...['--files', '--no-config', '--no-require-git', '--null', '--hidden', '--sort=path', '--max-depth=30'],
  ...['--glob=!.git', '--glob=!node_modules', '--', '.'],
];
