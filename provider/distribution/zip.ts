import { crc32, deflateRawSync } from 'node:zlib'

/** A file of an archive. */
export interface ZipEntry {
  readonly name: string
  readonly bytes: Buffer
  /** Unix permissions, such as 0o755. */
  readonly mode: number
}

const LOCAL_HEADER = 0x04034b50
const CENTRAL_HEADER = 0x02014b50
const END_OF_CENTRAL_DIRECTORY = 0x06054b50

/** Version 2.0 of the format: deflated entries. As maker's system Unix, which gives the permissions a meaning. */
const VERSION_NEEDED = 20
const MADE_BY_UNIX = (3 << 8) | VERSION_NEEDED
const DEFLATED = 8
/** Names are UTF-8. */
const FLAGS = 0x0800
/** The earliest time that the format knows, 1 January 1980: an archive's bytes follow from its files alone. */
const DOS_DATE = (1 << 5) | 1
/** `S_IFREG`: a regular file. */
const REGULAR_FILE = 0o100000

interface Packed {
  readonly name: Buffer
  readonly entry: ZipEntry
  readonly deflated: Buffer
  readonly checksum: number
}

/** The fields that the local and the central header share, from the needed version on. */
function sharedFields({ name, entry, deflated, checksum }: Packed): Buffer {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(VERSION_NEEDED, 0)
  fields.writeUInt16LE(FLAGS, 2)
  fields.writeUInt16LE(DEFLATED, 4)
  fields.writeUInt16LE(0, 6)
  fields.writeUInt16LE(DOS_DATE, 8)
  fields.writeUInt32LE(checksum, 10)
  fields.writeUInt32LE(deflated.length, 14)
  fields.writeUInt32LE(entry.bytes.length, 18)
  fields.writeUInt16LE(name.length, 22)
  fields.writeUInt16LE(0, 24)
  return fields
}

function localPart(packed: Packed): Buffer {
  const signature = Buffer.alloc(4)
  signature.writeUInt32LE(LOCAL_HEADER)
  return Buffer.concat([signature, sharedFields(packed), packed.name, packed.deflated])
}

function centralPart(packed: Packed, offset: number): Buffer {
  const head = Buffer.alloc(6)
  head.writeUInt32LE(CENTRAL_HEADER, 0)
  head.writeUInt16LE(MADE_BY_UNIX, 4)
  const tail = Buffer.alloc(14)
  tail.writeUInt32LE(((REGULAR_FILE | packed.entry.mode) << 16) >>> 0, 6)
  tail.writeUInt32LE(offset, 10)
  return Buffer.concat([head, sharedFields(packed), tail, packed.name])
}

/**
 * A zip archive of `entries`, in their order; together smaller than 4 GiB. Pure: the same entries give the same
 * bytes (with the same zlib).
 */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const packed = {
      name: Buffer.from(entry.name),
      entry,
      deflated: deflateRawSync(entry.bytes),
      checksum: crc32(entry.bytes),
    }
    const local = localPart(packed)
    locals.push(local)
    centrals.push(centralPart(packed, offset))
    offset += local.length
  }
  const directory = Buffer.concat(centrals)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(END_OF_CENTRAL_DIRECTORY, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}
