import type { Problem, RunSpec, Verdict } from '@holdpoint/contract';
import * as policy from '@holdpoint/policy';

type Granted = Pick<RunSpec, 'permissions' | 'protected' | 'modes' | 'tools'>;

/** The denial by the permissions, protected paths and modes of a run; undefined when they let the call through. Pure. */
export function judgeGrants(granted: Granted, facts: policy.CallFacts): Verdict | undefined {
  const { permissions, protected: globs, modes, tools } = granted;
  if (tools?.includes(facts.tool) === false) return lacking({ denied: facts.tool, how: toolsHow(tools) }, notItsTool);
  const byMode = policy.deniedByModes(modes, facts);
  if (!byMode.ok) return lacking(byMode, 'the mode of the run');
  const path = globs.length === 0 ? undefined : policy.protectedPath(globs, facts);
  if (path !== undefined) return lacking({ denied: path, how: protectedHow(path) }, 'a protected path');
  const compiled = policy.compilePermissions(permissions);
  const permitted = compiled === undefined ? undefined : policy.permits(compiled, facts);
  return permitted?.ok === false ? lacking(permitted, 'the run lacks the permission') : undefined;
}

const lacking = (
  { denied, how }: Pick<Extract<policy.Permitted, { ok: false }>, 'denied' | 'how'>,
  what: string,
): Verdict => ({ action: 'deny', reason: `${what}: ${denied}`, lacks: { permission: denied, how } });

const notItsTool = 'a tool that this kind of sub-agent does not have';
const toolsHow = (tools: readonly string[]): string =>
  `It has ${tools.join(', ')}. Do it with these, or say in your last message what is left to do.`;

const protectedHow = (path: string): string =>
  `${path} is protected in this run. Submit the run without the glob in \`protected\` that matches it. A fork or a sub-agent cannot remove it.`;

/** The planner reads this error about a denied call. @param when the denial was found */
export function denialOf({ reason, lacks, rule, part }: Verdict, when: 'gate' | 'attempt'): Problem {
  if (lacks !== undefined) return { code: 'EPERMISSION', message: `Not run: ${reason}.`, next: lacks.how };
  const now = when === 'attempt' ? ' by now' : '';
  // A line has many commands: the refused command is named.
  const refused = part?.kind === 'command' ? part.detail : undefined;
  if (rule?.policy.startsWith(policy.toolsetPrefix)) {
    const named = `the rule ${rule.name ?? rule.index + 1} of the toolset ${rule.policy.slice(policy.toolsetPrefix.length)}`;
    const message = `Not run: ${named} denies this call${now} (${reason}).`;
    return {
      code: 'EPERMISSION',
      message,
      next: `${refused === undefined ? '' : `Refused: ${refused}. `}Continue without it: no policy and no decision lets such a call run.`,
    };
  }
  return {
    code: 'EPERMISSION',
    message: `Not run: the policy denies this call${now}${refused === undefined ? '' : `: ${refused}`} (${reason}).`,
    next: 'Continue without this call, or find another way that the policy allows.',
  };
}

/** The outcome of a call, or of a background command, that changed paths forbidden to the run. */
export const forbiddenChange = (paths: readonly string[]): Problem => ({
  code: 'EPERMISSION',
  message: `Taken back: it changed ${listed(paths)}, which this run may not write. Nothing of the call remains.`,
  next: 'Leave these paths as they are; or have the run submitted with `fs:write` for them, or without the glob in `protected` that matches.',
});

const mostListed = 20;
const listed = (paths: readonly string[]): string =>
  paths.length <= mostListed
    ? paths.join(', ')
    : `${paths.slice(0, mostListed).join(', ')} and ${paths.length - mostListed} more`;
