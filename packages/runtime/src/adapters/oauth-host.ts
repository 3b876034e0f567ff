import { defaultTenant } from '@holdpoint/contract';
import { hostOf, McpError } from '@holdpoint/mcp';
import type { OAuthHost } from '@holdpoint/mcp/oauth';
import type { Secrets } from '@holdpoint/secrets';
import { openCallNetwork } from './run-network.ts';

/** Logins at MCP servers: encrypted beside the secrets, with requests through the guard of the network. */
export const openOAuthHost = ({
  secrets,
  allowAddresses,
}: {
  secrets: Secrets;
  allowAddresses: readonly string[];
}): OAuthHost => ({
  logins: secrets.logins,
  secret: (name, at) => secrets.resolve(name, at),
  async send(request, signal) {
    const rule = hostOf(request);
    await using way = await openCallNetwork(
      // These are requests of Holdpoint, not of a run: no run permits them, and no secret of a run is sent with them.
      { network: { allow: [] }, reaches: [rule], scope: { tenant: defaultTenant, secrets: [] }, onConnection() {} },
      { allowAddresses, secrets },
    );
    if (way === undefined) throw noPublicAddress(rule);
    return await way.network.fetch(request, signal);
  },
  now: Date.now,
});

const noPublicAddress = (host: string): McpError =>
  new McpError(
    'EMCPAUTH',
    `${host} is no public address, so no login is asked for there.`,
    'An operator names the address in HOLDPOINT_ALLOW_ADDRESSES, when it is the right one.',
  );
