import { type PolicyRule, readsOnly } from '@holdpoint/contract';
import type { RuledRun } from '../../toolset.ts';
import { settingsOf } from './settings.ts';

/**
 * The shell parser's reading of a line is judged: each simple command must be on the list. A program with arguments is on the list by its
 * name: a run with `sh` on the list trusts all arguments of `sh`.
 */
export function sageRules(
  { settings, modes }: RuledRun,
  { hasOutsideGraph }: { hasOutsideGraph: boolean },
): readonly PolicyRule[] {
  const { bash_allowlist: listed, deterministic_commands: repeatable } = settingsOf(settings);
  const isFixed = modes?.deterministic === true;
  const programs = isFixed ? listed.filter((one) => repeatable.includes(one)) : listed;
  const others = programs.filter((one) => one !== 'env');
  const allowed = [
    ...others.map((one) => allow(one, { args: { '/command': one, '/args': { regex: '^\\[' } } })),
    ...others.map((one) => allow(one, { command: { argv: [one, '**'], class: ordinary } })),
    ...(programs.includes('env') ? [allow('env', { command: { argv: ['env'], class: ordinary } })] : []),
  ];
  const notTheSame = isFixed && hasOutsideGraph ? [notFixed] : [];
  const refusals = [isFixed ? notRepeatable(programs) : notListed(programs), ...notTheSame];
  return [...(modes && readsOnly(modes) ? [notReading] : []), ...allowed, ...refusals];
}

const allow = (program: string, match: PolicyRule['match']): PolicyRule => ({
  name: `allows-${program}`.slice(0, 100),
  match: { tool: 'Bash', ...match },
  action: 'allow',
});
/** With a class, a rule also fits a command with its output in a file: the file needs its own permission. */
const ordinary = ['safe' as const, 'caution' as const];

/** The engine lets a command of a read-only run look at the workspace. This contract forbids such a look. */
const notReading: PolicyRule = {
  name: 'read-only',
  match: { tool: 'Bash' },
  action: 'deny',
  reason: 'the run is read-only, and a command may change something. Submit it without modes.read_only',
};

const notListed = (programs: readonly string[]): PolicyRule => ({
  name: 'bash-allowlist',
  match: { tool: 'Bash' },
  action: 'deny',
  reason: cut(
    `a command is not on the list of the run: ${listOf(programs)}. Only the submitter of a run adds to it, with settings.bash_allowlist`,
  ),
});

const notRepeatable = (programs: readonly string[]): PolicyRule => ({
  name: 'deterministic-commands',
  match: { tool: 'Bash' },
  action: 'deny',
  reason: cut(
    `a deterministic run starts only commands whose output depends on their input alone: ${listOf(programs)}. Only the submitter of a run adds to them, with settings.deterministic_commands`,
  ),
});

const notFixed: PolicyRule = {
  name: 'deterministic-graph',
  match: { tool: 'GraphQuery' },
  action: 'deny',
  reason: 'the answer of a graph outside of the run may change, and the run is deterministic',
};

const listOf = (programs: readonly string[]): string => (programs.length === 0 ? 'none' : programs.join(', '));
/** As long as a reason may be. */
const cut = (text: string): string => (text.length > 500 ? `${text.slice(0, 499)}…` : text);
