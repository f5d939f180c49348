/**
 * Adds a note to an ELF executable, in which a single executable application of Node finds its program.
 *
 * Node recommends the package postject, which contains a compiled library of 2 MB and has never left alpha. This code
 * is sufficient for a note in a 64-bit little-endian ELF file.
 */

import { aligned, PROGRAM_NAME, withBurntFuse } from './fuse.ts'

const PT_LOAD = 1
const PT_NOTE = 4
const PT_PHDR = 6
const READABLE = 4
const PROGRAM_HEADER_BYTES = 56
/** The largest page size of Node's platforms (64-bit ARM). */
const PAGE_BYTES = 0x10000

/** Terraform's names of platforms by `e_machine`. */
const PLATFORMS: ReadonlyMap<number, string> = new Map([
  [62, 'linux_amd64'],
  [183, 'linux_arm64'],
])

/** A program header. Addresses of executables stay far below 2^53. */
interface Segment {
  readonly type: number
  readonly flags: number
  readonly offset: number
  readonly address: number
  readonly fileBytes: number
  readonly memoryBytes: number
  readonly align: number
}

function readSegments(elf: Buffer): readonly Segment[] {
  const start = Number(elf.readBigUInt64LE(32))
  return Array.from({ length: elf.readUInt16LE(56) }, (_, index) => {
    const at = start + index * PROGRAM_HEADER_BYTES
    const number = (from: number): number => Number(elf.readBigUInt64LE(at + from))
    return {
      type: elf.readUInt32LE(at),
      flags: elf.readUInt32LE(at + 4),
      offset: number(8),
      address: number(16),
      fileBytes: number(32),
      memoryBytes: number(40),
      align: number(48),
    }
  })
}

function segmentBytes({ type, flags, offset, address, fileBytes, memoryBytes, align }: Segment): Buffer {
  const header = Buffer.alloc(PROGRAM_HEADER_BYTES)
  header.writeUInt32LE(type, 0)
  header.writeUInt32LE(flags, 4)
  const numbers = [offset, address, address, fileBytes, memoryBytes, align]
  for (const [index, number] of numbers.entries()) header.writeBigUInt64LE(BigInt(number), 8 + index * 8)
  return header
}

function noteBytes(blob: Buffer): Buffer {
  const name = Buffer.from(`${PROGRAM_NAME}\0`)
  const head = Buffer.alloc(12)
  head.writeUInt32LE(name.length, 0)
  head.writeUInt32LE(blob.length, 4)
  const body = Buffer.alloc(aligned(name.length, 4) + aligned(blob.length, 4))
  name.copy(body)
  blob.copy(body, aligned(name.length, 4))
  return Buffer.concat([head, body])
}

const isElf64 = (bytes: Buffer): boolean =>
  bytes.length > 64 && bytes.readUInt32BE(0) === 0x7f454c46 && bytes.readUInt16BE(4) === 0x0201

/** The platform of an ELF executable; `undefined` for another machine or format. Pure. */
export function elfPlatform(executable: Buffer): string | undefined {
  return isElf64(executable) ? PLATFORMS.get(executable.readUInt16LE(18)) : undefined
}

/**
 * The executable `node` with `blob`, the output of Node's `--experimental-sea-config`, as its program. `node` must be known to
 * `elfPlatform`. Pure.
 */
export function elfWithProgram(node: Buffer, blob: Buffer): Buffer {
  const segments = readSegments(node)
  const loads = segments.filter(({ type }) => type === PT_LOAD)
  const [first] = loads
  if (first === undefined) throw new Error('the executable loads nothing')
  const base = first.address - first.offset
  // After everything else in the file and in memory, at the same offset in both, where the kernel finds the table.
  const memoryEnd = Math.max(...loads.map(({ address, memoryBytes }) => address + memoryBytes)) - base
  const offset = aligned(Math.max(node.length, memoryEnd), PAGE_BYTES)
  const tableBytes = (segments.length + 2) * PROGRAM_HEADER_BYTES
  const note = noteBytes(blob)
  const segment = (type: number, from: number, bytes: number, align: number): Segment => {
    const place = { offset: offset + from, address: base + offset + from }
    return { type, flags: READABLE, ...place, fileBytes: bytes, memoryBytes: bytes, align }
  }
  const lastLoad = segments.findLastIndex(({ type }) => type === PT_LOAD)
  const table = [
    ...segments.slice(0, lastLoad + 1),
    segment(PT_LOAD, 0, tableBytes + note.length, PAGE_BYTES),
    ...segments.slice(lastLoad + 1),
    segment(PT_NOTE, tableBytes, note.length, 4),
  ].map((entry) => (entry.type === PT_PHDR ? segment(PT_PHDR, 0, tableBytes, 8) : entry))
  const burnt = withBurntFuse(node)
  burnt.writeBigUInt64LE(BigInt(offset), 32)
  burnt.writeUInt16LE(table.length, 56)
  return Buffer.concat([burnt, Buffer.alloc(offset - node.length), ...table.map(segmentBytes), note])
}
