import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { machoPlatform, machoWithProgram } from './machoSection.ts'
import { pePlatform, peWithProgram } from './peResource.ts'

const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:'
const blob = Buffer.alloc(10_001, 'program ')

/** Writes 32-bit numbers in either byte order. */
function numbers(bytes: Buffer, at: number, values: readonly number[]): void {
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, at + index * 4)
}

/** A Windows executable with headers, a section with the fuse and a version resource (16, 1, 1033), and a signature. */
function smallPe(machine = 0x8664): Buffer {
  const pe = Buffer.alloc(0x640)
  pe.write('MZ')
  numbers(pe, 0x3c, [0x80])
  pe.write('PE', 0x80)
  pe.writeUInt16LE(machine, 0x84)
  pe.writeUInt16LE(1, 0x86)
  pe.writeUInt16LE(240, 0x94)
  const optional = 0x98
  pe.writeUInt16LE(0x20b, optional)
  numbers(pe, optional + 32, [0x1000, 0x200])
  numbers(pe, optional + 56, [0x2000, 0x400, 77])
  numbers(pe, optional + 112 + 16, [0x1000, 0x100])
  numbers(pe, optional + 112 + 32, [0x600, 0x40])
  const section = optional + 240
  pe.write('.rsrc', section)
  numbers(pe, section + 8, [0x200, 0x1000, 0x200, 0x400])
  // Three directories with one entry each, and the version, 24 bytes each.
  for (const [index, [name, content]] of [
    [16, 0x8000_0018],
    [1, 0x8000_0030],
    [1033, 0x48],
  ].entries()) {
    pe.writeUInt16LE(1, 0x400 + index * 24 + 14)
    numbers(pe, 0x400 + index * 24 + 16, [name ?? 0, content ?? 0])
  }
  numbers(pe, 0x448, [0x1080, 7, 0])
  pe.write('version', 0x480)
  pe.write(`${FUSE}0`, 0x4c0)
  return pe
}

/** What Windows finds for a resource. */
function resource(pe: Buffer, path: readonly (number | string)[]): string | undefined {
  const coff = pe.readUInt32LE(0x3c) + 4
  const sections = Array.from({ length: pe.readUInt16LE(coff + 2) }, (_, index) => {
    const at = coff + 20 + pe.readUInt16LE(coff + 16) + index * 40
    return {
      address: pe.readUInt32LE(at + 12),
      bytes: pe.readUInt32LE(at + 16),
      file: pe.readUInt32LE(at + 20),
    }
  })
  const inFile = (address: number): number => {
    const found = sections.find(
      (section) => address - section.address < section.bytes && address >= section.address,
    )
    return found === undefined ? Number.NaN : address - found.address + found.file
  }
  const root = inFile(pe.readUInt32LE(coff + 20 + 112 + 16))
  let at = root
  for (const wanted of path) {
    const count = pe.readUInt16LE(at + 12) + pe.readUInt16LE(at + 14)
    const entries = Array.from({ length: count }, (_, index) => at + 16 + index * 8)
    const nameOf = (entry: number): number | string => {
      const name = pe.readUInt32LE(entry)
      if (name < 0x8000_0000) return name
      const text = root + name - 0x8000_0000
      return pe.toString('utf16le', text + 2, text + 2 + pe.readUInt16LE(text) * 2)
    }
    const entry = entries.find((candidate) => nameOf(candidate) === wanted)
    if (entry === undefined) return undefined
    at = root + (pe.readUInt32LE(entry + 4) & 0x7fff_ffff)
  }
  const start = inFile(pe.readUInt32LE(at))
  return pe.toString('latin1', start, start + pe.readUInt32LE(at + 4))
}

test('a Windows executable gets the program as a resource, keeps its own, and loses its signature', () => {
  const pe = smallPe()

  const made = peWithProgram(pe, blob)

  expect(resource(made, [10, 'NODE_SEA_BLOB', 0])).toBe(blob.toString())
  expect(resource(made, [16, 1, 1033])).toBe('version')
  // In their order, as Windows searches them by halves: the directory is where the signature was.
  expect([0x610, 0x618].map((at) => made.readUInt32LE(at))).toEqual([10, 16])
  expect(made.includes(`${FUSE}1`)).toBe(true)
  // The size in memory, the checksum, and the place and length of the signature.
  expect([0x98 + 56, 0x98 + 64, 0x98 + 144, 0x98 + 148].map((at) => made.readUInt32LE(at))).toEqual([
    0x2000 + 0x3000,
    0,
    0,
    0,
  ])
  expect(made.length % 0x200).toBe(0)
})

test('a platform is read from the headers of an executable', () => {
  const platforms = [smallPe(), smallPe(0xaa64), smallPe(0x14c), smallMacho()].map((executable) => [
    pePlatform(executable),
    machoPlatform(executable),
  ])

  expect(platforms).toEqual([
    ['windows_amd64', undefined],
    ['windows_arm64', undefined],
    [undefined, undefined],
    [undefined, 'darwin_arm64'],
  ])
})

const LINKEDIT_AT = 0x4000
const SYMBOLS = 'symbols in __LINKEDIT'

