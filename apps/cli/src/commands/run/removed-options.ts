import { type Command, Option } from 'commander';
import { stringify } from 'yaml';
import { setFields, setting } from '../../request/set-fields.ts';
import { CliError, several } from '../../shell/index.ts';

/** The words of the command line in place of a removed option, from its values. */
type Words = (path: string, texts: readonly string[]) => string[];

const last = (texts: readonly string[]): string => texts.at(-1) ?? '';
const value: Words = (path, texts) => ['--set', `${path}=${literal(last(texts))}`];
const file: Words = (path, texts) => ['--set', `${path}=@${last(texts)}`];
const files: Words = (path, texts) => texts.flatMap((text) => ['--set', `${path}+=@${text}`]);
const always =
  (flag: boolean): Words =>
  (path) => ['--set', `${path}=${flag}`];
const listOf =
  (item: (text: string) => unknown): Words =>
  (path, texts) => ['--set', `${path}=${JSON.stringify(texts.map(item))}`];
const list = listOf((text) => text);
const input: Words = (_, texts) => (last(texts) === '-' ? ['-'] : ['-', '<', last(texts)]);
const settings: Words = (path, texts) => (last(texts).trimStart().startsWith('{') ? value : file)(path, texts);

/** Options that `run` had once, the field of the request with their value, and the new form. */
export const removedOptions: readonly (readonly [flags: string, path: string, words: Words])[] = [
  ['--prompt-file <file>', 'prompt', input],
  ['--system <text>', 'system', value],
  ['--system-file <file>', 'system', file],
  ['--no-instructions', 'instructions', always(false)],
  ['--image <file>', 'images', files],
  ['--fallback <provider/model>', 'fallbacks', list],
  ['--max-output-tokens <n>', 'options.max_output_tokens', value],
  ['--temperature <number>', 'options.temperature', value],
  ['--effort <level>', 'options.reasoning_effort', value],
  ['--output-schema <file>', 'output_schema', file],
  ['--settings <json|file>', 'settings', settings],
  ['--priority <level>', 'priority', value],
  ['--agent-model <provider/model>', 'models', list],
  ['--agent-kind <file>', 'agents', files],
  ['--source-type <type>', 'workspace.source.type', value],
  ['--history <commits>', 'workspace.source.history', value],
  ['--source-secret <NAME>', 'workspace.source.credentials.secret', value],
  ['--source-user <name>', 'workspace.source.credentials.username', value],
  ['--known-hosts <file>', 'workspace.source.known_hosts', file],
  ['--include <glob>', 'workspace.source.include', list],
  ['--exclude <glob>', 'workspace.source.exclude', list],
  ['--with <folder>', 'workspace.source.with', listOf((text) => text.replace(/^(\.\/)+|\/+$/g, ''))],
  ['--max-turns <n>', 'limits.max_turns', value],
  ['--max-steps <n>', 'limits.max_steps', value],
  ['--max-seconds <n>', 'limits.wall_s', value],
  ['--max-tokens <n>', 'limits.max_tokens', value],
  ['--max-cost <usd>', 'limits.max_cost_usd', value],
  ['--max-idle <seconds>', 'limits.idle_s', value],
  ['--max-agents <n>', 'limits.max_agents', value],
  ['--model-patience <seconds>', 'limits.model_patience_s', value],
  ['--allow <host[:port]>', 'network.allow', (_, texts) => texts.flatMap((text) => ['--allow-net', text])],
  ['--prepare <command>', 'prepare.commands', listOf((command) => ({ command }))],
  ['--prepare-allow <host[:port]>', 'prepare.network.allow', list],
  ['--permission <permission>', 'permissions', list],
  ['--protect <glob>', 'protected', list],
  ['--read-only', 'modes.read_only', always(true)],
  ['--deterministic', 'modes.deterministic', always(true)],
  ['--secret <NAME[=VARIABLE]>', 'secrets', secrets(variableOf)],
  ['--secret-header <NAME@host=header: text>', 'secrets', secrets(headerOf)],
];

/** Both options of secrets fill one list. */
function secrets(item: (text: string) => object): Words {
  return (path, texts) => texts.flatMap((text) => ['--set', `${path}+=${JSON.stringify(item(text))}`]);
}

/** `NAME` or `NAME=VARIABLE`: a variable of the run's commands. */
function variableOf(text: string): object {
  const [, name = text, env = name] = /^([^=]+)(?:=(.+))?$/.exec(text) ?? [];
  return { name, as: { env } };
}

/** `NAME@host=header` or `NAME@host=header: Bearer {}`: a header added by the proxy. */
function headerOf(text: string): object {
  const [, name = text, host = '', header = '', value = '{}'] =
    /^([^@=]+)@([^=]+)=([^:]+)(?:: *(.+))?$/.exec(text) ?? [];
  return { name, as: { header: { host, name: header, value } } };
}

/** A text that `--set` would read as a JSON string, or as the name of a file, is written as JSON. */
const literal = (text: string): string => (/^(@|\s*".*"\s*$)/s.test(text) ? JSON.stringify(text) : text);

/** The options are still read, so that the answer can name the new form of their value. */
export function withRemovedOptions(command: Command): Command {
  for (const [flags] of removedOptions) {
    const option = new Option(flags).hideHelp();
    command.addOption(option.required ? option.argParser(several) : option);
  }
  return command;
}

/** @throws CliError `usage` with the new form of every removed option in use */
export async function refuseRemoved(options: Readonly<Record<string, unknown>>): Promise<void> {
  const answers = removedOptions.flatMap(([flags, path, words]) => {
    const option = new Option(flags);
    const given = options[option.attributeName()];
    if (given === undefined || (option.negate && given === true)) return [];
    return [answerTo(option.long ?? flags, words(path, Array.isArray(given) ? given : []), path)];
  });
  if (answers.length === 0) return;
  const next = 'Nothing was submitted. `run --help` lists the options.';
  throw new CliError('usage', (await Promise.all(answers)).join('\n'), { next });
}

async function answerTo(option: string, words: readonly string[], path: string): Promise<string> {
  return `\`${option}\` is now \`${words.map(quoted).join(' ')}\`, or in a run file: ${await inFile(words, path)}`;
}

/** For example `limits: { max_turns: 5 }`. */
async function inFile(words: readonly string[], path: string): Promise<string> {
  const [first, ...texts] = words.filter((_, at) => at % 2 === 1 || words[0] === '-');
  if (first === undefined || words[0] === '-' || first.startsWith(`${path}=@`) || first.startsWith(`${path}+=@`)) {
    return `\`${path}\` with the content of the file`;
  }
  const all = words[0] === '--set' ? [first, ...texts] : [`${path}=${JSON.stringify([first, ...texts])}`];
  const fields = await setFields(
    {},
    all.flatMap((text) => setting(text)),
    '.',
  );
  return `\`${stringify(fields, { collectionStyle: 'flow', lineWidth: 0 }).trim().slice(2, -2)}\``;
}

/** As the shell reads the word. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./<-]+$/.test(word) && (word === '<' || !word.includes('<')) ? word : `'${word.replaceAll("'", "'\\''")}'`;
