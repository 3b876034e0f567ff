import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { callInTerminal } from '../testing/cli.ts';
import { systemForTests } from '../testing/system.ts';

const { root, env, holdpoint } = systemForTests();
let source: string;
/** A run that several tests send bad requests to. */
let small: string | undefined;

beforeEach(() => {
  source = mkdtempSync(join(root, 'source-'));
  writeFileSync(join(source, 'kept.txt'), 'one\n');
});

const json = async (...args: string[]) => JSON.parse((await holdpoint(...args, '--json')).stdout);
const write = (path: string, content: string) =>
  `  - steps: [{ tool: write_file, args: { path: ${path}, content: "${content}\\n" } }]\n`;
const plan = (groups: string, head = ''): string => {
  const file = join(mkdtempSync(join(root, 'plan-')), 'plan.yaml');
  writeFileSync(file, `${head}groups:\n${groups}`);
  return file;
};
const set = (...fields: string[]): string[] => fields.flatMap((field) => ['--set', field]);
const two = write('kept.txt', 'two') + write('made.txt', 'new');

/** Runs a plan on the source to its end. */
async function ended(file: string, ...more: string[]): Promise<string> {
  const { code, stdout, stderr } = await holdpoint(
    ...['run', '--plan', file, '--source', source, '--follow', '--json', '--timeout', '60', ...more],
  );
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return JSON.parse(stdout.split('\n')[0] ?? '').run_id;
}

function repository(): void {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: source });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('-c', 'user.name=T', '-c', 'user.email=t@example.org', 'commit', '-qm', 'first');
}

const digestIn = (shown: string): string => /^digest +(\S+)$/m.exec(shown)?.[1] ?? '';

describe('the files of a run', () => {
  it('are read and downloaded as they were after any step', async () => {
    const run = await ended(plan(two));
    const [began, first] = (await json('runs', 'snapshots', run)).data;
    const shown = (await holdpoint('runs', 'snapshots', run)).stdout;
    expect(shown).toMatch(/0 +the beginning +1 file /);
    expect(shown).toMatch(/2 +write_file +1 file .*<- here\n$/);
    for (const at of ['0', began.id, began.id.slice(0, 12)]) {
      expect((await holdpoint('runs', 'cat', run, 'kept.txt', '--at', at)).stdout).toBe('one\n');
    }
    expect((await holdpoint('runs', 'cat', run, 'kept.txt', '--at', '1')).stdout).toBe('two\n');
    expect((await holdpoint('runs', 'files', run)).stdout).toMatch(/100644 +4 +kept\.txt\n100644 +4 +made\.txt\n$/);
    expect((await json('runs', 'files', run, '--at', '1')).data).toHaveLength(1);
    const diff = await holdpoint('runs', 'diff', run, '--stat', '--from', '1', '--to', '2');
    expect(diff.stdout).toContain('made.txt');
    expect(diff.stdout).not.toContain('kept.txt');
    expect((await json('runs', 'diff', run, '--to', first.step.id)).files).toHaveLength(1);

    const file = join(source, 'out.zip');
    expect((await holdpoint('runs', 'download', run, '--changed', '--at', '1', '--output', file)).stdout).toBe(
      `${file}\n`,
    );
    expect(execFileSync('python3', ['-m', 'zipfile', '-l', file], { encoding: 'utf8' })).toContain('kept.txt');
    const again = await holdpoint('runs', 'download', run, '--output', file, '--json');
    expect([again.code, JSON.parse(again.stdout).error.code]).toEqual([8, 'file_exists']);
    expect((await holdpoint('runs', 'download', run, '--output', join(root, 'no/such/place.zip'))).code).toBe(1);
  });

  it.each([
    [['snapshots', 'run_nope'], 7],
    [['cat', 'RUN', 'nope'], 7],
    [['cat', 'RUN', 'kept.txt', '--at', '9'], 7],
    [['cat', 'RUN', 'kept.txt', '--at', 'abcdef'], 7],
    [['diff', 'RUN', '--from', '99'], 7],
    [['files', 'RUN', '--at', 'zzz'], 7],
    [['undo', 'RUN'], 2],
    [['fork', 'RUN', '--from-step', '9'], 7],
    [['publish', 'RUN', '--author', 'unnamed'], 2],
    [['publish', 'RUN', '--branch', 'x'], 2],
    [['validation', 'RUN'], 7],
  ] as const)('%j ends with %d', async (args, code) => {
    small ??= await ended(plan(write('a', 'a')));
    const done = await holdpoint('runs', ...args.map((one) => (one === 'RUN' ? String(small) : one)));
    expect([done.code, done.stdout]).toEqual([code, '']);
    expect(done.stderr).not.toBe('');
  });
});