/** A macOS executable with code, symbols and a signature; `extra` is one more load command. */
function smallMacho(extra: Buffer = Buffer.alloc(0)): Buffer {
  const macho = Buffer.alloc(LINKEDIT_AT + 0x60)
  const segment = (name: string, [address, offset, bytes]: readonly number[], sections: number): Buffer => {
    const command = Buffer.alloc(72 + sections * 80)
    numbers(command, 0, [0x19, command.length])
    command.write(name, 8)
    for (const [index, value] of [address, 0x4000, offset, bytes].entries()) {
      command.writeBigUInt64LE(BigInt(value ?? 0), 24 + index * 8)
    }
    numbers(command, 64, [sections])
    return command
  }
  const text = segment('__TEXT', [0, 0, LINKEDIT_AT], 1)
  numbers(text, 72 + 48, [0x1000])
  const symbols = Buffer.alloc(24)
  numbers(symbols, 0, [2, 24, LINKEDIT_AT, 1, 0, 0])
  const signature = Buffer.alloc(16)
  numbers(signature, 0, [0x1d, 16, LINKEDIT_AT + 0x20, 0x40])
  const commands = [
    text,
    segment('__LINKEDIT', [LINKEDIT_AT, LINKEDIT_AT, 0x60], 0),
    symbols,
    signature,
    extra,
  ]
  const bytes = Buffer.concat(commands)
  numbers(macho, 0, [
    0xfeedfacf,
    0x0100000c,
    0,
    2,
    commands.length - (extra.length === 0 ? 1 : 0),
    bytes.length,
  ])
  bytes.copy(macho, 32)
  macho.write(`${FUSE}0`, 0x2000)
  macho.write(SYMBOLS, LINKEDIT_AT)
  return macho
}

/** Load commands by kind; those of segments by name. */
function loadCommands(macho: Buffer): ReadonlyMap<number | string, Buffer> {
  const commands = new Map<number | string, Buffer>()
  for (let at = 32, left = macho.readUInt32LE(16); left > 0; left -= 1) {
    const command = macho.subarray(at, at + macho.readUInt32LE(at + 4))
    const kind = command.readUInt32LE(0)
    commands.set(kind === 0x19 ? command.toString('latin1', 8, 24).replace(/\0+$/, '') : kind, command)
    at += command.length
  }
  return commands
}

test('a macOS executable gets the program as a section, and the parts after it move', () => {
  const made = machoWithProgram(smallMacho(), blob)

  const commands = loadCommands(made)
  const program = commands.get('NODE_SEA') ?? Buffer.alloc(152)
  const linkedit = commands.get('__LINKEDIT') ?? Buffer.alloc(72)
  const offset = program.readUInt32LE(72 + 48)
  const symbolsAt = commands.get(2)?.readUInt32LE(8) ?? 0
  expect([...commands.keys()]).toEqual(['__TEXT', 'NODE_SEA', '__LINKEDIT', 2, 0x1d])
  expect(program.toString('latin1', 72, 72 + 15)).toBe('__NODE_SEA_BLOB')
  expect(made.subarray(offset, offset + Number(program.readBigUInt64LE(72 + 40)))).toEqual(blob)
  expect(made.toString('latin1', symbolsAt, symbolsAt + SYMBOLS.length)).toBe(SYMBOLS)
  expect([24, 40].map((at) => Number(linkedit.readBigUInt64LE(at)))).toEqual([0x8000, 0x8000])
  expect(Number(linkedit.readBigUInt64LE(40) + linkedit.readBigUInt64LE(48))).toBe(made.length)
  expect(made.includes(`${FUSE}1`)).toBe(true)
})

test('a macOS executable is signed ad hoc with the hashes of its pages', () => {
  const made = machoWithProgram(smallMacho(), blob)

  const command = loadCommands(made).get(0x1d) ?? Buffer.alloc(16)
  const [at, bytes] = [command.readUInt32LE(8), command.readUInt32LE(12)]
  const directory = made.subarray(at + made.readUInt32BE(at + 16), at + bytes)
  const [hashesAt, identifierAt] = [directory.readUInt32BE(16), directory.readUInt32BE(20)]
  const pages = directory.readUInt32BE(28)
  const hashes = Array.from({ length: pages }, (_, page) =>
    createHash('sha256')
      .update(made.subarray(page * 4096, Math.min((page + 1) * 4096, at)))
      .digest('hex'),
  )
  expect(at + bytes).toBe(made.length)
  expect(directory.readUInt32BE(32)).toBe(at)
  expect(pages).toBe(Math.ceil(at / 4096))
  expect(directory.readUInt32BE(12) & 2).toBe(2)
  expect(directory.toString('latin1', identifierAt, hashesAt)).toBe('terraform-provider-pharos\0')
  expect(directory.subarray(hashesAt).toString('hex')).toBe(hashes.join(''))
})

test('a macOS executable with an unknown layout is refused', () => {
  const fixups = Buffer.alloc(16)
  numbers(fixups, 0, [0x80000034, 16, LINKEDIT_AT, 8])
  const long = Buffer.alloc(0xf00)
  numbers(long, 0, [0x32, long.length])

  expect(() => machoWithProgram(smallMacho(fixups), blob)).toThrow('chained fixups')
  expect(() => machoWithProgram(smallMacho(long), blob)).toThrow('no space for one more load command')
})
