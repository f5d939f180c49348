/** Node reads a program from its own executable only if the digit after this text is 1. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:'

/** Node reads its program from the note, resource or section of this name. */
export const PROGRAM_NAME = 'NODE_SEA_BLOB'

/**
 * A copy of the executable `node` with the digit after FUSE set. Throws an Error for a Node without support for single
 * executable applications. Pure.
 */
export function withBurntFuse(node: Buffer): Buffer {
  const at = node.indexOf(`${FUSE}0`)
  if (at === -1) throw new Error('this Node was built without support for single executable applications')
  const burnt = Buffer.from(node)
  burnt.write('1', at + FUSE.length)
  return burnt
}

/** The next multiple of `bytes` from `position`, which may itself be one. Pure. */
export function aligned(position: number, bytes: number): number {
  return Math.ceil(position / bytes) * bytes
}