it('steps as JSON have the arguments and results that GET /v1/steps/{id} has', async () => {
  small ??= await ended(plan(write('a', 'a')));
  const [step] = (await json('runs', 'steps', small)).data;
  expect(step.args).toMatchObject({ path: 'a', content: 'a\n' });
  expect(step.result).not.toHaveProperty('json');
  const large = await ended(plan(write('b', 'b'.repeat(40_000))));
  const [cut] = (await json('runs', 'steps', large)).data;
  expect(cut.args).toBeNull();
  expect(cut.args_cut).toMatchObject({ bytes: expect.any(Number), preview: expect.stringContaining('bbb') });
});

it('a run starts from an archive or a part of a directory', async () => {
  mkdirSync(join(source, 'sub'));
  writeFileSync(join(source, 'sub/log.txt'), 'log\n');
  const archive = join(source, 'all.tar.gz');
  execFileSync('tar', ['-czf', archive, '-C', source, 'kept.txt', 'sub']);
  const paths = async (run: string) =>
    (await json('runs', 'files', run)).data.map((file: { path: string }) => file.path);
  const from = await json('run', '--plan', plan(write('a', 'a')), '--source', archive);
  expect((await holdpoint('watch', from.id, '--exit-status', '--timeout', '60')).code).toBe(0);
  expect(await paths(from.id)).toEqual(['a', 'kept.txt', 'sub/log.txt']);
  expect((await holdpoint('runs', 'publish', from.id)).code).toBe(8);
  const part = await ended(
    plan(write('a', 'a')),
    ...set('workspace.source.exclude+=*.tar.gz', 'workspace.source.exclude+=sub/**'),
  );
  expect(await paths(part)).toEqual(['a', 'kept.txt']);
  const wrong = await holdpoint(
    'run',
    '--plan',
    plan(two),
    '--source',
    source,
    ...set('workspace.source.include+=../x'),
  );
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--set workspace.source.include') });
});

it('a paused run continues after an undo', async () => {
  const hold = 'policy: { rules: [{ match: { tool: bash }, action: hold }] }\n';
  const file = plan(`${two}  - steps: [{ tool: bash, args: { command: "true" } }]\n`, hold);
  const waiting = await holdpoint('run', '--plan', file, '--source', source, '--follow', '--no-wait', '--json');
  expect(waiting.code).toBe(5);
  const run = JSON.parse(waiting.stdout.split('\n')[0] ?? '').run_id;
  expect((await holdpoint('runs', 'undo', run, '--to-step', '1')).code).toBe(8);
  expect((await holdpoint('runs', 'pause', run)).stdout).toBe(`${run} is paused\n`);
  const undone = await holdpoint('runs', 'undo', run, '--to-step', '1');
  expect(undone).toMatchObject({ code: 0, stdout: `${run} is paused; undone: 2 steps\n` });
  expect((await json('runs', 'files', run)).data).toHaveLength(1);
  expect((await holdpoint('runs', 'steps', run)).stdout).toMatch(/^- +2 .* undone /m);
  expect((await holdpoint('runs', 'resume', run)).code).toBe(0);
  expect((await holdpoint('watch', run, '--no-wait', '--timeout', '60')).code).toBe(5);
  expect((await json('runs', 'files', run)).data).toHaveLength(2);
  const log = (await holdpoint('logs', run)).stdout;
  expect(log).toMatch(/run\.rewound +2 steps undone by admin: after step_/);
  expect(log).toMatch(/workspace\.restored/);
  expect((await holdpoint('runs', 'cancel', run)).code).toBe(0);
});

