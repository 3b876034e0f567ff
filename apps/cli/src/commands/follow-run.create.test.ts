import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, expect, it } from 'vitest';
import { call, callAtWidth, callInTerminal } from '../testing/cli.ts';
import { systemForTests } from '../testing/system.ts';

const mock = await LLMock.create({ port: 0, host: '127.0.0.1' });
afterAll(() => mock.stop());
const { root, env, holdpoint } = systemForTests({
  HOLDPOINT_MODEL: 'openai-compatible/m',
  OPENAI_COMPATIBLE_BASE_URL: `${mock.url}/v1`,
});

const write = (path: string, content: string) => ({
  name: 'write_file',
  arguments: JSON.stringify({ path, content }),
});

/** A model that makes these calls in its first turn and then answers. */
function script(topic: string, ...calls: { name: string; arguments: string }[]): void {
  const toolCalls = calls.map((one, index) => ({ ...one, id: `call_${topic}_${index}` }));
  mock.on({ userMessage: topic, hasToolResult: false }, { content: 'Two files.', toolCalls });
  mock.on({ userMessage: topic, hasToolResult: true }, { content: '# All done\n\nThat was **it**.' });
}

const requestsAbout = (topic: string): string[] =>
  mock.getRequests().flatMap(({ body }) => {
    const text = JSON.stringify(body);
    return text.includes(topic) ? [text] : [];
  });

