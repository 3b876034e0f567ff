// The library uses tsyringe, and tsyringe needs this import first.
import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

cryptoProvider.set(webcrypto as Crypto);

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
  const authority = await X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: 'CN=Holdpoint run',
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
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

async function makeContext(authority: X509Certificate, signingKey: CryptoKey, host: string): Promise<SecureContext> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.create({
    ...validity(),
    subject: 'CN=Holdpoint',
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      // Python refuses a certificate without this extension.
      await AuthorityKeyIdentifierExtension.create(authority.publicKey),
      new SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? 'dns' : 'ip', value: host }]),
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
