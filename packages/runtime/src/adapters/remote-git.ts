import { randomBytes } from 'node:crypto';
import type { Connection } from '@holdpoint/contract';
import { createAuthority, createGuard, EgressError, EgressProxy, type InjectedHeaders } from '@holdpoint/egress';
import type { Sandbox } from '@holdpoint/sandbox';
import type { Secrets } from '@holdpoint/secrets';
import { type RemoteAccess, type RemoteGit, WorkspaceError } from '@holdpoint/workspace';
import type { Logger } from 'pino';

/** Input of ssh in addition to its command line. */
interface SshFiles {
  /** The private key, as the standard input of the script. */
  key: string;
  env: Record<string, string>;
}

/**
 * @throws WorkspaceError when the key of the host is not known (a key is never learned from its host), or when the source names no private
 * key
 */
function sshFiles(
  deps: { secrets: Pick<Secrets, 'resolve'>; knownHosts: string },
  { remote, credentials, known_hosts: given, tenant }: RemoteAccess,
): SshFiles {
  const knownHosts = [given, deps.knownHosts].filter(Boolean).join('\n');
  if (knownHosts.trim() === '') {
    throw new WorkspaceError(
      'EREMOTEHOSTKEY',
      `No key of ${remote.host} is known, so another host could answer in its place.`,
    );
  }
  if (credentials === undefined) {
    throw new WorkspaceError('EREMOTEAUTH', `${remote.url} needs a private key, and the source names no secret.`);
  }
  const key = deps.secrets.resolve(credentials.secret, { tenant });
  return { key: `${key}\n`, env: { HOLDPOINT_KNOWN_HOSTS: knownHosts } };
}

/**
 * Runs git with ssh. ssh reads no configuration, and knows a single private key and the keys of a single host. The connection goes through
 * the proxy, by CONNECT. /tmp is memory of the sandbox.
 */
const sshScript = `
set -eu
umask 077
d=$(mktemp -d)
cat > "$d/key"
printf '%s\\n' "$HOLDPOINT_KNOWN_HOSTS" > "$d/known"
cat > "$d/connect" <<'END'
set -eu
address=\${HTTPS_PROXY##*@}
user=\${HTTPS_PROXY#*://}
token=$(printf %s "\${user%@*}" | base64 -w 0)
exec 3<>"/dev/tcp/\${address%:*}/\${address##*:}"
printf 'CONNECT %s:%s HTTP/1.1\\r\\nHost: %s\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n' "$1" "$2" "$1" "$token" >&3
read -r _ status text <&3
while read -r line <&3; do [ "$line" = $'\\r' ] && break; done
[ "$status" = 200 ] || { echo "the proxy refuses: $status $text" >&2; exit 1; }
cat <&3 &
cat >&3
kill $! 2> /dev/null || true
END
export GIT_SSH_VARIANT=ssh
export GIT_SSH_COMMAND="ssh -F none -i $d/key -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes -o StrictHostKeyChecking=yes \\
 -o UserKnownHostsFile=$d/known -o GlobalKnownHostsFile=/dev/null -o PreferredAuthentications=publickey -o ClearAllForwardings=yes \\
 -o PermitLocalCommand=no -o UpdateHostKeys=no -o ServerAliveInterval=30 -o 'ProxyCommand=/bin/bash $d/connect %h %p'"
exec git "$@" < /dev/null
`;

interface Deps {
  sandbox: Pick<Sandbox, 'run'>;
  secrets: Pick<Secrets, 'resolve' | 'redactor'>;
  allowAddresses: readonly string[];
  /** PEM certificates trusted for remotes, in addition to public authorities. */
  authorities: readonly string[];
  /** Lines of a known_hosts file. */
  knownHosts: string;
  /** The most bytes of one call, on the way and on disk. */
  maxBytes: number;
  logger: Pick<Logger, 'info'>;
}

/** Enough for a large repository over a slow line. */
const wallMs = 3_600_000;
/** A host may be silent for this long while computing a pack. */
const idleMs = 300_000;
const mostOutput = 64 * 1024 * 1024;

/**
 * Runs git in a sandbox whose network reaches the remote's host alone. A proxy outside the sandbox adds the token of an https remote to the
 * requests. A private key is in the memory of the sandbox, and nowhere else.
 */
