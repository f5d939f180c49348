const BEGINNING = 'version https://git-lfs.github.com/spec/'

/** Whether `bytes` are a pointer of Git LFS in place of a file. Pure. */
export function isLfsPointer(bytes: Buffer): boolean {
  return bytes.subarray(0, BEGINNING.length).toString('latin1') === BEGINNING
}
