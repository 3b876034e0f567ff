import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError, type RemoteFiles } from '../runtime-config.ts';

/** HOLDPOINT_GIT_CA and HOLDPOINT_GIT_KNOWN_HOSTS. */
export const remoteFilesFrom = (env: Readonly<Record<string, string | undefined>>): RemoteFiles => ({
  authorities: env.HOLDPOINT_GIT_CA || undefined,
  knownHosts: env.HOLDPOINT_GIT_KNOWN_HOSTS || undefined,
});

/** @throws ConfigError for an unreadable file, or for authorities without a certificate */
export function readRemoteFiles({ authorities, knownHosts }: RemoteFiles): {
  authorities: string[];
  knownHosts: string;
} {
  const text = authorities === undefined ? '' : read('HOLDPOINT_GIT_CA', authorities);
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (authorities !== undefined && !(certificates.length > 0 && certificates.every(isCertificate))) {
    throw new ConfigError(`HOLDPOINT_GIT_CA: ${authorities} has no certificate in PEM`);
  }
  return {
    authorities: certificates,
    knownHosts: knownHosts === undefined ? '' : read('HOLDPOINT_GIT_KNOWN_HOSTS', knownHosts),
  };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

function read(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${name}: ${path} cannot be read`, { cause });
  }
}
