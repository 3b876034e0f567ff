import type { PolicyRule } from '@holdpoint/contract';
import { listOf } from '../match/command.ts';
import type { PolicyProblem } from './problem.ts';

const onlyForHold = [
  ...(['decisions', 'deciders', 'expires_s', 'on_expiry', 'preview', 'confirm', 'remind_after_s', 'escalate'] as const),
];

/** Mutually exclusive fields of a rule. */
export function contradictions({ match, action, ...terms }: PolicyRule): PolicyProblem[] {
  const { effect, paths, command, hosts } = match;
  const effects = effect === undefined ? undefined : listOf(effect);
  const found: PolicyProblem[] = [];
  const add = (pointer: string, detail: string) => found.push({ pointer, detail });
  const onlyReads = effects?.every((one) => one === 'read') === true;
  if (onlyReads && command !== undefined) {
    add(
      '/match/command',
      'no command has the effect read, so this rule never matches. Leave effect out, or name the class safe.',
    );
  }
  const accesses =
    paths !== undefined && 'globs' in paths && paths.access !== undefined ? listOf(paths.access) : undefined;
  if (onlyReads && accesses?.every((access) => access !== 'read')) {
    add(
      '/match/paths/access',
      'a call that writes or deletes does not have the effect read, so this rule never matches.',
    );
  }
  if (hosts !== undefined && paths !== undefined) {
    add(
      '/match/hosts',
      'a part of a call is a path or a host, so this rule never matches. Write one rule for paths and one for hosts.',
    );
  }
  if (hosts !== undefined && command !== undefined && action === 'allow') {
    add(
      '/match/hosts',
      'a command is never allowed by its hosts, so this rule never matches. Write one rule for the command and one for hosts.',
    );
  }
  if (command !== undefined && Object.keys(command).length === 0) {
    add('/match/command', 'names nothing: give class, program, argv or regex.');
  }
  if (match.submitted_by !== undefined && Object.keys(match.submitted_by).length === 0) {
    add('/match/submitted_by', 'names nothing: give name or kind.');
  }
  if (command?.class !== undefined && listOf(command.class).every((one) => one === 'unparsed')) {
    const { program, argv, regex } = command;
    if (action === 'allow') add('/match/command/class', 'what cannot be parsed is never allowed by its class.');
    if (program !== undefined || argv !== undefined || regex !== undefined) {
      add('/match/command', 'a command line that cannot be parsed has no words.');
    }
  }
  for (const field of onlyForHold) {
    if (terms[field] !== undefined && action !== 'hold') {
      add(`/${field}`, `says how a held call is decided, and this rule does not hold: its action is ${action}.`);
    }
  }
  if (terms.confirm === 'passkey' && terms.on_expiry === 'allow') {
    add('/on_expiry', 'lets the call run without a passkey, and confirm asks for one. Leave one of the two out.');
  }
  const { remind_after_s: remind, expires_s: expires, escalate } = terms;
  if (remind !== undefined && expires !== undefined && remind >= expires) {
    add('/remind_after_s', `the approval has expired by then: expires_s is ${expires}.`);
  }
  if (escalate !== undefined && expires !== undefined && escalate.after_s >= expires) {
    add('/escalate/after_s', `the approval has expired by then: expires_s is ${expires}.`);
  }
  return found;
}