/** The lines left on a screen after all redraws, without colours. */
function linesOn(screen: string): string[] {
  const lines: string[] = [];
  const marked = screen.replaceAll('\u001b', '<esc>').replaceAll(/<esc>\[(\d+)F<esc>\[J/g, '<up $1>');
  for (const part of marked.split(/\r?\n/)) {
    const [, up, rest = part] = /^<up (\d+)>(.*)$/s.exec(part) ?? [];
    if (up !== undefined) lines.length -= Number(up);
    lines.push(stripVTControlCharacters(rest.replaceAll('<esc>', '\u001b')));
  }
  return lines;
}

const down = '\u001b[B';
const key = (answer: string, keys: string) => ({ answer, keys });
/** `yes` is below the last choice, where the cursor begins. */
const choose = (places: number) => key('Your decision', `${down.repeat(places)}\r`);

it('asks for each held call in place, and shows the answer whole', async () => {
  script('edit-words', write('a.txt', 'mine\n'), write('b.txt', 'two\n'));
  const held = ['run', 'Please edit-words', '--hold', 'write_file'];
  const { code, screen } = await callInTerminal(
    held,
    { ...env, EDITOR: 'sed -i s/mine/theirs/' },
    choose(3), // edit
    // An answered question is drawn once more.
    key('\u001b[1mwrite_file b.txt', ''),
    choose(2), // yes, always in this run
  );
  expect({ code, screen }).toMatchObject({ code: 0, screen: expect.stringContaining('held with --hold') });
  expect(screen.match(/Your decision/g)?.length).toBeGreaterThanOrEqual(2);
  expect(screen).toContain('\u001b[1mAll done\u001b[22m');
  expect(screen).toContain('✓\u001b[39m write_file b.txt');
  const { stdout } = await holdpoint('runs', 'cat', '@last', 'a.txt');
  expect(stdout).toBe('theirs\n');
  const approvals = JSON.parse((await holdpoint('approvals', 'list', '--all', '--run', '@last', '--json')).stdout).data;
  expect(approvals.map(({ status }: { status: string }) => status).sort()).toEqual(['approved', 'edited']);
  expect((await holdpoint('rules', 'list', '--run', '@last')).stdout).toContain('write_file b.txt');
  const shown = await holdpoint('steps', 'show', '@last', '1');
  expect(shown.stdout).toMatch(/^arguments\n {2}path: a\.txt\n {2}content: theirs$/m);
  expect(shown.stdout).toContain('+theirs');
  expect(shown.stdout).toMatch(/^attempts +1: succeeded/m);
});

it('passes on the words of a rejection and of an answer', async () => {
  const question = { name: 'ask_user', arguments: JSON.stringify({ question: 'Which\u202e colour?' }) };
  script('say-why', write('c.txt', 'c\n'), question);
  const { code, screen } = await callInTerminal(
    ['run', 'Please say-why', '--hold', 'write_file'],
    env,
    choose(4), // no
    key('Why?', 'not on a Friday\r'),
    key('Your answer', 'bright blue\r'),
  );
  expect({ code, screen }).toMatchObject({ code: 0, screen: expect.stringContaining('Which<U+202E> colour?') });
  expect(screen).not.toContain('\u202e');
  const last = requestsAbout('say-why').at(-1);
  expect(last).toContain('not on a Friday');
  expect(last).toContain('bright blue');
});

it('leaves the question when another caller decides, and the run when a person presses Ctrl-C', async () => {
  script('elsewhere', write('d.txt', 'd\n'));
  const open = async () =>
    JSON.parse((await holdpoint('approvals', '--json')).stdout).data.find(
      ({ action }: { action: { args: { path: string } } }) => action.args.path === 'd.txt',
    );
  const following = callInTerminal(['run', 'Please go elsewhere', '--hold', 'write_file'], env);
  await expect.poll(open, { timeout: 60_000, interval: 300 }).toBeDefined();
  const { id, action_digest } = await open();
  await holdpoint('approvals', 'approve', id, '--digest', action_digest);
  expect(await following).toMatchObject({ code: 0, screen: expect.stringContaining('All done') });

  const left = await callInTerminal(
    ['run', 'Please go elsewhere', '--hold', 'write_file'],
    env,
    key('Your decision', '\u0003'),
  );
  expect(left.code).toBe(130);
  expect(left.screen).toMatch(
    /The run waits for a decision\.\s+decide: .*approvals list --run run_\S+\s+follow: .*watch run_/,
  );
  expect(await open()).toBeDefined();
  await holdpoint('runs', 'cancel', '@last');
});

it('keeps what a person wrote in the editor after a mistake in it', async () => {
  script('mistaken', write('m.txt', 'mine\n'));
  const marked = join(root, 'marked');
  // The first time the text becomes wrong; the second time the mistake is taken out of it.
  const editor = `f() { if [ -e ${marked} ]; then sed -i 's/: \\[$/: theirs/' "$1"; else touch ${marked}; sed -i 's/^content:.*/content: [/; /^  mine/d' "$1"; fi; }; f`;
  const { code, screen } = await callInTerminal(
    ['run', 'Please mistaken', '--hold', 'write_file'],
    { ...env, EDITOR: editor },
    choose(3),
    key('the editor opens with your text', ''),
    choose(3),
  );
  expect({ code, screen }).toMatchObject({ code: 0, screen: expect.stringContaining('neither YAML nor JSON') });
  expect(screen).not.toContain('--help');
  expect((await holdpoint('runs', 'cat', '@last', 'm.txt')).stdout).toBe('theirs');
});

it('moves no cursor on a terminal that cannot, and ends with the whole answer', async () => {
  mock.on({ userMessage: 'dumbly' }, { content: `# All done\n\n${'word '.repeat(80)}LAST` });
  const { code, screen } = await callInTerminal(['run', 'Please dumbly'], { ...env, TERM: 'dumb' });
  expect({ code, screen }).toMatchObject({ code: 0, screen: expect.stringContaining('word LAST') });
  expect(screen).not.toContain('\u001b');
});

it('says at the end of the time what the run waits for', async () => {
  script('timeout', write('t.txt', 't\n'));
  // A run that waits already: on a busy machine it may take longer than the timeout to get there.
  await holdpoint('run', 'Please timeout', '--hold', 'write_file', '--follow', '--no-wait');
  const ended = await holdpoint('watch', '@last', '--wait', '--timeout', '4');
  expect(ended).toMatchObject({ code: 6, stderr: expect.stringContaining('The run waits for a decision.\ndecide: ') });
  await holdpoint('runs', 'cancel', '@last');
});

it('never asks without a terminal', async () => {
  const ended = await holdpoint('run', 'Please go elsewhere', '--hold', 'write_file', '--follow', '--no-wait');
  expect(ended.code).toBe(5);
  expect(ended.stdout).toContain('approval.requested');
  expect(ended.stdout).not.toContain('\u001b');
  await holdpoint('runs', 'cancel', '@last');
});

it('reads the prompt from standard input or a file, with the options of the model', async () => {
  const directory = mkdtempSync(join(root, 'goal-'));
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  const run = async (args: string[], input = '') => {
    const { stdout, stderr } = await call(['run', ...args, '--detach', '--json'], env, input);
    expect(stderr).toBe('');
    const { id } = JSON.parse(stdout);
    return JSON.parse((await holdpoint('runs', 'show', id, '--json')).stdout).request;
  };
  expect(await run(['-'], 'Please edit-words\n')).toMatchObject({ prompt: 'Please edit-words' });
  const png = Buffer.from('89504e470d0a1a0a', 'hex');
  const options = [
    ...['-', '--deny', 'edit', '--allow-net', 'example.org'],
    ...[
      ...['system=Be brief.', 'options.reasoning_effort=low', 'instructions=false', 'fallbacks+=ollama/other'],
      ...['options.max_output_tokens=500', 'options.temperature=0.2'],
      ...[`output_schema=@${file('schema.yaml', 'type: object\n')}`, `images+=@${file('a.png', png)}`],
      ...['prepare.commands.0.command=npm ci', 'prepare.commands+={"command": "npm run build"}'],
      'prepare.network.allow+=registry.example.org',
    ].flatMap((field) => ['--set', field]),
  ];
  expect(await run(options, 'Please\nedit-words\n')).toMatchObject({
    prompt: 'Please\nedit-words',
    policy: { rules: [{ match: { tool: ['edit'] }, action: 'deny' }] },
    network: { allow: ['example.org'] },
    ...{
      system: 'Be brief.',
      instructions: false,
      images: 1,
      fallbacks: ['ollama/other'],
      output_schema: { type: 'object' },
    },
    options: { max_output_tokens: 500, temperature: 0.2, reasoning_effort: 'low' },
    prepare: {
      commands: [{ command: 'npm ci' }, { command: 'npm run build' }],
      network: { allow: ['registry.example.org'] },
    },
  });
});

it.each([
  [['x', '--hold', 'edti'], 'the toolset holdpoint has no tool edti. Nearest: edit'],
  [['x', '--plan', 'y'], 'Give either a prompt in quotes'],
  [['-', '--file', '-'], 'Only one of the prompt'],
  [['--open', '--model', 'a/b'], '--model belongs to a prompt'],
  [['--open', '--set', 'system=x'], 'system belongs to a prompt'],
  [['--open', '--set', 'instructions=false'], 'instructions belongs to a prompt'],
  [['x', '--set', 'images+=@/dev/null'], 'neither PNG, JPEG, WebP nor GIF'],
  [['x', '--set', 'prepare.network.allow+=example.org'], 'prepare.commands: this is missing'],
  [['x', '--set', 'options.temperature=3'], '--set options.temperature: expected a number of at most 2'],
  [['-'], 'The prompt is empty.'],
] as const)('refuses %j', async (args, words) => {
  const ids = async () =>
    JSON.parse((await holdpoint('runs', 'list', '--json')).stdout).data.map(({ id }: { id: string }) => id);
  const before = await ids();
  const refused = await holdpoint('run', ...args);
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(words) });
  expect(await ids()).toEqual(before);
});

