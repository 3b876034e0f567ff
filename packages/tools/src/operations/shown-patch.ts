/** UTF-8 bytes of the diff that a person sees before deciding. */
export const maxPatch = 1024 * 1024;

/** A patch that says so where it was cut. */
export function shownPatch({ diff, diff_truncated }: { diff: string; diff_truncated: boolean }): string {
  return diff_truncated ? `${diff}\\ The change is larger than ${maxPatch} bytes: its rest is not shown\n` : diff;
}
