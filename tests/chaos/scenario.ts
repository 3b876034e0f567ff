import type { CreateRun } from '@holdpoint/contract/wire';
import type { Random } from './random.ts';

type Plan = NonNullable<CreateRun['plan']>;
type PlanStep = Plan['groups'][number]['steps'][number];

/** A run, with the harness's actions from outside. */
export interface Scenario {
  number: number;
  body: CreateRun;
  /** Milliseconds before the harness tries each. The API may refuse a late action. */
  cancelAfter?: number;
  pauseAfter?: number;
  messageAfter?: number;
  forkAfter?: number;
  undoAfter?: number;
  killTaskAfter?: number;
  publish: boolean;
}

export interface Sources {
  directory: string;
  repository: string;
  /** `host:port` of the server with the count of visits. */
  site: string;
}

/** Every effect has a unique mark, `m<run>-<serial>`. A file of marks is a counter with visible members. */
const count = (mark: string, file: string): string => `printf '%s\n' ${mark} >> ${file}`;

/** A scripted run with random steps of all kinds. */
export function scenario(number: number, random: Random, sources: Sources): Scenario {
  let serial = 0;
  const mark = (): string => `m${number}-${++serial}`;
  const isOnline = random.chance(0.12);
  const bash = (command: string, more: Partial<PlanStep> = {}): PlanStep => ({
    tool: 'bash',
    args: { command },
    ...more,
  });
  const slow = (): string => (random.chance(0.5) ? ` sleep 0.${random.integer(1, 6)};` : '');
  const file = (): string => `counter_${random.integer(1, 3)}`;

  const group = (index: number): Plan['groups'][number][] => {
    const kind = random.integer(1, 12);
    if (isOnline && kind <= 5)
      return [{ on_error: 'continue', steps: [bash(`curl -sS http://${sources.site}/${mark()}`)] }];
    if (kind <= 3) return [{ steps: [bash(`${slow()} ${count(mark(), file())};${slow()}`)] }];
    if (kind === 4) return [{ steps: [bash(count(mark(), file())), bash(`${slow()} ${count(mark(), file())}`)] }];
    if (kind === 5) {
      const path = `file_${mark()}`;
      return [
        { steps: [{ tool: 'write_file', args: { path, content: 'written\n' } }] },
        {
          steps: [
            { tool: 'read_file', args: { path } },
            { tool: 'glob', args: { pattern: '*' } },
          ],
        },
      ];
    }
    if (kind === 6) return [{ on_error: 'continue', steps: [bash(`${count(mark(), file())}; exit 3`)] }];
    if (kind === 7)
      return [
        { steps: [bash('true'), { tool: 'list_directory', args: {} }, { tool: 'grep', args: { pattern: 'm' } }] },
      ];
    if (kind === 8) {
      return [
        {
          on_error: 'continue',
          steps: [{ tool: 'ask_user', args: { question: `Which? ${mark()}`, options: ['a', 'b'] } }],
        },
      ];
    }
    if (kind <= 10) {
      const name = `bg_${index}`;
      const task_id = { $from: name, pointer: '/task_id' };
      const command = `sleep 0.${random.integer(1, 9)}; ${count(mark(), `background_${index}`)}; echo printed`;
      return [
        { steps: [bash(command, { name, args: { command, run_in_background: true } })] },
        { steps: [bash(`${slow()} ${count(mark(), file())}`)] },
        random.chance(0.7)
          ? { steps: [{ tool: 'task_output', args: { task_id, wait_s: 20 } }] }
          : { on_error: 'continue', steps: [{ tool: 'kill_shell', args: { task_id } }] },
      ];
    }
    if (kind === 11) {
      const name = `sub_${index}`;
      const steps = [{ tool: 'bash', args: { command: `${slow()} ${count(mark(), `merged_${index}`)}` } }];
      return [
        { on_error: 'continue', steps: [{ name, tool: 'task', args: { description: 'count', plan: [{ steps }] } }] },
        {
          on_error: 'continue',
          steps: [{ tool: 'task_merge', args: { task_id: { $from: name, pointer: '/task_id' } } }],
        },
      ];
    }
    return [
      {
        on_error: 'continue',
        steps: [bash(`${count(mark(), file())}`), { tool: 'read_file', args: { path: 'missing' } }],
      },
    ];
  };

  const groups = Array.from({ length: random.integer(2, 6) }, (_, index) => group(index)).flat();
  const holds = random.chance(0.25);
  const after = (probability: number): number | undefined =>
    random.chance(probability) ? random.integer(50, 4000) : undefined;
  const times = {
    cancelAfter: after(0.1),
    pauseAfter: after(0.12),
    messageAfter: after(0.15),
    forkAfter: after(0.12),
    undoAfter: after(0.05),
    killTaskAfter: after(0.1),
  };
  const source = random.pick(['empty', 'directory', 'directory', 'git'] as const);
  return {
    number,
    body: {
      title: `chaos ${number}`,
      plan: { groups },
      priority: random.pick(['high', 'normal', 'normal', 'low'] as const),
      workspace: {
        source:
          source === 'empty'
            ? { type: 'empty' }
            : { type: source, path: source === 'git' ? sources.repository : sources.directory },
      },
      policy: {
        rules: isOnline ? [{ match: {}, action: 'allow' }] : holds ? [{ match: { tool: 'bash' }, action: 'hold' }] : [],
        // 3 s: some approvals expire.
        approval_timeout_s: random.chance(0.2) ? 3 : 600,
      },
      network: isOnline ? { allow: [sources.site] } : undefined,
    },
    ...times,
    publish: source === 'git' && random.chance(0.3),
  };
}

/** The marks of a call in its files. */
export function marksIn(args: unknown): string[] {
  const text = JSON.stringify(args);
  return [...text.matchAll(/printf '%s\\n' (m\d+-\d+) >>/g), ...text.matchAll(/"file_(m\d+-\d+)"/g)].map(
    ([, mark = '']) => mark,
  );
}
