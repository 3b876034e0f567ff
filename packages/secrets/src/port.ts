/** A secret without its value. */
export interface SecretInfo {
  name: string;
  source: 'environment' | 'file' | 'store';
  /** Counts the values that the store was given under this name. */
  version: number | null;
  /** RFC 3339 */
  updated_at: string | null;
}

/** A place that has secrets. */
export interface SecretProvider {
  /** Tenants that have a secret here. */
  tenants(): readonly string[];
  list(tenant: string): readonly SecretInfo[];
  /**
   * Reads the value now.
   * @returns undefined when there is no such secret here. @throws SecretError
   */
  resolve(name: string, at: { tenant: string }): string | undefined;
  /** Differs from the last one when a value may have changed. Cheap. */
  stamp(): string;
}
