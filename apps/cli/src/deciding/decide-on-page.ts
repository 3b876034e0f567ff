import { isIP } from 'node:net';
import { ApiError } from '@holdpoint/client';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { findConnection } from '../connection.ts';
import { CliError, commandLine, type Shell } from '../shell/index.ts';

export interface PageDeps {
  shell: Shell;
  url?: string | undefined;
}

/** A terminal has no passkeys: a decision that needs one is made in the console. */
export const needsPasskey = ({ status, confirm }: Approval, decision: Decide['decision']): boolean =>
  status === 'pending' && confirm === 'passkey' && decision !== 'reject';

/** Names the page of the approval. A page has passkeys only at a name, so an address of this machine becomes its name. */
export function decideOnPage({ shell, url }: PageDeps, { id, kind }: Pick<Approval, 'id' | 'kind'>): CliError {
  const address = new URL(findConnection(shell.config, url).url);
  if (isIP(address.hostname.replace(/^\[|\]$/g, '')) !== 0) address.hostname = 'localhost';
  const page = new URL(`/approvals/${id}`, address);
  const link = commandLine('open', id, '--url', address.origin);
  const isPublish = kind === 'publish' || kind === 'conflict';
  const held = isPublish ? `policy that holds the publish of ${id}` : `rule that holds the call of ${id}`;
  return new CliError('passkey_required', `The ${held} asks for a passkey.`, {
    next: `Decide in a browser, at ${page}; to log in there: ${link}. Nothing was decided.`,
  });
}

/** The server's refusal, with the address of the page. An edit can need a passkey where the call as it was asked needs none. */
export const orOnPage =
  (deps: PageDeps, approval: Pick<Approval, 'id' | 'kind'>) =>
  (error: unknown): never => {
    throw error instanceof ApiError && error.code === 'passkey_required' ? decideOnPage(deps, approval) : error;
  };
