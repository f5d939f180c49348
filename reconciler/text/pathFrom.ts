import { isAbsolute, normalize, relative, sep } from 'node:path'

/** `file` relative to the folder `cwd`, with forward slashes; absolute when it is not below it. Pure. */
export function pathFrom(cwd: string, file: string): string {
  const inside = isAbsolute(file) ? relative(cwd, file) : normalize(file)
  const path = isAbsolute(file) && inside.startsWith(`..${sep}`) ? file : inside
  return path.split(sep).join('/')
}
