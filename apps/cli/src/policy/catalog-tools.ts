import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Modes, Settings } from '@holdpoint/contract';
import { type CatalogTool, type ToolsetPolicy, toolsetPolicy } from '@holdpoint/policy';
import type { LoadedModule, Registry } from '@holdpoint/tools';
import { CliError } from '../shell/index.ts';

type Environment = Readonly<Record<string, string>>;

const projectDir = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..');

/** The toolsets of Holdpoint, and of the modules in the environment. Needs no server. @throws CliError `bad_environment` */
export async function openCatalog(environment: Environment): Promise<{ registry: Registry; modules: LoadedModule[] }> {
  // A lazy import: most commands need no tools.
  const { addTools, createRegistry, everyToolset, loadToolsets, toolModulesFrom } = await import('@holdpoint/tools');
  const { acceptedServers, readServers, serversFile, serverTools } = await import('@holdpoint/mcp');
  try {
    const dataDir = environment.HOLDPOINT_DATA ?? join(projectDir, '.holdpoint');
    const outside = serverTools(acceptedServers(readServers(serversFile(dataDir, environment), dataDir)));
    const loaded = await loadToolsets(toolModulesFrom(environment), projectDir, everyToolset);
    // `doctor` names a server whose tools cannot be added.
    const { toolsets, modules } = addTools(loaded, outside, () => {});
    return { registry: createRegistry(toolsets), modules };
  } catch (cause) {
    throw new CliError('bad_environment', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The tools for rules to name. @throws CliError `bad_environment` */
export const catalogTools = async (environment: Environment): Promise<CatalogTool[]> =>
  toolsOf((await openCatalog(environment)).registry);

export const toolsOf = (registry: Registry): CatalogTool[] =>
  registry.toolsets().flatMap((toolset) => registry.list(toolset).map((tool) => ({ ...tool, toolset })));

/** A toolset's rules for its own calls in a run. @throws CliError `bad_environment` */
export async function catalogPolicy(
  environment: Environment,
  { toolset, settings, modes }: { toolset: string; settings?: Settings; modes?: Modes },
): Promise<ToolsetPolicy | undefined> {
  const { registry } = await openCatalog(environment);
  return toolsetPolicy(toolset, registry.rules(toolset, settings, modes));
}
