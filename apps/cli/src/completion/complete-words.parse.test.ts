import { expect, it } from 'vitest';
import { call } from '../testing/cli.ts';

const env = { HOLDPOINT_DATA: '/nonexistent', HOLDPOINT_URL: 'http://127.0.0.1:1', HOLDPOINT_KEY: 'key' };

async function complete(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await call(['__complete', '--', ...words], env);
  expect([code, stderr]).toEqual([0, '']);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t')[0] ?? '');
}

it.each([
  ['commands', ['do'], ['down', 'doctor']],
  ['the commands of a group', ['runs', 'ca'], ['cancel', 'cat']],
  ['commands after an option of the group', ['approvals', '--json', 'appr'], ['approve']],
  ['commands after the value of an option', ['approvals', '--url', 'runs', 'appr'], ['approve']],
  ['long options', ['run', '--to'], ['--toolset']],
  ['options after an operand', ['run', 'a prompt', '--so'], ['--source']],
  ['choices of an option', ['runs', 'download', '--format', 'z'], ['zip']],
  ['choices after =', ['runs', 'download', '--format=z'], ['--format=zip']],
  ['choices after = in bash, which makes it a word', ['runs', 'download', '--format', '=', 'z'], ['zip']],
  ['an empty choice after = in bash', ['runs', 'download', '--format', '='], ['tar.gz', 'zip']],
  ['choices of an argument', ['completion', ''], ['bash', 'zsh', 'fish']],
  ['files for an option that names one', ['run', '--plan', 'ex'], [':file']],
  ['options after an option without its file', ['run', 'a prompt', '--plan', '--so'], ['--source']],
  ['files after =', ['run', '--plan=ex'], [':file']],
  ['no options after --', ['run', '--', '--mod'], []],
  ['no removed option', ['run', '--max-t'], []],
  [
    'paths of --set',
    ['run', '--set', 'limits.max_t'],
    ['turns', 'tokens', 'tasks'].map((name) => `limits.max_${name}=`),
  ],
  ['paths of --set after =', ['run', '--set=prepare.netw'], ['--set=prepare.network.allow+=']],
  ['a path with names of the caller', ['run', '--set', 'lab'], ['labels.']],
  ['choices of a field', ['run', '--set', 'priority=n'], ['priority=normal']],
  ['choices of a field in bash', ['run', '--set', 'priority', '=', 'n'], ['normal']],
  ['all choices of a field in bash', ['run', '--set', 'modes.dry_run', '='], ['true', 'false']],
  ['no text for an option that takes any', ['run', '--title', 'r'], []],
  ['nothing hidden', ['__'], []],
  ['no ids when the API does not answer', ['watch', ''], []],
])('completes %s', async (_, words, expected) => expect(await complete(...words)).toEqual(expected));

it('describes each candidate on its line', async () => {
  const { stdout } = await call(['__complete', '--', 'runs', 'canc'], env);
  expect(stdout).toMatch(/^cancel\t\S.+\n$/);
});