it('ends where the run waits for a paused sub-agent, and says what continues it', async () => {
  const ask = { name: 'task', arguments: JSON.stringify({ description: 'quiet one', prompt: 'hush-words' }) };
  // The model has no answer for the sub-agent.
  script('deleg-words', ask);
  const { code, stdout, stderr } = await holdpoint('run', 'Please deleg-words', '--follow');
  expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining('runs resume run_') });
  expect(stderr).toContain('(quiet one) paused: EMODELREQUEST');
  expect(stdout).toContain('task.waiting');
});

it('nests sub-agents below their calls, shows todos as a checklist, and says the answer once', async () => {
  const steps = [{ tool: 'bash', args: { command: 'echo from-within' } }];
  const agent = { description: 'counting '.repeat(9), plan: [{ steps }] };
  const todos = [
    { content: 'read it', status: 'completed' },
    { content: 'write it', status: 'in_progress' },
  ];
  script(
    'nested-words',
    { name: 'todo_write', arguments: JSON.stringify({ todos }) },
    { name: 'task', arguments: JSON.stringify(agent) },
  );
  await callAtWidth(60, ['run', 'Please nested-words', '--detach'], env);
  const live = await callAtWidth(60, ['watch', '@last'], env);
  // Once more from the log alone, where all events come at once.
  const later = await callAtWidth(60, ['watch', '@last'], env);
  for (const { code, screen } of [live, later]) {
    const lines = linesOn(screen);
    expect({ code, lines }).toMatchObject({ code: 0 });
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
    const at = (text: RegExp) => lines.findIndex((line) => text.test(line));
    expect(at(/^ {2}✓ todo_write · 1 of 2 done/)).toBeGreaterThan(0);
    expect(lines).toEqual(expect.arrayContaining(['    ☑ read it', '    ▸ write it']));
    expect(lines.filter((line) => line === 'All done')).toHaveLength(1);
    expect(at(/^ {2}↳ counting .*… · [0-9a-f]{8}$/)).toBeLessThan(at(/^ {6}✓ bash echo from-within/));
    expect(lines).toContain('        │ from-within');
    expect(at(/^ {6}✓ bash/)).toBeLessThan(at(/^ {2}✓ task counting/));
  }
});

