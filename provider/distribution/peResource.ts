/**
 * Adds a resource to a Windows executable (PE32+), in which a single executable application of Node finds its program.
 *
 * The new resource directory and the program are in a new section after the others. The contents of the old directory
 * are not moved.
 */
import { aligned, PROGRAM_NAME, withBurntFuse } from './fuse.ts'

/** Terraform's names of platforms by `Machine`. */
const PLATFORMS: ReadonlyMap<number, string> = new Map([
  [0x8664, 'windows_amd64'],
  [0xaa64, 'windows_arm64'],
])

const PE_SIGNATURE = 0x4550
const PE32_PLUS = 0x20b
const SECTION_HEADER_BYTES = 40
/** The type of resources with arbitrary bytes, RT_RCDATA. */
const ANY_BYTES = 10
/** The language id of a resource for all languages. */
const NEUTRAL = 0
/** Section flags: initialized data, readable. */
const READABLE_DATA = 0x4000_0040
/** Flag in a directory entry: the name is a text, or the content is a directory. */
const HIGH_BIT = 0x8000_0000
const DIRECTORY_BYTES = 16
const ENTRY_BYTES = 8
const LEAF_BYTES = 16

/** Positions of the headers in a file. */
interface Headers {
  /** The COFF header. */
  readonly coff: number
  readonly optional: number
  readonly sections: number
  readonly sectionCount: number
}

/** A resource: its address relative to the start of the executable in memory, and its length. */
interface Leaf {
  readonly address: number
  readonly bytes: number
  readonly codePage: number
}

type Directory = ReadonlyMap<number | string, Directory | Leaf>

const isLeaf = (node: Directory | Leaf): node is Leaf => 'address' in node

function readHeaders(pe: Buffer): Headers | undefined {
  if (pe.length < 0x40 || pe.toString('latin1', 0, 2) !== 'MZ') return undefined
  const start = pe.readUInt32LE(0x3c)
  if (start + 0x100 > pe.length || pe.readUInt32LE(start) !== PE_SIGNATURE) return undefined
  const coff = start + 4
  const optional = coff + 20
  if (pe.readUInt16LE(optional) !== PE32_PLUS) return undefined
  const sections = optional + pe.readUInt16LE(coff + 16)
  return { coff, optional, sections, sectionCount: pe.readUInt16LE(coff + 2) }
}

/** The platform of a Windows executable; `undefined` for another machine or format. Pure. */
export function pePlatform(executable: Buffer): string | undefined {
  const headers = readHeaders(executable)
  return headers === undefined ? undefined : PLATFORMS.get(executable.readUInt16LE(headers.coff))
}

/** Offset in the file of `address` in memory. */
function fileOffset(pe: Buffer, { sections, sectionCount }: Headers, address: number): number {
  for (let index = 0; index < sectionCount; index += 1) {
    const at = sections + index * SECTION_HEADER_BYTES
    const [start, bytes] = [pe.readUInt32LE(at + 12), pe.readUInt32LE(at + 16)]
    if (address >= start && address < start + bytes) return address - start + pe.readUInt32LE(at + 20)
  }
  throw new Error('the executable has resources outside its sections')
}

/** Reads the directory at `at` of the resources, which begin at `root`. */
function readDirectory(pe: Buffer, root: number, at: number): Directory {
  const count = pe.readUInt16LE(root + at + 12) + pe.readUInt16LE(root + at + 14)
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const entry = root + at + DIRECTORY_BYTES + index * ENTRY_BYTES
      const [name, content] = [pe.readUInt32LE(entry), pe.readUInt32LE(entry + 4)]
      return [
        name >= HIGH_BIT ? readName(pe, root + (name - HIGH_BIT)) : name,
        content >= HIGH_BIT ? readDirectory(pe, root, content - HIGH_BIT) : readLeaf(pe, root + content),
      ]
    }),
  )
}

function readName(pe: Buffer, at: number): string {
  return pe.toString('utf16le', at + 2, at + 2 + pe.readUInt16LE(at) * 2)
}

function readLeaf(pe: Buffer, at: number): Leaf {
  return {
    address: pe.readUInt32LE(at),
    bytes: pe.readUInt32LE(at + 4),
    codePage: pe.readUInt32LE(at + 8),
  }
}

/** The entries sorted for Windows' binary search: names before numbers, each in order. */
function sortedEntries(directory: Directory): readonly (readonly [number | string, Directory | Leaf])[] {
  return [...directory].sort(([a], [b]) => {
    if (typeof a !== typeof b) return typeof a === 'string' ? -1 : 1
    return a < b ? -1 : 1
  })
}

