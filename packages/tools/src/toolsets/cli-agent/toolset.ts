import type { Json } from '@holdpoint/contract';
import type { ToolDefinition } from '../../tool-definition.ts';
import { defineToolset } from '../../toolset.ts';
import { advisoryArguments } from '../advisory-arguments.ts';
import { approvalText } from './approval-text.ts';
import { presentCliAgent } from './present.ts';
import { cliAgentSettings, settingsOf } from './settings.ts';
import { cliAgentTools } from './tools.ts';

/** The form of the contract for function calling: a bare function. */
const openaiFunctions = (tools: readonly ToolDefinition[]): Json[] =>
  tools.map(({ name, description, input_schema }) => ({ name, description, parameters: input_schema as Json }));

/** Ten tools of a command-line agent. A change or a reach to the web asks a person. */
export const cliAgent = defineToolset({
  name: 'cli-agent',
  advisory: advisoryArguments['cli-agent'],
  tools: cliAgentTools,
  settings: cliAgentSettings,
  asking(settings) {
    const { ask } = settingsOf(settings);
    if (ask === 'none') return [];
    const asks = cliAgentTools.filter((tool) =>
      ask === 'all' ? tool.name !== 'terminal_last_command' : tool.asks === true,
    );
    return asks.map(({ name }) => name);
  },
  present: presentCliAgent,
  approvalText,
  forms: { 'openai-functions': openaiFunctions },
});
