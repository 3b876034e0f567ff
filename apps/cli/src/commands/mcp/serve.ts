import { serveMcpOnStdio } from '@holdpoint/mcp-server';
import type { Command } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { findConnection, readKey } from '../../connection.ts';
import { type ApiOptions, apiCommand, type Shell } from '../../shell/index.ts';

const help = `
The agent that starts this command gets the tools submit_run, wait_for_run, get_run, list_runs, send_message, cancel_run, fork_run, get_diff,
read_file, list_approvals and get_approval. None decides on an approval, and none publishes. Give it a key of kind agent:
  holdpoint keys create my-agent --kind agent --scope runs:read --scope runs:write --scope approvals:read
Agents that speak HTTP use <address of the API>/mcp with the header Authorization: Bearer <key>.`;

export function serveMcpCommand(shell: Shell): Command {
  return apiCommand('serve', 'speak MCP on standard input and output, for an agent that starts this command')
    .option(
      '--key-file <path>',
      "file with the key, readable by its owner alone (default: HOLDPOINT_KEY, or the data directory's)",
    )
    .addHelpText('after', help)
    .action(async ({ url, keyFile }: ApiOptions & { keyFile?: string }) => {
      const key = keyFile === undefined ? undefined : readKey(keyFile);
      const connection = findConnection(key === undefined ? shell.config : { ...shell.config, key }, url);
      const client = await shell.connect(url, key);
      // A client that ends closes standard input; so ends this process.
      serveMcpOnStdio({
        ...{ client, address: connection.url, version: manifest.version, now: () => performance.now() },
        onError: ({ message }) => shell.say(message),
      });
      await new Promise<void>((resolve) => process.stdin.once('close', resolve));
    });
}
