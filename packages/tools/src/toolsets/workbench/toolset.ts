import type { Json, PolicyRule } from '@holdpoint/contract';
import { duckDuckGoHtml } from '../../search/duckduckgo-html.ts';
import type { SearchPort } from '../../search/port.ts';
import { defineToolset, type RuledRun, type Toolset } from '../../toolset.ts';
import { advisoryArguments } from '../advisory-arguments.ts';
import { deleteFile } from './delete-file.ts';
import { listDirectory } from './list-directory.ts';
import { moveFile } from './move-file.ts';
import { presentWorkbench } from './present.ts';
import { readFile, workbenchSettings } from './read-file.ts';
import { runCode } from './run-code.ts';
import { networkRules } from './url-list.ts';
import { webFetch } from './web-fetch.ts';
import { createWebSearch } from './web-search.ts';
import { writeFile } from './write-file.ts';

/**
 * Files, programs and the web, with results `{ok, value}` or `{ok, error}`. A call to overwrite, to delete, or to leave the list of
 * addresses asks a person.
 */
export function createWorkbenchToolset({ search }: { search: SearchPort }): Toolset {
  return defineToolset({
    name: 'workbench',
    advisory: advisoryArguments.workbench,
    tools: [...[listDirectory, readFile, writeFile, deleteFile, moveFile, runCode, webFetch], createWebSearch(search)],
    settings: workbenchSettings,
    auto: listedFetches,
    present: presentWorkbench,
    forms: {
      'openai-functions': (tools) =>
        tools.map(({ name, description, input_schema }) => ({ name, description, parameters: input_schema as Json })),
    },
  });
}

/**
 * A POST is an effect outside of the workspace. The list of addresses covers listed addresses; web_fetch asks about every other address.
 */
function listedFetches({ settings }: RuledRun): PolicyRule[] {
  const hosts = networkRules(workbenchSettings.parse(settings ?? {}).url_allowlist);
  return hosts.length === 0 ? [] : [{ name: 'listed-address', match: { tool: 'web_fetch', hosts }, action: 'allow' }];
}

/** Uses the search engine that needs no account. */
export const workbench = createWorkbenchToolset({ search: duckDuckGoHtml() });
