/** The ad hoc signature of a macOS executable. Macs with ARM processors do not start one without a signature. */
import { createHash } from 'node:crypto'

const SUPER_BLOB = 0xfade_0cc0
const CODE_DIRECTORY = 0xfade_0c02
/** The version of code directories with the location of the main executable's code. */
const VERSION = 0x2_0400
/** The flags that linkers set: ad hoc (2), and replaceable by `codesign` (0x20000). */
const FLAGS = 0x2_0002
const MAIN_EXECUTABLE = 1
const HASH_BYTES = 32
const SHA256 = 2
const PAGE_BITS = 12
const PAGE_BYTES = 1 << PAGE_BITS
/** Bytes before the code directory, including the single entry of the index. */
const SUPER_BLOB_BYTES = 20
const DIRECTORY_BYTES = 88

/** The code that is signed. */
export interface SignedCode {
  /** Name of the program, which the signature contains. */
  readonly identifier: string
  /** Length of the file before the signature. */
  readonly bytes: number
  /** Length of the segment with the code, which is the first in the file. */
  readonly textBytes: number
}

const hashesAt = ({ identifier }: SignedCode): number => DIRECTORY_BYTES + identifier.length + 1

const directoryBytes = (code: SignedCode): number =>
  hashesAt(code) + Math.ceil(code.bytes / PAGE_BYTES) * HASH_BYTES

/** Length of the signature of `code`. Pure. */
export function signatureBytes(code: SignedCode): number {
  return SUPER_BLOB_BYTES + directoryBytes(code)
}

/** The signature of `executable`, which is the file before the signature. Pure. */
export function adHocSignature(executable: Buffer, code: SignedCode): Buffer {
  const signature = Buffer.alloc(signatureBytes(code))
  const { identifier, bytes, textBytes } = code
  const fields = (at: number, values: readonly number[]): void => {
    for (const [index, value] of values.entries()) signature.writeUInt32BE(value, at + index * 4)
  }
  fields(0, [SUPER_BLOB, signature.length, 1, 0, SUPER_BLOB_BYTES])
  const start = SUPER_BLOB_BYTES
  const pages = Math.ceil(bytes / PAGE_BYTES)
  fields(start, [CODE_DIRECTORY, directoryBytes(code), VERSION, FLAGS, hashesAt(code), DIRECTORY_BYTES])
  // Special slots, code slots, and the end of the code.
  fields(start + 24, [0, pages, bytes])
  signature.set([HASH_BYTES, SHA256, 0, PAGE_BITS], start + 36)
  signature.writeBigUInt64BE(BigInt(textBytes), start + 72)
  signature.writeBigUInt64BE(BigInt(MAIN_EXECUTABLE), start + 80)
  signature.write(identifier, start + DIRECTORY_BYTES)
  for (let page = 0; page < pages; page += 1) {
    const content = executable.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES)
    const hash = createHash('sha256').update(content).digest()
    signature.set(hash, start + hashesAt(code) + page * HASH_BYTES)
  }
  return signature
}
