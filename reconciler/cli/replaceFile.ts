import { realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'

/** Puts `text` in place of the file at once: whoever stops in between leaves either the old one or the new. */
export function replaceFile(file: string, text: string): void {
  const place = realpathSync(file)
  const temporary = `${place}.${process.pid}.tmp`
  writeFileSync(temporary, text, { mode: statSync(place).mode, flag: 'wx' })
  renameSync(temporary, place)
}
