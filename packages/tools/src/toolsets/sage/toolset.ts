import type { GraphPort } from '../../graph/port.ts';
import { defineToolset, type Toolset } from '../../toolset.ts';
import { advisoryArguments } from '../advisory-arguments.ts';
import { bash } from './bash.ts';
import { edit } from './edit.ts';
import { createGraphQuery } from './graph-query.ts';
import { presentSage } from './present.ts';
import { read } from './read.ts';
import { sageRules } from './rules.ts';
import { sageSettings } from './settings.ts';
import { write } from './write.ts';

/**
 * Files, commands and a graph of the code, within permissions. Results are `{ok, data?, error?, meta}`.
 * @param options.graph a graph outside of Holdpoint. @default the graph of the run
 */
export function createSageToolset({ graph }: { graph?: GraphPort | undefined }): Toolset {
  return defineToolset({
    name: 'sage',
    advisory: advisoryArguments.sage,
    tools: [read, write, edit, bash, createGraphQuery(graph)],
    settings: sageSettings,
    permissions: ['fs:read', 'graph:read'],
    protected: ['.sage'],
    placeholders: true,
    rules: (run) => sageRules(run, { hasOutsideGraph: graph !== undefined }),
    present: presentSage,
  });
}

/** Asks the graph of the run. */
export const sage = createSageToolset({});
