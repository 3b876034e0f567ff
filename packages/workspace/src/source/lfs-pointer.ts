/** Largest pointer of git-lfs, bytes. */
export const largestPointer = 1023;

const pattern =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-\d-\S+ sha256:[0-9a-f]{64}\n)*oid sha256:[0-9a-f]{64}\nsize \d+\n$/;

/** Whether git-lfs would leave the content alone: a pointer, or empty. */
export function isPointer(content: Buffer): boolean {
  return content.length === 0 || (content.length <= largestPointer && pattern.test(content.toString('latin1')));
}

/** The pointer to an object, byte for byte as in git-lfs. */
export function pointerTo(object: { sha256: string; bytes: number }): Buffer {
  const { sha256, bytes } = object;
  return Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${bytes}\n`);
}
