import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, expect, test } from 'vitest';
import { type SettingOptions, settingsOf, withSettingOptions } from './setting-options.ts';

const cwd = mkdtempSync(join(tmpdir(), 'hp-settings-'));
writeFileSync(join(cwd, 'settings.json'), '{"a": 1, "b": [2]}');
writeFileSync(join(cwd, 'list.json'), '[1]');
afterAll(() => rmSync(cwd, { recursive: true }));

const read = (args: string[], file?: { a: number }) => {
  const command = withSettingOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  return settingsOf(command.parse(args, { from: 'user' }).opts<SettingOptions>(), { cwd, file });
};

test.for<[string, string[], object | undefined]>([
  ['nothing', [], undefined],
  ['JSON', ['--settings', '{"a": true}'], { a: true }],
  ['a file', ['--settings', 'settings.json'], { a: 1, b: [2] }],
  ['single settings', ['--set', 'n=3', '--set', 'text=a=b', '--set', 'list=["x"]'], { n: 3, text: 'a=b', list: ['x'] }],
  ['a single one over a file', ['--settings', 'settings.json', '--set', 'a=2'], { a: 2, b: [2] }],
])('settings from %s', async ([, args, expected]) => expect(await read(args)).toEqual(expected));

test('the command line comes before the plan file', async () => {
  expect(await read([], { a: 1 })).toEqual({ a: 1 });
  expect(await read(['--set', 'b=2'], { a: 1 })).toEqual({ a: 1, b: 2 });
});

test.each([['missing.json'], ['list.json'], ['{"a": ']])('refuses %s', async (given) => {
  await expect(read(['--settings', given])).rejects.toMatchObject({ code: 'usage' });
});

test('refuses a setting without a name', () => expect(() => read(['--set', '=3'])).toThrow(/NAME=VALUE/));
