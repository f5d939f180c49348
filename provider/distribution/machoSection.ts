/**
 * Adds a section to a macOS executable (64-bit Mach-O), in which a single executable application of Node finds its program, and
 * signs the result.
 *
 * The section is in a new segment before __LINKEDIT, which must remain the last one. __LINKEDIT and every offset into
 * it in load commands move by the length of the new segment.
 */
import { aligned, PROGRAM_NAME, withBurntFuse } from './fuse.ts'
import { adHocSignature, type SignedCode, signatureBytes } from './machoSignature.ts'

/** Terraform's names of platforms by `cputype`. */
const PLATFORMS: ReadonlyMap<number, string> = new Map([
  [0x0100_0007, 'darwin_amd64'],
  [0x0100_000c, 'darwin_arm64'],
])

const MAGIC_64 = 0xfeed_facf
const HEADER_BYTES = 32
const SEGMENT_64 = 0x19
const SEGMENT_BYTES = 72
const SECTION_BYTES = 80
const CODE_SIGNATURE = 0x1d
const CHAINED_FIXUPS = 0x8000_0034
const READABLE = 1
/** The larger page size of the two platforms. */
const PAGE_BYTES = 0x4000
const SIGNATURE_ALIGN = 16
/** Name of Node's segment. Sections begin with two underscores. */
const SEGMENT_NAME = 'NODE_SEA'
const SECTION_NAME = `__${PROGRAM_NAME}`
const IDENTIFIER = 'terraform-provider-pharos'

/** The positions of 32-bit offsets into __LINKEDIT, by load command. */
const LINKEDIT_PLACES: ReadonlyMap<number, readonly number[]> = new Map([
  [0x02, [8, 16]],
  [0x0b, [32, 40, 48, 56, 64, 72]],
  [0x22, [8, 16, 24, 32, 40]],
  [0x8000_0022, [8, 16, 24, 32, 40]],
  ...[CODE_SIGNATURE, 0x1e, 0x26, 0x29, 0x2b, 0x2e, 0x8000_0033].map(
    (command): [number, readonly number[]] => [command, [8]],
  ),
])

interface Command {
  readonly kind: number
  /** A view of the executable's bytes. */
  readonly bytes: Buffer
}

/** The platform of a macOS executable; `undefined` for another machine or format. Pure. */
export function machoPlatform(executable: Buffer): string | undefined {
  if (executable.length < HEADER_BYTES || executable.readUInt32LE(0) !== MAGIC_64) return undefined
  return PLATFORMS.get(executable.readUInt32LE(4))
}

function readCommands(macho: Buffer): readonly Command[] {
  const commands: Command[] = []
  let at = HEADER_BYTES
  for (let index = 0; index < macho.readUInt32LE(16); index += 1) {
    const bytes = macho.subarray(at, at + macho.readUInt32LE(at + 4))
    commands.push({ kind: bytes.readUInt32LE(0), bytes })
    at += bytes.length
  }
  return commands
}

function segment(commands: readonly Command[], name: string): Buffer {
  const found = commands.find(
    ({ kind, bytes }) => kind === SEGMENT_64 && bytes.toString('latin1', 8, 24).replace(/\0+$/, '') === name,
  )
  if (found === undefined) throw new Error(`the executable has no segment ${name}`)
  return found.bytes
}

/** The start of the first section's content, before which the load commands must end. */
function contentsStart(text: Buffer): number {
  const offsets = Array.from({ length: text.readUInt32LE(64) }, (_, index) =>
    text.readUInt32LE(SEGMENT_BYTES + index * SECTION_BYTES + 48),
  )
  return Math.min(...offsets.filter((offset) => offset > 0))
}

/** Positions of a segment's address and length in memory, and of its offset and length in the file. */
const ADDRESS = 24
const MEMORY_BYTES = 32
const OFFSET = 40
const FILE_BYTES = 48

const readNumber = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64LE(at))
const writeNumber = (bytes: Buffer, at: number, value: number): number =>
  bytes.writeBigUInt64LE(BigInt(value), at)

