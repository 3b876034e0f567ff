import type { TreeListing, Workspaces } from '@holdpoint/workspace';
import { readKindDocument } from '../../agents/parse-kind.ts';
import { listedName, quoted } from '../quoted.ts';

interface Reading {
  runId: string;
  entries: TreeListing['entries'];
  isReadable: (path: string) => boolean;
  signal: AbortSignal;
}

/** `skills/` at the top, or in the folder of an agent. */
const place = /^(?:\.(?:claude|agents|codex|holdpoint|github)\/)?skills\/[^/]+\/SKILL\.md$/;
const mostSkills = 30;
const largestSkill = 256 * 1024;
const longest = { name: 64, description: 300 };

/** Lists the skills of a repository by name and description. A link is not followed: a model reads the file with its own tools. */
export async function readSkills(
  workspaces: Pick<Workspaces, 'contents'>,
  { runId, entries, isReadable, signal }: Reading,
): Promise<{ paths: string[]; text: string }> {
  const all = entries
    .filter(({ path, oid, isLink }) => oid !== null && !isLink && place.test(path) && isReadable(path))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
  const shown = all.slice(0, mostSkills);
  if (shown.length === 0) return { paths: [], text: '' };
  const lines: string[] = [];
  await workspaces.contents({
    ...{ runId, oids: shown.map(({ oid }) => oid ?? ''), maxBytes: largestSkill, signal },
    onContent: async ({ index, content }) => {
      lines[index] = lineOf(shown[index]?.path ?? '', content?.toString());
    },
  });
  const left = all.length - shown.length;
  const more = left > 0 ? [`- and ${left} more (${listedName(all[mostSkills]?.path ?? '')}, …)`] : [];
  return { paths: shown.map(({ path }) => path), text: [...lines, ...more].join('\n') };
}

function lineOf(path: string, text: string | undefined): string {
  const read = text === undefined ? undefined : readKindDocument(text);
  const { name, description } = read?.ok ? read.front : {};
  const named = typeof name === 'string' && name.trim() !== '' ? name : (path.split('/').at(-2) ?? '');
  const about = typeof description === 'string' ? `: ${quoted(description, longest.description)}` : '';
  return `- ${quoted(named, longest.name)} in ${listedName(path)}${about}`;
}
