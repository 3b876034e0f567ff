// The library uses tsyringe, and tsyringe needs this import first.
import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto as Crypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const lifetimeMs = 30 * 24 * 3_600_000;
/** Clocks differ. */
const earlierMs = 24 * 3_600_000;

/** Certificates of a run for the hosts with injected headers. Only the run trusts them, and the keys are nowhere but in this memory. */
export interface CertificateAuthority {
  /** PEM: the certificates trusted by this process, and the authority's own. */
  bundle: string;
  /** Key and certificate with which a server is this host for the run. */
  contextFor(host: string): Promise<SecureContext>;
}

export async function createCertificateAuthority(): Promise<CertificateAuthority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: 'CN=Holdpoint run',
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const trusted = new Set([...getCACertificates('default'), ...getCACertificates('system'), authority.toString('pem')]);
  const contexts = new Map<string, Promise<SecureContext>>();
  return {
    bundle: [...trusted].map((pem) => `${pem.trim()}\n`).join(''),
    contextFor(host) {
      const context = contexts.get(host) ?? makeContext(authority, keys.privateKey, host);
      contexts.set(host, context);
      return context;
    },
  };
}

async function makeContext(
  authority: x509.X509Certificate,
  signingKey: CryptoKey,
  host: string,
): Promise<SecureContext> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(),
    subject: 'CN=Holdpoint',
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      // Python refuses a certificate without this extension.
      await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey),
      new x509.SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? 'dns' : 'ip', value: host }]),
    ],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const key = `-----BEGIN PRIVATE KEY-----\n${der.replaceAll(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
  return createSecureContext({ key, cert: certificate.toString('pem'), minVersion: 'TLSv1.2' });
}

const validity = () => ({
  serialNumber: randomBytes(16).toString('hex').replace(/^./, '1'),
  notBefore: new Date(Date.now() - earlierMs),
  notAfter: new Date(Date.now() + lifetimeMs),
});
