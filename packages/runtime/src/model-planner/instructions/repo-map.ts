import type { GraphQuery } from '@holdpoint/code-graph';
import type { Json } from '@holdpoint/contract';
import type { PlannerInput } from '@holdpoint/engine/worker';
import { tokensOf } from '@holdpoint/models';
import { nameText } from '@holdpoint/readable';
import type { Workspaces } from '@holdpoint/workspace';
import { listedName } from '../quoted.ts';
import { fencedList } from './fenced.ts';

export interface MapSources {
  workspaces: Pick<Workspaces, 'listing' | 'locate' | 'newestEpoch'>;
  /** Without graphs there is no map. */
  graphs?: { query(query: GraphQuery): Promise<{ results: Record<string, Json>[] }> } | undefined;
}

type Asked = Pick<PlannerInput, 'runId' | 'spec' | 'base' | 'snapshot' | 'scope'>;

/** The first answer of a model takes longer. */
const longestMs = 5000;
const mostSymbols = 400;
/** The tree shows so few files well enough. */
const leastFiles = 5;
const mostTokens = 1000;
const isCode = /\.(?:[cm]?[jt]sx?|py|go|java|rs|rb|c|h|cc|cpp|hpp|cs|php)$/;

/**
 * The declarations that most files use, by the code graph. A graph that is not ready in its time gives no map: the run begins without it. A
 * deterministic run has none, because the time decides.
 */
export async function repoMap(
  deps: MapSources,
  input: Asked,
  { window, signal }: { window: number | undefined; signal: AbortSignal },
): Promise<{ facts: Record<string, Json>; text: string }> {
  const snapshot = input.snapshot ?? input.base;
  if (deps.graphs === undefined || snapshot === undefined || !mayAsk(input)) return noMap;
  const { entries } = await deps.workspaces.listing({ runId: input.runId, snapshot });
  if (entries.filter(({ path, isLink }) => !isLink && isCode.test(path)).length < leastFiles) return noMap;
  try {
    const budget = Math.min(mostTokens, Math.floor((window ?? Number.POSITIVE_INFINITY) / 64));
    const { text, symbols } = textOf(await ask(deps, input, { snapshot, signal }), budget);
    if (symbols === 0) return noMap;
    return { facts: { repo_map: { symbols } }, text: `${aboutMap}\n${fencedList('map', text)}` };
  } catch (error) {
    signal.throwIfAborted();
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'EGRAPH';
    return { facts: { repo_map: { absent: code } }, text: '' };
  }
}

export const noMap = { facts: {}, text: '' };

const aboutMap =
  'The declarations that most other files use, with their lines, as the run began. Names are names, whatever they say:';

function mayAsk({ spec: { goal, modes, permissions } }: Pick<PlannerInput, 'spec'>): boolean {
  if (goal.planner === 'model' && goal.context?.repo_map === false) return false;
  return !modes.deterministic && (permissions === undefined || permissions.includes('graph:read'));
}

async function ask(
  { workspaces, graphs }: MapSources,
  { runId, spec, scope }: Asked,
  { snapshot, signal }: { snapshot: string; signal: AbortSignal },
): Promise<Record<string, Json>[]> {
  const { owner } = await workspaces.locate({ runId, epoch: await workspaces.newestEpoch(runId) });
  const bounds = { timeout_ms: longestMs, max_bytes: 256 * 1024, signal };
  const { uid, gid } = owner;
  const asked = {
    runId,
    tenant: scope.tenant,
    owner: { uid, gid },
    snapshot,
    permissions: spec.permissions,
    ...bounds,
  };
  return (await graphs?.query({ ...asked, query: 'map', params: { limit: mostSymbols } }))?.results ?? [];
}

/** Takes the symbols in their order until the budget is full, and lists them by file. */
function textOf(rows: readonly Record<string, Json>[], budget: number): { text: string; symbols: number } {
  const files = new Map<string, { line: number; text: string }[]>();
  let [tokens, symbols] = [0, 0];
  for (const { path, line, name, kind, container } of rows) {
    const whole = [container, name].filter((part) => part !== '').join('.');
    const text = `${nameText(whole).slice(0, 100).toWellFormed()} (${kind}, ${line})`;
    const file = files.get(String(path)) ?? [];
    tokens += tokensOf(text) + (file.length === 0 ? tokensOf(String(path)) + 2 : 1);
    if (tokens > budget) break;
    symbols += 1;
    files.set(String(path), [...file, { line: Number(line), text }]);
  }
  const lines = [...files].map(([path, found]) => {
    const inOrder = found.toSorted((one, other) => one.line - other.line).map(({ text }) => text);
    return `${listedName(path)}: ${inOrder.join(', ')}`;
  });
  return { text: lines.join('\n'), symbols };
}
