export { Deflater } from './deflater.ts';
export { hashLargeBlob } from './large-blob.ts';
export { commitContent, readCommit, signature } from './object-content.ts';
export { objectId } from './object-id.ts';
export { createObjectWriter, largeBlobBytes, type ObjectWriter } from './object-writer.ts';
export { commitPack, newPackPaths } from './pack.ts';
export { objectsIn } from './pack-index.ts';
export { PackStream } from './pack-stream.ts';
export { stageRef, writeRef } from './ref-file.ts';
