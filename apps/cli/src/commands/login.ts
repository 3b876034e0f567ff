import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { findConnection } from '../connection.ts';
import { codeText, oneLine } from '../output/index.ts';
import { forgetLogin, savedLogin, saveLogin } from '../saved-logins.ts';
import { type ApiOptions, apiCommand, CliError, type Shell } from '../shell/index.ts';

/** Open routes need no key; a client sends one all the same. */
const noKey = 'signing-in';

interface LoginOptions extends ApiOptions {
  tenant?: string;
}

export const loginCommand = (shell: Shell): Command =>
  apiCommand('login', 'sign in with the identity provider, in any browser; later commands are yours')
    .option('--tenant <name>', 'sign in to this tenant (default: the first that your groups open)')
    .action(async ({ url, json, tenant }: LoginOptions) => {
      if (shell.config.key !== undefined) {
        const next = 'Unset HOLDPOINT_KEY: commands would use it in the place of the login.';
        throw new CliError('usage', 'HOLDPOINT_KEY is set.', { next });
      }
      const client = await shell.connect(url, noKey);
      const asked = await client.startDeviceSignIn();
      const page = asked.verification_uri_complete ?? asked.verification_uri;
      shell.say(`Open ${codeText(page)}`);
      shell.say(
        `and check that it shows the code ${codeText(asked.user_code)}. Enter no code that another person sent you.`,
      );
      const until = Date.now() + asked.expires_in * 1000;
      let wait = asked.interval * 1000;
      while (Date.now() < until) {
        await delay(wait);
        const { token, name, tenant: own } = await client.pollDeviceSignIn({ device: asked.device, tenant });
        // The provider asks for more time with an answer that reads the same.
        wait = Math.min(wait + 250, 10_000);
        if (token === null) continue;
        const file = saveLogin(shell.config, addressOf(shell, url), { token, name });
        if (json) return shell.printJson({ name, tenant: own, file });
        shell.print(`Signed in as ${oneLine(name ?? '', 100)} of the tenant ${own}`);
        return undefined;
      }
      throw new CliError('timeout', 'No sign-in was completed in time.', { next: 'Run holdpoint login again.' });
    });

export const logoutCommand = (shell: Shell): Command =>
  apiCommand('logout', 'end the sign-in of holdpoint login').action(async ({ url, json }: ApiOptions) => {
    const address = addressOf(shell, url);
    const token = savedLogin(shell.config, address);
    const client = token === undefined ? undefined : await shell.connect(url, token);
    const sessions = await client?.listSessions().catch(() => []);
    const own = sessions?.find(({ current }) => current);
    if (own !== undefined) await client?.endSession(own.id);
    const ended = forgetLogin(shell.config, address);
    if (json) return shell.printJson({ ended });
    shell.print(ended ? `Signed out of ${address}` : `There is no login for ${address}`);
  });

const addressOf = ({ config }: Shell, url: string | undefined): string =>
  findConnection({ ...config, key: noKey }, url).url;
