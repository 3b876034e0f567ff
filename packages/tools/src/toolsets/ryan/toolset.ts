import { defineToolset } from '../../toolset.ts';
import { advisoryArguments } from '../advisory-arguments.ts';
import { executeBash, ryanSettings } from './execute-bash.ts';
import { mcp } from './forms.ts';
import { presentRyan } from './present.ts';
import { readFile } from './read-file.ts';
import { ryanRules } from './rules.ts';

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
