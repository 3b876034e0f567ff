import { nearestNames } from '@holdpoint/contract';
import { defineTool } from '../define-tool.ts';
import { ToolsError } from '../errors.ts';
import { createRegistry } from '../registry/registry.ts';
import { defineToolset, type Toolset } from '../toolset.ts';
import { guardTool } from './guard-tool.ts';
import { type Definition, loadModule } from './load-module.ts';

/** The additions of a module: versions by toolset and tool, such as `office.stamp`. */
export interface LoadedModule {
  module: string;
  tools: Record<string, string>;
}

/** Tools for toolsets that are known, and their origin in words. */
export interface Addition {
  module: string;
  definitions: readonly Definition[];
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
  const loading = new Loading(known);
  for (const specifier of specifiers) {
    try {
      loading.add(specifier, (await loadModule(specifier, from)).map(withoutServerNames));
    } catch (cause) {
      throw unusable(`HOLDPOINT_TOOLS: ${specifier}`, cause, moduleNext);
    }
  }
  return loading.done();
}

/**
 * Loaded toolsets with tools from elsewhere, under the names that begin with `mcp__`. An unusable addition is left out.
 * @param onUnusable gets the reason, and the addition
 */
export function addTools(
  { toolsets, modules }: LoadedToolsets,
  additions: readonly Addition[],
  onUnusable: (reason: ToolsError, addition: Addition) => void,
): LoadedToolsets {
  let loading = new Loading(toolsets);
  for (const addition of additions) {
    const before = loading.copy();
    try {
      loading.add(addition.module, addition.definitions);
    } catch (cause) {
      loading = before;
      onUnusable(unusable(addition.module, cause, additionNext), addition);
    }
  }
  const added = loading.done();
  return { toolsets: added.toolsets, modules: [...modules, ...added.modules] };
}

interface Brought {
  module: string;
  tools: [toolset: string, tool: string][];
}

/** Toolsets by their names, and what each module brought. */
class Loading {
  readonly #byName: Map<string, Toolset>;
  readonly #brought: Brought[];

  constructor(known: readonly Toolset[], brought: readonly Brought[] = []) {
    this.#byName = new Map(known.map((toolset) => [toolset.name, toolset]));
    this.#brought = [...brought];
  }

  copy(): Loading {
    return new Loading([...this.#byName.values()], this.#brought);
  }

  /** @throws Error for a definition that cannot be used; the definitions before it stay */
  add(module: string, definitions: readonly Definition[]): void {
    const tools: [string, string][] = [];
    for (const definition of definitions) {
      const toolset = combine(definition, this.#byName);
      this.#byName.set(toolset.name, toolset);
      tools.push(...definition.tools.map(({ name }): [string, string] => [toolset.name, name]));
    }
    this.#brought.push({ module, tools });
  }

  done(): LoadedToolsets {
    const toolsets = [...this.#byName.values()];
    const registry = createRegistry(toolsets);
    const modules = this.#brought.map(({ module, tools }) => ({
      module,
      tools: Object.fromEntries(
        tools.map(([toolset, tool]) => [`${toolset}.${tool}`, registry.versions(toolset)[tool] ?? '']),
      ),
    }));
    return { toolsets, modules };
  }
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

/** @throws Error for a name that looks like a tool of an MCP server */
function withoutServerNames(definition: Definition): Definition {
  const taken = definition.tools.find(({ name }) => name.startsWith('mcp__'));
  if (taken === undefined) return definition;
  throw new Error(`"${taken.name}" begins with mcp__, as only tools of MCP servers do`);
}

const moduleNext =
  'Correct the module, or take it out of HOLDPOINT_TOOLS for the API and all workers, and start again.';
const additionNext = 'Correct its entry in the file of MCP servers.';

function unusable(what: string, cause: unknown, next: string): ToolsError {
  const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\.?$/, '.');
  return new ToolsError('ETOOLMODULE', `${what} cannot be used: ${why}`, next, { cause });
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
