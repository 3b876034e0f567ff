import type { Secrets } from '@holdpoint/secrets';
import { type RemoteAccess, WorkspaceError } from '@holdpoint/workspace';

/** Input of ssh in addition to its command line. */
export interface SshFiles {
  /** The private key, as the standard input of the script. */
  key: string;
  env: Record<string, string>;
}

/**
 * @throws WorkspaceError when the key of the host is not known (a key is never learned from its host), or when the source names no private
 * key
 */
export function sshFiles(
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
export const sshScript = `
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
