import { defineToolset } from '../../toolset.ts';
import { advisoryArguments } from '../advisory-arguments.ts';
import { approvalText } from './approval-text.ts';
import { openaiFunctions } from './forms.ts';
import { presentCliAgent } from './present.ts';
import { cliAgentSettings, settingsOf } from './settings.ts';
import { cliAgentTools } from './tools.ts';

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