it('a fork continues with another plan', async () => {
  const run = await ended(plan(two, 'title: First try\n'));
  const other = plan(write('kept.txt', 'two') + write('other.txt', 'other'), 'toolset: holdpoint\n');
  const forked = await holdpoint(
    ...['runs', 'fork', run, '--from-step', '1', '--plan', other, '--title', 'Second', '--follow', '--timeout', '60'],
  );
  expect(forked).toMatchObject({ code: 0, stderr: expect.stringContaining('A fork keeps its toolset and network') });
  expect(forked.stdout).toContain(`Second (from ${run}, after step_`);
  expect((await holdpoint('logs', run)).stdout).toMatch(/run\.forked +run_.* continues after step_/);
  const wrong = await holdpoint('runs', 'fork', run, '--from-step', '1', '--plan', plan(write('else', 'x')));
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('plan.yaml:1:1') });
});

it('names the place of a rule for an unknown tool', async () => {
  const rules = 'policy:\n  rules:\n    - { match: { tool: Edit }, action: hold }\n';
  const wrong = await holdpoint('run', '--plan', plan(write('kept.txt', 'one'), rules));
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(
    /plan\.yaml:\d+:\d+: policy\.rules\.0\.match\.tool: .*no tool named "Edit"\. Nearest: edit/,
  );
});

