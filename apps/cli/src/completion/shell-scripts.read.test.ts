import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { typeInto } from '../testing/cli.ts';
import { shellScripts } from './shell-scripts.ts';

const home = mkdtempSync(join(tmpdir(), 'hp-completion-'));
const bin = fileURLToPath(new URL('../../bin', import.meta.url));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const find = (program: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(':')
    .map((directory) => join(directory, program))
    .find((file) => existsSync(file));

/** How each shell starts without the files of its user, and loads a script. */
const shells = {
  bash: { args: ['--norc', '--noprofile', '-i'], load: `PS1='ready''> '; source` },
  zsh: { args: ['-f', '-i'], load: `PS1='ready''> '; autoload -Uz compinit; compinit -D -u; source` },
  fish: { args: ['--no-config', '-i'], load: `function fish_prompt; echo 'ready''> '; end; source` },
} as const;
const prompt = 'ready> ';

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (name) => {
  const program = find(name);

  it.skipIf(program === undefined)('completes a command, an option and a file', async () => {
    const { args, load } = shells[name];
    const script = join(home, `completion.${name}`);
    writeFileSync(script, shellScripts[name]);
    writeFileSync(join(home, 'a-plan.yaml'), 'groups: 7\n');
    const env = { PATH: `${bin}:${process.env.PATH}`, HOME: home, HOLDPOINT_DATA: join(home, 'data') };
    const { screen } = await typeInto([program ?? '', ...args], env, [
      { answer: '', keys: `${load} ${script}; cd ${home}\n` },
      { answer: prompt, keys: 'holdpoint completion ba\t' },
      { answer: 'completion bash', keys: '\n' },
      { answer: 'complete -F _holdpoint', keys: '' },
      { answer: prompt, keys: 'holdpoint runs download --for\t' },
      { answer: '--format', keys: 'z\t' },
      { answer: 'zip', keys: 'run_1 --output - --json\n' },
      { answer: 'Standard output takes the archive or --json', keys: '' },
      { answer: prompt, keys: 'holdpoint run --plan a-pl\t' },
      { answer: 'an.yaml', keys: '\n' },
      { answer: 'a-plan.yaml:1:9', keys: '' },
      { answer: prompt, keys: 'holdpoint run --set limits.max_tu\t' },
      { answer: 'rns=', keys: '7 --print prompt\n' },
      { answer: 'max_turns: 7', keys: '' },
      { answer: prompt, keys: 'exit\n' },
    ]);
    expect(screen).toContain('a-plan.yaml:1:9');
  });
});