it('says the answer once in a pipe, whole', async () => {
  const long = `All ${'word '.repeat(120)}done`;
  mock.on({ userMessage: 'piped-words' }, { content: long });
  const { stdout } = await holdpoint('run', 'Please piped-words', '--follow');
  expect(stdout.split('All word').length).toBe(2);
  expect(stdout).toContain(`\n\n${long}\n`);
});

it.each([60, 80])('fits tables into %i columns, with ids that other commands take', async (columns) => {
  const table = async (...args: string[]) => linesOn((await callAtWidth(columns, args, env)).screen);
  const lists = [
    ['runs', 'list'],
    ['runs', 'steps', '@last'],
    ['runs', 'snapshots', '@last'],
    ['approvals', 'list'],
    ['rules', 'list'],
    ['keys', 'list'],
    ['tools', 'list'],
    ['top', '--once'],
  ];
  for (const list of lists) {
    const lines = await table(...list);
    expect({ list, widest: Math.max(...lines.map(({ length }) => length)) <= columns }).toEqual({ list, widest: true });
  }
  const [, first = ''] = await table('runs', 'list');
  const run = first.split(' ')[0] ?? '';
  expect(run).toMatch(/^[0-9a-f]{8}$/);
  expect((await table('runs', 'list')).join('\n')).toMatch(/ ↳ of [0-9a-f]{8}/);
  const id = JSON.parse((await holdpoint('runs', 'show', run, '--json')).stdout).id;
  expect(id).toMatch(new RegExp(`${run}$`));
  // In a pipe, ids and titles are whole.
  expect((await holdpoint('runs', 'list')).stdout).toContain(id);
  expect((await holdpoint('runs', 'list')).stdout).toContain('counting '.repeat(9).trim());
});

it('takes short ids of keys and rules', async () => {
  const first = async (...list: string[]) => linesOn((await callAtWidth(80, list, env)).screen)[1]?.split(' ')[0] ?? '';
  await holdpoint('keys', 'create', 'reader', '--kind', 'service', '--scope', 'runs:read');
  const key = await holdpoint('keys', 'revoke', await first('keys', 'list'));
  expect(key).toMatchObject({ code: 0, stdout: expect.stringMatching(/^key_\S+ \(reader\) is revoked/) });
  const rule = await holdpoint('rules', 'revoke', await first('rules', 'list'));
  expect(rule).toMatchObject({ code: 0, stdout: expect.stringMatching(/^rule_\S+ is revoked/) });
  expect((await holdpoint('rules', 'revoke', 'ffffffff')).stderr).toContain('rules list');
});

it('takes a short id or the name of a step wherever a step is named', async () => {
  await holdpoint('run', 'Please edit-words', '--follow');
  const lines = linesOn((await callAtWidth(80, ['runs', 'steps', '@last'], env)).screen);
  const [, , step = ''] = lines[1]?.split(/ +/) ?? [];
  expect(step).toMatch(/^[0-9a-f]{8}$/);
  const files = await holdpoint('runs', 'files', '@last', '--at', step);
  expect(files).toMatchObject({ code: 0, stdout: expect.stringContaining('a.txt') });
  const forked = await holdpoint('runs', 'fork', '@last', '--from-step', step, '--detach', '--json');
  expect(JSON.parse(forked.stdout).forked_from.step_id).toMatch(new RegExp(`${step}$`));
  await holdpoint('runs', 'cancel', '@last');
  const none = await holdpoint('runs', 'undo', '@last', '--to-step', 'ffffffff');
  expect(none).toMatchObject({ code: 7, stderr: expect.stringContaining('has no step ffffffff') });
});

it('says on a terminal that it reads the prompt there', async () => {
  mock.on({ userMessage: 'typed-words' }, { content: 'Read.' });
  const { code, screen } = await callInTerminal(['run', '-'], env, key('Ctrl-D', 'Please typed-words\n\u0004'));
  expect({ code, screen }).toMatchObject({ code: 0, screen: expect.stringContaining('Read.') });
});
