/** What the doctor found about one thing. */
export interface Finding {
  name: string;
  level: 'ok' | 'warn' | 'fail';
  text: string;
  /** What to do about it. */
  next?: string;
}