/** The load command for the segment with the program, at the address of `linkedit`. */
function programSegment(linkedit: Buffer, blobBytes: number): Buffer {
  const command = Buffer.alloc(SEGMENT_BYTES + SECTION_BYTES)
  const [address, offset] = [readNumber(linkedit, ADDRESS), readNumber(linkedit, OFFSET)]
  const bytes = aligned(blobBytes, PAGE_BYTES)
  command.writeUInt32LE(SEGMENT_64, 0)
  command.writeUInt32LE(command.length, 4)
  command.write(SEGMENT_NAME, 8)
  writeNumber(command, ADDRESS, address)
  writeNumber(command, MEMORY_BYTES, bytes)
  writeNumber(command, OFFSET, offset)
  writeNumber(command, FILE_BYTES, bytes)
  for (const [index, value] of [READABLE, READABLE, 1].entries()) command.writeUInt32LE(value, 56 + index * 4)
  const section = command.subarray(SEGMENT_BYTES)
  section.write(SECTION_NAME, 0)
  section.write(SEGMENT_NAME, 16)
  writeNumber(section, 32, address)
  writeNumber(section, 40, blobBytes)
  section.writeUInt32LE(offset, 48)
  return command
}

/** Moves the offsets into __LINKEDIT in `commands`; an offset of 0 is unused. */
function movePlaces(commands: readonly Command[], bytes: number): void {
  for (const { kind, bytes: command } of commands) {
    for (const at of LINKEDIT_PLACES.get(kind) ?? []) {
      const place = command.readUInt32LE(at)
      if (place !== 0) command.writeUInt32LE(place + bytes, at)
    }
  }
}

/**
 * The executable `node` with `blob`, the output of Node's `--experimental-sea-config`, as its program, with an ad hoc signature.
 * `node` must be known to `machoPlatform`. Throws an Error for an unknown form. Pure.
 */
export function machoWithProgram(node: Buffer, blob: Buffer): Buffer {
  const macho = withBurntFuse(node)
  const commands = readCommands(macho)
  const linkedit = segment(commands, '__LINKEDIT')
  const text = segment(commands, '__TEXT')
  const signature = commands.find(({ kind }) => kind === CODE_SIGNATURE)?.bytes
  if (signature === undefined) throw new Error('the executable is not signed, unlike those of Node')
  if (commands.some(({ kind }) => kind === CHAINED_FIXUPS)) {
    throw new Error('the executable has chained fixups, as Node 24 and later do: take Node 20 or 22')
  }
  const added = programSegment(linkedit, blob.length)
  const commandBytes = macho.readUInt32LE(20) + added.length
  if (HEADER_BYTES + commandBytes > contentsStart(text)) {
    throw new Error('the executable has no space for one more load command')
  }
  const linkeditAt = readNumber(linkedit, OFFSET)
  const unsignedEnd = signature.readUInt32LE(8)
  const moved = aligned(blob.length, PAGE_BYTES)
  movePlaces(commands, moved)
  writeNumber(linkedit, ADDRESS, readNumber(linkedit, ADDRESS) + moved)
  writeNumber(linkedit, OFFSET, linkeditAt + moved)
  const signatureAt = aligned(unsignedEnd + moved, SIGNATURE_ALIGN)
  const code: SignedCode = {
    identifier: IDENTIFIER,
    bytes: signatureAt,
    textBytes: readNumber(text, FILE_BYTES),
  }
  const linkeditBytes = signatureAt + signatureBytes(code) - (linkeditAt + moved)
  signature.writeUInt32LE(signatureAt, 8)
  signature.writeUInt32LE(signatureBytes(code), 12)
  writeNumber(linkedit, FILE_BYTES, linkeditBytes)
  writeNumber(linkedit, MEMORY_BYTES, aligned(linkeditBytes, PAGE_BYTES))
  macho.writeUInt32LE(commands.length + 1, 16)
  macho.writeUInt32LE(commandBytes, 20)
  const newCommands = commands.flatMap(({ bytes }) => (bytes === linkedit ? [added, bytes] : [bytes]))
  const unsigned = Buffer.concat([
    macho.subarray(0, HEADER_BYTES),
    ...newCommands,
    macho.subarray(HEADER_BYTES + commandBytes, linkeditAt),
    blob,
    Buffer.alloc(moved - blob.length),
    macho.subarray(linkeditAt, unsignedEnd),
    Buffer.alloc(signatureAt - unsignedEnd - moved),
  ])
  return Buffer.concat([unsigned, adHocSignature(unsigned, code)])
}