describe('a publish', () => {
  it('goes to the named branch after a dry run', async () => {
    repository();
    const run = await ended(plan(two));
    const dry = await holdpoint('runs', 'publish', run, '--branch', 'feature/x', '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^a new branch feature\/x, in .*modified +kept\.txt/s),
    });
    const branches = () =>
      execFileSync('git', ['branch', '--format=%(refname:short) %(subject) %(authorname)'], { cwd: source });
    expect(String(branches())).toBe('main first T\n');
    const commit = ['--message', 'Two files', '--author', 'Ada L <ada@example.org>'];
    const done = await holdpoint('runs', 'publish', run, '--branch', 'feature/x', ...commit);
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('published: branch feature/x at ') });
    expect(String(branches())).toContain('feature/x Two files Ada L\n');
    expect((await holdpoint('runs', 'publish', run, '--branch', 'no..branch')).code).toBe(2);
  });

  it('leaves out ignored files and lists them', async () => {
    writeFileSync(join(source, '.gitignore'), 'dist/\n');
    repository();
    const run = await ended(plan(write('kept.txt', 'two') + write('dist/out.js', 'out')));
    const leftOut = /left out:\n +dist\/ +ignored +1 file +4 bytes/;
    const patch = await holdpoint('runs', 'diff', run);
    expect(patch.stdout).toMatch(/^diff --git a\/kept\.txt/);
    expect(patch.stdout).not.toContain('dist');
    expect(patch.stderr).toMatch(leftOut);
    const stat = await holdpoint('runs', 'diff', run, '--stat');
    expect(stat.stdout).toMatch(/kept\.txt .*\n1 file, .*\n/);
    expect(stat.stdout).toMatch(leftOut);
    const all = await holdpoint('runs', 'diff', run, '--stat', '--include-ignored');
    expect(all.stdout).toMatch(/2 files, /);
    expect(all.stdout).not.toContain('left out');
    expect((await holdpoint('runs', 'publish', run, '--dry-run')).stdout).toMatch(leftOut);
    expect((await json('runs', 'publish', run, '--dry-run', '--include-ignored')).files).toHaveLength(2);
    const done = await holdpoint('runs', 'publish', run);
    expect(done).toMatchObject({ code: 0, stderr: expect.stringMatching(leftOut) });
    expect(done.stdout).toContain('(1 left out)');
    expect((await holdpoint('runs', 'show', run)).stdout).toContain('(1 left out)');
  });

  it('includes ignored files when the plan says so', async () => {
    writeFileSync(join(source, '.gitignore'), 'dist/\n');
    repository();
    const run = await ended(plan(write('dist/out.js', 'out'), 'publish: { include_ignored: true }\n'));
    const { files, left_out } = await json('runs', 'publish', run, '--dry-run');
    expect([files.length, left_out]).toEqual([1, []]);
  });

  it('waits for an approval when the policy holds it', async () => {
    const run = await ended(plan(two, 'policy: { publish: hold }\n'));
    const held = await holdpoint('runs', 'publish', run, '--json');
    expect(held.code).toBe(5);
    const { approval_id: approval } = JSON.parse(held.stdout);
    const shown = await holdpoint('approvals', 'show', approval);
    expect(shown.stdout).toMatch(/asks +whether this may be published/);
    expect(shown.stdout).toMatch(/into the directory .*\nmodified +kept\.txt\nadded +made\.txt/);
    expect((await holdpoint('watch', run, '--no-wait')).code).toBe(5);
    expect((await holdpoint('approvals', 'approve', approval, '--digest', digestIn(shown.stdout))).code).toBe(0);
    expect((await holdpoint('watch', run, '--exit-status', '--timeout', '60')).code).toBe(0);
    expect(readFileSync(join(source, 'made.txt'), 'utf8')).toBe('new\n');
    expect((await holdpoint('runs', 'show', run)).stdout).toMatch(/changes +published: /);
  });

  it('names the page where a publish is approved by passkey, and publishes nothing itself', async () => {
    const run = await ended(plan(two, 'policy: { publish: passkey }\n'));
    writeFileSync(join(source, 'kept.txt'), 'mine\n');
    const onPage = async (id: string, ...args: string[]) => {
      const refused = await holdpoint(...args);
      expect([args, refused.code, refused.stdout]).toEqual([args, 4, '']);
      expect(refused.stderr).toContain(`The policy that holds the publish of ${id} asks for a passkey.`);
      expect(refused.stderr).toMatch(new RegExp(`at http://localhost:\\d+/approvals/${id}; to log in there: `));
    };
    const conflict = /approvals show (apr_\S+)/.exec((await holdpoint('runs', 'publish', run)).stderr)?.[1] ?? '';
    await onPage(conflict, 'runs', 'publish', run, '--resolve', 'run_lines', '--yes');
    const digest = ['--digest', digestIn((await holdpoint('approvals', 'show', conflict)).stdout)];
    await onPage(conflict, 'approvals', 'resolve', conflict, '--run', 'kept.txt', ...digest);
    await onPage(conflict, 'approvals', 'approve', conflict, ...digest);
    expect((await holdpoint('approvals', 'reject', conflict)).code).toBe(0);
    writeFileSync(join(source, 'kept.txt'), 'one\n');
    const { approval_id: held } = JSON.parse((await holdpoint('runs', 'publish', run, '--json')).stdout);
    const shown = (await holdpoint('approvals', 'show', held)).stdout;
    expect(shown).toMatch(/^passkey +needed for all but a rejection/m);
    await onPage(held, 'approvals', 'approve', held, '--digest', digestIn(shown));
    expect(readFileSync(join(source, 'kept.txt'), 'utf8')).toBe('one\n');
    expect((await holdpoint('approvals', 'reject', held)).code).toBe(0);
  });

  it('resolves conflicts file by file', async () => {
    const run = await ended(plan(two));
    writeFileSync(join(source, 'kept.txt'), 'mine\n');
    expect((await holdpoint('runs', 'publish', run, '--dry-run')).code).toBe(8);
    const refused = await holdpoint('runs', 'publish', run);
    expect(refused.code).toBe(8);
    const approval = /approvals show (apr_\S+)/.exec(refused.stderr)?.[1] ?? '';
    const shown = (await holdpoint('approvals', 'show', approval)).stdout;
    expect(shown).toMatch(/hunk 1 of 1, at line 1\n {2}source │ mine\n {2}run {4}│ two\n/);
    const resolve = (...args: string[]) => holdpoint('approvals', 'resolve', approval, ...args);
    expect((await resolve()).stderr).toContain('Nothing is chosen for kept.txt');
    expect((await resolve('--run', 'made.txt')).code).toBe(2);
    expect((await resolve('--run', 'kept.txt', '--source', 'kept.txt')).code).toBe(2);
    const merged = join(root, 'merged.txt');
    writeFileSync(merged, 'mine and two\n');
    expect((await resolve('--text', `kept.txt=${merged}`)).code).toBe(2); // without a digest or a terminal
    expect((await resolve('--text', `kept.txt=${merged}`, '--digest', digestIn(shown))).stdout).toBe(
      `${approval} is edited\n`,
    );
    expect((await holdpoint('watch', run, '--exit-status', '--timeout', '60')).code).toBe(0);
    expect(readFileSync(join(source, 'kept.txt'), 'utf8')).toBe('mine and two\n');
  });

  /** A file of 3,000 lines (over 64 KiB): the run and the source changed one line both and one line each. */
  async function largeConflict(): Promise<{ run: string; text: (changed: Record<number, string>) => string }> {
    const text = (changed: Record<number, string>) =>
      Array.from({ length: 3000 }, (_, index) => `${changed[index] ?? `line ${index} of a large file`}\n`).join('');
    const file = join(source, 'kept.txt');
    writeFileSync(file, text({}));
    const edits = `sed -i -e '11s/.*/run both/' -e '21s/.*/run alone/' kept.txt`;
    const run = await ended(plan(`  - steps: [{ tool: bash, args: { command: "${edits}" } }]\n`));
    writeFileSync(file, text({ 10: 'source both', 2000: 'source alone' }));
    return { run, text };
  }
  const alone = { 20: 'run alone', 2000: 'source alone' };

  it('resolves a large file by hunks, and refuses what does not fit', async () => {
    const { run, text } = await largeConflict();
    const refused = await holdpoint('runs', 'publish', run);
    const approval = /approvals show (apr_\S+)/.exec(refused.stderr)?.[1] ?? '';
    const shown = (await holdpoint('approvals', 'show', approval)).stdout;
    expect(shown).toMatch(/at line 11\n( {9}│ line \d+ .*\n){3} {2}source │ source both\n {2}run {4}│ run both\n/);
    expect(shown).toContain("the run's file reverts edits of the source: 1 line lost, 1 line back");
    expect((await json('approvals', 'hunks', approval, 'kept.txt')).data).toHaveLength(1);
    expect((await holdpoint('approvals', 'hunks', approval, 'none.txt')).code).toBe(2);
    const resolve = (...args: string[]) =>
      holdpoint('approvals', 'resolve', approval, '--digest', digestIn(shown), ...args);
    expect((await resolve('--hunk', 'kept.txt:2=run')).stderr).toContain('has 1 conflicting hunks');
    expect((await resolve('--hunk', 'kept.txt:one=run')).code).toBe(2);
    expect((await resolve('--hunk', 'kept.txt:1=both')).code).toBe(0);
    expect((await holdpoint('watch', run, '--exit-status', '--timeout', '60')).code).toBe(0);
    const both = text({ ...alone, 10: 'source both\nrun both' });
    expect(readFileSync(join(source, 'kept.txt'), 'utf8')).toBe(both);
  });

  it('publishes with the lines of one side where they conflict', async () => {
    const { run, text } = await largeConflict();
    const asked = await holdpoint('runs', 'publish', run, '--resolve');
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('needs a terminal')]);
    const published = await holdpoint('runs', 'publish', run, '--resolve', 'source_lines');
    expect([published.code, published.stderr]).toEqual([0, expect.stringContaining('hunk 1 of 1')]);
    expect(readFileSync(join(source, 'kept.txt'), 'utf8')).toBe(text({ ...alone, 10: 'source both' }));
  });

  it('prints the output of failed validators', async () => {
    const head = 'validators: [{ name: fine, command: "true" }, { name: tests, command: "echo broken >&2; exit 3" }]\n';
    const run = await ended(plan(two, head));
    const refused = await holdpoint('runs', 'publish', run);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/failed {2}tests: echo broken .*\(exit code 3, .*\n {2}stderr \| broken/);
    const shown = await holdpoint('runs', 'validation', run);
    expect(shown).toMatchObject({ code: 1, stdout: expect.stringContaining('passed  fine: true (') });
    expect((await json('runs', 'validation', run)).results[1].stderr).toBe('broken\n');
    expect(readFileSync(join(source, 'kept.txt'), 'utf8')).toBe('one\n');
    const following = ['--follow', '--timeout', '60'];
    expect((await holdpoint('runs', 'fork', run, '--from-step', '2', '--validate', 'true', ...following)).code).toBe(0);
  });

  const failing = 'validators: [{ name: tests, command: "echo broken >&2; exit 3" }]\n';
  const question = 'publish when they pass?';
  const requests = async (run: string) =>
    (await holdpoint('logs', run, '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'workspace.publish_requested');

  it('offers to publish again after a failed validator, and publishes when the validator passes then', async () => {
    mkdirSync(join(source, 'shared'));
    const word = join(source, 'shared/word');
    writeFileSync(word, '3');
    const head = 'validators: [{ name: tests, command: "sleep 1; exit $(cat shared/word)" }]\n';
    const run = await ended(plan(two, head), ...set('workspace.source.with+=shared'));
    const onTerminal = callInTerminal(
      ['runs', 'publish', run],
      env,
      { answer: 'Publish this to the source?', keys: 'y' },
      ...Array.from({ length: 40 }, () => ({ answer: question, keys: 'y' })),
    );
    // A second request follows the refusal of the first; the moment between them may be short.
    await expect.poll(async () => (await requests(run)).length, { timeout: 60_000 }).toBeGreaterThan(1);
    // The cause was outside of the run's files.
    writeFileSync(word, '0');
    const { code, screen } = await onTerminal;
    expect({ code, screen }).toMatchObject({ code: 0, screen: expect.stringMatching(/failed.*tests: .*exit code 3/) });
    expect(screen).toContain(`runs validation ${run}`);
    expect(screen).toContain('published: ');
    expect(readFileSync(join(source, 'kept.txt'), 'utf8')).toBe('two\n');
    expect((await requests(run)).length).toBeGreaterThan(1);
  });

  it('publishes nothing again without a yes, and asks neither with --yes nor without a terminal', async () => {
    const run = await ended(plan(two, failing));
    const sure = { answer: 'Publish this to the source?', keys: 'y' };
    const no = await callInTerminal(['runs', 'publish', run], env, sure, { answer: question, keys: 'n' });
    expect([no.code, no.screen]).toEqual([1, expect.stringContaining('Not published: the validator tests failed')]);
    expect(await requests(run)).toHaveLength(1);
    const yes = await callInTerminal(['runs', 'publish', run, '--yes'], env);
    expect([yes.code, yes.screen]).toEqual([1, expect.not.stringContaining(question)]);
    const piped = await holdpoint('runs', 'publish', run);
    expect([piped.code, piped.stderr]).toEqual([1, expect.not.stringContaining(question)]);
    expect(await requests(run)).toHaveLength(3);
    expect(readFileSync(join(source, 'kept.txt'), 'utf8')).toBe('one\n');
  });

  it('is offered again, to the same branch, to a person who watches a run with a failed validator', async () => {
    repository();
    const run = await ended(plan(two, failing));
    expect((await holdpoint('runs', 'publish', run, '--branch', 'fix', '--message', 'Two')).code).toBe(1);
    const piped = await holdpoint('watch', run);
    expect([piped.code, piped.stderr]).toEqual([
      0,
      expect.stringMatching(/exit code 3.*output: .*correct: .*again: /s),
    ]);
    const no = await callInTerminal(['watch', run], env, { answer: question, keys: 'n' });
    expect([no.code, no.screen]).toEqual([0, expect.stringContaining('stderr | broken')]);
    expect(await requests(run)).toHaveLength(1);
    const typed = [
      { answer: question, keys: 'y' },
      { answer: question, keys: 'n' },
    ] as const;
    expect((await callInTerminal(['watch', run], env, ...typed)).code).toBe(1);
    const [first, second, ...more] = (await requests(run)).map(({ data: { number: _, ...rest } }) => rest);
    expect([second, more]).toEqual([first, []]);
    expect(second).toMatchObject({ branch: 'fix', message: 'Two' });
  });
});

