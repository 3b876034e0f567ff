import { nearestNames } from '@holdpoint/contract';
import { defineTool } from '../define-tool.ts';
import { ToolsError } from '../errors.ts';
import { createRegistry } from '../registry/registry.ts';
import { defineToolset, type Toolset } from '../toolset.ts';
import type { Definition } from './definition-shapes.ts';
import { guardTool } from './guard-tool.ts';
import { loadModule } from './load-module.ts';

/** The additions of a module: versions by toolset and tool, such as `office.stamp`. */
export interface LoadedModule {
  module: string;
  tools: Record<string, string>;
}

export interface LoadedToolsets {
  toolsets: Toolset[];
  modules: LoadedModule[];
}

/**
 * The toolsets of a process: `known`, and the toolsets of modules. A module also adds tools to known toolsets and to toolsets of earlier modules.
 *
 * @param specifiers paths of files, `file:` URLs and names of packages
 * @param from the base directory of relative paths and packages
 * @throws ToolsError `ETOOLMODULE` with the module and the mistake
 */
export async function loadToolsets(
  specifiers: readonly string[],
  from: string,
  known: readonly Toolset[],
): Promise<LoadedToolsets> {
  const byName = new Map(known.map((toolset) => [toolset.name, toolset]));
  const brought: { module: string; tools: [toolset: string, tool: string][] }[] = [];
  for (const specifier of specifiers) {
    try {
      const tools: [string, string][] = [];
      for (const definition of await loadModule(specifier, from)) {
        const toolset = combine(definition, byName);
        byName.set(toolset.name, toolset);
        tools.push(...definition.tools.map(({ name }): [string, string] => [toolset.name, name]));
      }
      brought.push({ module: specifier, tools });
    } catch (cause) {
      throw unusable(specifier, cause);
    }
  }
  const toolsets = [...byName.values()];
  const registry = createRegistry(toolsets);
  const modules = brought.map(({ module, tools }) => ({
    module,
    tools: Object.fromEntries(
      tools.map(([toolset, tool]) => [`${toolset}.${tool}`, registry.versions(toolset)[tool] ?? '']),
    ),
  }));
  return { toolsets, modules };
}

/** @throws Error */
function combine(definition: Definition, byName: ReadonlyMap<string, Toolset>): Toolset {
  const tools = definition.tools.map((tool) => guardTool(defineTool(tool)));
  if (!('addsTo' in definition)) {
    if (!byName.has(definition.name)) return defineToolset({ ...definition, tools });
    throw new Error(`there is already a toolset named "${definition.name}"; rename it, or add to it with addsTo`);
  }
  const { addsTo } = definition;
  const toolset = byName.get(addsTo);
  if (toolset !== undefined) return defineToolset({ ...toolset, tools: [...toolset.tools, ...tools] });
  const near = nearestNames(addsTo, [...byName.keys()]).join(', ');
  throw new Error(`addsTo: there is no toolset named "${addsTo}"; nearest: ${near}`);
}

function unusable(specifier: string, cause: unknown): ToolsError {
  const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\.?$/, '.');
  return new ToolsError(
    'ETOOLMODULE',
    `HOLDPOINT_TOOLS: ${specifier} cannot be used: ${why}`,
    'Correct the module, or take it out of HOLDPOINT_TOOLS for the API and all workers, and start again.',
    { cause },
  );
}

/**
 * The modules in HOLDPOINT_TOOLS, separated by commas.
 * @throws ToolsError `ETOOLMODULE` for a relative path and for a repeated module
 */
export function toolModulesFrom(env: Readonly<Record<string, string | undefined>>): string[] {
  const modules = (env.HOLDPOINT_TOOLS ?? '')
    .split(',')
    .map((specifier) => specifier.trim())
    .filter((specifier) => specifier !== '');
  for (const [index, specifier] of modules.entries()) {
    // The programs have different working directories.
    if (/^\.{1,2}(\/|$)/.test(specifier)) {
      throw refused(`${specifier} is a relative path`, 'Write an absolute path, or the name of an installed package.');
    }
    if (modules.indexOf(specifier) < index) throw refused(`${specifier} is named twice`, 'Name it once.');
  }
  return modules;
}

const refused = (why: string, next: string): ToolsError =>
  new ToolsError('ETOOLMODULE', `HOLDPOINT_TOOLS: ${why}.`, next);
