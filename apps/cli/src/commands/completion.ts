import type { Client } from '@holdpoint/client';
import { Argument, Command } from 'commander';
import { type Candidate, completeWords } from '../completion/complete-words.ts';
import { shellScripts } from '../completion/shell-scripts.ts';
import { type IdKind, shortId } from '../naming/ids.ts';
import { oneLine } from '../output/index.ts';
import type { Shell } from '../shell/index.ts';

type ShellName = keyof typeof shellScripts;

/** A person who pressed Tab does not wait longer for ids. */
const answerMs = 1000;

const help = `
bash: add to ~/.bashrc:  source <(holdpoint completion bash)
zsh:  holdpoint completion zsh > "\${fpath[1]}/_holdpoint"
fish: holdpoint completion fish > ~/.config/fish/completions/holdpoint.fish

The shell completes the command \`holdpoint\`, so that name has to be on your PATH.`;

export const completionCommand = (shell: Shell): Command =>
  new Command('completion')
    .description('print the script that lets a shell complete this command with Tab')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(Object.keys(shellScripts)))
    .addHelpText('after', help)
    .action((name: ShellName) => shell.write(shellScripts[name]));

/** Called by the shells' scripts. The help does not list the command. */
export const completeCommand = (shell: Shell): Command =>
  new Command('__complete').argument('[words...]').action(async (words: string[], _, command: Command) => {
    const found = await completeWords(command.parent ?? command, words, (kind) => listIds(shell, kind));
    if (found === 'file') return shell.print(':file');
    for (const { value, description } of found) shell.print(`${value}\t${oneLine(description, 80)}`);
  });

type List = (client: Client, options: { signal: AbortSignal }) => Promise<Candidate[]>;

const idCandidate = (id: string, description: string): Candidate => ({ value: id, description, short: shortId(id) });
const last: Candidate = { value: '@last', description: 'the latest run that you submitted' };
const runsLookedAt = 10;

const candidates: Record<IdKind, List> = {
  async run(client, options) {
    const { data } = await client.listRuns({ limit: 50 }, options);
    return [last, ...data.map(({ id, status, title }) => idCandidate(id, `${status}: ${title}`))];
  },
  async approval(client, options) {
    const { data } = await client.listApprovals({ limit: 50 }, options);
    return data.map(({ id, action, run_title }) => idCandidate(id, `${action.tool}: ${run_title}`));
  },
  async task(client, options) {
    const { data } = await client.listRuns({ limit: runsLookedAt }, options);
    const tasks = await Promise.all(data.map(({ id }) => client.listTasks(id, options)));
    return tasks.flat().map(({ id, status, title }) => idCandidate(id, `${status}: ${title}`));
  },
  async rule(client, options) {
    const { data } = await client.listRules({ limit: 50 }, options);
    return data.map(({ id, tool, created_by }) => idCandidate(id, `${tool}, made by ${created_by}`));
  },
  async key(client, options) {
    const { data } = await client.listKeys({ limit: 50 }, options);
    return data.map(({ id, name }) => idCandidate(id, name));
  },
};

/** None when the API does not answer at once: a Tab shows no errors. */
async function listIds(shell: Shell, kind: IdKind): Promise<Candidate[]> {
  try {
    const client = await shell.connect();
    const options = { signal: AbortSignal.timeout(answerMs) };
    return await candidates[kind](client, options);
  } catch {
    return [];
  }
}
