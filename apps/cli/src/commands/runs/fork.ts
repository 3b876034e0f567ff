import type { ForkRun } from '@holdpoint/contract/wire';
import type { Command } from 'commander';
import { stepReference } from '../../find-named.ts';
import { type PlanFile, placeInPlan, readPlan } from '../../plan/plan-file.ts';
import { givenPolicy } from '../../policy/catalog-tools.ts';
import { type ApiOptions, apiCommand, label, type Shell, several } from '../../shell/index.ts';
import { followSubmitted, type SubmitOptions, withSubmitOptions } from '../run/run.ts';

/** Permissions and modes on the command line. */
interface GrantOptions {
  permission?: string[];
  protect?: string[];
  readOnly?: true;
  dryRun?: true;
  deterministic?: true;
}

interface ForkOptions extends ApiOptions, SubmitOptions, GrantOptions {
  fromStep: string;
  plan?: string;
  model?: string;
  validate?: string[];
  policy?: string;
  label?: Record<string, string>;
  title?: string;
}

export function forkRunCommand(shell: Shell) {
  const command = apiCommand('fork', 'start a new run after a step of this one, with the files as they were then')
    .argument('<run>', 'id of the run, which does not change')
    .requiredOption('--from-step <step>', 'last step to keep: its number in `runs steps`, or its id; 0 keeps none')
    .option(
      '--plan <file>',
      'another plan for a scripted run; its kept groups must be unchanged; - reads standard input',
    )
    .option('--model <provider/model>', 'another model for a prompt')
    .option('--policy <file|name>', 'another policy: a file, or the name of a stored one (default: unchanged)')
    .option(
      '--validate <command>',
      'validator: a command that must pass before a publish; may be repeated (default: unchanged)',
      several,
    )
    .option('--label <name=value>', 'label of the new run; may be repeated (default: unchanged)', label)
    .option('--title <text>', 'title in lists (default: unchanged)');
  return withSubmitOptions(withGrantOptions(command)).action(async (runId: string, options: ForkOptions) => {
    const { title, model, label: labels, validate, idempotencyKey } = options;
    const plan = options.plan === undefined ? undefined : await readPlan(shell, options.plan);
    const { toolset, network, ...file }: Partial<PlanFile> = plan?.file ?? {};
    if (toolset !== undefined || network !== undefined) {
      shell.say('A fork keeps its toolset and network; those of the plan are ignored.');
    }
    const client = await shell.connect(options.url);
    const validators = validate?.map((one) => ({ command: one }));
    const body: ForkRun = {
      ...file,
      title: title ?? file.title,
      model,
      policy: options.policy === undefined ? file.policy : await givenPolicy(options.policy, shell.config),
      labels: labels ?? file.labels,
      ...grantsOf(options, file),
      validators: validators ?? file.validators,
      from_step: await stepReference(client, runId, options.fromStep),
    };
    const forked = await client.forkRun(runId, body, { idempotencyKey }).catch((error: unknown) => {
      throw placeInPlan(error, plan, Object.keys(file));
    });
    await followSubmitted({ shell, client }, forked, options);
  });
}

type Grants = Pick<ForkRun, 'permissions' | 'protected' | 'modes'>;

const withGrantOptions = (command: Command): Command =>
  command
    .option(
      '--permission <permission>',
      'fs:read[:GLOB], fs:write[:GLOB], exec:PROGRAM, net:HOST or graph:read; may be repeated (default: no limit)',
      several,
    )
    .option('--protect <glob>', 'paths that are never written or deleted; may be repeated', several)
    .option('--read-only', 'deny calls that write; commands see the files read-only')
    .option('--dry-run', 'publish nothing and make no external effect: the diff says what would change')
    .option('--deterministic', 'fixed clock, seeded randomness, no network');

/** The command line overrides the file; modes of both add up. */
function grantsOf(options: GrantOptions, file: Grants): Grants {
  const { permission, protect, readOnly, dryRun, deterministic } = options;
  const isGiven = readOnly ?? dryRun ?? deterministic;
  return {
    permissions: permission ?? file.permissions,
    protected: protect ?? file.protected,
    modes: isGiven
      ? {
          read_only: readOnly ?? file.modes?.read_only,
          dry_run: dryRun ?? file.modes?.dry_run,
          deterministic: deterministic ?? file.modes?.deterministic,
        }
      : file.modes,
  };
}
