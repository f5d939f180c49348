/** Encodings in which `text` could hide, alone or as a part of a longer text. Pure. */
export function encodedForms(text: string): readonly Buffer[] {
  const bytes = Buffer.from(text)
  const base64 = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    // Both ends depend on the neighbouring bytes.
    return encoded.slice(shift === 0 ? 0 : 4, -4)
  })
  return [
    bytes,
    Buffer.from(text, 'utf16le'),
    ...[bytes.toString('hex'), ...base64].map((form) => Buffer.from(form)),
  ]
}
