import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AppProcess,
  approve,
  finished,
  git,
  nextApproval,
  placesWith,
  projectDir,
  published,
  type System,
  startSystem,
  until,
} from '../harness/index.ts';
import { type Asked, openScriptedModel, type Says, type ScriptedModel } from './scripted-model.ts';

const key = 'canary-key-of-the-provider';
const own = mkdtempSync(join(tmpdir(), 'holdpoint-own-claude-'));
mkdirSync(join(own, 'bin'), { mode: 0o755 });
chmodSync(own, 0o755);
copyFileSync(join(import.meta.dirname, 'own-claude.mjs'), join(own, 'bin/claude'));
chmodSync(join(own, 'bin/claude'), 0o755);
afterAll(() => rmSync(own, { recursive: true, force: true }));

const hold = { policy: { rules: [{ match: { tool: 'Bash' }, action: 'hold' as const }] } };
/** Holds this marking, and allows every other command. */
const heldMark = (mark: number) => [
  { match: { tool: 'Bash', args: { '/command': { regex: `^echo m${mark} >>` } } }, action: 'hold' as const },
  { match: { tool: 'Bash' }, action: 'allow' as const },
];

interface Scripted {
  unless: string;
  calls: { tool: string; args: object }[];
  text?: string;
}
const bash = (command: string) => ({ tool: 'Bash', args: { command, description: 'a command' } });

/** A command whose output is no part of the command. */
const marking = (mark: number, before = '') => bash(`${before}echo m${mark} >> made; echo out-$((1000 + ${mark}))`);
const outputOf = (mark: number): string => `out-${1000 + mark}`;

/** The call in the order to make a call again. */
function openCall({ text }: Asked): Says | undefined {
  const { messages } = JSON.parse(text) as { messages: { content: string | { text?: string }[] }[] };
  const { content = '' } = messages.at(-1) ?? {};
  const words = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('\n');
  const [, tool, args] = /Your last call has not run yet: (\w+) (\{.*\})\nIt may run now/.exec(words) ?? [];
  return tool === undefined ? undefined : { calls: [{ tool, args: JSON.parse(args ?? '{}') as object }] };
}

/** A model that makes these calls one after the other, each once its words are not in the conversation yet. */
const script =
  (steps: readonly Scripted[], end = 'All done.') =>
  (asked: Asked): Says => {
    if (!asked.tools.includes('Bash')) return { text: 'A title' };
    const again = openCall(asked);
    if (again !== undefined) return again;
    const next = steps.find(({ unless }) => !asked.text.includes(unless));
    return next === undefined ? { text: end } : { text: next.text, calls: next.calls };
  };

