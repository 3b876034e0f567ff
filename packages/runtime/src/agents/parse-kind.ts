import * as contract from '@holdpoint/contract';
import { grantProblems, readYaml } from '@holdpoint/policy';
import { plain } from '@holdpoint/readable';
import { z } from 'zod';

/** A document about a kind of sub-agent, not parsed yet. */
export interface KindDocument {
  origin: contract.KindOrigin;
  /** Path for people: relative to the workspace, or the name in the operator's folder. */
  file: string;
  text: string;
  /** Whether the document may have keys for other programs. */
  isForeign: boolean;
}

export type ParsedKind = { ok: true; kind: contract.AgentKind } | { ok: false; of: contract.OfKind; error: string };

const shape = {
  name: contract.kindNameSchema.optional(),
  description: z.string().trim().min(1).max(2000),
  tools: z.union([z.string().max(5000), z.array(z.string().max(100)).max(200)]).optional(),
  model: z.string().min(1).max(200).optional(),
  ...contract.narrowedShape,
  limits: contract.givenLimitsSchema.optional(),
  max_turns: contract.givenLimitsSchema.shape.max_turns,
};
const known = Object.keys(shape);
/** The YAML parser takes quadratic time for keys: 20 ms for this much, 2.5 s for 70 KB. */
const longestFront = 4096;

/**
 * Reads a document: front matter in YAML between two lines of `---`, and the instructions below.
 * @param tools the names of the tools of the run's toolset
 */
export function parseKind({ origin, file, text, isForeign }: KindDocument, tools: readonly string[]): ParsedKind {
  const of = { origin, file, name: nameOf(file) };
  const refused = (error: string): ParsedKind => ({ ok: false, of, error: plain(error).slice(0, 500) });
  const read = readKindDocument(text);
  if (!read.ok) return refused(read.error);
  const parsed = (isForeign ? z.object(shape) : z.strictObject(shape)).safeParse(read.front);
  if (!parsed.success) return refused(parsed.error.issues.map(issueText).join('; '));
  const { name = of.name, description, model, permissions, protected: globs, modes, ...rest } = parsed.data;
  Object.assign(of, { name });
  if (!shape.name.safeParse(name).success) return refused('its name is not up to 64 letters, digits, - and _');
  const [problem] = grantProblems({ permissions, protected: globs });
  if (problem !== undefined) return refused(`${problem.pointer}: ${problem.detail}`);
  const named = namedTools(rest.tools, tools);
  if (named !== undefined && named.length === 0) return refused('none of its tools is a tool of this run');
  const chosen = modelOf(model);
  if (origin === 'operator' && chosen === undefined && model !== undefined && model !== 'inherit') {
    return refused(`model: expected provider/model, got ${model}`);
  }
  const limits = { ...rest.limits, ...(rest.max_turns !== undefined && { max_turns: rest.max_turns }) };
  const instructions = plain(read.body).trim();
  if (instructions === '') return refused('it has no instructions below its front matter');
  return {
    ok: true,
    kind: {
      ...{ name, origin, file, description: oneLine(description), instructions },
      ...{ model: chosen, tools: named, permissions, protected: globs, modes },
      limits: Object.keys(limits).length === 0 ? undefined : limits,
    },
  };
}

/** Front matter in YAML between two lines of `---`, and the text below. */
export function readKindDocument(
  text: string,
): { ok: true; front: Record<string, unknown>; body: string } | { ok: false; error: string } {
  const refused = (error: string) => ({ ok: false as const, error });
  const parts = /^---\n([\s\S]*?)\n---[ \t]*(?:\n|$)([\s\S]*)$/.exec(
    text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'),
  );
  if (parts === null) return refused('it does not begin with front matter between two lines of ---');
  const [, front = '', body = ''] = parts;
  if (front.length > longestFront) return refused(`its front matter is longer than ${longestFront} characters`);
  const read = readYaml(front);
  if (!read.ok) return refused(`its front matter is no YAML: ${read.detail}`);
  if (typeof read.value !== 'object' || read.value === null || Array.isArray(read.value)) {
    return refused('its front matter has no keys');
  }
  return { ok: true, front: read.value as Record<string, unknown>, body };
}

const nameOf = (file: string): string => file.slice(file.lastIndexOf('/') + 1).replace(/\.md$/, '');

export const oneLine = (text: string): string =>
  plain(text).replaceAll(/\s+/g, ' ').trim().slice(0, 500).toWellFormed();

function issueText(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    const [key = ''] = issue.keys;
    return `there is no key ${key}. Nearest: ${contract.nearestNames(key, known, 1).join('')}`;
  }
  return `${issue.path.join('.')}: ${issue.message}`;
}

/** A name without a provider, like `sonnet` or `inherit`, means the model of the run. */
const modelOf = (model: string | undefined): string | undefined => (model?.includes('/') ? model : undefined);

/** Other programs' names of tools, where more than the spelling differs. */
const otherNames: Readonly<Record<string, string>> = {
  ...{ read: 'readfile', write: 'writefile', ls: 'listdirectory', multiedit: 'edit' },
};
const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Tools of the toolset named in the document; undefined: the document names no tools, or all. */
function namedTools(written: string | string[] | undefined, tools: readonly string[]): string[] | undefined {
  const list = typeof written === 'string' ? written.split(',') : written;
  const names = (list ?? []).map((name) => name.trim()).filter((name) => name !== '');
  if (names.length === 0 || names.includes('*')) return undefined;
  const byName = new Map(tools.map((tool) => [bare(tool), tool]));
  const found = names.flatMap((name) => byName.get(bare(name)) ?? byName.get(otherNames[bare(name)] ?? '') ?? []);
  return [...new Set(found)];
}
