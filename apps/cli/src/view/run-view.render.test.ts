import type { RunDetail, RunEvent } from '@holdpoint/contract/wire';
import { expect, it } from 'vitest';
import { colorsFor } from '../shell/index.ts';
import { GrowingText } from './growing-text.ts';
import { openRunView } from './open-run-view.ts';
import { nestedScreen, openScreen } from './screen.ts';

const time = '2026-01-01T00:00:00.000Z';
const start = Date.parse(time);
const run_id = 'run_01900000-0000-7000-8000-00000000abcd';
const step_id = 'step_01900000-0000-7000-8000-000000000001';

/** What a terminal shows after these writes: lines that stay, then those that are drawn again. */
function terminal() {
  const lines: string[] = [];
  return {
    write(text: string) {
      const [, up = '0', rest = text] = /^<up>\[(\d+)F<up>\[J(.*)$/s.exec(text.replaceAll('\u001b', '<up>')) ?? [];
      lines.length -= Number(up);
      if (rest !== '') lines.push(...rest.replace(/\n$/, '').split('\n'));
    },
    lines,
  };
}

function followed({ asks = false, width = 80 } = {}) {
  const { write, lines } = terminal();
  const screen = openScreen({ write, width });
  let at = start;
  const view = openRunView({ screen, colors: colorsFor(false), asks, now: () => at });
  let seq = 0;
  const send = (type: string, data: object, step?: string): void =>
    view.event({
      ...{ id: 'e', seq: ++seq, type, run_id, time, data },
      ...(step && { step_id: step }),
    } as unknown as RunEvent);
  const live = (kind: string, text: string, more: object = {}): void =>
    view.frame({ ...{ kind, text, offset: 0, since: time }, ...more } as Parameters<typeof view.frame>[0]);
  const call = (tool: string, args: object, id = step_id): void => {
    send('step.created', { tool, args: { json: args }, effect: 'workspace', risk: 'low' }, id);
    send('step.started', { attempt: 1, worker: 'w' }, id);
  };
  return {
    screen,
    view,
    lines,
    send,
    live,
    call,
    wait: (ms: number) => {
      at += ms;
      view.tick();
    },
  };
}

const begun = { title: 'Fix it', planner: 'model', model: 'a/b', toolset: 'holdpoint' };
const bash = (stdout: string, exit_code = 0) => ({ json: { exit_code, signal: null, stdout, stderr: '' } });

it('says what happens now, and for how long', () => {
  const { lines, send, live, call, wait } = followed();
  send('run.created', begun);
  send('run.started', {});
  wait(12_300);
  expect(lines.at(-1)).toBe('· asking a/b · 12 s');
  live('model.reasoning', 'I wonder', { turn: 1 });
  expect(lines.slice(-2)).toEqual(['  I wonder', '· asking a/b · 12 s']);
  send('turn.planned', {
    turn: 1,
    steps: [step_id],
    message: 'Look.',
    usage: { input_tokens: 1200, output_tokens: 30 },
  });
  call('bash', { command: 'npm test' });
  live('command.output', 'one\ntwo\u001b[2J\n', { step_id });
  wait(1000);
  expect(lines.slice(-3)).toEqual([
    '    │ one',
    '    │ two<U+001B>[2J',
    '· bash npm test · 13 s · 1,200 tokens in, 30 out',
  ]);
  // A late piece of the turn before changes nothing.
  live('model.text', 'Lo', { turn: 1 });
  expect(lines.at(-2)).toBe('    │ two<U+001B>[2J');
});

it('shows what a command of prepare prints, until it ends', () => {
  const { lines, send, live, wait } = followed();
  send('run.created', begun);
  send('workspace.preparing', { number: 1, of: 2, command: 'npm ci', worker: 'w' });
  live('command.output', 'added 3\n', { prepare: 1 });
  wait(2000);
  expect(lines.slice(-2)).toEqual(['    │ added 3', '· prepare 1 of 2: npm ci · 2 s']);
  send('workspace.prepared', { number: 1, of: 2, command: 'npm ci', duration_ms: 2000, files_changed: 3 });
  expect(lines.join('\n')).not.toContain('added 3');
});

it('folds long thoughts, output and diffs, and says where the whole is', () => {
  const { lines, send, live, call } = followed();
  const numbered = (count: number, mark = '') => Array.from({ length: count }, (_, n) => `${mark}${n + 1}`).join('\n');
  live('model.reasoning', numbered(20), { turn: 1 });
  send('turn.planned', { turn: 1, steps: [step_id], message: '' });
  call('bash', { command: 'seq' });
  send('step.succeeded', { attempt: 1, value: bash(`${numbered(30)}\n`), duration_ms: 1500 }, step_id);
  call('edit', { path: 'a.txt' });
  const diff = `--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n${numbered(60, '+')}\n`;
  send('step.succeeded', { attempt: 1, value: { json: { path: 'a.txt', diff } }, duration_ms: 10 }, step_id);
  const text = lines.join('\n');
  expect(text).toContain('  3\n  … 15 more lines\n  19\n');
  expect(text).toMatch(/ {2}✓ bash seq · 1\.5 s\n {4}│ … 26 more lines: .*steps show 0000abcd 00000001\n {4}│ 27\n/);
  expect(text).toContain('  ✓ edit a.txt · +60 -0 · 10 ms\n    @@ -1 +1 @@\n    +1\n');
  expect(text).toContain('    … 31 more lines');
});

it('keeps the line of a call within a narrow terminal, and cuts no command that it names', () => {
  const { lines, send, call } = followed({ width: 40 });
  call('bash', { command: 'for i in 1 2 3 4 5 6 7 8; do echo line $i; done' });
  send('step.succeeded', { attempt: 1, value: bash('x\n'.repeat(9)), duration_ms: 3200 }, step_id);
  call('bash', { command: 'echo bad >&2; echo worse >&2; exit 3' });
  send('step.failed', { attempt: 1, value: bash('', 3), duration_ms: 20 }, step_id);
  const marked = lines.filter((line) => /^ {2}[✓✗]/.test(line));
  expect(marked).toEqual(['  ✓ bash for i in 1 2 3 4 5 6 … · 3.2 s', '  ✗ bash echo ba… · exit code 3 · 20 ms']);
  for (const line of marked) expect(line.length).toBeLessThan(40);
  expect(lines.find((line) => line.includes('more lines'))).toMatch(/steps show 0000abcd 00000001$/);
});

it('shows what a new file contains, with the arguments that a person gave', () => {
  const { lines, send, call } = followed();
  call('write_file', { path: 'a.txt', content: 'asked\n' });
  send(
    'step.queued',
    { reason: 'approved', args: { json: { path: 'b.txt', content: 'one\ntwo\u001b[2J\n' } } },
    step_id,
  );
  send('step.succeeded', { attempt: 1, value: { json: { path: 'b.txt', created: true, bytes: 8 } } }, step_id);
  expect(lines.slice(-4, -1)).toEqual(['  ✓ write_file b.txt · new, +2', '    +one', '    +two<U+001B>[2J']);
  send('step.succeeded', { attempt: 1, value: { json: { path: 'b.txt', created: false, bytes: 8 } } }, step_id);
  expect(lines.at(-2)).toBe('  ✓ write_file b.txt · replaced, 8 bytes');
});

it('says whole why a run is paused', () => {
  const { lines, send } = followed({ width: 40 });
  const message = 'the model answered 401 and said that the key is not the one that it knows';
  send('run.paused', { reason: { code: 'EMODELAUTH', message } });
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.map((line) => line.trim()).join(' ')).toBe(`run paused: EMODELAUTH: ${message}`);
  for (const line of lines) expect(line.length).toBeLessThan(40);
});

it('draws again from the first column, behind what the terminal echoed', () => {
  let written = '';
  const screen = openScreen({
    write: (text) => {
      written += text;
    },
    width: 80,
  });
  screen.show(['one', 'two']);
  screen.close();
  expect(written).toBe('one\ntwo\n\u001b[2F\u001b[J');
});

it('prints the last text once, as the answer', () => {
  const { view, lines, send } = followed();
  send('turn.planned', { turn: 1, steps: [], message: '# Done' });
  send('run.succeeded', { message: '# Done' });
  const usage = { steps: 1, input_tokens: 10, output_tokens: 5, cost_usd: 0.5, agents: { count: 0 } };
  view.end({ message: '# Done', usage } as unknown as RunDetail);
  expect(lines).toEqual(['', 'Done', '', '1 step · 10 tokens in, 5 out, $0.5000']);
});

it('prints the answer once, also when events come between it and the end', () => {
  const { view, lines, send } = followed();
  send('turn.planned', { turn: 1, steps: [], message: '# Done' });
  send('task.ended', { task_id: 'task_1', status: 'killed', exit_code: null });
  send('run.succeeded', { message: '# Done' });
  const usage = { steps: 1, input_tokens: 10, output_tokens: 5, cost_usd: 0, agents: { count: 0 } };
  view.end({ message: '# Done', usage } as unknown as RunDetail);
  expect(lines.filter((line) => line.includes('Done'))).toEqual(['Done']);
});

it('shows todos as a checklist', () => {
  const { lines, send, call } = followed({ width: 40 });
  const todos = [
    { content: 'read\u202e it', status: 'completed' },
    { content: 'write it', status: 'in_progress' },
    { content: `test it ${'x'.repeat(60)}`, status: 'pending' },
  ];
  call('todo_write', { todos });
  expect(lines.at(-1)).toBe('· todo_write · 0 s');
  send('step.succeeded', { attempt: 1, value: { json: { success: true, count: 3 } }, duration_ms: 4 }, step_id);
  expect(lines.slice(0, 3)).toEqual(['  ✓ todo_write · 1 of 3 done · 4 ms', '    ☑ read<U+202E> it', '    ▸ write it']);
  expect(lines[3]).toMatch(/^ {4}☐ test it x+…$/);
  expect(lines[3]?.length).toBeLessThan(40);
});

it('puts the lines of sub-agents below their names, and names one again when others came between', () => {
  const { screen, lines, send, wait } = followed({ width: 60 });
  const nested = (name: string) => {
    const inner = nestedScreen(screen, { head: `  ↳ ${name}`, place: name });
    return {
      inner,
      view: openRunView({ screen: inner, colors: colorsFor(false), asks: false, isAgent: true, now: () => start }),
    };
  };
  const [one, two] = [nested('one'), nested('two')];
  const tell = (view: typeof one.view, type: string, data: object, step?: string) =>
    view.event({
      ...{ id: 'e', seq: 1, type, run_id, time, data },
      ...(step && { step_id: step }),
    } as unknown as RunEvent);
  const bashIn = (view: typeof one.view, command: string) => {
    tell(
      view,
      'step.created',
      { tool: 'bash', args: { json: { command } }, effect: 'workspace', risk: 'low' },
      step_id,
    );
    tell(view, 'step.started', { attempt: 1, worker: 'w' }, step_id);
  };
  const ended = (view: typeof one.view) =>
    tell(view, 'step.succeeded', { attempt: 1, value: bash(''), duration_ms: 10 }, step_id);
  send('run.created', begun);
  tell(one.view, 'run.created', begun);
  bashIn(one.view, `echo ${'long '.repeat(20)}`);
  bashIn(two.view, 'ls');
  ended(one.view);
  ended(one.view);
  ended(two.view);
  tell(one.view, 'run.succeeded', { message: 'All read.' });
  wait(0);
  for (const line of lines) expect(line.length).toBeLessThan(60);
  const last = lines.indexOf('· working');
  expect(lines.slice(2, last).map((line) => line.replace(/ long.*/, ''))).toEqual([
    ...['  ↳ one', '      ✓ bash echo', '      ✓ bash echo', '  ↳ two', '      ✓ bash ls · 10 ms'],
    ...['  ↳ one', '      answers: All read.'],
  ]);
  one.inner.close();
  two.inner.close();
  expect(lines.at(-1)).toBe('· working');
});

it('keeps lines while a question has the terminal', () => {
  const { screen, lines, send } = followed({ asks: true });
  send('run.created', begun);
  screen.hold();
  const before = [...lines];
  send('run.failed', { reason: { code: 'E', message: 'no\u202e' } });
  expect(lines).toEqual(before);
  screen.release();
  expect(lines.at(-1)).toBe('  run failed: E: no<U+202E>');
});

it('puts pieces of a text together', () => {
  const text = new GrowingText();
  const add = (offset: number, piece: string, since = time) => text.add({ offset, text: piece, since });
  add(0, 'ab');
  add(1, 'bc');
  expect(text.text).toBe('abc');
  add(9, 'z');
  expect(text.text).toBe('z');
  add(0, 'n', 'another time');
  expect(text.text).toBe('n');
});

it('says since when the API does not answer, instead of what it last knew', () => {
  const run = followed();
  run.send('run.created', begun);
  run.call('bash', { command: 'make' });
  run.view.lost(start);
  expect(run.lines.at(-1)).toMatch(/^· no answer from the API since \d\d:\d\d:\d\d, trying again$/);
  run.view.lost(undefined);
  expect(run.lines.at(-1)).toContain('bash make');
});

it('says whole why a run stopped, with the lines that a command printed', () => {
  const run = followed();
  run.send('run.created', begun);
  run.send('run.paused', {
    reason: { code: 'prepare_failed', message: 'It failed: npm ci\nno network\n\u001b[31mred' },
  });
  expect(run.lines.slice(-3)).toEqual([
    '  run paused: prepare_failed: It failed: npm ci',
    '  no network',
    '  <U+001B>[31mred',
  ]);
});

it('says once and whole why the model is asked again, and then until when it waits', () => {
  const run = followed({ width: 60 });
  run.send('run.created', begun);
  const retry = (message: string, failures: number, until: string) =>
    run.send('model.retrying', {
      model: 'a/b',
      next: 'a/b',
      failures,
      until,
      reason: { code: 'EMODELUNAVAILABLE', message },
    });
  retry('a/b answered 503: the service is overloaded today', 1, '2026-01-01T00:00:02.000Z');
  const said = () => run.lines.join('\n').replaceAll('\n ', '');
  expect(said()).toContain('EMODELUNAVAILABLE: a/b answered 503: the service is overloaded today. a/b is asked at');
  const before = run.lines.length;
  retry('a/b answered 503: the service is overloaded today', 2, '2026-01-01T00:05:00.000Z');
  expect(run.lines).toHaveLength(before);
  expect(run.lines.at(-1)).toMatch(/^· waits for a\/b until \d\d:05:00/);
  retry('the network is gone', 3, '2026-01-01T00:10:00.000Z');
  expect(said()).toContain('the network is gone');
});