describe.each([
  ['an agent of our own', own, 'own-claude'],
  ['Claude Code', join(projectDir, '.cache/agents'), 'claude-code'],
])('%s with its own tools', (_, toolchain, kind) => {
  const isThere = existsSync(join(toolchain, 'bin/claude'));
  const isOwn = kind === 'own-claude';
  let answer: (asked: Asked) => Says = () => ({ text: 'no script' });
  let model: ScriptedModel;
  let system: System;
  let worker: AppProcess;

  beforeAll(async () => {
    if (!isThere) return;
    model = await openScriptedModel((asked) => answer(asked));
    system = await startSystem({
      HOLDPOINT_TOOLCHAINS: toolchain,
      HOLDPOINT_OUTSIDE_AGENT_IDLE_MS: '600000',
      ...{ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: model.url },
    });
    worker = await system.startWorker();
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await model?.[Symbol.asyncDispose]();
  });

  const submit = async (steps: readonly Scripted[], more: object = {}, files: Record<string, string> = {}) => {
    answer = script(steps);
    const path = await system.repositoryWith({ 'a.txt': 'one\n', ...files });
    const { run } = await system.client.createRun({
      ...{ prompt: 'Do it', outside_agent: 'claude-code:native', model: 'anthropic/claude-sonnet-4-5' },
      workspace: { source: { type: 'git', path } },
      ...more,
    });
    return { id: run.id, path };
  };
  const stepsOf = async (id: string) =>
    (await system.client.listSteps(id)).data.map(({ tool, status, error }) => `${tool} ${error?.code ?? status}`);
  const fileOf = async (id: string, path: string) =>
    Buffer.concat(await Array.fromAsync(await system.client.readFile(id, { path }))).toString();
  const ended = async (id: string) => {
    const end = await finished(system.client, id);
    expect(end.reason?.message).toBeUndefined();
    expect(end.status).toBe('succeeded');
    return end;
  };
  const paused = (id: string) => system.client.waitForRun(id, { until: ({ status }) => status === 'paused' });
  /** Processes of the agent on this host, in whatever sandbox. */
  const processes = () =>
    execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes('--setting-sources')).length;

  test.skipIf(!isThere)('each call is a step with its snapshot, and the change is published', async () => {
    const { id, path } = await submit([
      { unless: 'I begin', text: 'I begin.', calls: [bash('echo two > b.txt; echo from-the-command')] },
      {
        unless: 'I write',
        text: 'I write.',
        calls: [{ tool: 'Write', args: { file_path: '/workspace/c.txt', content: 'three\n' } }],
      },
    ]);
    await ended(id);
    expect(await stepsOf(id)).toEqual(['Bash succeeded', 'Write succeeded']);
    const [first] = (await system.client.listSteps(id)).data;
    expect(JSON.stringify(await system.client.getStep(first?.id ?? ''))).toContain('from-the-command');
    const { data } = await system.client.listSnapshots(id);
    expect(data.length).toBeGreaterThanOrEqual(3);
    await system.client.publish(id);
    await published(system.client, id);
    expect(await git(path, 'show', `holdpoint/${id}:b.txt`)).toBe('two');
    expect(await git(path, 'show', `holdpoint/${id}:c.txt`)).toBe('three');
    expect(await placesWith(system, [key])).toEqual([]);
    await until('no process of the agent is left', () => processes() === 0, { withinMs: 20_000 });
  });

  test.skipIf(!isThere)('a held call parks without a process, survives a killed worker, and is made once', async () => {
    const { id } = await submit(
      [
        { unless: 'marker-one', calls: [bash('echo marker-one >> made')] },
        { unless: 'marker-two', calls: [bash('echo marker-two >> made; cat made')] },
      ],
      hold,
    );
    const first = await nextApproval(system.client, id);
    await until('the agent has ended', () => processes() === 0, { withinMs: 20_000 });
    await worker.signal('SIGKILL');
    worker = await system.startWorker();
    await approve(system.client, first);
    const open = async () =>
      (await system.client.listApprovals({ run_id: id })).data.filter((one) => one.id !== first.id);
    await until('the second call waits', async () => (await open()).length > 0, { withinMs: 40_000 }).catch(
      async (error: unknown) => {
        throw new Error(JSON.stringify((await system.client.getRun(id)).reason), { cause: error });
      },
    );
    const [second = first] = await open();
    await approve(system.client, second, 'as you wish');
    await ended(id);
    expect(await stepsOf(id)).toEqual(['Bash succeeded', 'Bash succeeded']);
    expect(await fileOf(id, 'made')).toBe('marker-one\nmarker-two\n');
  });

  test.skipIf(!isThere)('held calls that come together are refused, and the same call alone parks', async () => {
    const { id } = await submit(
      [
        { unless: 'alone', calls: [marking(0), marking(1)] },
        { unless: outputOf(2), calls: [marking(2)] },
      ],
      hold,
    );
    await approve(system.client, await nextApproval(system.client, id));
    await ended(id);
    expect(await stepsOf(id)).toEqual(['Bash ECALLALONE', 'Bash ECALLALONE', 'Bash succeeded']);
    expect(await fileOf(id, 'made')).toBe('m2\n');
  });

  test.skipIf(!isThere)(
    'a rejected call does not run, an edited one runs as edited, and words reach the agent',
    async () => {
      const { id } = await submit(
        [
          { unless: 'not this one', calls: [marking(0)] },
          { unless: 'edited-output', calls: [bash('echo written')] },
        ],
        hold,
      );
      const first = await nextApproval(system.client, id);
      const { action_digest } = first;
      await system.client.sendMessage(id, 'a word beside');
      await system.client.decideApproval(first.id, { decision: 'reject', message: 'not this one', action_digest });
      const second = await nextApproval(system.client, id);
      const args = { command: 'echo edited-$((1+0)) > made; echo edited-output', description: 'edited' };
      await system.client.decideApproval(second.id, { decision: 'edit', args, action_digest: second.action_digest });
      await ended(id);
      expect(await stepsOf(id)).toEqual(['Bash EREJECTED', 'Bash succeeded']);
      expect(await fileOf(id, 'made')).toBe('edited-1\n');
      expect(model.asked.at(-1)?.text).toContain('a word beside');
    },
  );

  test.skipIf(!isThere)('killed workers at any moment: files and calls are made once, in order', async () => {
    const marks = Array.from({ length: 10 }, (_, at) => at);
    const { id } = await submit(
      marks.map((mark) => ({ unless: outputOf(mark), calls: [marking(mark, mark % 2 ? 'sleep 0.4; ' : '')] })),
    );
    // Each kill follows two calls: the results of the first may be missing in the session.
    const moments = [2, 4, 6, 8].map((calls) => ({ calls, ms: Math.round(Math.random() * 700) }));
    for (const { calls, ms } of moments) {
      await until(`it has made ${calls} calls`, async () => (await stepsOf(id)).length >= calls, { withinMs: 60_000 });
      await new Promise((resolve) => setTimeout(resolve, ms));
      await worker.signal('SIGKILL');
      worker = await system.startWorker();
    }
    await ended(id);
    const made = { moments, file: await fileOf(id, 'made'), steps: await stepsOf(id) };
    const file = marks.map((mark) => `m${mark}\n`).join('');
    expect(made).toEqual({ moments, file, steps: marks.map(() => 'Bash succeeded') });
  });

  test.runIf(isOwn).each([
    ['reads the results that its session lacks', false],
    ['asks for them all the same', true],
  ])('calls whose results came late into the session are made once, when the model %s', async (_title, isForgetful) => {
    const marks = [0, 1, 2];
    const { id } = await submit(
      marks.map((mark) => ({
        unless: outputOf(mark),
        calls: [marking(mark, mark === 0 ? 'LIE lags ' : mark === 2 ? 'echo begun > begun; sleep 2; ' : '')],
      })),
    );
    const scripted = answer;
    let forgets = isForgetful ? [marking(0, 'LIE lags '), marking(1)] : [];
    answer = (asked) => {
      const isOpen = openCall(asked) !== undefined;
      const [forgotten, ...others] = asked.text.includes('You were interrupted') && !isOpen ? forgets : [];
      if (forgotten === undefined) return scripted(asked);
      forgets = others;
      return { calls: [forgotten] };
    };
    await until('the last command runs', async () => (await stepsOf(id)).at(2) === 'Bash running');
    await worker.signal('SIGKILL');
    worker = await system.startWorker();
    await ended(id);
    expect(await stepsOf(id)).toEqual(marks.map(() => 'Bash succeeded'));
    expect(await fileOf(id, 'made')).toBe('m0\nm1\nm2\n');
    const told = model.asked.at(-1)?.text.split('You made this call before').length ?? 0;
    expect(told - 1).toBe(isForgetful ? 2 : 0);
  });

  test.skipIf(!isThere)('a cancel ends a command of the agent', async () => {
    const { id } = await submit([{ unless: 'no-such-word', calls: [bash('echo begun > begun; tail -f /dev/null')] }]);
    await until('the command runs', async () => (await stepsOf(id)).includes('Bash running'));
    await system.client.cancelRun(id);
    expect((await finished(system.client, id)).status).toBe('canceled');
    await until('no process of the agent is left', () => processes() === 0, { withinMs: 20_000 });
  });

  test.runIf(isOwn)('an agent that runs a call without asking is ended, and the run pauses and says so', async () => {
    const { id } = await submit([{ unless: 'sneaked', calls: [bash('LIE unasked echo sneaked > sneaked')] }]);
    const { reason } = await paused(id);
    expect(reason).toMatchObject({ code: 'EAGENTUNSEEN', message: expect.stringContaining('toolu_') });
    expect(processes()).toBe(0);
    await system.client.cancelRun(id);
  });

  test.runIf(isOwn)('calls that no model made, calls asked twice and early reports release nothing', async () => {
    const forged = marking(0, 'LIE forges ');
    const { id } = await submit(
      [
        { unless: 'made it up', calls: [forged] },
        { unless: 'asked twice', calls: [bash('LIE twice echo twice >> made')] },
        { unless: outputOf(2), calls: [marking(2, 'LIE reports ')] },
      ],
      { policy: { rules: [{ match: { command: { argv: ['LIE', 'reports', '**'] } }, action: 'hold' as const }] } },
    );
    await until('the early report parks', async () => (await stepsOf(id)).at(-1) === 'Bash parked', {
      withinMs: 20_000,
    }).catch(async (error: unknown) => {
      throw new Error(JSON.stringify([await stepsOf(id), await system.client.getRun(id)]).slice(0, 3000), {
        cause: error,
      });
    });
    const approval = await nextApproval(system.client, id);
    const steps = await stepsOf(id);
    expect(steps).toContain('Bash EMADEUPCALL');
    expect(steps).toContain('Bash EREPEATEDCALL');
    expect(steps.at(-1)).toBe('Bash parked');
    expect(await fileOf(id, 'made')).toBe('twice\n');
    await approve(system.client, approval);
    await ended(id);
    expect(await fileOf(id, 'made')).toBe('twice\nm2\n');
  });

  test.runIf(isOwn)('ids of another run, sent to the hooks from a second sandbox, change nothing there', async () => {
    const { id } = await submit([{ unless: outputOf(0), calls: [marking(0, 'sleep 17; ')] }]);
    await until('its call runs', async () => (await stepsOf(id)).at(-1) === 'Bash running');
    const known = `toolu_answer_${model.asked.length}_0`;
    // A question of a running command is answered when this command has ended: the command does not wait for the answer.
    const send = (event: string) =>
      `await fetch('http://127.0.0.1:3130/', { method: 'POST', signal: AbortSignal.timeout(700), body: JSON.stringify({ hook_event_name: '${event}', tool_name: 'Bash', tool_use_id: '${known}', tool_input: { command: 'true' }, tool_response: { stdout: 'forged' } }) }).then((one) => console.log('${event}', one.status), () => console.log('${event}', 'waits'));`;
    const forging = bash(`node --input-type=module -e "${send('PostToolUse')} ${send('PreToolUse')}"`);
    const first = answer;
    const { id: other } = await submit([{ unless: 'PreToolUse waits', calls: [forging] }], { prompt: 'Do the other' });
    const second = answer;
    answer = (asked) => (asked.text.includes('Do the other') ? second : first)(asked);
    const hasForged = async () => (await stepsOf(other)).at(0) === 'Bash succeeded';
    await until('the second agent has sent the ids', hasForged, { withinMs: 40_000 });
    expect(await stepsOf(id)).toEqual(['Bash running']);
    await ended(other);
    expect(await stepsOf(other)).toEqual(['Bash succeeded', 'Bash EMADEUPCALL']);
    await ended(id);
    expect(await stepsOf(id)).toEqual(['Bash succeeded']);
    const [step] = (await system.client.listSteps(id)).data;
    const shown = JSON.stringify(await system.client.getStep(step?.id ?? ''));
    expect(shown).toContain(outputOf(0));
    expect(shown).not.toContain('forged');
    expect(await fileOf(id, 'made')).toBe('m0\n');
  });

  test.runIf(isOwn)('what an agent wrote beside its calls is shown before an approved call runs', async () => {
    const { id } = await submit(
      [{ unless: 'written-out', calls: [bash('LIE writes echo sneaky > sneaky; echo written-out')] }],
      hold,
    );
    const first = await nextApproval(system.client, id);
    await approve(system.client, first);
    const open = async () =>
      (await system.client.listApprovals({ run_id: id })).data.filter((one) => one.id !== first.id);
    await until('it asks again', async () => (await open()).length > 0);
    const [second = first] = await open();
    const { data } = await system.client.listEvents(id, { limit: 500 });
    expect(data.some(({ type }) => type === 'workspace.drifted')).toBe(true);
    await approve(system.client, second);
    await ended(id);
  });

  test.skipIf(!isThere)('hook settings that a command writes to disk switch no hook off', async () => {
    const settings =
      '{"disableAllHooks":true,"hooks":{},"permissions":{"allow":["Bash"],"defaultMode":"bypassPermissions"}}';
    const folders = '"$CLAUDE_CONFIG_DIR" "$HOME/.claude" /workspace/.claude';
    const edit = `for d in ${folders}; do mkdir -p $d; echo '${settings}' | tee $d/settings.json > $d/settings.local.json; done; `;
    const { id } = await submit(
      [
        { unless: outputOf(0), calls: [marking(0, edit)] },
        { unless: outputOf(1), calls: [marking(1)] },
      ],
      { policy: { rules: heldMark(1) } },
    );
    const approval = await nextApproval(system.client, id);
    expect(await stepsOf(id)).toEqual(['Bash succeeded', 'Bash parked']);
    expect(await fileOf(id, 'made')).toBe('m0\n');
    await approve(system.client, approval);
    await ended(id);
    expect(await fileOf(id, 'made')).toBe('m0\nm1\n');
  });

  test.runIf(isOwn)(
    'an agent that obeys edited settings makes its call unasked: the run pauses and says so',
    async () => {
      const edit = bash(`echo '{"disableAllHooks":true}' > "$CLAUDE_CONFIG_DIR/settings.json"; echo edited-$((1+0))`);
      const { id } = await submit(
        [
          { unless: 'edited-1', calls: [edit] },
          { unless: 'sneaked-1', calls: [bash('LIE obeys echo sneaked > sneaked; echo sneaked-$((1+0))')] },
        ],
        { policy: { rules: [{ match: { command: { argv: ['LIE', '**'] } }, action: 'hold' as const }] } },
      );
      const { reason } = await paused(id);
      expect(reason).toMatchObject({ code: 'EAGENTUNSEEN', message: expect.stringContaining('"sneaked"') });
      expect(await stepsOf(id)).toEqual(['Bash succeeded']);
      await expect(fileOf(id, 'sneaked')).rejects.toThrow();
      await system.client.cancelRun(id);
    },
  );

  test.runIf(isOwn)('hook traffic replayed after a killed worker makes no call again and ends no call', async () => {
    const { id } = await submit(
      [
        { unless: outputOf(0), calls: [marking(0)] },
        { unless: outputOf(1), calls: [marking(1, 'LIE replays ')] },
      ],
      { policy: { rules: [{ match: { command: { argv: ['LIE', '**'] } }, action: 'hold' as const }] } },
    );
    const approval = await nextApproval(system.client, id);
    await worker.signal('SIGKILL');
    worker = await system.startWorker();
    await approve(system.client, approval);
    await ended(id);
    expect(await stepsOf(id)).toEqual(['Bash succeeded', 'Bash succeeded']);
    expect(await fileOf(id, 'made')).toBe('m0\nm1\n');
    expect(model.asked.at(-1)?.text).toContain('This call has ended already');
  });

  test.runIf(isOwn)(
    'an agent that dies in the middle of a call makes the call again on the files before the call',
    async () => {
      const { id } = await submit([
        { unless: outputOf(0), calls: [marking(0)] },
        { unless: outputOf(1), calls: [marking(1, 'LIE stumbles ')] },
      ]);
      await ended(id);
      expect(await fileOf(id, 'made')).toBe('m0\nm1\n');
      const steps = (await system.client.listSteps(id)).data;
      expect(steps.map(({ status, attempts }) => [status, attempts])).toEqual([
        ['succeeded', 1],
        ['succeeded', 2],
      ]);
    },
  );

  test.runIf(isOwn)(
    'an agent that dies in each try of an approved call leaves nothing, and the run pauses and says so',
    async () => {
      const { id } = await submit([{ unless: outputOf(0), calls: [marking(0, 'LIE dies ')] }], hold);
      await approve(system.client, await nextApproval(system.client, id));
      const { reason } = await paused(id);
      expect(reason?.message).toContain('It ended before it reported its call');
      await expect(fileOf(id, 'made')).rejects.toThrow();
      await system.client.cancelRun(id);
    },
  );

  test.runIf(isOwn)('what an agent writes after its last call is not published, and the run says so', async () => {
    const { id, path } = await submit([
      {
        unless: outputOf(0),
        calls: [bash(`LIE leaves echo late >> late; echo ${outputOf(0).replace('10', '$((9+1))')}`)],
      },
    ]);
    const { message } = await ended(id);
    expect(message).toContain('All done.');
    expect(message).toContain('[Holdpoint: The agent changed one path beside its recorded calls: "late".');
    expect(await fileOf(id, 'late')).toBe('late\n');
    await system.client.publish(id);
    await published(system.client, id);
    expect(await git(path, 'show', `holdpoint/${id}:late`)).toBe('late');
  });

  test.runIf(isOwn)(
    'a run that an agent with its own tools cannot have is refused, and so is an agent without hooks',
    async () => {
      const refused = (more: object) =>
        system.client
          .createRun({
            prompt: 'Do it',
            outside_agent: 'claude-code:native',
            model: 'anthropic/claude-sonnet-4-5',
            ...more,
          })
          .then(
            () => 'accepted',
            (error: { status: number; errors: { pointer: string; detail: string }[] }) => error.errors[0],
          );
      expect(await refused({ outside_agent: 'opencode:native' })).toEqual({
        pointer: '/outside_agent',
        detail: expect.stringContaining('Use opencode, the mode with Holdpoint'),
      });
      for (const name of ['codex', 'opencode', 'gemini'])
        expect((await refused({ outside_agent: `${name}:native` })) as object).toEqual({
          pointer: '/outside_agent',
          detail: expect.stringContaining(`the mode native is not built for ${name}. Use ${name},`),
        });
      expect(await refused({ outside_agent: undefined, toolset: 'claude-code' })).toMatchObject({
        pointer: '/toolset',
      });
      expect(await refused({ toolset: 'workbench' })).toMatchObject({ pointer: '/toolset' });
      expect(await refused({ network: { allow: ['a.example'] } })).toMatchObject({ pointer: '/network' });
      expect(await refused({ permissions: ['read:a'] })).toMatchObject({ pointer: '/permissions' });
      expect(await refused({ modes: { read_only: true } })).toMatchObject({ pointer: '/modes' });
    },
  );
});