export function openRemoteGit(deps: Deps): RemoteGit {
  return {
    async run({ runId, access, folder, owner, args, onProgress, signal = new AbortController().signal }) {
      const redactor = deps.secrets.redactor(access.tenant);
      const ssh = access.remote.transport === 'ssh' ? sshFiles(deps, access) : undefined;
      let refused: string | undefined;
      let isTooLarge = false;
      const onConnection = (connection: Connection) => {
        deps.logger.info({ run_id: runId, connection }, 'a connection to a remote ended');
        refused ??= reasonOf(connection);
        isTooLarge ||= connection.reason === 'ETOOLARGE';
      };
      await using proxy = await openProxy(deps, access, onConnection);
      const stdout: string[] = [];
      let stderr = '';
      let line = '';
      const result = await deps.sandbox.run({
        workspace: { id: runId, path: folder, ...owner },
        argv: ['/bin/bash', '-c', script(ssh), 'holdpoint', ...settings, '--git-dir=.', ...args],
        env: { ...environment(access), ...ssh?.env },
        stdin: ssh?.key ?? '',
        egress: proxy,
        filter: () => redactor.stream(),
        output: {
          write(stream, chunk) {
            const text = chunk.toString('utf8');
            if (stream === 'stdout') return void stdout.push(text);
            const lines = `${line}${text}`.split(/[\r\n]/);
            line = (lines.pop() ?? '').slice(-4096);
            for (const one of lines) onProgress?.(one);
            stderr = (stderr + text).slice(-mostStderr);
          },
        },
        limits: {
          ...{ wall_ms: wallMs, cpu_seconds: 3600, output_bytes: mostOutput },
          ...{ workspace_bytes: deps.maxBytes, file_bytes: deps.maxBytes },
        },
        signal,
      });
      signal.throwIfAborted();
      const { end } = result;
      if (end.status === 'quota' || isTooLarge) {
        const limit = end.status === 'quota' ? `${end.limit} (${end.quota})` : `${deps.maxBytes} bytes`;
        throw new WorkspaceError('EREMOTETOOLARGE', `${access.remote.url} passes the limit of ${limit}.`);
      }
      if (end.status === 'killed' || end.status === 'timed_out') {
        throw new WorkspaceError('EREMOTEUNREACHABLE', `git did not end in time with ${access.remote.url}.`);
      }
      return { ok: end.exit_code === 0, stdout: stdout.join(''), stderr: redactor.text(stderr), refused };
    },
  };
}

const mostStderr = 64 * 1024;

/** git depends on nothing of this machine: no configuration, helper, hook or alias, one transport, no redirect away from https. */
const settings = [
  ['core.hooksPath=/dev/null', 'credential.helper=', 'core.askPass=', 'gc.auto=0', 'maintenance.auto=false'],
  ['protocol.version=2', 'http.followRedirects=initial', 'http.version=HTTP/1.1', 'transfer.bundleURI=false'],
  [
    'fetch.unpackLimit=1',
    'transfer.unpackLimit=1',
    'fetch.fsckObjects=false',
    'submodule.recurse=false',
    'pack.threads=2',
  ],
]
  .flat()
  .flatMap((setting) => ['-c', setting]);

const environment = ({ remote }: RemoteAccess): Record<string, string> => ({
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_COUNT: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: remote.transport,
  GIT_PROTOCOL_FROM_USER: '0',
});

const script = (ssh: SshFiles | undefined): string => (ssh === undefined ? 'exec git "$@"' : sshScript);

async function openProxy(
  deps: Deps,
  access: RemoteAccess,
  onConnection: (connection: Connection) => void,
): Promise<EgressProxy> {
  const { remote } = access;
  const { allowAddresses, authorities } = deps;
  const host = remote.host.includes(':') ? `[${remote.host}]` : remote.host;
  const limits = { bytes: deps.maxBytes, idle_ms: idleMs, total_ms: wallMs };
  const token = randomBytes(32).toString('base64url');
  try {
    const guard = createGuard({ rules: [`${host}:${remote.port}`], allowAddresses });
    const open = { guard, token, onConnection, limits };
    if (remote.transport === 'ssh') return new EgressProxy(open);
    const injected = { headers: headersFor(deps, access), authority: await createAuthority() };
    return new EgressProxy({ ...open, injected, authorities });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw new WorkspaceError('EREMOTEFORBIDDEN', `${remote.url}: ${error.message}`, { cause: error });
  }
}

/** The proxy reads the requests even without a token, because the proxy has the certificates of the operator. */
function headersFor(deps: Deps, { remote, credentials, tenant }: RemoteAccess): InjectedHeaders {
  const value = credentials && deps.secrets.resolve(credentials.secret, { tenant });
  const basic = Buffer.from(`${credentials?.username ?? 'x-access-token'}:${value}`).toString('base64');
  const isRemote = ({ host, port }: { host: string; port: number }) => host === remote.host && port === remote.port;
  return {
    isEmpty: false,
    intercepts: isRemote,
    for: (target, transport) =>
      value !== undefined && transport === 'https' && isRemote(target) ? [['authorization', `Basic ${basic}`]] : [],
  };
}

/** Why the guard refused a connection; undefined when the connection ended for another reason. */
function reasonOf({ host, port, reason }: Connection): string | undefined {
  const where = `${host}:${port}`;
  switch (reason) {
    case 'EHOSTNOTALLOWED':
      return `it leads to ${where}, which is another host`;
    case 'EADDRESSREFUSED':
      return `${where} is not at a public address`;
    default:
      return undefined;
  }
}
