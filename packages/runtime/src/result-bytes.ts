/** Most bytes of a result in a request to a model. A longer result shows its ends, and a file has the whole. */
export interface ResultBytes {
  usual: number;
  /** By the name of the tool. */
  byTool: Readonly<Record<string, number>>;
}

const usualResultBytes = 16 * 1024;
const least = 1024;
const most = 128 * 1024;

/** HOLDPOINT_RESULT_BYTES: a number, and numbers of single tools: `16384,bash=32768`. @throws for any other text */
export function resultBytesFrom(env: Readonly<Record<string, string | undefined>>): ResultBytes {
  const parts = (env.HOLDPOINT_RESULT_BYTES ?? '').split(',').flatMap((part) => part.trim() || []);
  const byTool: Record<string, number> = {};
  let usual = usualResultBytes;
  for (const part of parts) {
    const [, tool, text = ''] = /^(?:([A-Za-z][A-Za-z0-9_-]{0,63})=)?(\d+)$/.exec(part) ?? [];
    const bytes = Number(text);
    if (text === '' || bytes < least || bytes > most) throw new Error(messageAbout(part));
    if (tool === undefined) usual = bytes;
    else byTool[tool] = bytes;
  }
  return { usual, byTool };
}

const messageAbout = (part: string): string =>
  `HOLDPOINT_RESULT_BYTES: ${JSON.stringify(part)} is no number from ${least} to ${most}, alone or after the name of a tool, as in 16384,bash=32768`;
