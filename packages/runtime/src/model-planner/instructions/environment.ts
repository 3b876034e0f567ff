import * as contract from '@holdpoint/contract';
import type { PlannerInput } from '@holdpoint/engine/worker';

interface Environment {
  /** As data, for the record. */
  facts: Record<string, contract.Json>;
  /** In words, for the model. */
  text: string;
}

/** Facts for a model about its working environment. A deterministic run gets the same facts each time. */
export function environmentOf(
  { spec, scope, unattended }: Pick<PlannerInput, 'spec' | 'scope' | 'unattended'>,
  {
    toolchains = [],
    absent,
    now,
  }: {
    toolchains?: readonly contract.Toolchain[] | undefined;
    absent?: contract.AbsentContent | undefined;
    now: number;
  },
): Environment {
  const { modes, network, limits, validators, prepare, policy, operator = [] } = spec;
  const date = new Date(modes.deterministic ? contract.fixedTime : now).toISOString().slice(0, 10);
  const bound = { ...boundLimits(limits) };
  const rules = [...operator.flatMap((one) => one.rules), ...policy.rules];
  const held = rules.filter(({ action }) => action === 'hold').map(ruleText);
  const denied = rules.filter(({ action }) => action === 'deny').map(ruleText);
  const folders = contract.sourceFoldersOf(spec.source);
  const on = Object.entries(modes).flatMap(([name, isOn]) => (isOn ? [name] : []));
  const facts: Record<string, contract.Json> = {
    date,
    platform: 'linux',
    tools: modes.deterministic ? [] : toolchains.map(toolText),
    network: [...network.allow],
    limits: bound,
    modes: on,
    validators: validators.map(({ command }) => command),
    prepared: prepare?.commands.map(({ command }) => command) ?? [],
    ...(folders.length > 0 && { source_folders: [...folders] }),
    ...(absent && { absent }),
    secrets: scope.secrets.map(({ name }) => name),
    held,
    denied,
  };
  const lines = [
    `Date: ${date}. Platform: Linux, in a sandbox. Commands begin in the root of the workspace, and paths count from there.`,
    listed('Commands find', facts.tools as string[]),
    network.allow.length === 0 ? 'Network: none.' : `Network: ${network.allow.join(', ')} and no other host.`,
    listed(
      'Limits',
      Object.entries(bound).map(([name, value]) => `${name} ${value}`),
    ),
    listed('Modes', on),
    listed('Run before you began, and succeeded', facts.prepared as string[]),
    listed('Folders of the source that are read-only here and no part of your changes', folders),
    listed(
      'Submodules, whose files are not here: empty folders',
      (absent?.submodules ?? []).map((path) => JSON.stringify(path)),
    ),
    lfsText(absent),
    listed('Must pass before your changes are published', facts.validators as string[]),
    listed('A person has to approve calls that match', held),
    listed('Never run, so find another way', denied),
    unattended ? 'No person answers questions: you work for another agent, which reads your last message.' : '',
  ];
  return { facts, text: lines.filter((line) => line !== '').join('\n') };
}

/** The paths come from the repository, so they are quoted. */
function lfsText(absent: contract.AbsentContent | undefined): string {
  const { files, paths } = absent?.lfs_pointers ?? { files: 0, paths: [] };
  return listed(
    `Files under git-lfs (${files}) that are here as pointers, without their content`,
    paths.map((path) => JSON.stringify(path)),
  );
}

const toolText = ({ language, version, wanted, by, fits }: contract.Toolchain): string =>
  [
    version === null ? `no ${language}` : `${language} ${version}`,
    wanted === undefined || fits ? '' : `(${by ?? 'the project'} asks for ${wanted})`,
  ]
    .filter(Boolean)
    .join(' ');

function boundLimits(limits: PlannerInput['spec']['limits']): Record<string, number> {
  const { max_turns, max_steps, wall_s, max_tokens, max_cost_usd, step_wall_s, max_tasks } = limits;
  const all = { max_turns, max_steps, wall_s, max_tokens, max_cost_usd, step_wall_s, max_tasks };
  return Object.fromEntries(Object.entries(all).filter((one): one is [string, number] => one[1] !== undefined));
}

const mostListed = 30;
const longestItem = 300;

function listed(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const shown = items.slice(0, mostListed).map((item) => item.slice(0, longestItem).toWellFormed());
  const more = items.length > mostListed ? [`and ${items.length - mostListed} more`] : [];
  return `${title}: ${[...shown, ...more].join('; ')}.`;
}

function ruleText({ name, reason, match }: contract.PolicyRule): string {
  const what = Object.keys(match).length === 0 ? 'every call' : JSON.stringify(match);
  return [what, reason ?? name].filter(Boolean).join(' — ');
}
