import type { CertificateAuthority } from './certificate-authority.ts';

/** Makes the certificates of a call. A lazy import: few runs need the library, and its load takes 200 ms. */
export async function createAuthority(): Promise<CertificateAuthority> {
  const { createCertificateAuthority } = await import('./certificate-authority.ts');
  return createCertificateAuthority();
}
