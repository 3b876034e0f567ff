interface PdfExtras {
  trailer?: string;
  /** Compresses the content of each page, for FlateDecode. */
  compress?: (content: string) => Buffer;
  /** Entries of the dictionary of each page, and of the catalog. */
  page?: string;
  catalog?: string;
  /** Objects after all others, numbered from `firstExtra(pages.length)`. */
  objects?: readonly string[];
}

/** The number of the font; each page has a content and then itself. */
export const numberOfPage = (page: number): number => 1 + page * 2;
export const firstExtra = (pages: number): number => pages * 2 + 4;

/** A PDF with one page per text, made by hand: each line of a text is a line of the page. */
export function makePdf(
  pages: readonly string[],
  { trailer = '', compress, page: ofPage = '', catalog = '', objects: extras = [] }: PdfExtras = {},
): Buffer {
  const objects: string[] = [];
  const add = (text: string): number => objects.push(text);
  const font = add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  const parent = 2 + pages.length * 2;
  const kids = pages.map((text) => {
    const lines = text.split('\n').map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`);
    const plain = `BT /F1 12 Tf 14 TL 72 720 Td ${lines.join(' ')} ET`;
    const stream = compress?.(plain).toString('latin1') ?? plain;
    const filter = compress && '/Filter /FlateDecode';
    const content = add(`<< /Length ${stream.length} ${filter ?? ''} >>\nstream\n${stream}\nendstream`);
    const resources = `<< /Font << /F1 ${font} 0 R >> >>`;
    return add(
      `<< /Type /Page /Parent ${parent} 0 R /MediaBox [0 0 20000 792] /Resources ${resources} /Contents ${content} 0 R ${ofPage} >>`,
    );
  });
  add(`<< /Type /Pages /Count ${pages.length} /Kids [${kids.map((one) => `${one} 0 R`).join(' ')}] >>`);
  const root = add(`<< /Type /Catalog /Pages ${parent} 0 R ${catalog} >>`);
  extras.forEach(add);
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const head = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  const end = `trailer\n<< /Size ${objects.length + 1} /Root ${root} 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text + head + end, 'latin1');
}
