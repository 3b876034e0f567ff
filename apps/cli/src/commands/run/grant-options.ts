import type { CreateRun } from '@holdpoint/contract/wire';
import type { Command } from 'commander';
import { several } from '../../shell/index.ts';

/** Permissions and modes on the command line. */
export interface GrantOptions {
  permission?: string[];
  protect?: string[];
  readOnly?: true;
  dryRun?: true;
  deterministic?: true;
}

type Grants = Pick<CreateRun, 'permissions' | 'protected' | 'modes'>;

export const withGrantOptions = (command: Command): Command =>
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
export function grantsOf(options: GrantOptions, file: Grants): Grants {
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

/** The fields of a request from the command line. */
export const overriddenGrants = ({ permission, protect }: GrantOptions) => ({
  permissions: permission,
  protected: protect,
});