/** The bytes of the directory tree `root`, without the contents of resources. Pure. */
function directoryBytes(root: Directory): Buffer {
  const out: Buffer[] = []
  let end = 0
  const place = (bytes: Buffer): number => {
    const at = end
    const padding = aligned(bytes.length, 8) - bytes.length
    out.push(bytes, Buffer.alloc(padding))
    end += bytes.length + padding
    return at
  }
  const write = (node: Directory | Leaf): number => {
    if (isLeaf(node)) {
      const leaf = Buffer.alloc(LEAF_BYTES)
      for (const [index, value] of [node.address, node.bytes, node.codePage].entries()) {
        leaf.writeUInt32LE(value, index * 4)
      }
      return place(leaf)
    }
    const entries = sortedEntries(node)
    const bytes = Buffer.alloc(DIRECTORY_BYTES + entries.length * ENTRY_BYTES)
    const named = entries.filter(([name]) => typeof name === 'string').length
    bytes.writeUInt16LE(named, 12)
    bytes.writeUInt16LE(entries.length - named, 14)
    // Placed first, because the root must be at the start of the resources.
    const at = place(bytes)
    for (const [index, [name, content]] of entries.entries()) {
      const entry = DIRECTORY_BYTES + index * ENTRY_BYTES
      bytes.writeUInt32LE(typeof name === 'string' ? HIGH_BIT + place(nameBytes(name)) : name, entry)
      const written = write(content)
      bytes.writeUInt32LE(isLeaf(content) ? written : HIGH_BIT + written, entry + 4)
    }
    return at
  }
  write(root)
  return Buffer.concat(out)
}

function nameBytes(name: string): Buffer {
  const bytes = Buffer.alloc(2 + name.length * 2)
  bytes.writeUInt16LE(name.length)
  bytes.write(name, 2, 'utf16le')
  return bytes
}

/** `root` with an entry for the program, whose address is in `leaf`. */
function withLeaf(root: Directory, leaf: Leaf): Directory {
  const kept = root.get(ANY_BYTES)
  const others = kept === undefined || isLeaf(kept) ? [] : kept
  return new Map([...root, [ANY_BYTES, new Map([...others, [PROGRAM_NAME, new Map([[NEUTRAL, leaf]])]])]])
}

/**
 * The executable `node` with `blob`, the output of Node's `--experimental-sea-config`, as its program, and without its signature,
 * which is no longer valid. `node` must be known to `pePlatform`. Throws an Error when there is no space for a section. Pure.
 */
export function peWithProgram(node: Buffer, blob: Buffer): Buffer {
  const headers = readHeaders(node)
  if (headers === undefined) throw new Error('only a 64-bit Windows executable can take a resource')
  const { coff, optional, sections, sectionCount } = headers
  const [resources, signature] = [optional + 112 + 2 * 8, optional + 112 + 4 * 8]
  const header = sections + sectionCount * SECTION_HEADER_BYTES
  if (header + SECTION_HEADER_BYTES > node.readUInt32LE(optional + 60)) {
    throw new Error('the headers of the executable have no space for one more section')
  }
  // A signature is at the end of the file, outside all sections.
  const unsigned = withBurntFuse(node.subarray(0, node.readUInt32LE(signature) || node.length))
  const [sectionAlign, fileAlign] = [node.readUInt32LE(optional + 32), node.readUInt32LE(optional + 36)]
  const address = aligned(node.readUInt32LE(optional + 56), sectionAlign)
  const oldAddress = node.readUInt32LE(resources)
  const old = oldAddress === 0 ? new Map() : readDirectory(node, fileOffset(node, headers, oldAddress), 0)
  // Its length does not depend on the address.
  const { length } = directoryBytes(withLeaf(old, { address: 0, bytes: 0, codePage: 0 }))
  const directory = directoryBytes(
    withLeaf(old, { address: address + length, bytes: blob.length, codePage: 0 }),
  )
  const used = length + blob.length
  const offset = aligned(unsigned.length, fileAlign)
  const section = Buffer.alloc(SECTION_HEADER_BYTES)
  section.write('.sea')
  const fields = [used, address, aligned(used, fileAlign), offset]
  for (const [index, value] of fields.entries()) section.writeUInt32LE(value, 8 + index * 4)
  section.writeUInt32LE(READABLE_DATA, 36)
  section.copy(unsigned, header)
  unsigned.writeUInt16LE(sectionCount + 1, coff + 2)
  unsigned.writeUInt32LE(aligned(address + used, sectionAlign), optional + 56)
  // Only drivers need the checksum.
  unsigned.writeUInt32LE(0, optional + 64)
  unsigned.writeUInt32LE(address, resources)
  unsigned.writeUInt32LE(length, resources + 4)
  unsigned.fill(0, signature, signature + 8)
  const padding = (bytes: number): Buffer => Buffer.alloc(aligned(bytes, fileAlign) - bytes)
  return Buffer.concat([unsigned, padding(unsigned.length), directory, blob, padding(used)])
}
