import { visible } from '../../api/contract/visibleText.ts'

/** An untrusted name in quotes and on one line. Pure. */
export function quoted(name: string): string {
  return visible(JSON.stringify(name))
}

/** `1 endpoint`, `2 endpoints`. Pure. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