it('doctor measures the data directory', async () => {
  const run = await ended(plan(two));
  const { findings } = await json('doctor');
  const { data } = findings.find(({ name }: { name: string }) => name === 'storage');
  expect(data).toMatchObject({ complete: true, runs: expect.any(Number) });
  expect(data.largest.length).toBeGreaterThan(0);
  expect((await holdpoint('runs', 'discard', run)).code).toBe(0);
});

describe('beside and after a run', () => {
  it('a background command is listed, read and killed', async () => {
    const file = plan(
      '  - steps: [{ name: bg, tool: bash, args: { command: "echo printed; sleep 600", run_in_background: true } }]\n' +
        '  - steps: [{ tool: task_output, args: { task_id: { $from: bg, pointer: /task_id }, wait_s: 60 } }]\n',
    );
    const { stdout } = await holdpoint('run', '--plan', file, '--json', ...set('priority=high', 'limits.max_steps=9'));
    const run = JSON.parse(stdout);
    expect(run.priority).toBe('high');
    expect((await json('runs', 'show', run.id)).request.limits).toMatchObject({ max_steps: 9 });
    let task = '';
    await expect
      .poll(
        async () => {
          const [found] = (await json('tasks', 'list', run.id)).data;
          task = found?.id ?? '';
          return task === '' ? '' : (await holdpoint('tasks', 'output', task)).stdout;
        },
        { timeout: 20_000 },
      )
      .toBe('printed\n');
    expect((await holdpoint('tasks', 'list', run.id)).stdout).toContain('running');
    expect((await holdpoint('tasks', 'kill', task)).code).toBe(0);
    expect((await holdpoint('watch', run.id, '--timeout', '60')).code).toBe(0);
    expect((await holdpoint('tasks', 'list', run.id)).stdout).toMatch(/killed/);
    expect((await holdpoint('tasks', 'output', 'task_nope')).code).toBe(7);
  });

  it('a failed run is retried; an ended run takes no messages', async () => {
    const file = plan(
      '  - steps: [{ tool: bash, args: { command: "[ -e once ] || { touch ../tmp/x; exit 1; }" } }]\n' +
        write('a', 'a'),
    );
    const { stdout } = await holdpoint('run', '--plan', file, '--follow', '--json', '--timeout', '60');
    const run = JSON.parse(stdout.split('\n')[0] ?? '').run_id;
    const again = await holdpoint('runs', 'retry', run);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('repeated: 1 step')]);
    expect((await holdpoint('watch', run, '--timeout', '60')).stdout).toContain('failed');
    expect((await json('runs', 'show', run)).status).toBe('failed');
    expect((await holdpoint('runs', 'say', run, 'hello')).code).toBe(8);
    expect((await holdpoint('runs', 'say', run, ' ')).code).toBe(2);
    expect((await holdpoint('run', '--plan', file, ...set('limits.max_tokens=many'))).code).toBe(2);
  });

  it('doctor shows runs and queues', async () => {
    const { findings } = await json('doctor');
    const names = findings.map((finding: { name: string }) => finding.name);
    expect(names).toEqual(expect.arrayContaining(['runs', 'queues', 'paused runs', 'repairs']));
  });
});
