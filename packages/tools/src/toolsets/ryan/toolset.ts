import type { Json } from '@holdpoint/contract';
import type { ToolDefinition } from '../../tool-definition.ts';
import { defineToolset } from '../../toolset.ts';
import { advisoryArguments } from '../advisory-arguments.ts';
import { executeBash, ryanSettings } from './execute-bash.ts';
import { presentRyan } from './present.ts';
import { readFile } from './read-file.ts';
import { ryanRules } from './rules.ts';

/** The contract's form has a `type`, unknown to the Model Context Protocol: an MCP endpoint uses the general form. */
const mcp = (tools: readonly ToolDefinition[]): Json[] =>
  tools.map(({ name, description, input_schema }) => ({
    ...{ name, description, type: 'tool' },
    inputSchema: input_schema as Json,
  }));

/** Two tools, for commands and for reading files. Both refuse dangerous calls. */
export const ryan = defineToolset({
  name: 'ryan',
  advisory: advisoryArguments.ryan,
  tools: [executeBash, readFile],
  settings: ryanSettings,
  rules: ryanRules,
  present: presentRyan,
  // The contract refuses the names of other providers.
  forms: { mcp, 'openai-functions': null },
});
