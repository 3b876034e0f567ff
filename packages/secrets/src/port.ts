/** A secret without its value. */
export interface SecretInfo {
  name: string;
  source: 'environment' | 'file' | 'store';
  /** Counts the values set in the store under this name. */
  version: number | null;
  /** RFC 3339 */
  updated_at: string | null;
}

/** A place with secrets. */
export interface SecretProvider {
  /** Tenants with a secret in this place. */
  tenants(): readonly string[];
  list(tenant: string): readonly SecretInfo[];
  /**
   * Reads the value now.
   * @returns undefined when this place has no secret of this name. @throws SecretError
   */
  resolve(name: string, at: { tenant: string }): string | undefined;
  /** Changes whenever a value may have changed. Cheap. */
  stamp(): string;
}
