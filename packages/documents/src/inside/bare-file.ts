import { PDFArray, PDFDict, PDFDocument, PDFName, type PDFPage, PDFStream } from '@cantoo/pdf-lib';

/**
 * Copies the visible content of the pages of a PDF. Scripts, actions, attachments, metadata, links, threads through other pages, private data
 * of programs and unused objects stay behind.
 * @returns undefined when the pages drag other pages along
 */
export async function bareFile(data: Uint8Array, count: number): Promise<Uint8Array | undefined> {
  const source = await PDFDocument.load(data, { updateMetadata: false, throwOnInvalidObject: true });
  if (source.getPageCount() !== count) return undefined;
  source.getPages().forEach(strip);
  for (const [, object] of source.context.enumerateIndirectObjects()) dropAsides(object);
  const made = await PDFDocument.create({ updateMetadata: false });
  for (const page of await made.copyPages(source, source.getPageIndices())) made.addPage(page);
  const pages = made.context.enumerateIndirectObjects().filter(([, object]) => isPage(object));
  return pages.length === count ? await made.save({ addDefaultPage: false }) : undefined;
}

/** The visible content of a page, and its size. */
const shown = 'Type MediaBox CropBox BleedBox TrimBox ArtBox Rotate UserUnit Contents Resources Group Annots';
/** The appearance of a note, of a highlight or of the value of a field. */
const shownOfAnnotation = 'Type Subtype Rect AP AS F';

function strip({ node }: PDFPage): void {
  // Inherited by the page from its parents.
  for (const name of ['MediaBox', 'CropBox', 'Rotate', 'Resources']) {
    const value = node.getInheritableAttribute(PDFName.of(name));
    if (value !== undefined) node.set(PDFName.of(name), value);
  }
  keep(node, `${shown} Parent`);
  const annotations = node.lookupMaybe(PDFName.of('Annots'), PDFArray);
  for (let at = (annotations?.size() ?? 0) - 1; at >= 0; at--) {
    const annotation = annotations?.lookup(at);
    if (annotation instanceof PDFDict && annotation.has(PDFName.of('AP'))) keep(annotation, shownOfAnnotation);
    else annotations?.remove(at);
  }
}

function keep(dictionary: PDFDict, names: string): void {
  const kept = new Set(names.split(' '));
  for (const key of dictionary.keys()) if (!kept.has(key.decodeText())) dictionary.delete(key);
}

/** Keys of any object without visible content. */
const asides = ['PieceInfo', 'Metadata', 'AF', 'StructParent', 'StructParents', 'A', 'AA', 'Dest', 'OPI', 'Ref'];

function dropAsides(object: unknown): void {
  const dictionary = object instanceof PDFStream ? object.dict : object;
  if (dictionary instanceof PDFDict) for (const name of asides) dictionary.delete(PDFName.of(name));
}

function isPage(object: unknown): boolean {
  return object instanceof PDFDict && object.get(PDFName.of('Type')) === PDFName.of('Page');
}
