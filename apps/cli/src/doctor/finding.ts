export interface Finding {
  name: string;
  level: 'ok' | 'warn' | 'fail';
  text: string;
  /** Details for programs. */
  data?: Readonly<Record<string, unknown>>;
  /** The next step. */
  next?: string;
}
