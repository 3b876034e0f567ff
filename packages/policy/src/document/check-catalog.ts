import { type Effect, nearestNames, type PolicyMatch, type Risk } from '@holdpoint/contract';
import { listOf } from '../match/command.ts';
import { compileGlob, type Glob } from '../match/glob.ts';
import type { PolicyProblem } from './problem.ts';

/** A tool in reach of calls. */
export interface CatalogTool {
  toolset: string;
  name: string;
  /** `by run`: workspace or external. */
  effect: Effect | 'by run';
  risk: Risk;
}

/** Values impossible for every call of these tools. Expects valid globs. */
export function checkCatalog(match: PolicyMatch, tools: readonly CatalogTool[]): PolicyProblem[] {
  const found: PolicyProblem[] = [];
  const inToolset = select(tools, match.toolset, ({ toolset }) => toolset, '/match/toolset', 'toolset', found);
  const named = select(inToolset, match.tool, ({ name }) => name, '/match/tool', 'tool', found);
  // A rule without a tool name may be meant for future tools.
  if (found.length > 0 || (match.tool === undefined && match.toolset === undefined)) return found;
  const effects = [
    ...new Set(named.flatMap(({ effect }) => (effect === 'by run' ? (['workspace', 'external'] as const) : [effect]))),
  ];
  const risks = [...new Set(named.map(({ risk }) => risk))];
  const who = listOf(match.tool ?? 'a tool').join(', ');
  const never = (field: 'effect' | 'risk', wanted: readonly string[], are: readonly string[]) => {
    if (wanted.some((one) => are.includes(one))) return;
    found.push({
      pointer: `/match/${field}`,
      detail: `No call of ${who} has the ${field} ${wanted.join(' or ')}, so this rule never matches. Leave it out, or say ${are.join(' or ')}.`,
    });
  };
  if (match.effect !== undefined) never('effect', listOf(match.effect), effects);
  if (match.risk !== undefined) never('risk', listOf(match.risk), risks);
  return found;
}

function select(
  tools: readonly CatalogTool[],
  wanted: string | readonly string[] | undefined,
  nameOf: (tool: CatalogTool) => string,
  pointer: string,
  what: string,
  found: PolicyProblem[],
): readonly CatalogTool[] {
  if (wanted === undefined) return tools;
  const known = [...new Set(tools.map(nameOf))];
  const globs = listOf(wanted).map((source) => compiled(source));
  globs.forEach((glob, at) => {
    if (glob === undefined || known.some((name) => glob.test(name))) return;
    const shown = `there is no ${what} ${glob.literal === undefined ? 'that matches' : 'named'} ${JSON.stringify(glob.source)}.`;
    const detail = `${shown} Nearest: ${nearestNames(glob.source, known).join(', ')}`;
    found.push({ pointer: typeof wanted === 'string' ? pointer : `${pointer}/${at}`, detail });
  });
  return tools.filter((tool) => globs.some((glob) => glob?.test(nameOf(tool))));
}

function compiled(source: string): Glob | undefined {
  try {
    return compileGlob(source, false);
  } catch {
    return undefined;
  }
}
