/** What the doctor found about one thing. */
export interface Finding {
  name: string;
  level: 'ok' | 'warn' | 'fail';
  text: string;
  /** The same for programs, when there is more to it. */
  data?: Readonly<Record<string, unknown>>;
  /** What to do about it. */
  next?: string;
}
