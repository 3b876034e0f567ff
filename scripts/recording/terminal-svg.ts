/** A line of output, with the time of its appearance. */
export interface RecordedLine {
  /** Text with SGR colours. */
  text: string;
  /** Seconds since the start. */
  at: number;
}

const columns = 100;
const rows = 26;
const lineHeight = 18;
const charWidth = 7.83;
const margin = 18;
const titleHeight = 38;
/** How long the last screen stays before the recording starts again. */
const restS = 5;

/** Draws a recording as an animated terminal window. Without animations, the picture shows the last screen. */
export function terminalSvg(title: string, lines: readonly RecordedLine[]): string {
  const width = Math.ceil(columns * charWidth + 2 * margin);
  const screen = rows * lineHeight;
  const height = titleHeight + screen + margin;
  const length = (lines.at(-1)?.at ?? 0) + restS;
  const scrolled = (count: number): number => Math.max(0, count - rows) * lineHeight;
  const shown = (count: number): number => Math.min(count, rows) * lineHeight;
  const frames = (offset: (count: number) => number, sign: string): string =>
    lines
      .map(({ at }, i) => `${percent(at / length)}{transform:translateY(${sign}${offset(i + 1)}px)}`)
      .filter((frame, i, all) => frame.split('%')[0] !== all[i + 1]?.split('%')[0])
      .join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d1d7e0;white-space:pre}
.t{font:600 13px ui-sans-serif,system-ui,sans-serif;fill:#9198a1;text-anchor:middle}
.b{font-weight:700}.c{fill:#56d4dd}.g{fill:#57ab5a}.r{fill:#f47067}.y{fill:#daaa3f}.d{fill:#8b949e}
.s{transform:translateY(-${scrolled(lines.length)}px)}.v{transform:translateY(${shown(lines.length)}px)}
@media (prefers-reduced-motion:no-preference){
.s{animation:s ${length.toFixed(2)}s step-end infinite}.v{animation:v ${length.toFixed(2)}s step-end infinite}
}
@keyframes s{0%{transform:none}${frames(scrolled, '-')}}
@keyframes v{0%{transform:none}${frames(shown, '')}}
</style>
<rect width="${width}" height="${height}" rx="10" fill="#161b22"/>
<circle cx="20" cy="19" r="6" fill="#ff5f57"/><circle cx="40" cy="19" r="6" fill="#febc2e"/><circle cx="60" cy="19" r="6" fill="#28c840"/>
<text class="t" x="${width / 2}" y="24">${escapeXml(title)}</text>
<clipPath id="screen"><rect y="${titleHeight}" width="${width}" height="${screen}"/></clipPath>
<g clip-path="url(#screen)">
<g class="s">
${lines.map(({ text }, i) => lineSvg(text, titleHeight + i * lineHeight + 13)).join('')}</g>
<rect class="v" y="${titleHeight}" width="${width}" height="${screen}" fill="#161b22"/>
</g>
</svg>
`;
}

function lineSvg(line: string, y: number): string {
  if (line.trim() === '') return '';
  return `<text x="${margin}" y="${y}">${spansOf(line).map(spanSvg).join('')}</text>\n`;
}

interface Span {
  text: string;
  classes: string;
}

const classOf: Readonly<Record<string, string>> = { 1: 'b', 2: 'd', 31: 'r', 32: 'g', 33: 'y', 36: 'c' };
const resets = new Set(['0', '22', '39']);

function spansOf(line: string): Span[] {
  const spans: Span[] = [];
  let classes: string[] = [];
  let left = columns;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with the escape character
  for (const part of line.split(/(\u001b\[[0-9;]*m)/)) {
    const codes = part.startsWith('\u001b[') ? part.slice(2, -1).split(';') : undefined;
    if (codes === undefined) {
      const text = part.length <= left ? part : `${part.slice(0, Math.max(0, left - 1))}…`;
      left -= text.length;
      if (text !== '') spans.push({ text, classes: classes.join(' ') });
    } else if (codes.some((code) => resets.has(code))) classes = [];
    else classes.push(...codes.flatMap((code) => classOf[code] ?? []));
    if (left <= 0) break;
  }
  return spans;
}

const spanSvg = ({ text, classes }: Span): string =>
  classes === '' ? escapeXml(text) : `<tspan class="${classes}">${escapeXml(text)}</tspan>`;

const percent = (part: number): string => `${(part * 100).toFixed(2)}%`;

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
