import type { Command } from 'commander';
import type { ApiOptions } from '../options.ts';

export interface DecisionOptions extends ApiOptions {
  digest?: string;
}

export function withDigest(command: Command): Command {
  return command.option(
    '--digest <sha256:…>',
    'decide only if the call still has this digest (default: confirm on the terminal)',
  );
}
